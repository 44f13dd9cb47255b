"""Candidates with given numbers, and a runner that returns them."""

import math

import standout as so
from standout.advising.candidates import Candidate, IdentificationRisk
from standout.evaluate.estimates import Estimate, rate
from standout.sanitizing.utility import Utility

__all__ = ["ADVERSARY", "DECOYS", "FakeRunner", "candidate", "steps"]

ADVERSARY = so.Adversary(knows=5, wrong=1, value_error=1, time_error=14)
DECOYS = 100
MEASURED = ("kept", "hit_rate", "hit_rate_before")


def steps(*texts):
    return tuple(map(so.step, texts))


def candidate(texts, identified, kept, *, n=1000, stage="quick", released=None, among="released"):
    """A candidate with these shares of people identified and of utility kept."""
    estimate = Estimate(kept, kept - 0.05, kept + 0.05, n, 0.0)
    utility = {"steps": tuple(texts), "fingerprint": "f", "estimates": dict.fromkeys(MEASURED, estimate)}
    everybody = rate(identified * n, n)
    risk = IdentificationRisk(everybody, released or everybody, "")
    return Candidate(steps(*texts), risk, Utility(**utility), stage, among)


class FakeRunner:
    """A runner with known numbers, {name: (identified, kept)}, and perhaps other ones in the fresh stage."""

    def __init__(self, known, fresh=None, stop_after=math.inf):
        self.known, self.known_fresh, self.calls = known, known | (fresh or {}), []
        self.targets, self.stop_after = 1000, stop_after

    def measure(self, stage, combination):
        known = self.known_fresh if stage == "fresh" else self.known
        name = " + ".join(map(str, combination))
        self.calls.append((stage, name))
        if len(self.calls) > self.stop_after:
            raise KeyboardInterrupt
        if known[name] is None:
            raise so.ParameterError("nothing would be left")
        return candidate(list(map(str, combination)), *known[name], stage=stage)
