"""What other tools say about a table; runs in their own environments, so it imports nothing of this project.

PYTHON benchmarks/table_tool_jobs.py TOOL SETTINGS     (SETTINGS is JSON; the last line printed is JSON too)
"""

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pandas as pd

ATTACKS, SEED, MOST_ATTEMPTS = 500, 1, 100_000


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    """The value of a call, its seconds and its CPU seconds."""
    begun, cpu = time.perf_counter(), time.process_time()
    value = work()
    return {"value": value, "seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}


def read(path: str) -> pd.DataFrame:
    """A table with "?" as a value of its own: the tools treat empty cells in different ways."""
    return pd.read_csv(path, keep_default_na=False)


def pycanon(settings: dict[str, Any]) -> dict[str, Any]:
    """K, classes, l-diversity, t-closeness and the mean risk of classes."""
    from pycanon import anonymity, metrics

    data, known, sensitive = read(settings["released"]), settings["known"], [settings["sensitive"]]
    jobs: dict[str, Callable[[], Any]] = {"k": lambda: int(anonymity.k_anonymity(data, known))}
    if settings.get("all", True):
        jobs |= {
            "classes": lambda: int(metrics.sizes_ec(data, known)["n_ec"]),
            "l": lambda: int(anonymity.l_diversity(data, known, sensitive)),
            "entropy l": lambda: int(anonymity.entropy_l_diversity(data, known, sensitive)),
            "t": lambda: float(anonymity.t_closeness(data, known, sensitive)),
        }
    return {name: timed(job) for name, job in jobs.items()}


def privattacks(settings: dict[str, Any]) -> dict[str, Any]:
    """The chance to find a random person's row, and to guess the sensitive value, by exact matching."""
    import privattacks as tool

    known, sensitive = settings["known"], settings["sensitive"]
    data = read(settings["released"])[[*known, sensitive]]
    loading = timed(lambda: tool.Attack(tool.Data(dataframe=data)))
    attack = loading.pop("value")
    return {
        "loading": {**loading, "value": None},
        "marketer": timed(lambda: float(attack.posterior_vulnerability("reid", known))),
        "guess": timed(lambda: float(attack.posterior_vulnerability("ai", known, [sensitive])[sensitive])),
        "unique": timed(lambda: _unique(attack, known)),
    }


def _unique(attack: Any, known: list[str]) -> int:
    _, chances = attack.posterior_vulnerability("reid", known, distribution=True)
    return int((chances == 1).sum())


def anonymeter(settings: dict[str, Any]) -> dict[str, Any]:
    """Singling out with 3 and 6 columns, and linkability of two halves of the columns."""
    import numpy as np
    from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator

    warnings.simplefilter("ignore")
    logging.disable()
    original, released = read(settings["original"]), read(settings["released"])
    names = [name for name in settings["known"] if name in released.columns]
    original, released = original[names], released[names]
    halves = tuple([name for name in half if name in names] for half in settings["halves"])
    results = {}
    for columns in (3, 6):
        attack = SinglingOutEvaluator(
            original, released, n_attacks=ATTACKS, n_cols=columns, max_attempts=MOST_ATTEMPTS, seed=SEED
        )
        results[f"singling out, {columns} columns"] = timed(lambda a=attack: _risk(a, mode="multivariate"))
    for neighbours in (1, 10):
        np.random.seed(SEED)
        linking = LinkabilityEvaluator(original, released, aux_cols=halves, n_attacks=ATTACKS, n_neighbors=neighbours)
        results[f"linkability, {neighbours} nearest"] = timed(lambda a=linking: _risk(a, n_jobs=1))
    return results


def _risk(evaluator: Any, **how: Any) -> list[float]:
    evaluator.evaluate(**how)
    risk = evaluator.risk()
    return [float(risk.value), float(risk.ci[0]), float(risk.ci[1])]


TOOLS = {"pycanon": pycanon, "privattacks": privattacks, "anonymeter": anonymeter}


def main() -> None:
    """Run one tool."""
    tool, settings = sys.argv[1], json.loads(sys.argv[2])
    begun = time.perf_counter()
    result = TOOLS[tool](settings)
    print(json.dumps({"version": version(tool), "seconds": time.perf_counter() - begun, "results": result}))


if __name__ == "__main__":
    main()
