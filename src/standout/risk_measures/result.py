"""The result of `table_risk`: all measures, and the same as tables."""

from dataclasses import dataclass

import polars as pl

from standout._version import __version__
from standout.evaluate.estimates import Estimate
from standout.risk_measures.identity import IdentityRisk, exact
from standout.risk_measures.known_columns import KnownColumns

__all__ = ["TableRisk"]

Row = tuple[str, str, Estimate]
COLUMNS = {
    "measure": pl.String,
    "setting": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class TableRisk:
    """The result of `table_risk`.

    Attributes
    ----------
    columns
        The quasi-identifiers and sensitive columns, and why these.
    identity
        k, uniqueness, prosecutor and marketer risk of the quasi-identifiers.
    seed
        The seed of random draws.
    fingerprint
        The fingerprint of the table.
    """

    columns: KnownColumns
    identity: IdentityRisk
    seed: int
    fingerprint: str

    def __repr__(self) -> str:
        return f"<TableRisk: {self.identity}>"

    def to_frame(self) -> pl.DataFrame:
        """All measures, one in each row.

        Returns
        -------
        polars.DataFrame
            measure, setting, estimate, low, high, n, baseline, seed, fingerprint, version.
        """
        fixed = (self.seed, self.fingerprint, __version__)
        cells = [
            (measure, setting, number.value, number.low, number.high, number.n, number.baseline, *fixed)
            for measure, setting, number in self._rows()
        ]
        return pl.DataFrame(cells, schema=COLUMNS, orient="row")

    def _rows(self) -> list[Row]:
        return list(identity_rows(self.identity))


def identity_rows(risk: IdentityRisk) -> list[Row]:
    """The numbers of an identity risk."""
    return [
        ("k", "", exact(risk.k, risk.n_rows)),
        ("unique", "", risk.unique),
        *[("in smaller classes", f"fewer than {size} rows", share) for size, share in risk.smaller],
        ("highest prosecutor risk", "", risk.highest),
        ("marketer risk", "", risk.mean),
        *[("prosecutor risk above", f"{limit:g}", share) for limit, share in risk.above],
    ]
