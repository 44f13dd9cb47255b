"""Small releases and profiles that the tests of linking share."""

from dataclasses import replace

import numpy as np
import polars as pl

import standout as so
from conftest import content
from standout.data.labels import Labels
from standout.linking.align import align
from standout.linking.decoys import Profiles

FEW = {"budget": 0.1, "decoys": 24}
"""Parameters of a linking with few decoys."""


def data(rows, titles=None, **options):
    """A release of rows (record, item[, value[, time]])."""
    names = ["record", "item", "value", "time"]
    frame = pl.DataFrame(rows, schema=names[: len(rows[0])], orient="row", infer_schema_length=None)
    release = so.read(frame, kind="history", **options)
    texts = Labels.of((titles or {}).get(item, "") for item in release.items)
    return release if titles is None else replace(release, titles=texts)


def catalogue(titles, **options):
    """A release of these items, all of one person."""
    return data([("p", item, 1.0) for item in titles], titles, **options)


def pairs_of(alignment, public):
    """{public item: release item}."""
    ids = list(alignment.release.items)
    return {item: ids[code] for item, code in zip(public.items, alignment.item, strict=True) if code >= 0}


ENTRIES = {}


def entries_of(release):
    """{(record, item): (value, time)}, computed once for each release."""
    if release.fingerprint not in ENTRIES:
        ENTRIES[release.fingerprint] = content(release)
    return ENTRIES[release.fingerprint]


def facts_of(release, public, profile):
    """{item: (value, time)} of a profile, without items that the release does not have."""
    known = {item for _, item in entries_of(release)}
    return {item: cells for (owner, item), cells in entries_of(public).items() if owner == profile and item in known}


def aligned_profiles(release, public):
    return Profiles(release, public, align(release, public))


def release_and_profiles(records, items, entries, delays, share_dated):
    """A release, and profiles of people of whom some are absent: fewer entries, some without value or date.

    Dates are shifted by days drawn from `delays`.
    """
    everybody = so.synthesize(records=records, items=items, entries=entries, seed=5).to_frame()
    draw = np.random.default_rng(3)
    number = everybody["record"].cast(pl.Int64).to_numpy()
    public = everybody.filter((number > 10) & (draw.random(len(number)) < 0.6))
    n = len(public)
    delay = pl.Series(draw.choice(delays, n)).cast(pl.Int64)
    public = public.with_columns(
        record="p" + pl.col("record"),
        value=pl.when(pl.Series(draw.random(n) < 0.8)).then("value"),
        time=pl.when(pl.Series(draw.random(n) < share_dated)).then(pl.col("time") + pl.duration(days=delay)),
    )
    return everybody.filter(pl.Series(number <= 5 * records // 6)), public
