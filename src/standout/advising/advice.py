"""The result of a search for advice: its candidates, the frontier, the recommendation, and all its sentences."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from standout._version import __version__
from standout.advising.candidates import Candidate, frontier
from standout.advising.search import SearchResult, unproven_candidates
from standout.auditing.sentences import describe_adversary
from standout.core.files import write_atomically
from standout.core.json_files import JsonObject
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.text import count, estimate_line
from standout.data.export import ResultView
from standout.data.release import Release
from standout.evaluate.estimates import percent, rate_text
from standout.evaluate.simulation import TableResult
from standout.findings.json_types import json_text, to_json_object
from standout.findings.link_and_advise import (
    AdviceFindings,
    Among,
    CandidateFindings,
    CompositionFindings,
    ReleaseSize,
    UnprovenFindings,
    UtilityFindings,
)
from standout.know.adversary import Adversary

ENTRY_MEASURES = ("kept", "hit_rate", "hit_rate_loss", "rmse", "rmse_increase")
COLUMN_MEASURES = ("kept", "information", "associations", "rows_kept")
"""Measures of utility that the table shows."""
TABLE_OPTION = "--table"


@dataclass(frozen=True, eq=False, repr=False)
class Advice(ResultView, TableResult):
    """The result of `standout.advise`: candidates, the frontier and the recommendation.

    Attributes
    ----------
    release
        The original.
    search
        Everything that the search measured.
    adversary
        The adversary to protect against.
    limit
        Largest acceptable share of identified people.
    composition
        What two releases with the recommended steps reveal together. None if nothing is recommended, or there are
        columns.
    among
        Whom the limit applies to: "everybody" or "released".
    seed
        Seed of all random draws.
    name
        Name of the data in the report.
    """

    release: Release
    search: SearchResult
    adversary: Adversary
    limit: float
    composition: CompositionFindings | None
    among: Among
    seed: int
    name: str = ""

    def _shown(self) -> AdviceFindings:
        return self.findings

    @property
    def complete(self) -> bool:
        """Whether the search finished. False if it was interrupted."""
        return self.search.complete

    @property
    def recommended(self) -> Candidate | None:
        """The recommended candidate, re-measured on fresh targets.

        The upper end of its interval does not exceed the limit. None if no candidate meets the limit, or if
        the search was interrupted.
        """
        return self.search.recommended

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates: the untouched release first, then by increasing risk."""
        by_risk = sorted(self.search.candidates.values(), key=lambda candidate: candidate.rate.value)
        return tuple(sorted(by_risk, key=lambda candidate: bool(candidate.steps)))

    @cached_property
    def frontier(self) -> tuple[Candidate, ...]:
        """Candidates for which no other has both less risk and more utility."""
        return tuple(frontier(self.candidates))

    @property
    def summary(self) -> str:
        """The answer in sentences."""
        return self.findings.summary

    def command(self, data: str | Sequence[str] = "DATA", output: str = "OUT") -> str:
        """Command that makes the recommended release.

        Parameters
        ----------
        data
            The source, or the source and options for reading it.
        output
            The file or folder to write.

        Returns
        -------
        str
            A `standout sanitize` command without a seed; empty if nothing is recommended or has to be
            changed.
        """
        if self.recommended is None or not self.recommended.steps:
            return ""
        words, new_ids = [data] if isinstance(data, str) else list(data), ["--renumber"]
        if self.release.columns:
            words, new_ids = [*words, *([] if TABLE_OPTION in words else [TABLE_OPTION])], []
        steps = [word for step in self.recommended.steps for word in ("--step", str(step))]
        # No seed: whoever knows it can undo noise.
        return shlex.join(["standout", "sanitize", *words, *steps, *new_ids, "-o", output])

    @cached_property
    def table(self) -> pl.DataFrame:
        """Table with one row per candidate."""
        rows, measures = [], COLUMN_MEASURES if self.release.columns else ENTRY_MEASURES
        best = () if self.recommended is None else self.recommended.steps
        for candidate in map(self._candidate_findings, self.candidates):
            row: dict[str, str | float | None] = {
                "steps": candidate.name,
                "stage": candidate.stage,
                "frontier": candidate.frontier,
                "recommended": bool(best) and candidate.steps == tuple(map(str, best)),
                "attack": candidate.attack,
            }
            for name in ("identified", "identified_in_release", *measures):
                estimate = getattr(candidate.utility if name in measures else candidate, name)
                for suffix, end in (("", "value"), ("_low", "low"), ("_high", "high")):
                    number = getattr(estimate, end, math.nan)
                    row[name + suffix] = number if math.isfinite(number) else None
            rows.append(row | {"seed": self.seed, "fingerprint": self.release.fingerprint, "version": __version__})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> JsonObject:
        """Plain values of the findings.

        Returns
        -------
        dict
            The content of advice.json.
        """
        return to_json_object(self.findings)

    def to_json(self, path: str | Path) -> None:
        """Write advice.json.

        Parameters
        ----------
        path
            The file; an existing file is replaced.
        """
        text = json_text(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    @with_progress
    def to_html(self, path: str | Path, *, progress: ProgressOption = no_progress) -> None:
        """Write the report as one HTML file.

        Parameters
        ----------
        path
            The file; an existing file is replaced.
        progress
            True shows a bar while the charts are drawn.
        """
        from standout.report.pages import advice_page

        text = advice_page(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def __repr__(self) -> str:
        best = self.recommended
        answer = f"nothing recommended for a limit of {percent(self.limit)}"
        if best is not None:
            numbers = f"identified {estimate_line(best.rate)}, {percent(best.utility_kept)} of the utility kept"
            answer = f"recommended: {best.name}; {numbers}"
        state = "" if self.complete else ", interrupted"
        return f"<Advice: {len(self.candidates) - 1} candidates{state}; {answer}>"

    @cached_property
    def findings(self) -> AdviceFindings:
        """The content of advice.json. It has no ids and no seed."""
        release, best = self.release, self.recommended
        known = (known_attributes if release.columns else describe_adversary)(self.adversary, release)
        possible = int(self.adversary.eligible(release, np.arange(release.n_records)).sum())
        unproven = unproven_candidates(self.search, self.limit, possible)
        sentences = summary_sentences(self.search, unproven, known, self.limit, bool(release.columns))
        used = {step.name: step for candidate in self.candidates for step in candidate.steps}
        return AdviceFindings(
            complete=self.complete,
            limit=self.limit,
            among=self.among,
            adversary=known,
            data=ReleaseSize(
                self.name, release.fingerprint, release.n_records, release.n_items, release.n_entries, release.n_columns
            ),
            summary=" ".join(sentences),
            sentences=tuple(sentences),
            command=self.command(self.name or "DATA", "OUT.csv" if release.columns else "OUT"),
            recommended=None if best is None else self._candidate_findings(best),
            candidates=tuple(map(self._candidate_findings, self.candidates)),
            step_descriptions={f"{name} {used[name].syntax}": used[name].summary for name in sorted(used)},
            impossible=self.search.impossible,
            composition=self.composition,
            limits=tuple(limitations(self.search, release, self.adversary)),
            version=__version__,
            unproven=unproven,
        )

    def _candidate_findings(self, candidate: Candidate) -> CandidateFindings:
        names = [each.name for each in fields(UtilityFindings)]
        return CandidateFindings(
            steps=tuple(map(str, candidate.steps)),
            name=candidate.name,
            stage=candidate.stage,
            attack=candidate.risk.attack,
            identified=candidate.risk.everybody,
            identified_in_release=candidate.risk.released,
            utility=UtilityFindings(**{name: getattr(candidate.utility, name) for name in names}),
            frontier=any(candidate.steps == each.steps for each in self.frontier),
        )


# The sentences. What is about columns is said of a table, and the rest of a release.


NOTHING_HELPS = {
    False: "Narayanan and Shmatikov (2008) predict this for sparse data.",
    True: "A larger limit, fewer columns or a hierarchy in the schema gives more choices.",
}


def summary_sentences(
    result: SearchResult, unproven: UnprovenFindings | None, adversary: str, limit: float, has_columns: bool
) -> list[str]:
    """The answer: the recommended candidate, what would prove one, or that no candidate meets the limit."""
    untouched, best, data = result.candidates[()], result.recommended, "table" if has_columns else "release"
    sentences = [
        f"An adversary who knows a few facts ({adversary}) identifies {rate_text(untouched.rate)} of the "
        f"people in the untouched {data}."
    ]
    if best is not None:
        if not best.steps:
            sentences.append(f"This meets the limit of {percent(limit)}, so nothing has to be changed.")
        else:
            people = f"in the sanitized {data}" if best.among == "released" else "in the original"
            sentences += [
                f"After {best.name}, the adversary identifies {rate_text(best.rate)} of the people {people}.",
                "This rate was re-measured on fresh targets and with fresh noise. Its whole interval is below the "
                f"limit of {percent(limit)}.",
                utility_left(best),
            ]
        return [*sentences, *_missing_people(result, best, limit, data)]
    if not result.complete:
        return [*sentences, "The search was interrupted before a candidate could be recommended."]
    number = count(len(result.failed), "candidate", "candidates")
    failed = [f"{number} met the limit at first, but not when re-measured on fresh targets."] * bool(result.failed)
    if unproven is not None:
        closest = next(each for each in result.latest.values() if each.name == unproven.candidates[0].name)
        facts = "attributes" if has_columns else "entries"
        return [*sentences, *_not_proven(unproven, closest, limit, data), *failed, *_what_settles(unproven, facts)]
    tried = len(result.candidates) - 1
    none = "The only candidate does not meet" if tried == 1 else f"None of the {tried} candidates meets"
    if not tried:
        none = f"No candidate could be tried, and the untouched {data} does not meet"
    sentences.append(f"{none} the limit of {percent(limit)}: the upper end of the interval must not exceed it.")
    closest = min(result.candidates.values(), key=lambda candidate: (candidate.rate.high, -candidate.utility_kept))
    if closest.steps:
        sentences += [f"The closest is {closest.name}, with {rate_text(closest.rate)}.", utility_left(closest)]
    return [*sentences, *failed, NOTHING_HELPS[has_columns]]


def _missing_people(result: SearchResult, best: Candidate, limit: float, data: str) -> list[str]:
    """A warning if the limit is met for everybody, but not for the people in the sanitized data."""
    if best.risk.released.high <= limit:
        return []
    warning = (
        f"However, {rate_text(best.risk.released)} of the people in the sanitized {data} are "
        "identified: the limit is met by leaving people out, not by protecting those who remain."
    )
    failed = {candidate.steps for candidate in result.failed}
    safe = [each for each in result.candidates.values() if each.risk.released.high <= limit]
    other = max((each for each in safe if each.steps not in failed), key=lambda each: each.utility_kept, default=None)
    if other is None:
        return [warning, "No candidate meets the limit for them."]
    kept = percent(other.utility_kept)
    return [warning, f"{other.name} seems to meet the limit for them too, and keeps {kept} of the utility."]


def _not_proven(unproven: UnprovenFindings, best: Candidate, limit: float, data: str) -> list[str]:
    """That measured rates are below the limit, and that none is proven to be."""
    rates = "one measured rate is" if unproven.number == 1 else f"{unproven.number} measured rates are"
    text = rate_text(best.rate)
    if percent(best.rate.value) == percent(limit):  # it is not shown as equal to the limit
        text = f"slightly less than {text}"
    sentences = [
        f"Nothing is proven to meet the limit of {percent(limit)}, although {rates} below it: the upper end "
        "of the interval must not exceed the limit, also when it is re-measured on fresh targets.",
        f"The closest is {best.name if best.steps else f'the {data} as it is'}, with {text}.",
    ]
    if best.rate.high <= limit:
        sentences.append("It was not re-measured on fresh targets.")
    return [*sentences, utility_left(best)] if best.steps else sentences


def _what_settles(unproven: UnprovenFindings, facts: str) -> list[str]:
    closest, targets = unproven.candidates[0], unproven.targets
    needed = f"if the rate stays the same, at least {count(closest.targets_needed)} targets are needed"
    people = f"only {count(unproven.possible_targets)} people have enough {facts} to be targets"
    if targets is None:
        return [
            f"More targets cannot settle this: {needed}, and {people}.",
            "A stronger change or a larger limit is needed.",
        ]
    settling = f"More targets would settle this: {needed}, and {count(targets)} prove it nine times out of ten."
    if targets < closest.targets_advised:
        settling = f"More targets may settle this: {needed}, and {people}."
    return [settling, "Use a new seed, and run it once: repeating a measurement until it succeeds proves nothing."]


def utility_left(candidate: Candidate) -> str:
    """What is left of the utility, in one sentence."""
    utility, kept = candidate.utility, candidate.utility.kept
    if kept is None:
        return "The loss of utility is unknown, because a recommender learns nothing from the untouched release either."
    shares = {
        "the information in its cells": utility.information,
        "the associations between its columns": utility.associations,
        "its rows": utility.rows_kept,
    }
    pairs = {
        "top-10 hit rate": (utility.hit_rate, utility.hit_rate_before),
        "RMSE": (utility.rmse, utility.rmse_before),
    }
    parts = [f"{percent(share.value)} of {what}" for what, share in shares.items() if share is not None]
    parts += [f"{name} {new.value:.3f} (before: {old.value:.3f})" for name, (new, old) in pairs.items() if new and old]
    if utility.information is not None:
        return f"The sanitized table keeps {percent(candidate.utility_kept)} of the utility: {', '.join(parts)}."
    value, low, high = (percent(min(max(end, 0.0), 1.0)) for end in (kept.value, kept.low, kept.high))
    return f"The sanitized release keeps {value} ({low} to {high}) of the utility: {', '.join(parts)}."


def limitations(result: SearchResult, release: Release, adversary: Adversary) -> list[str]:
    """What the numbers do not say."""
    sentences = [
        "The risk is that of one adversary and of the attacks that were tried. An adversary who knows more "
        "identifies more people."
    ]
    reason = "nothing would be left of the release"
    if release.columns:
        reason = "their steps do not fit the table, or nothing would be left of it"
        sentences += [
            "Utility is the information in the cells, mean over the columns, or the associations of pairs of "
            "columns, whichever is smaller. Every column counts the same. Other uses are not measured: "
            "so.utility also runs a prediction task.",
            "The risk is that of finding a person's row. It does not say what rows with equal values have in "
            "common: standout audit shows what they disclose.",
        ]
        if release.n_items:
            known = "is part of what the adversary knows" if adversary.entries else "was not attacked"
            sentences.append(f"The built-in steps do not change the history of the people, which {known}.")
    else:
        sentences.append(
            "Utility is measured with a recommender. The data may have other uses, which are not measured."
        )
        if release.span:
            sentences.append("The recommender does not use times, so removing them costs nothing here.")
    sentences.append(
        "The best of many candidates looks better than it is. Only the recommended candidate was re-measured "
        "on fresh targets. Candidates of the quick stage have wide intervals."
    )
    if result.impossible:
        impossible = count(len(result.impossible), "candidate was", "candidates were")
        sentences.append(f"{impossible} not tried, because {reason}.")
    return sentences


def known_attributes(adversary: Adversary, table: Release) -> str:
    """What an adversary knows, in one line: 6 of 14 attributes, imprecise, 1 wrong."""
    named, knows = adversary.columns, adversary.knows
    total = len(table.attributes if named is None else named)
    parts = [f"{knows} of {total} attributes"]
    if knows == total:
        parts = [count(total, "attribute", "attributes")] if named is None else list(named)
    if str(adversary.items) == "rarest":
        parts.append("those whose value fewest people share")
    errors = (adversary.error_of(column) for column in table.columns if column.has_distances)
    parts.append("imprecise" if any(errors) else "exact")
    parts += [f"{adversary.wrong} wrong"] * bool(adversary.wrong)
    if adversary.entries is not None:
        parts.append(f"{adversary.entries.knows} entries of the history")
    return ", ".join(parts)
