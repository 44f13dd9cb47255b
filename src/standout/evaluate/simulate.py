"""Simulate many attacks on known targets, and measure what they achieve."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, check_attack
from standout.attack.scoreboard import ScoreboardRH
from standout.cluster.on_client import on_client
from standout.core.checks import positive_share, whole_number
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.evaluate.claim_threshold import ClaimThreshold
from standout.evaluate.outcomes import Criteria
from standout.evaluate.simulation import Simulation
from standout.evaluate.simulation_runner import SimulationRunner
from standout.ingest.as_release import as_release
from standout.release.model import Release
from standout.similarity.attributes import Equal, Present, Similarity, Within

__all__ = ["simulate"]


@with_progress
@on_client
def simulate(
    release: Release | Any,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    *,
    attack: AnyAttack | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    precision: float | None = None,
    draws: int = 1,
    phi: float = 1.5,
    posterior: float = 0.95,
    budget: float = 0.01,
    theta: float = 0.5,
    similarity: Similarity | None = None,
    top: int = 10,
    absent: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    save: str | Path | None = None,
    client: Any = None,
) -> Simulation:
    """Measure what adversaries achieve: attack targets whose records are known.

    Each target is attacked with the first known facts, for each number in `facts`, and again with the
    target's record removed. docs/measures.md defines the measures.

    In a sanitized release, targets are people of the original, also those whom no record represents, and the
    known facts are facts of the original.

    Parameters
    ----------
    release
        The release to attack. A path or frame is read with the default options of `standout.read`.
    adversaries
        One adversary, several, or several by name.
    attack
        The attack, perhaps of your own; default: Algorithm 1B with the paper's settings. `Likelihood()` takes
        the errors of each adversary.
    facts
        Number of known facts to attack with, or several: 4, or [2, 4, 8]. Default: all that the adversary
        knows.
    targets
        Number of targets, drawn at random from the records with enough entries; "all"; or the ids of records.
    precision
        Attack targets until the 95 % interval of `identified` is at most ± this, instead of a fixed number.
    draws
        How many times each target is observed: the same items with different errors.
    phi
        Minimum eccentricity for a claim [Algorithm 1B].
    posterior
        Minimum posterior for a claim, if the attack is `Likelihood`.
    budget
        False claim budget: the largest share of absent targets that may be claimed.
    theta, similarity
        A best guess at least `theta` similar to the target counts as similar [Definition 2]. Default
        similarity: values within 1 and dates within 14 days, if the release has them.
    top
        Length of the lineup for the measure `in_top`.
    absent
        Whether to attack also with the target's record removed [Definition 3].
    seed
        Random seed. The same seed gives the same numbers, for any number of threads.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).
    save
        Name of the checkpoint files. An interrupted run resumes from them.
    client
        A `distributed.Client`: its workers attack slices of the targets, if the release is an open index that
        they can read at the same path. It changes no result. Default: threads of this process.

    Returns
    -------
    Simulation
        The outcomes and all measures. After Ctrl-C it covers the targets attacked so far.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or no record has enough entries to be a target.
    NotFoundError
        If `targets` contains an unknown id.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, time_error=14)
    >>> simulation = simulate(release, adversary, facts=[2, 6], targets=40, seed=1)
    >>> print(simulation.estimate("identified", facts=6))
    1.000 (0.912 to 1.000, n = 40)
    """
    release = as_release(release).check()
    criteria = Criteria(
        top=whole_number("top", top, 1),
        theta=positive_share("theta", theta),
        similarity=similarity or _default_similarity(release),
        absent=bool(absent),
    )
    checked_attack = ScoreboardRH() if attack is None else check_attack(attack)
    runner = SimulationRunner(
        release=release,
        attack=checked_attack,
        criteria=criteria,
        draws=whole_number("draws", draws, 1),
        threshold=ClaimThreshold.of(checked_attack, phi, posterior),
        budget=positive_share("budget", budget),
        seed=check_seed(seed),
        precision=None if precision is None else positive_share("precision", precision),
        threads=threads,
        progress=progress,
        save=None if save is None else Path(save),
    )
    return runner.simulation(_by_name(adversaries), facts, targets)


def _by_name(adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary]) -> dict[str, Adversary]:
    """Return the adversaries by name; the default name is the description, numbered if it occurs twice."""
    if isinstance(adversaries, Mapping):
        named = dict(adversaries)
    else:
        several = [adversaries] if isinstance(adversaries, Adversary) else adversaries
        named = {}
        for adversary in several if isinstance(several, Iterable) else []:
            text = str(adversary)
            same = sum(name.split(" #")[0] == text for name in named)
            named[f"{text} #{same + 1}" if same else text] = adversary
    if not named or not all(isinstance(adversary, Adversary) for adversary in named.values()):
        raise ParameterError("adversaries must be one Adversary, a list of them, or a dict by name")
    return named


def _default_similarity(release: Release) -> Similarity:
    """Values within 1 and dates within 14 days, if the release has them."""
    if isinstance(release.levels, tuple):
        return Equal()
    value, time = (1 if release.n_levels else None), (14 if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)
