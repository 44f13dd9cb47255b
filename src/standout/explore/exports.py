"""Downloads: the facts as CSV that `standout lineup --aux` reads, and the lineup as CSV or JSON."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

import standout as so
from standout.explore.answers import LineupResponse, to_json
from standout.explore.command_text import FACTS_FILE, value_text
from standout.explore.exploration import Exploration
from standout.explore.lineups import answer_lineup
from standout.explore.requests import ExportRequest, TypedFact, known_fact
from standout.report.safe_tables import inert

__all__ = ["Download", "export"]


@dataclass(frozen=True, slots=True)
class Download:
    """A file: its name, its media type and its content."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class JsonExport:
    """The JSON export: the answer, and what it was computed from."""

    lineup: LineupResponse
    data: str
    fingerprint: str
    version: str


def export(exploration: Exploration, request: ExportRequest) -> Download:
    """Make the file of a format."""
    if request.format == "facts.csv":
        return Download(FACTS_FILE, "text/csv", _facts_csv(request.lineup.facts))
    answer = answer_lineup(exploration, request.lineup)
    if request.format == "lineup.csv":
        return Download("lineup.csv", "text/csv", _lineup_csv(answer))
    summary = exploration.summary
    content = JsonExport(answer, summary.name, summary.fingerprint, so.__version__)
    return Download("lineup.json", "application/json", to_json(content, indent=1) + b"\n")


def _facts_csv(facts: Sequence[TypedFact]) -> bytes:
    """The facts with exact ids, because they are read again."""
    known = map(known_fact, facts)
    rows = (
        (
            fact.item,
            None if fact.value is None else value_text(fact.value),
            fact.time and fact.time.isoformat(),
            fact.value_error,
            fact.time_error,
            fact.doubt,
        )
        for fact in known
    )
    return _csv(("item", "value", "time", "value_error", "time_error", "doubt"), rows)


def _lineup_csv(answer: LineupResponse) -> bytes:
    """One row for each record of each lineup; without ids unless they were asked for."""
    versions = {"release": answer.answers, "what if": answer.what_if or {}}
    rows = [
        (version, attack, candidate.name, candidate.id, candidate.score, candidate.probability)
        for version, answers in versions.items()
        for attack, answers_of_attack in answers.items()
        for candidate in answers_of_attack.lineup
    ]
    columns = {"data": str, "attack": str, "name": str, "id": str, "score": float, "probability": float}
    return inert(pl.DataFrame(rows, schema=columns, orient="row")).write_csv().encode("utf-8", "replace")


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
