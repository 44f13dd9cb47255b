"""Files by which interrupted runs resume: a changed one is ignored, or gives the same result."""

import io
import json
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzzing.case import Case
from tests.fuzzing.mutations import ODD_JSON, meddle, mutated, mutated_text
from tests.fuzzing.outcomes import READ, attempt
from tests.fuzzing.texts import small_release, small_table

import standout as so
from standout.core.json_files import read_checkpoint, write_checkpoint

__all__ = ["STATES"]

SMALL = {"seed": 1, "threads": 1}
ODD_ARRAYS = [
    np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.full(6, np.nan), np.full(6, -1), np.full(6, 2**62),
    np.array("x"), np.array(["x", "y"]), np.zeros(6, np.int8), np.full(6, 1e308), np.zeros((6, 0)),
    np.array(5), np.zeros(6, bool),
]  # fmt: skip


def _simulate(folder):
    result = so.simulate(small_release(), so.Adversary(knows=2), targets=6, save=folder / "save", **SMALL)
    return result.table.write_csv()


def _advise(folder):
    people = so.synthesize(records=20, items=12, entries=160, seed=3)
    result = so.advise(
        people, so.Adversary(knows=2), candidates=["round-time month"], targets=8, people=8, work=folder, **SMALL
    )
    return repr(result)


def _advise_table(folder):
    result = so.advise(small_table(), candidates=["top-code age ..60"], targets=4, people=4, work=folder, **SMALL)
    return repr(result)


def _reproduce(folder):  # draws the figure again, which takes a second
    release = so.synthesize(records=40, items=30, entries=600, seed=3)
    return repr(so.reproduce(release, folder, only="6", targets=5, **SMALL).results)


@cache
def _good(make):
    """The files of a complete run, and its result."""
    with tempfile.TemporaryDirectory() as folder:
        result = make(Path(folder))
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }
    return {name: content for name, content in files.items() if content.startswith(b"standout checkpoint")}, result


@dataclass(frozen=True)
class State:
    """The files of an interrupted run with one of them changed."""

    make: object

    def case(self, draw):
        """A changed file. Its digest no longer fits: who can forge that owns the results."""
        files = dict(_good(self.make)[0])
        name = draw.choice(sorted(files))
        if draw.random() < 0.3:
            return Case({**files, name: mutated(draw, files[name])})
        head, _, content = files[name].partition(b"\n")
        if content.startswith(b"PK"):
            content = _other_arrays(draw, content) if draw.random() < 0.6 else mutated(draw, content)
        elif draw.random() < 0.6:
            tree = json.loads(content)
            for _ in range(draw.choice([1, 1, 3])):
                meddle(draw, tree)
            content = json.dumps(draw.choice(ODD_JSON) if draw.random() < 0.05 else tree).encode()
        else:
            content = mutated_text(draw, content)
        return Case({**files, name: head + b"\n" + content})

    def run(self, case, folder):
        """Resume: the run does not stop, and its result is the same."""
        results = []
        outcome = attempt(lambda: results.append(self.make(folder)), expected=RuntimeWarning)
        if outcome != READ:
            raise AssertionError(f"a changed checkpoint stops the run: {outcome}")
        if results != [_good(self.make)[1]]:
            raise AssertionError("a changed checkpoint changes the result")
        return outcome


def _other_arrays(draw, content):
    """The archive with an array replaced, changed or missing, and valid checksums."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = draw.choice(sorted(arrays))
    kind = draw.randrange(4)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = arrays[name][:-1] if arrays[name].ndim else arrays[name]
    elif kind == 2 and arrays[name].dtype.kind in "if" and arrays[name].size:
        changed = arrays[name].copy()
        changed.flat[draw.randrange(changed.size)] = draw.choice([0, 1, -1, 7, 10**6])
        arrays[name] = changed
    else:
        arrays[name] = draw.choice(ODD_ARRAYS)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    if draw.random() < 0.1:
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("more.npy", b"\x93NUMPY\x01\x00")
    return buffer.getvalue()


CONTENT = '{"seed": 1, "rates": [0.25, null], "name": "Zq7Jx"}'


@cache
def _small_checkpoint():
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(Path(folder, "a"), "settings", CONTENT.encode())
        return Path(folder, "a").read_bytes()


@dataclass(frozen=True)
class CheckpointFile:
    """A changed checkpoint is refused, or has the same content."""

    def case(self, draw):
        """A small checkpoint, mutated."""
        return Case({"a": draw.choice([mutated, mutated_text])(draw, _small_checkpoint())})

    def run(self, case, folder):
        """Read the checkpoint."""
        results = []
        parse = lambda content: json.dumps(json.loads(content))  # noqa: E731
        attempt(lambda: results.append(read_checkpoint(folder / "a", "settings", parse)), expected=RuntimeWarning)
        if results not in ([None], [CONTENT]):
            raise AssertionError("a changed checkpoint is used")
        return READ if results[0] else "refused: it was changed"


STATES = {
    "checkpoint": CheckpointFile(),
    "state of simulate": State(_simulate),
    "state of advise": State(_advise),
    "state of advise on tables": State(_advise_table),
    "state of paper": State(_reproduce),
}
