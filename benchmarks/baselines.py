"""The attack written well with other tools: the same numbers for the same facts.

    score(r′) = Σ over the known items that r′ has of (e^(−|Δvalue| / 1.5) + e^(−|Δdays| / 30)) / ln |supp|

Each function gets the entries and prepares what can be prepared: columns in the types that its library
handles best, a matrix, a table sorted by item, an index. It returns a function that answers a query: the 10
best records, their scores, and the mean and σ of the scores of all records. Only that function is timed.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

import standout as so
from standout.data.entries import unpack_item
from standout.know.facts import KnownFacts

__all__ = ["Answer", "Baseline", "Entries", "Query", "by_item", "duckdb_sql", "numpy_add_at"]
__all__ += ["numpy_tables", "pandas_isin", "pandas_loc", "polars_slices", "queries_of", "scipy_csc"]

RHO, D0, TOP = 1.5, 30.0, 10


class Entries(NamedTuple):
    """Columns sorted by item: the entries of item i are start[i] … start[i + 1]."""

    start: NDArray[np.int64]
    record: NDArray[np.int32]
    item: NDArray[np.uint16]
    value: NDArray[np.float32]
    day: NDArray[np.float32]
    n_records: int


class Query(NamedTuple):
    """The known facts: items, values, days, and the weights of the items."""

    item: NDArray[np.int64]
    value: NDArray[np.float64]
    day: NDArray[np.int64]
    weight: NDArray[np.float64]

    def facts(self) -> Iterator[tuple[int, float, int, np.float64]]:
        """(item, value, day, weight) of each fact."""
        return zip(self.item.tolist(), self.value.tolist(), self.day.tolist(), self.weight, strict=True)


class Answer(NamedTuple):
    """The records with the highest scores in descending order, and the mean and σ over all records."""

    record: NDArray[Any]
    score: NDArray[np.float64]
    mean: float
    sigma: float

    @property
    def eccentricity(self) -> float:
        """(best − second best) / σ."""
        return float(self.score[0] - self.score[1]) / self.sigma


Baseline = Callable[[Query], Answer]


def by_item(release: so.Release) -> Entries:
    """The entries of a release as columns."""
    start, n = release.by_item.start, release.n_entries
    record, code, day = np.empty(n, np.int32), np.empty(n, np.uint8), np.empty(n, np.float32)
    for item in range(release.n_items):
        entries = slice(start[item], start[item + 1])
        record[entries], code[entries], day[entries] = unpack_item(
            release.by_item, item, release.n_levels, release.span
        )
    item = np.repeat(np.arange(release.n_items, dtype=np.uint16), release.support)
    return Entries(start, record, item, _levels(release)[code], day, release.n_records)


def queries_of(release: so.Release, known: KnownFacts) -> list[Query]:
    """The queries in the form that the baselines need."""
    weight, levels = 1.0 / np.log(np.maximum(release.support, 2)), np.array(known.values, np.float64)
    ends = zip(known.first[:-1], known.first[1:], strict=True)
    return [
        Query(
            item=known.item[low:high],
            value=levels[known.value[low:high]],
            day=known.time[low:high],
            weight=weight[known.item[low:high]],
        )
        for low, high in ends
    ]


def _levels(release: so.Release) -> NDArray[np.float32]:
    return np.asarray(release.levels, np.float32)


def numpy_add_at(entries: Entries) -> Baseline:
    """Slices of columns, np.exp, np.add.at, np.argpartition."""
    start, value, day = entries.start, entries.value, entries.day
    record = entries.record.astype(np.intp)  # np.add.at is fastest with this type

    def answer(query: Query) -> Answer:
        scores = np.zeros(entries.n_records)
        for item, v, d, weight in query.facts():
            having = slice(start[item], start[item + 1])
            similarity = np.exp(-np.abs(value[having] - v) / RHO) + np.exp(-np.abs(day[having] - d) / D0)
            np.add.at(scores, record[having], weight * similarity)
        return _answer_from_scores(scores)

    return answer


def numpy_tables(entries: Entries) -> Baseline:
    """NumPy, optimised: two small tables instead of exp, and the best records by a threshold."""
    start, record = entries.start, entries.record.astype(np.intp)
    levels = np.sort(pd.unique(entries.value)).astype(np.float64)
    value = np.searchsorted(levels, entries.value).astype(np.uint8)
    day = entries.day.astype(np.uint16)
    days = np.arange(int(day.max()) + 1)

    def answer(query: Query) -> Answer:
        scores = np.zeros(entries.n_records)
        for item, v, d, weight in query.facts():
            having = slice(start[item], start[item + 1])
            of_value = weight * np.exp(-np.abs(levels - v) / RHO)
            of_day = weight * np.exp(-np.abs(days - d) / D0)
            np.add.at(scores, record[having], of_value[value[having]] + of_day[day[having]])
        n, mean = len(scores), float(scores.mean())
        best = np.flatnonzero(scores >= max(np.partition(scores, -TOP)[-TOP], 1e-300))
        best = best[np.argsort(-scores[best], kind="stable")][:TOP]
        return Answer(best, scores[best], mean, float(np.sqrt(scores @ scores / n - mean * mean)))

    return answer


def scipy_csc(entries: Entries) -> Baseline:
    """Sparse matrices of values and days: similarities of the known columns, times the weights."""
    shape = entries.n_records, len(entries.start) - 1
    start = entries.start.astype(np.int32)  # otherwise SciPy uses 64 bits for row numbers too
    values = sparse.csc_array((entries.value, entries.record, start), shape=shape)
    days = sparse.csc_array((entries.day, entries.record, start), shape=shape)

    def answer(query: Query) -> Answer:
        alike, apart = values[:, query.item], days[:, query.item]
        support = np.diff(alike.indptr)
        v, d = (np.repeat(known.astype(np.float32), support) for known in (query.value, query.day))
        alike.data = np.exp(-np.abs(alike.data - v) / RHO) + np.exp(-np.abs(apart.data - d) / D0)
        return _answer_from_scores(alike @ query.weight)

    return answer


def duckdb_sql(entries: Entries) -> Baseline:
    """A table in memory, sorted by item, and one statement: join, group by, aggregate."""
    frame = pd.DataFrame(entries._asdict(), columns=["record", "item", "value", "day"], copy=False)
    base = duckdb.connect(":memory:", config={"threads": 1})
    base.register("entries", frame)
    base.execute("CREATE TABLE ratings AS SELECT * REPLACE (day::SMALLINT AS day) FROM entries")
    base.unregister("entries")
    n = entries.n_records

    def answer(query: Query) -> Answer:
        facts = ", ".join(f"({i}::USMALLINT, {v}::FLOAT, {d}::SMALLINT, {w})" for i, v, d, w in query.facts())
        row = base.execute(
            f"""
            WITH aux(item, v, d, weight) AS (VALUES {facts}),
            scored AS (
                SELECT record,
                       sum(weight * (exp(-abs(value - v) / {RHO}) + exp(-abs(day - d) / {D0}))) AS score
                FROM ratings JOIN aux USING (item)
                GROUP BY record
            )
            SELECT arg_max(record, score, {TOP}), max(score, {TOP}), sum(score), sum(score * score)
            FROM scored
            """
        ).fetchone()
        assert row is not None
        return _answer_from_sums(np.array(row[0]), np.array(row[1]), row[2], row[3], n)

    return answer


def pandas_isin(release: so.Release) -> Baseline:
    """As published scripts do it: all ratings, filtered by item, merged with aux, grouped."""
    side = release.by_record
    assert side.value is not None and side.time is not None
    record = np.repeat(np.arange(release.n_records, dtype=np.int32), release.lengths)
    columns = {"record": record, "item": side.item, "value": _levels(release)[side.value], "day": side.time}
    ratings = pd.DataFrame(columns, copy=False)

    def answer(query: Query) -> Answer:
        aux = _aux(query, ratings["item"].dtype)
        return _answer_from_rows(ratings[ratings["item"].isin(aux["item"])].merge(aux, on="item"), release.n_records)

    return answer


def pandas_loc(entries: Entries) -> Baseline:
    """With the item as a sorted index, so that no search is needed."""
    columns = {"record": entries.record, "value": entries.value, "day": entries.day}
    ratings = pd.DataFrame(columns, index=pd.Index(entries.item, name="item"), copy=False)

    def answer(query: Query) -> Answer:
        aux = _aux(query, entries.item.dtype).set_index("item")
        return _answer_from_rows(ratings.loc[aux.index].join(aux), entries.n_records)

    return answer


def polars_slices(entries: Entries) -> Baseline:
    """Slices of a frame sorted by item, in one lazy plan."""
    start = entries.start
    frame = pl.DataFrame({name: getattr(entries, name) for name in ("record", "value", "day")})

    def scored(item: int, v: float, d: float, weight: np.float64) -> pl.LazyFrame:
        postings = frame.slice(int(start[item]), int(start[item + 1] - start[item])).lazy()
        apart = (pl.col("value") - v).abs() / -RHO, (pl.col("day") - d).abs() / -D0
        return postings.select("record", score=(apart[0].exp() + apart[1].exp()).cast(pl.Float64) * float(weight))

    def answer(query: Query) -> Answer:
        parts = pl.concat([scored(*fact) for fact in query.facts()])
        scores = parts.group_by("record").agg(pl.col("score").sum()).collect()
        best, every = scores.top_k(TOP, by="score"), scores["score"]
        best = best.sort("score", descending=True)
        squares = float((every * every).sum())
        return _answer_from_sums(
            best["record"].to_numpy(), best["score"].to_numpy(), every.sum(), squares, entries.n_records
        )

    return answer


def _aux(query: Query, item: Any) -> pd.DataFrame:
    columns = query.item.astype(item), query.value.astype(np.float32), query.day.astype(np.float32)
    return pd.DataFrame(dict(zip(("item", "v", "d"), columns, strict=True)) | {"weight": query.weight})


def _answer_from_rows(rows: pd.DataFrame, n_records: int) -> Answer:
    alike = np.exp(-(rows["value"] - rows["v"]).abs() / RHO) + np.exp(-(rows["day"] - rows["d"]).abs() / D0)
    rows["score"] = rows["weight"] * alike
    scores = rows.groupby("record")["score"].sum()
    best = scores.nlargest(TOP)
    return _answer_from_sums(best.index.to_numpy(), best.to_numpy(), scores.sum(), (scores**2).sum(), n_records)


def _answer_from_scores(scores: NDArray[np.float64]) -> Answer:
    """The answer from the scores of all records."""
    best = np.argpartition(scores, -TOP)[-TOP:]
    best = best[np.argsort(-scores[best])]
    return Answer(best, scores[best], float(scores.mean()), float(scores.std()))


def _answer_from_sums(
    record: NDArray[Any], score: NDArray[np.float64], total: float, squares: float, n_records: int
) -> Answer:
    """The answer from the best scores and the sums; all other records score 0."""
    mean = total / n_records
    return Answer(record, score, mean, float(np.sqrt(squares / n_records - mean * mean)))
