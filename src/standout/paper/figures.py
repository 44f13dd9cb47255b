"""All figures and tables of the paper, with the numbers of the 2007 version."""

from collections.abc import Callable

from standout.core.errors import ParameterError
from standout.paper.attack_runner import NEIGHBOUR_SECONDS, AttackRunner
from standout.paper.data_figures import (
    bits_of_a_film,
    films_outside_top,
    nearest_neighbours,
    qualifying_per_person,
    record_lengths,
)
from standout.paper.figure import Figure, FigureResult
from standout.paper.paper_results import Bar, bars
from standout.paper.profile_figure import PROFILES, profile_eccentricities
from standout.report.charts import Axis

__all__ = ["FIGURES", "select_figures"]

SHARE_OF_TARGETS, SHARE_OF_PEOPLE = Axis("share of targets", 0, 1), Axis("share of people", 0, 1)
BITS = Axis("bits gained", 0, 20, form=".1f")
PEOPLE = Axis("people")
PAPER = ("paper",)


def _dates(bar: Bar) -> str:
    return bar.setting.dates


def _films(bar: Bar) -> str:
    return bar.setting.films


def _popularity(bar: Bar) -> str:
    return "any films" if bar.setting.outside_top is None else f"not in top {bar.setting.outside_top}"


def _facts(bar: Bar) -> str:
    return bar.setting.facts


def _right_facts(bar: Bar) -> str:
    return f"{bar.setting.right} of {bar.setting.known}"


def _wrong_films(bar: Bar) -> str:
    draw = "all equally likely" if bar.setting.wrong_facts == "any items" else "by popularity"
    return f"wrong films, {draw}"


def _claims(bar: Bar) -> str:
    measure = {"correct_claims": "present, correct claims", "absent_rejected": "absent, no claim"}
    return f"{measure[bar.measure]}, {bar.setting.dates}"


def _length(bar: Bar) -> str:
    return "length not known" if bar.setting.length_error is None else "length known ± 50 %"


def _attack_figure(
    key: str,
    panel: Callable[[Bar], str],
    label: Callable[[Bar], str] = _facts,
    axis: Axis = SHARE_OF_TARGETS,
    absent: bool = False,
) -> Figure:
    """A figure of attacks: the paper's bars compared with ours."""

    def compute(runner: AttackRunner) -> FigureResult:
        return FigureResult(tuple(runner.compare_bar(bar, panel(bar), label(bar)) for bar in bars(key)))

    settings = tuple(dict.fromkeys(bar.setting for bar in bars(key)))
    return Figure(key, compute, (axis,), settings=settings, absent=absent)


FIGURES = (
    _attack_figure("1", _dates),
    _attack_figure("2", _claims, absent=True),
    _attack_figure("3", _dates, axis=BITS),
    _attack_figure("4", _films),
    _attack_figure("5", _films, axis=BITS),
    _attack_figure("6", _length),
    Figure(
        key="7",
        compute=qualifying_per_person,
        axes=(Axis("test entries"), Axis("people", form="~s")),
        chart="columns",
        attacks=False,
    ),
    Figure(
        key="8",
        compute=record_lengths(100, (10, 19, 20, 50, 100)),
        axes=(Axis("ratings", 0, 100), PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    Figure(
        key="9",
        compute=record_lengths(1000, (20, 100)),
        axes=(Axis("ratings", 0, 1000), PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    Figure(
        key="10",
        compute=bits_of_a_film,
        axes=(Axis("rank of the film", log=True, form="~s"), Axis("bits")),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    _attack_figure("11", _facts, _popularity),
    Figure(
        key="12",
        compute=nearest_neighbours,
        axes=(Axis("similarity", 0, 0.75), SHARE_OF_PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
        seconds=NEIGHBOUR_SECONDS,
    ),
    Figure(key="table", compute=films_outside_top, axes=(SHARE_OF_PEOPLE,), attacks=False),
    _attack_figure("sp10", _wrong_films, _right_facts),
    Figure(
        key="imdb",
        compute=profile_eccentricities,
        axes=(Axis("eccentricity, σ", 0, 60), SHARE_OF_PEOPLE),
        chart="curves",
        reference_series=("absent",),
        settings=tuple(PROFILES.values()),
        absent=True,
    ),
)


def select_figures(only: str | list[str] | None) -> tuple[Figure, ...]:
    """The figures with these keys, like "1,4,12"; default: all.

    >>> [figure.key for figure in select_figures("12,1")]
    ['1', '12']
    """
    if only is None:
        return FIGURES
    keys = [str(key).strip().lower() for key in (only.split(",") if isinstance(only, str) else only)]
    known = [figure.key for figure in FIGURES]
    for key in keys:
        if key not in known:
            raise ParameterError(f"only must name figures among {', '.join(known)}, got {key!r}")
    return tuple(figure for figure in FIGURES if figure.key in keys)
