"""Aligning two data sets: which public item is which item of the release, and what its values mean there."""

from os import PathLike
from pathlib import Path

from standout.core.errors import ParameterError
from standout.linking.alignment import Alignment
from standout.linking.item_alignment import Catalogues, ItemAlignment, Items, align_items
from standout.linking.review import Decisions, read_decisions, review_table, write_review
from standout.linking.value_scales import Values, align_values, check_values
from standout.release.model import Release

__all__ = ["align"]


def align(
    release: Release,
    public: Release,
    *,
    items: Items = "auto",
    values: Values = "auto",
    review: str | PathLike[str] | None = None,
) -> Alignment:
    """Express a public data set in the codes of a release.

    Parameters
    ----------
    release, public : Release
        The two data sets.
    items : str, path-like or mapping, default "auto"
        "id": items with the same id are the same. "title": items are matched by title and year. A CSV file or
        a mapping: from public ids to ids of the release. "auto": ids if the titles of shared ids agree or
        there are no titles, otherwise titles.
    values : str or (float, float), default "auto"
        "same", "quantiles", "none", or (scale, shift) for value → scale · value + shift. "auto": "same" if
        the two scales agree, otherwise the lowest and highest values in use are mapped to each other.
    review : path-like, optional
        A CSV file of doubtful pairs with decisions. If the file does not exist, it is written.

    Returns
    -------
    Alignment
        Item codes, values, and the pairs that somebody should review.

    Raises
    ------
    ParameterError
        If no item is in both data sets, or the values cannot be aligned in this way.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> release = so.read(pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"], "value": [1, 5]}))
    >>> public = so.read(pl.DataFrame({"record": ["x", "x"], "item": ["8", "9"], "value": [1, 10]}))
    >>> alignment = align(release, public)
    >>> alignment.item.tolist(), alignment.value.tolist()
    ([1, -1], [1.0, 5.0])
    """
    method = check_values(values)
    catalogues = Catalogues(release, public)
    path = None if review is None else Path(review)
    exists = path is not None and path.exists()
    decisions = (
        read_decisions(path, catalogues.public_codes, catalogues.release_codes)
        if path is not None and exists
        else Decisions()
    )
    aligned = align_items(catalogues, items, decisions)
    doubtful = review_table(aligned.review_rows(catalogues, decisions))
    if path is not None and not exists:
        write_review(doubtful, path)
    if not (aligned.item >= 0).any():
        raise ParameterError(_nothing_shared(aligned, decisions))
    aligned_values = align_values(release, public, aligned.item, method)
    return Alignment(
        release=release,
        item=aligned.item,
        value=aligned_values.value,
        doubtful=doubtful,
        counts=aligned.counts(catalogues, decisions),
        value_explanation=aligned_values.explanation,
    )


def _nothing_shared(aligned: ItemAlignment, decisions: Decisions) -> str:
    if decisions.no:
        return "no item is in both data sets after the review: accept at least one pair"
    if aligned.method == "id":
        return (
            "no item id is in both data sets: read both with titles and pass items='title', "
            "or pass a map of items"
        )
    doubtful = len(aligned.doubtful)
    review = f"review the {doubtful:,} doubtful pairs, or " if doubtful else ""
    return f"no public title clearly matches a title of the release: {review}pass a map of items"
