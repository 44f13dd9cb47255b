"""Draws of the cells that an adversary knows about people of a release with columns.

The draws of a person depend on (seed, record) only. An attribute of several columns is known as a whole.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.rng import key, uniforms
from standout.data.column import Column, near_levels
from standout.data.release import Release
from standout.know.facts import Cells

if TYPE_CHECKING:
    from standout.know.adversary import Adversary

__all__ = ["cells_known", "observe_cells", "possible_attributes"]


def possible_attributes(adversary: "Adversary", release: Release) -> tuple[str, ...]:
    """The attributes that may be known; a name of a column stands for its attribute."""
    if adversary.columns is None:
        return tuple(release.attributes)
    names = (name if name in release.attributes else release.column(name).attribute for name in adversary.columns)
    return tuple(dict.fromkeys(names))


def cells_known(adversary: "Adversary", release: Release, records: Ints) -> Bools:
    """For each record, which attributes have a cell that is not missing."""
    if str(adversary.items) not in ("any", "rarest"):
        raise ParameterError(f'items must be "any" or "rarest" for columns, got {str(adversary.items)!r}')
    return np.column_stack([
        np.any([~release.columns[i].is_missing[records] for i in release.attributes[name]], axis=0)
        for name in possible_attributes(adversary, release)
    ])  # fmt: skip


def observe_cells(adversary: "Adversary", release: Release, records: Ints, seed: int, draws: int = 1) -> Cells:
    """The known cells of each record, attribute by attribute in the order in which they are learned.

    Later draws are about the same attributes, with other errors.
    """
    parts = [np.array(release.attributes[name]) for name in possible_attributes(adversary, release)]
    order = np.repeat(_order(adversary, release, records, seed)[:, : adversary.knows], draws, axis=0)
    seeds = [seed, *(int(key(seed, "draw", draw) >> np.uint64(1)) for draw in range(1, draws))]
    target = np.repeat(records, draws)
    query, column, is_wrong = _spread(order, _wrong(adversary, target, seeds), parts)
    kept = np.ones(len(column), np.bool_)
    for position in np.unique(column):
        about = column == position
        kept[about] = ~release.columns[position].is_missing[target[query[about]]]
    query, column, is_wrong = query[kept], column[kept], is_wrong[kept]
    uniform = _uniforms(seeds, "known cells", target, 2 * release.n_columns)
    code = np.zeros(len(column), np.int64)
    for position in np.unique(column):
        facts = np.flatnonzero(column == position)
        own = query[facts]
        code[facts] = _believed(
            adversary, release.columns[position], target[own], is_wrong[facts], uniform[own, 2 * position]
        )
    return Cells(offsets(np.bincount(query, minlength=len(target))), column, code, np.asarray(target, np.int64))


def _uniforms(seeds: list[int], purpose: str, target: Ints, count: int) -> Floats:
    """Random numbers for each target, whose draws follow one another."""
    if not len(target):
        return np.empty((0, count))
    streams = [key(seeds[i % len(seeds)], purpose, record) for i, record in enumerate(target.tolist())]
    return uniforms(np.array(streams, np.uint64), count)


def _order(adversary: "Adversary", release: Release, records: Ints, seed: int) -> Ints:
    """For each record, its attributes in the order in which they become known."""
    known = cells_known(adversary, release, records)
    rank = _uniforms([seed], "attributes", records, known.shape[1])
    if str(adversary.items) == "rarest":
        names = possible_attributes(adversary, release)
        shares = [
            np.min([_value_shares(release.columns[i], records) for i in release.attributes[name]], axis=0)
            for name in names
        ]
        rank = rank * 1e-9 + np.column_stack(shares)
    return np.argsort(np.where(known, rank, np.inf), axis=1, kind="stable")


def _value_shares(column: Column, records: Ints) -> Floats:
    """The share of records that have the same value as each of these; of a set, as its rarest member."""
    shares = column.counts / column.n_rows
    if column.starts is None:
        return np.where(column.is_missing[records], np.inf, shares[column.codes[records]])
    return np.array([shares[members].min(initial=np.inf) for members in _members(column, records)])


def _members(column: Column, records: Ints) -> list[Ints]:
    assert column.starts is not None
    ends = zip(column.starts[records].tolist(), column.starts[records + 1].tolist(), strict=True)
    return [column.codes[begin:end].astype(np.int64) for begin, end in ends]


def _wrong(adversary: "Adversary", target: Ints, seeds: list[int]) -> Bools:
    """For each target, which of its known attributes are wrong: random ones."""
    uniform = _uniforms(seeds, "wrong", target, adversary.knows)
    return np.asarray(np.argsort(np.argsort(uniform, axis=1), axis=1) < adversary.wrong)


def _believed(
    adversary: "Adversary", column: Column, records: Ints, wrong: Bools, uniform: NDArray[np.float64]
) -> Ints:
    """The level that the adversary believes each cell to have; of a set, one member or a category outside it."""
    if column.starts is not None:
        believed = np.empty(len(records), np.int64)
        for i, members in enumerate(_members(column, records)):
            outside = wrong[i] and len(members) < column.n_levels
            chosen = np.setdiff1d(np.arange(column.n_levels), members) if outside else members
            believed[i] = chosen[min(int(uniform[i] * len(chosen)), len(chosen) - 1)]
        return believed
    true: Ints = column.codes[records].astype(np.int64)
    near = near_levels(column, adversary.error_of(column))
    low, high = near.low[true], near.high[true]
    width = high - low
    right = low + np.minimum((uniform * width).astype(np.int64), width - 1)
    rest = column.n_levels - width
    beyond = np.minimum((uniform * rest).astype(np.int64), np.maximum(rest - 1, 0))
    beyond = np.where(beyond < low, beyond, beyond + width)
    return np.asarray(np.where(wrong & (rest > 0), beyond, right), np.int64)


def _spread(order: Ints, wrong: Bools, parts: list[Ints]) -> tuple[Ints, Ints, Bools]:
    """(query, column, is wrong) of each known column, attribute by attribute."""
    table = np.full((len(parts), max(map(len, parts), default=1)), -1)
    for row, part in enumerate(parts):
        table[row, : len(part)] = part
    spread = table[order]
    query = np.broadcast_to(np.arange(len(order))[:, None, None], spread.shape)
    flag = np.broadcast_to(wrong[:, : order.shape[1], None], spread.shape)
    used = spread.reshape(-1) >= 0
    return query.reshape(-1)[used], spread.reshape(-1)[used], flag.reshape(-1)[used]
