"""All sentences of an advice, and the command that makes the recommended release."""

import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from standout.advising.candidate import Candidate
from standout.advising.composition import Composition
from standout.advising.search import SearchResult, Unproven, UnprovenCandidates
from standout.core.text import count
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.know.adversary import Adversary

RISK_LIMITATION = (
    "The risk is that of one adversary and of the attacks that were tried. An adversary who knows more "
    "identifies more people."
)


class Wording(NamedTuple):
    """What an advice calls the data and its facts, and what it says about utility and if nothing helps."""

    data: str
    facts: str
    utility_left: Callable[[Candidate], str]
    nothing_helps: str


def summary_sentences(
    result: SearchResult, unproven: UnprovenCandidates, adversary: str, limit: float, wording: Wording
) -> list[str]:
    """The answer: the recommended candidate, what would prove one, or that no candidate meets the limit."""
    untouched, best = result.candidates[()], result.recommended
    sentences = [
        f"An adversary who knows a few facts ({adversary}) identifies {rate_text(untouched.rate)} of the "
        f"people in the untouched {wording.data}."
    ]
    if best is not None:
        recommendation = _recommendation(best, limit, wording)
        return [*sentences, *recommendation, *_missing_people(result, best, limit, wording)]
    if not result.complete:
        return [*sentences, "The search was interrupted before a candidate could be recommended."]
    if unproven.closest is not None:
        return [*sentences, *_unproven(result, unproven, unproven.closest, limit, wording)]
    return [*sentences, *_no_recommendation(result, limit, wording)]


def _recommendation(candidate: Candidate, limit: float, wording: Wording) -> list[str]:
    if not candidate.steps:
        return [f"This meets the limit of {percent(limit)}, so nothing has to be changed."]
    people = f"in the sanitized {wording.data}" if candidate.among == "released" else "in the original"
    return [
        f"After {candidate.name}, the adversary identifies {rate_text(candidate.rate)} of the people {people}.",
        "This rate was re-measured on fresh targets and with fresh noise. Its whole interval is below the "
        f"limit of {percent(limit)}.",
        wording.utility_left(candidate),
    ]


def _missing_people(result: SearchResult, best: Candidate, limit: float, wording: Wording) -> list[str]:
    """A warning if the limit is met for everybody, but not for the people in the sanitized data."""
    if best.risk.released.high <= limit:
        return []
    warning = (
        f"However, {rate_text(best.risk.released)} of the people in the sanitized {wording.data} are "
        "identified: the limit is met by leaving people out, not by protecting those who remain."
    )
    failed = {candidate.steps for candidate in result.failed}
    others = [
        candidate
        for candidate in result.candidates.values()
        if candidate.risk.released.high <= limit and candidate.steps not in failed
    ]
    if not others:
        return [warning, "No candidate meets the limit for them."]
    other = max(others, key=lambda candidate: candidate.utility_kept)
    kept = percent(other.utility_kept)
    return [warning, f"{other.name} seems to meet the limit for them too, and keeps {kept} of the utility."]


def _unproven(
    result: SearchResult, unproven: UnprovenCandidates, closest: Unproven, limit: float, wording: Wording
) -> list[str]:
    """That measured rates are below the limit, that none is proven to be, and what would settle it."""
    best, number = closest.candidate, unproven.number
    rates = "one measured rate is" if number == 1 else f"{number} measured rates are"
    sentences = [
        f"Nothing is proven to meet the limit of {percent(limit)}, although {rates} below it: the upper end "
        "of the interval must not exceed the limit, also when it is re-measured on fresh targets.",
        f"The closest is {best.name if best.steps else f'the {wording.data} as it is'}, with "
        f"{_below(best.rate, limit)}.",
    ]
    if best.rate.high <= limit:
        sentences.append("It was not re-measured on fresh targets.")
    if best.steps:
        sentences.append(wording.utility_left(best))
    return [*sentences, *_failed(result), *_what_settles(unproven, closest, wording)]


def _below(rate: Estimate, limit: float) -> str:
    """A rate below the limit; one that rounds to the limit is not shown as equal to it."""
    text = rate_text(rate)
    return f"slightly less than {text}" if percent(rate.value) == percent(limit) else text


def _what_settles(unproven: UnprovenCandidates, closest: Unproven, wording: Wording) -> list[str]:
    needed = f"if the rate stays the same, at least {count(closest.targets_needed)} targets are needed"
    people = f"only {count(unproven.possible_targets)} people have enough {wording.facts} to be targets"
    targets = unproven.targets_to_settle
    if targets is None:
        return [
            f"More targets cannot settle this: {needed}, and {people}.",
            "A stronger change or a larger limit is needed.",
        ]
    settling = f"More targets would settle this: {needed}, and {count(targets)} prove it nine times out of ten."
    if targets < closest.targets_advised:
        settling = f"More targets may settle this: {needed}, and {people}."
    return [settling, "Use a new seed, and run it once: repeating a measurement until it succeeds proves nothing."]


def _no_recommendation(result: SearchResult, limit: float, wording: Wording) -> list[str]:
    best = min(result.candidates.values(), key=lambda candidate: (candidate.rate.high, -candidate.utility_kept))
    tried = len(result.candidates) - 1
    none = "The only candidate does not meet" if tried == 1 else f"None of the {tried} candidates meets"
    if not tried:
        none = f"No candidate could be tried, and the untouched {wording.data} does not meet"
    sentences = [f"{none} the limit of {percent(limit)}: the upper end of the interval must not exceed it."]
    if best.steps:
        sentences += [f"The closest is {best.name}, with {rate_text(best.rate)}.", wording.utility_left(best)]
    return [*sentences, *_failed(result), wording.nothing_helps]


def _failed(result: SearchResult) -> list[str]:
    if not result.failed:
        return []
    failed = count(len(result.failed), "candidate", "candidates")
    return [f"{failed} met the limit at first, but not when re-measured on fresh targets."]


def _utility_left(candidate: Candidate) -> str:
    utility, kept = candidate.utility, candidate.utility.kept
    if kept is None:
        return "The loss of utility is unknown, because a recommender learns nothing from the untouched release either."
    parts = [
        f"{name} {now.value:.3f} (before: {before.value:.3f})"
        for name, now, before in (
            ("top-10 hit rate", utility.hit_rate, utility.hit_rate_before),
            ("RMSE", utility.rmse, utility.rmse_before),
        )
        if now is not None and before is not None
    ]
    value, low, high = (percent(min(max(end, 0.0), 1.0)) for end in (kept.value, kept.low, kept.high))
    return f"The sanitized release keeps {value} ({low} to {high}) of the utility: {', '.join(parts)}."


HISTORIES = Wording("release", "entries", _utility_left, "Narayanan and Shmatikov (2008) predict this for sparse data.")


def sanitize_command(candidate: Candidate | None, data: Sequence[str], output: str, renumber: bool = True) -> str:
    """The command that makes the recommended release, without a seed: a known seed allows undoing noise."""
    if candidate is None or not candidate.steps:
        return ""
    steps = [word for step in candidate.steps for word in ("--step", str(step))]
    new_ids = ["--renumber"] if renumber else []
    return shlex.join(["standout", "sanitize", *data, *steps, *new_ids, "-o", output])


def composition_text(composition: Composition) -> str:
    """What two releases reveal together."""
    text = (
        "Suppose that two such releases of the same people are published, with different noise and ids. The "
        "best guess links the two records of a person correctly for "
        f"{rate_text(composition.identified)} of the people in both. The adversary claims the right record "
        f"for {rate_text(composition.correct_claims)} and a wrong one for "
        f"{rate_text(composition.wrong_claims)}."
    )
    alone, together = composition.entries_shown_by_one, composition.entries_shown_together
    if alone is None or together is None:
        return text
    return (
        f"{text} For people who are linked correctly, one release shows {percent(alone.value)} of their "
        f"entries and both together show {percent(together.value)}."
    )


def limitations(result: SearchResult, has_times: bool) -> list[str]:
    """What the numbers do not say."""
    sentences = [
        RISK_LIMITATION,
        "Utility is measured with a recommender. The data may have other uses, which are not measured.",
    ]
    if has_times:
        sentences.append("The recommender does not use times, so removing them costs nothing here.")
    return [*sentences, *search_limitations(result)]


def search_limitations(result: SearchResult, reason: str = "nothing would be left of the release") -> list[str]:
    """What a search does not say, whatever it is about; `reason` is why candidates were impossible."""
    sentences = [
        "The best of many candidates looks better than it is. Only the recommended candidate was re-measured "
        "on fresh targets. Candidates of the quick stage have wide intervals."
    ]
    if result.impossible:
        impossible = count(len(result.impossible), "candidate was", "candidates were")
        sentences.append(f"{impossible} not tried, because {reason}.")
    return sentences


# The same for columns.


IMPOSSIBLE = "their steps do not fit the table, or nothing would be left of it"


def known_attributes(adversary: Adversary, table: Release) -> str:
    """What an adversary knows, in one line: 6 of 14 attributes, imprecise, 1 wrong."""
    named = adversary.columns
    total = len(table.attributes) if named is None else len(named)
    if named is not None and adversary.knows == total:
        known = ", ".join(named)
    elif adversary.knows == total:
        known = count(total, "attribute", "attributes")
    else:
        known = f"{adversary.knows} of {total} attributes"
    parts = [known]
    if str(adversary.items) == "rarest":
        parts.append("those whose value fewest people share")
    errors = (adversary.error_of(column) for column in table.columns if column.has_distances)
    parts.append("imprecise" if any(errors) else "exact")
    if adversary.wrong:
        parts.append(f"{adversary.wrong} wrong")
    if adversary.entries is not None:
        parts.append(f"{adversary.entries.knows} entries of the history")
    return ", ".join(parts)


def _columns_left(candidate: Candidate) -> str:
    utility = candidate.utility
    parts = [
        f"{percent(share.value)} of {what}"
        for share, what in (
            (utility.information, "the information in its cells"),
            (utility.associations, "the associations between its columns"),
            (utility.rows_kept, "its rows"),
        )
        if share is not None
    ]
    return f"The sanitized table keeps {percent(candidate.utility_kept)} of the utility: {', '.join(parts)}."


TABLES = Wording(
    "table",
    "attributes",
    _columns_left,
    "A larger limit, fewer columns or a hierarchy in the schema gives more choices.",
)


def column_limitations(result: SearchResult, table: Release, adversary: Adversary) -> list[str]:
    """What the numbers do not say."""
    sentences = [
        RISK_LIMITATION,
        "Utility is the information in the cells, mean over the columns, or the associations of pairs of "
        "columns, whichever is smaller. Every column counts the same. Other uses are not measured: "
        "so.utility also runs a prediction task.",
        "The risk is that of finding a person's row. It does not say what rows with equal values have in "
        "common: standout audit shows what they disclose.",
    ]
    if table.n_items:
        known = "is part of what the adversary knows" if adversary.entries else "was not attacked"
        sentences.append(f"The steps do not change the history of the people, which {known}.")
    return [*sentences, *search_limitations(result, IMPOSSIBLE)]
