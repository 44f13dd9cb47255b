"""Published numbers are the same on every processor, and to the last byte for any number of threads.

Run as a script, this file prints the numbers of a small piece of work of each kind as JSON. The tests run it
in environments in which NumPy, Numba and BLAS see other processors. See docs/architecture.md, "Reproducible".
"""

import json
import math
import os
import subprocess
import sys
from dataclasses import asdict, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

import standout as so

pytestmark = [pytest.mark.once, pytest.mark.large]

SAME = 1e-9
"""The relative difference that is allowed between processors."""
TIMEOUT = 900
EVERYTHING = ("attack", "audit", "synthetic", "link", "utility")
NPY, BLAS = "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"


def work(kinds, threads):
    """The numbers, by the kind of work."""
    release = so.synthesize(records=150, items=60, entries=3_000, seed=3)
    safer = so.sanitize(release, so.steps.PerturbValue(1), so.steps.PerturbTime(7), so.steps.DropEntries(0.1), seed=5)
    kinds_of_work = {
        "attack": lambda: _attack(release, threads),
        "audit": lambda: [_audit(release, threads), _audit(safer, threads)],
        "synthetic": lambda: so.synthesize(like="netflix", records=200, seed=1, threads=threads).fingerprint,
        "link": lambda: _link(release, threads),
        "utility": lambda: _utility(release, threads),
    }
    results = {kind: kinds_of_work[kind]() for kind in kinds}
    return results | {"fingerprints": [release.fingerprint, safer.fingerprint]}


def _attack(release, threads):
    """Several draws and several numbers of facts, absent targets, lineups."""
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    simulation = so.simulate(release, adversary, facts=[2, 6], targets=20, draws=3, seed=2, threads=threads)
    aux = adversary.observe(release, "42", seed=1)
    verdict = so.ScoreboardRH().attack(release, aux)
    return [simulation.table.to_dicts(), verdict.lineup(20).candidates, verdict.entropy("42")]


def _audit(release, threads):
    findings = so.audit(release, targets=10, facts=[1, 4], seed=4, threads=threads).findings
    return asdict(findings) if is_dataclass(findings) else findings


def _link(release, threads):
    """Profiles of half of the entries of some people, a few days off."""
    entries = release.to_frame()
    draw = np.random.default_rng(3)
    kept = (entries["record"].cast(pl.Int64) > 75).to_numpy() & (draw.random(len(entries)) < 0.5)
    late = pl.Series(draw.integers(-9, 10, int(kept.sum()))).cast(pl.Int64)
    public = entries.filter(pl.Series(kept)).with_columns(time=pl.col("time") + pl.duration(days=late))
    links = so.link(release, so.read(public), decoys=40, budget=0.1, dates="learn", seed=1, threads=threads)
    return [links.to_dict(), links.table.to_dicts()]


def _utility(release, threads):
    results = so.utility(release, so.steps.PerturbValue(1), people=40, threads=threads)
    return results.table.to_dicts()


def dispatched():
    """Lists of processor features for NumPy to do without: those for wide vectors, and all that it uses."""
    active = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    wide = [name for name in active if name.startswith("AVX512") or name == "X86_V4"]
    return [" ".join(names) for names in (wide, active) if names]


def environments():
    """Other processors, by name: environment variables, and the kinds of work that are tried."""
    lists = dispatched()
    settings = {f"numpy without {names.replace(' ', ', ')}": {NPY: names} for names in lists}
    if lists:
        settings["numpy and BLAS of an old processor"] = {NPY: lists[-1], BLAS: "Nehalem"}
        settings.pop(f"numpy without {lists[-1].replace(' ', ', ')}")
    return settings


@cache
def printed(threads=1, kinds=EVERYTHING, **variables):
    """What a process of its own prints."""
    kept = {name: value for name, value in os.environ.items() if name not in (NPY, BLAS, "NUMBA_CPU_NAME")}
    blas = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, __file__, str(threads), *kinds],
        capture_output=True, text=True, timeout=TIMEOUT, check=False, env={**kept, **blas, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def differences(value, other, path=""):
    """Where two results differ: floats by more than SAME, anything else at all."""
    if isinstance(value, dict) and isinstance(other, dict) and value.keys() == other.keys():
        return [line for key in value for line in differences(value[key], other[key], f"{path}.{key}")]
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        pairs = enumerate(zip(value, other, strict=True))
        return [line for at, (a, b) in pairs for line in differences(a, b, f"{path}[{at}]")]
    if isinstance(value, float) and isinstance(other, float):
        same = math.isclose(value, other, rel_tol=SAME, abs_tol=SAME * 1e-3) or (value != value and other != other)
    else:
        same = value == other and type(value) is type(other)
    return [] if same else [f"{path}: {value!r}, {other!r}"]


def test_the_number_of_threads_changes_no_byte():
    assert printed(threads=1) == printed(threads=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", environments())
def test_numbers_do_not_depend_on_the_processor_that_numpy_sees(name):
    assert not differences(json.loads(printed()), json.loads(printed(**environments()[name])))


@pytest.mark.slow
def test_numbers_do_not_depend_on_the_processor_that_numba_compiles_for(tmp_path):
    kinds = ("attack",)
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    here, there = json.loads(printed()), json.loads(printed(kinds=kinds, **generic))
    assert not differences({name: here[name] for name in there}, there)


def test_differences_are_seen():
    assert not differences({"a": [1.0, 2]}, {"a": [1.0 + 1e-12, 2]})
    assert differences({"a": [1.0, 2]}, {"a": [1.0 + 1e-8, 2]}) == [".a[0]: 1.0, 1.00000001"]
    assert differences([2], [3]) and differences([2], [2.0]) and differences({"a": 1}, {"b": 1})


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    print(json.dumps(work(sys.argv[2:], int(sys.argv[1])), sort_keys=True, default=str))  # noqa: T201
