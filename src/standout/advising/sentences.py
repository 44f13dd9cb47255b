"""What was found, in sentences, and the command that makes what is recommended."""

import shlex
from collections.abc import Sequence

from standout.advising.candidate import Point
from standout.advising.composition import Composition
from standout.advising.search import Found
from standout.evaluate.estimate_text import percent, rate_text

__all__ = ["command", "composed", "limits", "summary"]


def summary(found: Found, who: str, limit: float) -> list[str]:
    """The answer in sentences: what is recommended, or that nothing that was tried reaches the limit."""
    before, best = found.points[()], found.recommended
    told = [f"An adversary ({who}) finds {rate_text(before.share)} of the people in the release as it is."]
    if best is not None:
        told += [*_recommended(best, limit), *_released(found, best, limit)]
    elif not found.complete:
        told.append("The search was cut short before anything could be recommended.")
    else:
        told += _none(found, limit)
    return told


def _recommended(point: Point, limit: float) -> list[str]:
    if not point.steps:
        return [f"That is below the limit of {percent(limit)}: nothing has to be changed."]
    return [
        f"After {point.name} it is {rate_text(point.share)}, measured afresh, with other facts and noise "
        f"than it was chosen by: below the limit of {percent(limit)}. {_left(point)}."
    ]


def _released(found: Found, best: Point, limit: float) -> list[str]:
    """What is to be said where the limit is kept for everybody, but not for those who are in the release."""
    if best.risk.released.high <= limit:
        return []
    told = (
        f"But of those who are in that release {rate_text(best.risk.released)} are found: the limit is "
        "kept by leaving people out, not by protecting those who are in it."
    )
    failed = {one.steps for one in found.failed}
    others = [
        one for one in found.points.values()
        if one.risk.released.high <= limit and one.steps not in failed
    ]  # fmt: skip
    if not others:
        return [told, "None of the ways that were tried keeps it for these."]
    other = max(others, key=lambda one: one.kept)
    return [told, f"{other.name} seems to keep it for these too, with {percent(other.kept)} of the use left."]


def _none(found: Found, limit: float) -> list[str]:
    best = min(found.points.values(), key=lambda point: (point.share.high, -point.kept))
    tried = len(found.points) - 1
    told = [f"None of the {tried} ways that were tried brings that below the limit of {percent(limit)}."]
    if best.steps:
        told.append(f"The lowest is {rate_text(best.share)}, after {best.name}. {_left(best)}.")
    if found.failed:
        told.append(f"{_counted(len(found.failed))} seemed to, and did not when measured afresh.")
    return [*told, "The paper expects as much of sparse data."]


def _left(point: Point) -> str:
    """What is left of the use."""
    used, kept = point.utility, point.utility.kept
    if kept is None:
        return "What that costs is not known: a recommender learns nothing from the untouched release either"
    parts = [f"top-10 hit rate {used.hit_rate.value:.3f}, {used.hit_rate_before.value:.3f} before"]
    if used.rmse is not None and used.rmse_before is not None:
        parts.append(f"RMSE {used.rmse.value:.3f}, {used.rmse_before.value:.3f} before")
    low, high = (percent(min(max(end, 0.0), 1.0)) for end in (kept.low, kept.high))
    middle = percent(min(max(kept.value, 0.0), 1.0))
    return f"It keeps {middle} ({low} to {high}) of what the release is good for: {'; '.join(parts)}"


def command(point: Point | None, data: Sequence[str], output: str) -> str:
    """The command that makes the recommended release. It names no seed: whoever has that can undo noise."""
    if point is None or not point.steps:
        return ""
    steps = [word for step in point.steps for word in ("--step", str(step))]
    return shlex.join(["standout", "sanitize", *data, *steps, "--renumber", "-o", output])


def composed(found: Composition) -> str:
    """What two such releases give away together."""
    told = (
        f"Two such releases of the same people, with other noise and ids: {rate_text(found.right)} of those "
        f"in both are guessed rightly from one in the other, {rate_text(found.claimed)} for sure; of "
        f"{rate_text(found.wrong)} a wrong record would be claimed."
    )
    if found.shown is None or found.shown_once is None:
        return told
    one, both = percent(found.shown_once.value), percent(found.shown.value)
    return f"{told} Of whom is guessed rightly one release shows {one} of the entries, both together {both}."


def limits(found: Found, has_times: bool) -> list[str]:
    """What the numbers do not say."""
    told = [
        "Risk is that of one adversary, and of the attacks tried: somebody who knows more finds more.",
        "Use is that for recommending. What else the data is good for is not in the price.",
    ]
    if has_times:
        told.append("The recommender does not look at times: leaving them out costs nothing here.")
    told.append(
        "The best of many looks better than it is: only what is recommended was measured again, with fresh "
        "draws; ways that were tried quickly have wide intervals."
    )
    if found.impossible:
        told.append(f"{_counted(len(found.impossible))} of the ways would have left nothing.")
    return told


def _counted(n: int) -> str:
    return "One" if n == 1 else f"{n:,}"
