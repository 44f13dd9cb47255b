"""Small files and texts that people write: ladders, facts, steps, sidecars, keys, reviews, truth."""

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
from tests.fuzzing.case import Case
from tests.fuzzing.mutations import meddle, mutated_text, odd_number
from tests.fuzzing.outcomes import SECRET, attempt
from tests.fuzzing.tables import TABLE

import standout as so
from standout.auditing.exposure import read_sensitive_list
from standout.auditing.ladder import fit_ladder, read_ladder
from standout.cli.typed_facts import facts_about_items, parse_joined, parse_length
from standout.core.json_files import checksum
from standout.linking.align import read_decisions, read_item_map
from standout.linking.links import read_truth
from standout.paper.reproduce import count_qualifying
from standout.sanitizing.files import sidecar_path, write_sanitized

__all__ = [
    "AUX",
    "ITEM_MAP",
    "REVIEW",
    "SENSITIVE",
    "TEXTS",
    "TRUTH",
    "sanitized_files",
    "small_release",
    "small_table",
]

DOCS = Path(__file__).parents[2] / "docs"
TABLE_STEPS = ("generalize born month", "top-code age ..60")
RELEASE_STEPS = ("round-time month", "drop-rare-items 2", "round-value bins 2")


@cache
def small_release():
    """A release with titles, values and dates, whose record ids are secret."""
    release = so.synthesize(records=14, items=9, entries=70, seed=3)
    frame = release.to_frame()
    names = [name for name, kind in frame.schema.items() if kind == pl.String]
    return so.read(frame.with_columns(pl.format(f"{SECRET}{{}}", pl.col(names[0])).alias(names[0])))


@cache
def small_table():
    """A small table, whose ids and some of whose cells are secret."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "t.csv").write_bytes(TABLE)
        return so.read(Path(folder, "t.csv"), kind="table")


@dataclass(frozen=True)
class TextFile:
    """A file of which the text is mutated, and what reads it. `secret`: whether its content is data."""

    content: bytes
    read: object
    secret: bool = False

    def case(self, draw):
        """The file, mutated."""
        return Case({"a.txt": mutated_text(draw, self.content)})

    def run(self, case, folder):
        """Read the file."""
        first = case.files["a.txt"].partition(b"\n")[0]
        secret = self.secret and SECRET.encode() not in first
        return attempt(lambda: self.read(folder / "a.txt"), secret)


LADDER = (DOCS / "ladder.toml").read_bytes()


def _without_comments(text):
    return b"\n".join(line for line in text.splitlines() if line and not line.startswith(b"#")) + b"\n"


def _facts_file(path):
    release = small_release()
    facts = facts_about_items(release, (), path, allow_unknown=True)
    so.Likelihood(so.Adversary(knows=4)).attack(release, so.Aux([named.fact for named in facts]))


def _item_codes():
    return {small_release().items[i]: i for i in range(small_release().n_items)}


AUX = b'item,value,time\n1,4,2005-03-01\n2,,2005-03-02T20:15\n"3",1.5,\n'
REVIEW = (
    b"public_item,public_title,release_item,release_title,score,decision,reason\n"
    b"1,Brazil,1,Brazil (1985),0.9,yes,\n"
    b'2,Dumbo,3,\'=Dumbo,0.7,no,title\n3,"A, B",2,,,?,\n'
)
ITEM_MAP = b"public,release\n1,2\n2,1\n3,3\n"
SENSITIVE = b"# health\n1\tillness\nBrazil (1985)\n3\tfaith\n"
QUALIFYING = b"1:\nZq7Jx1,2005-03-01\nZq7Jx2,2005-12-31\n2:\nZq7Jx3,2004-02-29\n"
TRUTH = b"profile,record\nZq7Jx1,Zq7Jx2\nZq7Jx2,\nZq7Jx3,Zq7Jx1\n"


@dataclass(frozen=True)
class Knows:
    """Typed facts: `--knows ITEM=VALUE@DATE`, `--length`, `--joined`."""

    def case(self, draw):
        """Some mutated texts."""
        facts = [b"1=4@2005-03-01", b"4=3", b"2@2005-03-02T10:30", b"3", b"E=mc2=4@2005-03-01"]
        knows = [_argument(mutated_text(draw, draw.choice(facts))) for _ in range(draw.choice([1, 1, 2, 4]))]
        length = draw.choice(
            [None, None, None, "10-30", "8±50%", "8±2", odd_number(draw), _argument(mutated_text(draw, b"8-12"))]
        )
        joined = draw.choice(
            [None, None, None, "2005-03-01±30", _argument(mutated_text(draw, "2005-03-01±30".encode()))]
        )
        return Case({}, {"knows": knows, "length": length, "joined": joined, "allow_unknown": draw.random() < 0.7})

    def run(self, case, folder):
        """Attack with the facts."""

        def use():
            knows, length, joined, allow_unknown = case.options.values()
            lengths = None if length is None else parse_length(length)
            first = None if joined is None else parse_joined(joined)
            facts = facts_about_items(small_release(), knows, None, allow_unknown)
            aux = so.Aux([named.fact for named in facts], lengths, first)
            so.Likelihood(so.Adversary(knows=4)).attack(small_release(), aux)

        return attempt(use)


@dataclass(frozen=True)
class TableKnows:
    """Known cells of a row."""

    def case(self, draw):
        """Some known cells."""
        cells = ["34", "f", "10115", "1990-01-31", "low", "flu;cold", "", "x", odd_number(draw), odd_number(draw)]
        columns = draw.sample(
            ["age", "sex", "zip", "born", "diagnoses", "rank", "id", "nobody"], draw.choice([1, 2, 4])
        )
        return Case({}, {"known": {column: draw.choice(cells) for column in columns}})

    def run(self, case, folder):
        """Show the lineup."""
        aux = so.Aux([so.Fact(*fact) for fact in case.options["known"].items()])
        return attempt(lambda: so.lineup(small_table(), aux), secret=False)


@dataclass(frozen=True)
class Steps:
    """Steps as text, parsed, and sometimes applied."""

    steps: tuple
    data: object

    def case(self, draw):
        """A mutated step."""
        text = draw.choice(self.steps)
        if draw.random() < 0.5:
            text = " ".join([*text.split()[:-1], odd_number(draw)])
        else:
            text = _argument(mutated_text(draw, text.encode()))
        return Case({}, {"step": text, "apply": draw.random() < 0.3})

    def run(self, case, folder):
        """Parse the step and apply it. A step may quote itself."""

        def use():
            step = so.step(case.options["step"])
            if case.options["apply"]:
                so.sanitize(self.data(), step)

        return attempt(use, secret=False)


@dataclass(frozen=True)
class AdversaryOptions:
    """Odd parameters of an adversary, which then observes a record."""

    def case(self, draw):
        """Some odd parameters."""
        numbers = [0, 1, 1, 2, 2, 3, 5, -1, 0.5, 1e400, 1e-300, float("nan"), 10**30, 2**63, True, None, "x", [1], 1e15]
        names = ["knows", "wrong", "value_error", "time_error", "length_error", "joined_error", "items", "wrong_facts"]
        items, wrong = (["any", "popular", "rarest", "recent", "burst", "", 7], ["values", "items", "any items", "", 7])
        odd = {**dict.fromkeys(names, numbers), "items": items, "wrong_facts": wrong}
        chosen = draw.sample(names, draw.choice([1, 2, 3]))
        return Case({}, {"knows": 3, "wrong": 1, **{name: draw.choice(odd[name]) for name in chosen}})

    def run(self, case, folder):
        """Observe one record and attack with what is known."""

        def use():
            adversary, release = so.Adversary(**case.options), small_release()
            so.Likelihood(adversary).attack(release, adversary.observe(release, release.records[0], seed=1))

        return attempt(use)


@cache
def sanitized_files(kind):
    """Output, sidecar and key of a small release or table."""
    data = small_table() if kind == "table" else small_release()
    steps = TABLE_STEPS if kind == "table" else RELEASE_STEPS
    safer = so.sanitize(data, *steps, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_sanitized(safer, place / "safer.csv", key=place / "key.csv")
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


@dataclass(frozen=True)
class Output:
    """A sanitized output with one of its files mutated: output, sidecar or key."""

    kind: str
    name: str

    def case(self, draw):
        """The files with one of them changed."""
        files = dict(sanitized_files(self.kind))
        content = files[self.name]
        if self.name.endswith(".json") and draw.random() < 0.7:
            tree = json.loads(content)
            for _ in range(draw.choice([1, 1, 3])):
                meddle(draw, tree)
            if isinstance(tree, dict):
                tree["checksum"] = checksum(tree)
            content = json.dumps(tree).encode()
        else:
            content = mutated_text(draw, content)
        return Case({**files, self.name: content})

    def run(self, case, folder):
        """Open the output with its original."""
        data = small_table() if self.kind == "table" else small_release()
        if not sidecar_path(folder / "safer.csv").exists():
            raise AssertionError("the name of the sidecar has changed")
        return attempt(
            lambda: repr(so.open_sanitized(folder / "safer.csv", data, folder / "key.csv")),
            SECRET.encode() not in case.files[self.name].partition(b"\n")[0],
        )


def _argument(data):
    """Bytes as an argument of a command: without NUL, and not too long."""
    return data[:5000].replace(b"\0", b"").decode("utf-8", "replace")


STEPS = (
    "round-time month", "round-time 10", "perturb-time 7 0.5", "round-value bins 3",
    "round-value edges 1 2 3", "round-value liked 3.5", "perturb-value 1 0.5",
    "randomized-response 1.5 items", "drop-rare-items 3", "drop-top-items 2", "drop-items 1 2",
    "drop-items @a.txt", "drop-entries 0.2", "cap-records 5", "merge-repeats max", "sample-records 0.5",
    "sample-records 10", "cluster-records 3", "km-suppress 2 2",
)  # fmt: skip
STEPS_ON_TABLES = (
    "generalize zip 1", "generalize born month", "generalize age 10", "round age 5", "top-code age ..60",
    "top-code age 20..", "swap age zip 0.5", "suppress-cells rank 2", "suppress-to-k age sex 2",
    "suppress-to-k 2", "drop-column rank", "drop-rows age 2",
)  # fmt: skip
TEXTS = {
    "ladder": TextFile(_without_comments(LADDER), lambda path: fit_ladder(read_ladder(path), small_release())),
    "table ladder": TextFile(
        _without_comments(LADDER), lambda path: fit_ladder(read_ladder(path), small_table(), ["age", "sex", "zip"])
    ),
    "facts file": TextFile(AUX, _facts_file),
    "knows": Knows(),
    "knows of tables": TableKnows(),
    "adversary": AdversaryOptions(),
    "steps": Steps(STEPS, small_release),
    "steps on tables": Steps(STEPS_ON_TABLES, small_table),
    "sidecar": Output("release", "safer.csv.sanitized.json"),
    "key": Output("release", "key.csv"),
    "output": Output("release", "safer.csv"),
    "table sidecar": Output("table", "safer.csv.sanitized.json"),
    "table key": Output("table", "key.csv"),
    "table output": Output("table", "safer.csv"),
    "review": TextFile(REVIEW, lambda path: read_decisions(path, _item_codes(), _item_codes())),
    "item map": TextFile(ITEM_MAP, lambda path: read_item_map(path, _item_codes(), _item_codes())),
    "truth": TextFile(TRUTH, lambda path: read_truth(path, small_release(), small_release()), secret=True),
    "sensitive items": TextFile(SENSITIVE, lambda path: read_sensitive_list(path, small_release())),
    "qualifying": TextFile(QUALIFYING, lambda path: count_qualifying(path, small_release()), secret=True),
}
