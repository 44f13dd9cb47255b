"""What came of linking two data sets: who each profile points to, what is claimed, and what that is worth."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout._version import __version__
from standout.core.arrays import Floats, Ints
from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimate_text import percent
from standout.evaluate.estimates import Estimate, rate
from standout.linking.align import Alignment
from standout.linking.assign import contested, one_to_one
from standout.linking.claims import Null, likely_absent
from standout.linking.decoys import FEW_DONORS, KINDS
from standout.linking.evidence import PARTS, Model
from standout.linking.profiles import MOST_FACTS, Profiles
from standout.linking.scores import By, Dates, Scored
from standout.linking.truth import Truth, by_budget, curve
from standout.release.model import Release
from standout.report.safe_tables import inert

__all__ = ["Asked", "Links"]

Flags = NDArray[np.bool_]
MEASURES: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for, checked."""

    dates: Dates
    by: By
    phi: float | None
    budget: float
    decoys: int
    assign: bool
    seed: int
    threads: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Links:
    """Who each profile was linked to, and what that is worth. `complete` is False if it was cut short."""

    profiles: Profiles
    asked: Asked
    model: Model
    found: Scored
    absent: Scored | None
    null: Null
    truth: Truth | None
    complete: bool

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut short"
        return f"<Links: {len(self):,} profiles, {self.claims:,} claims{cut}>"

    def __len__(self) -> int:
        return len(self.found)

    @property
    def alignment(self) -> Alignment:
        """How items and values were aligned."""
        return self.profiles.alignment

    @property
    def facts(self) -> Ints:
        """How many facts of each profile were used."""
        return self.profiles.used[: len(self)]

    @property
    def budget(self) -> float:
        """The share of people who are not there that may be claimed."""
        return self.asked.budget

    @property
    def by(self) -> By:
        """What decides: evidence, or eccentricity."""
        return self.asked.by

    @cached_property
    def phi(self) -> float:
        """From where on a record is claimed: as given, or from the decoys; ∞ where they are too few."""
        return self.null.phi(self.asked.budget) if self.asked.phi is None else self.asked.phi

    @cached_property
    def _claims(self) -> tuple[Flags, Flags, Flags]:
        """Which profiles claim a record; which could if φ were lower; which tie for one."""
        able = self.found.able
        wish, record, claim = self._wishes, self.found.record, self.found.claim
        if not self.asked.assign:
            return wish, able, np.zeros(len(self), np.bool_)
        kept, tied = one_to_one(record, claim, wish)
        return kept, one_to_one(record, claim, able)[0], tied

    @property
    def claimed(self) -> Flags:
        """Which profiles claim a record."""
        return self._claims[0]

    @property
    def claims(self) -> int:
        """How many profiles claim a record."""
        return int(np.count_nonzero(self.claimed))

    @property
    def ties(self) -> int:
        """How many claims were dropped because others are as good for the same record (with `assign`)."""
        return int(np.count_nonzero(self._claims[2]))

    @cached_property
    def false_claim(self) -> Floats:
        """Of each profile how likely somebody who is not there would stand out as far; NaN without decoys."""
        if not len(self.null):
            return np.full(len(self), math.nan)
        return np.where(self.found.record >= 0, self.null.false_claim(self.found.claim), 1.0)

    @property
    def expected_false(self) -> float:
        """How many claims there would be if none of the profiles were in the release: no more are false."""
        tried = int(np.count_nonzero(self.facts))
        return self.null.expected(self.phi, tried) if len(self.null) else math.nan

    @property
    def likely_false(self) -> float:
        """The same of those profiles only that look as if they were not there; no more than are claimed."""
        if not len(self.null):
            return math.nan
        away = likely_absent(self.false_claim[self.facts > 0])
        return min(self.expected_false * away, float(self.claims))

    @cached_property
    def right(self) -> Flags | None:
        """Which profiles' best record is theirs; None without truth."""
        if self.truth is None:
            return None
        own = self.truth.record[: len(self)]
        return np.asarray((own >= 0) & (self.found.record == own) & (self.found.ties == 1))

    @property
    def precision(self) -> Estimate | None:
        """Of the claims how many are right; None without truth."""
        return None if self.right is None else rate(int((self.right & self.claimed).sum()), self.claims)

    @property
    def recall(self) -> Estimate | None:
        """Of the profiles that are in the release how many are claimed rightly; None without truth."""
        if self.right is None or self.truth is None:
            return None
        return rate(int((self.right & self.claimed).sum()), int((self.truth.record[: len(self)] >= 0).sum()))

    @property
    def false(self) -> Estimate | None:
        """Of the profiles that are not in the release how many are claimed; None without truth."""
        if self.truth is None:
            return None
        absent = self.truth.record[: len(self)] < 0
        return rate(int((absent & self.claimed).sum()), int(absent.sum()))

    @cached_property
    def curve(self) -> pl.DataFrame:
        """With truth: phi, claims, right, precision, recall, false (the share of absent people claimed)."""
        if self.truth is None or self.right is None:
            raise ParameterError("a curve of precision and recall takes the truth: link(…, truth=…)")
        absent = self.truth.record[: len(self)] < 0
        able = self._claims[1]
        return curve(self.found.claim, self.right, able, absent, int((~absent).sum()))

    @cached_property
    def by_budget(self) -> pl.DataFrame:
        """With truth: the same by the share of decoys that may be claimed."""
        if self.truth is None or self.right is None:
            raise ParameterError("precision and recall take the truth: link(…, truth=…)")
        absent = self.truth.record[: len(self)] < 0
        present = int((~absent).sum())
        return by_budget(self.found.claim, self.null.phi, self.right, self._claims[1], absent, present)

    @cached_property
    def sizes(self) -> pl.DataFrame:
        """By facts used, 1, 2–3, 4–7 …: from, to, profiles, claims; with truth also present and right."""
        used = self.facts[self.facts > 0]
        begin = 2 ** np.unique(np.frexp(used)[1].astype(np.int64) - 1) if len(used) else np.ones(1, np.int64)
        groups = {"profiles": self.facts > 0, "claims": self.claimed}
        if self.truth is not None and self.right is not None:
            groups |= {"present": self.truth.record[: len(self)] >= 0, "right": self.claimed & self.right}
        own = np.searchsorted(begin, self.facts, "right") - 1
        rows = [
            {"from": int(low), "to": int(self.facts[own == at].max(initial=low))}
            | {name: int((group & (own == at)).sum()) for name, group in groups.items()}
            for at, low in enumerate(begin)
        ]
        return pl.DataFrame(rows)

    @cached_property
    def decoys(self) -> pl.DataFrame:
        """The decoys: kind, evidence, eccentricity."""
        kinds = pl.Series([KINDS[kind] for kind in self.null.kind.tolist()], dtype=pl.String)
        far = {name: np.empty(0) if self.absent is None else getattr(self.absent, name) for name in MEASURES}
        return pl.DataFrame({"kind": kinds} | far)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each profile, in the order of `public`.

        profile, record (best guess), runner_up, evidence, eccentricity, score, runner_up_score, ties,
        bits_left, facts_used, facts_unknown, claimed, false_claim, contested (by so many other claims),
        by_values, by_dates, by_items (what the record has more than the runner-up: evidence in bits, or σ),
        carried_by, dates; with truth also right.
        """
        found, n, profiles = self.found, len(self), self.profiles
        columns: dict[str, Any] = {
            "profile": [profiles.public.records[place] for place in range(n)],
            "record": _ids(profiles.release, found.record),
            "runner_up": _ids(profiles.release, found.runner_up),
            "evidence": found.evidence, "eccentricity": found.eccentricity,
            "score": found.score, "runner_up_score": found.second, "ties": found.ties,
            "bits_left": found.bits,
            "facts_used": self.facts, "facts_unknown": profiles.unknown[:n],
            "claimed": self.claimed, "false_claim": pl.Series(self.false_claim).fill_nan(None),
            "contested": contested(found.record, self._wishes),
        }  # fmt: skip
        columns |= {f"by_{name}": found.margin[:, at] for at, name in enumerate(PARTS)}
        carried = [PARTS[at] for at in np.argmax(found.margin, axis=1).tolist()]
        columns["carried_by"] = [
            name if far > 0 else None for name, far in zip(carried, found.claim.tolist(), strict=True)
        ]
        columns["dates"] = pl.Series(np.where(found.dated, "used", "ignored").tolist(), dtype=pl.String)
        if self.right is not None:
            columns["right"] = self.right
        return pl.DataFrame(columns, schema_overrides={"carried_by": pl.String})

    @property
    def _wishes(self) -> Flags:
        """Claims before any of them is dropped for another."""
        return np.asarray(self.found.able & (self.found.claim >= self.phi))

    @property
    def summary(self) -> str:
        """What was found, in a few sentences, without anybody's id."""
        return " ".join(_sentences(self))

    def to_csv(self, path: str | Path) -> None:
        """The table as a CSV file, for its owner alone: it names records."""
        write_atomically(Path(path), lambda file: inert(self.table).write_csv(file), private=True)

    def to_parquet(self, path: str | Path) -> None:
        """The table as a Parquet file, for its owner alone: it names records."""
        write_atomically(Path(path), lambda file: self.table.write_parquet(file), private=True)

    def to_json(self, path: str | Path) -> None:
        """Everything as a JSON file, for its owner alone: it names records."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        write_atomically(Path(path), lambda file: file.write(text.encode()), private=True)

    def to_html(self, path: str | Path, data: str = "", public: str = "") -> None:
        """A short report, one file, with names for the two data sets. It names nobody."""
        page: Callable[[Mapping[str, Any]], str] = import_module("standout.report.linking_page").page
        write_atomically(Path(path), lambda file: file.write(page(self.told(data, public)).encode()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as a plain object: what `told` has, and the table."""
        return self.told() | {"table": _plain(self.table)}

    def told(self, data: str = "", public: str = "") -> dict[str, Any]:
        """What was found as a plain object that names nobody: numbers, sizes, decoys, curve."""
        release, side = self.profiles.release, self.profiles.public
        judged = None
        if self.truth is not None:
            both = {"precision": self.precision, "recall": self.recall, "false": self.false}
            judged = {name: estimate_json(one) for name, one in both.items() if one is not None} | {
                "pairs": self.truth.pairs, "no_profile": self.truth.no_profile,
                "no_record": self.truth.no_record, "present": self.truth.present,
            }  # fmt: skip
        return {
            "summary": self.summary, "complete": self.complete,
            "release": {"name": data, "fingerprint": release.fingerprint, "records": release.n_records,
                        "items": release.n_items, "entries": release.n_entries},
            "public": {"name": public, "fingerprint": side.fingerprint, "profiles": side.n_records,
                       "items": side.n_items, "entries": side.n_entries},
            "alignment": {"words": self.alignment.words(), "counts": dict(self.alignment.counts)},
            "settings": {"dates": self.asked.dates, "by": self.by, "phi": self.asked.phi,
                         "budget": self.asked.budget, "decoys": self.asked.decoys,
                         "assign": self.asked.assign, "seed": self.asked.seed},
            "phi": _finite(self.phi), "tried": int((self.facts > 0).sum()), "profiles": len(self),
            "claims": self.claims,
            "expected_false": _finite(self.expected_false), "likely_false": _finite(self.likely_false),
            "ties": self.ties, "contested": int((contested(self.found.record, self._wishes) > 0).sum()),
            "carried": self._carried(),
            "sizes": _plain(self.sizes),
            "histograms": {name: _plain(self.histogram(name)) for name in MEASURES},
            "truth": judged, "curve": None if self.truth is None else _plain(self.curve),
            "by_budget": None if self.truth is None or not len(self.null) else _plain(self.by_budget),
            "version": __version__,
        }  # fmt: skip

    def _carried(self) -> dict[str, int]:
        """By what claims are carried."""
        own = np.argmax(self.found.margin, axis=1)[self.claimed]
        return {name: int((own == at).sum()) for at, name in enumerate(PARTS)}

    def histogram(self, measure: By = "eccentricity") -> pl.DataFrame:
        """How far all stand out, in bins that grow by half, the first below 0: counts of claims, others, and
        decoys of each kind."""
        edges = np.array([0.0, *(0.25 * 1.5**k for k in range(25))])
        far: Floats = getattr(self.found, measure)
        groups = {"claims": far[self.claimed], "others": far[~self.claimed & (self.found.record >= 0)]}
        groups |= {
            name: self.decoys.filter(kind=name)[measure].to_numpy() for name in KINDS
        }  # fmt: skip
        counts = {
            name: [
                int((own < 0).sum()),
                *np.histogram(np.clip(own[own >= 0], 0, edges[-1]), edges)[0].tolist(),
            ]
            for name, own in groups.items()
        }
        return pl.DataFrame({"from": [None, *edges[:-1].tolist()], "to": edges} | counts)


def _sentences(links: Links) -> list[str]:
    """What was found, without anybody's id."""
    tried, all_of = int((links.facts > 0).sum()), len(links)
    words = [
        f"{links.claims:,} of {all_of:,} profiles claim a record ({percent(links.claims / max(all_of, 1))})."
    ]
    if not links.complete:
        words.insert(0, "Cut short: only some of the profiles were tried.")
    if tried < all_of:
        words.append(f"{all_of - tried:,} have no item that the release has.")
    if len(links.null) and math.isinf(links.phi):
        words.append(
            f"The release has too few people for a budget of {percent(links.budget)}: nothing is claimed. "
            "A larger budget may do, or a given φ."
        )
    elif len(links.null):
        away = likely_absent(links.false_claim[links.facts > 0])
        most, likely = _count(links.expected_false), _count(links.likely_false)
        words.append(
            f"If none of them were in the release, about {most} would be claimed falsely. {percent(away)} "
            f"look as if they were not there: about {likely} false claims are to be expected."
        )
    else:
        words.append("Without decoys nothing is known of false claims.")
    clash = int((contested(links.found.record, links._wishes) > 0).sum())
    if clash and links.asked.assign:
        words.append(f"{clash:,} claims were for a record that others claim, too: the best was kept.")
        words += [f"{links.ties:,} of them tie and were dropped."] if links.ties else []
    elif clash:
        words.append(f"{clash:,} claims are for a record that others claim, too.")
    if int((links.profiles.shared > MOST_FACTS).sum()):
        words.append(f"Of profiles with more than {MOST_FACTS:,} known items the rarest were used.")
    if len(links.null) and int((links.profiles.used > 0).sum()) < FEW_DONORS:
        words.append("The profiles are few: decoys were recombined from entries of the release.")
    if links.truth is not None and links.precision is not None and links.recall is not None:
        words.append(f"Held against the truth: precision {links.precision}, recall {links.recall}.")
        words += [links.truth.words()] if links.truth.words() else []
    return words


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def _ids(release: Release, places: Ints) -> list[str | None]:
    return [release.records[place] if place >= 0 else None for place in places.tolist()]


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _plain(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain objects, without anything that JSON lacks."""
    return table.to_dicts()
