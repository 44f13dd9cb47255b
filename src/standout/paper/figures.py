"""Every figure and table of the paper, by number; numbers are those of the version of 2007."""

from collections.abc import Callable

from standout.core.errors import ParameterError
from standout.paper.attack_runner import NEAREST, Lab
from standout.paper.data_figures import bits_of_a_film, by_number, nearest, table, test_entries
from standout.paper.figure import Figure, Result
from standout.paper.paper_results import Bar, bars
from standout.paper.profile_figure import PROFILES, profiles
from standout.report.charts import Axis

__all__ = ["FIGURES", "chosen"]

SHARE, BITS = Axis("share of targets", 0, 1), Axis("bits gained", 0, 20, form=".1f")
RANK = Axis("rank of the film", log=True, form="~s")
FAR = Axis("eccentricity, σ", 0, 60)
PAPER = ("paper",)


def by_dates(bar: Bar) -> str:
    return bar.setting.dates


def by_films(bar: Bar) -> str:
    return bar.setting.films


def by_rank(bar: Bar) -> str:
    return "any films" if bar.setting.outside_top is None else f"not in top {bar.setting.outside_top}"


def by_facts(bar: Bar) -> str:
    return bar.setting.facts


def by_facts_right(bar: Bar) -> str:
    return f"{bar.setting.right} of {bar.setting.known}"


def by_draw(bar: Bar) -> str:
    return (
        "wrong films of any kind" if bar.setting.wrong_facts == "any items" else "wrong films by popularity"
    )


def by_claim(bar: Bar) -> str:
    told = {"correct_claims": "found when present", "absent_rejected": "rejected when absent"}
    return f"{told[bar.measure]}, {bar.setting.dates}"


def by_length(bar: Bar) -> str:
    return "length not known" if bar.setting.length_error is None else "length known ± 50 %"


def _attack(
    key: str,
    panel: Callable[[Bar], str],
    label: Callable[[Bar], str] = by_facts,
    absent: bool = False,
    axes: tuple[Axis, ...] = (SHARE,),
) -> Figure:
    """A figure of attacks: the paper's bars beside ours."""
    settings = tuple(dict.fromkeys(bar.setting for bar in bars(key)))

    def make(lab: Lab) -> Result:
        return Result(tuple(lab.row(bar, panel(bar), label(bar)) for bar in bars(key)))

    return Figure(key, make, axes, settings=settings, absent=absent)


def _data(
    key: str,
    make: Callable[[Lab], Result],
    look: str,
    x: Axis,
    y: Axis | None = None,
    quiet: tuple[str, ...] = (),
    cost: float = 0.0,
) -> Figure:
    """A figure of the data itself."""
    axes = (x,) if y is None else (x, y)
    return Figure(key, make, axes, look, quiet, attacks=False, cost=cost)


FIGURES = (
    _attack("1", by_dates),
    _attack("2", by_claim, absent=True),
    _attack("3", by_dates, axes=(BITS,)),
    _attack("4", by_films),
    _attack("5", by_films, axes=(BITS,)),
    _attack("6", by_length),
    _data("7", test_entries, "columns", Axis("test entries"), Axis("people", form="~s")),
    _data(
        "8", by_number(100, (10, 19, 20, 50, 100)), "curves", Axis("ratings", 0, 100), Axis("people"), PAPER
    ),
    _data("9", by_number(1000, (20, 100)), "curves", Axis("ratings", 0, 1000), Axis("people"), PAPER),
    _data("10", bits_of_a_film, "curves", RANK, Axis("bits"), PAPER),
    _attack("11", by_facts, by_rank),
    _data(
        "12", nearest, "curves", Axis("similarity", 0, 0.75), Axis("share of people", 0, 1), PAPER, NEAREST
    ),
    _data("table", table, "bars", Axis("share of people", 0, 1)),
    _attack("sp10", by_draw, by_facts_right),
    Figure(
        "imdb",
        profiles,
        (FAR, Axis("share of people", 0, 1)),
        "curves",
        ("not there",),
        settings=tuple(PROFILES.values()),
        absent=True,
    ),
)


def chosen(only: str | list[str] | None) -> tuple[Figure, ...]:
    """The figures that are named: "1,4,12", or all.

    >>> [figure.key for figure in chosen("12,1")]
    ['1', '12']
    """
    if only is None:
        return FIGURES
    names = [str(name).strip().lower() for name in (only.split(",") if isinstance(only, str) else only)]
    known = [figure.key for figure in FIGURES]
    for name in names:
        if name not in known:
            raise ParameterError(f"there is no figure {name!r}: there are {', '.join(known)}")
    return tuple(figure for figure in FIGURES if figure.key in names)
