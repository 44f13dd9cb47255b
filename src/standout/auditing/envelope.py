"""The envelope of the curves: the strongest adversary at each number of known facts."""

import math
from collections.abc import Sequence

from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import AdversaryFindings, CurvePoint, EnvelopePoint, MeasuresAsNamed

__all__ = ["envelope"]


def envelope(adversaries: Sequence[AdversaryFindings]) -> tuple[EnvelopePoint, ...]:
    """The highest identified rate at each number of facts, as named or on a curve; the first among equals."""
    strongest = _strongest(adversaries)
    counting = _strongest([adversary for adversary in adversaries if adversary.gate])
    return tuple(
        EnvelopePoint(
            facts=facts,
            adversary=name,
            identified=identified,
            gate_adversary=counting[facts][0] if facts in counting else None,
            gate_identified=counting[facts][1] if facts in counting else None,
        )
        for facts, (name, identified) in sorted(strongest.items())
    )


def _strongest(adversaries: Sequence[AdversaryFindings]) -> dict[int, tuple[str, Estimate]]:
    """Name and rate of the strongest adversary by number of facts."""
    best: dict[int, tuple[str, Estimate]] = {}
    for adversary in adversaries:
        points: list[MeasuresAsNamed | CurvePoint] = [adversary.as_named, *adversary.curve]
        for point in points:
            identified = point.identified
            if math.isfinite(identified.value) and (
                point.facts not in best or identified.value > best[point.facts][1].value
            ):
                best[point.facts] = adversary.name, identified
    return best
