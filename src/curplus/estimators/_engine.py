"""How the imputer approximates a table with gaps, and completes new rows.

Where one side of the table is short, a factor model is fitted to the long one. It needs the covariances of the short
side, so if both are long, the known values are scattered entries for :func:`curplus.approximate`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._typing import FloatArray
from ..factorization import Fact, Factorization, FitReport, FittedModel, Provenance
from ..methods import approximate
from ..methods.approximate.assemble import leading_part
from ..methods.approximate.factor_model import FactorModel, Table, fit_factor_model
from ..observation import Observation
from ._scaling import ColumnScale, column_moments, column_scale
from ._tables import dense_with_gaps, known_cells

__all__ = ["TableFit", "fit_table"]

SHORT = 2000  # longest short side for a factor model


class Start(NamedTuple):
    """A factor model of ``units(table)``, or of its transpose, for the fit of a similar table."""

    units: ColumnScale
    model: FactorModel


class TableFit(NamedTuple):
    """An approximation of ``units(table)``."""

    approximation: Factorization
    units: ColumnScale
    model: FactorModel | None = None  # of units(table), where rows are draws
    start: Start | None = None  # for the fit of a similar table

    def complete(self, rows: FloatArray) -> FloatArray:
        """Rows (p, m) that were not in the table, in comparable units, with their gaps filled."""
        return np.asarray(self.approximation.complete_rows(rows) if self.model is None else self.model.complete(rows))


def fit_table(
    table: Any, rank: int | None, standardize: bool | str, rng: np.random.Generator, start: Start | None = None
) -> TableFit:
    """The approximation of a table (n, m) from its known values: those that are not NaN, or that are stored."""
    units = column_scale(column_moments(table), standardize) if start is None else start.units
    if min(table.shape) > SHORT:
        return TableFit(_from_entries(units(table), rank, rng), units)
    tall = table.shape[0] >= table.shape[1]
    read = _table(table, units) if tall else _turned(table, units)
    model = fit_factor_model(read, rank, rng, None if start is None else start.model)
    return (_tall if tall else _wide)(read, rank, Start(units, model))


def _table(table: Any, units: ColumnScale) -> Table:
    return Table(table.shape, lambda rows: units(dense_with_gaps(table[rows])))


def _turned(table: Any, units: ColumnScale) -> Table:
    turned = table.T.tocsr() if scipy.sparse.issparse(table) else table.T
    return Table(turned.shape, lambda rows: units.part(rows)(dense_with_gaps(turned[rows]).T).T)


def _tall(table: Table, _rank: int | None, found: Start) -> TableFit:
    """Rows are draws; columns are divided by their noise, so that one noise holds for all."""
    model = found.model
    own = ColumnScale(model.loadings[:, -1], np.sqrt(model.noise))
    comparable = model.rescale(*own)
    whole = leading_part(model.scores_of(table), comparable.loadings[:, :-1], model.n_factors)
    return TableFit(_remembering(whole, 1.0), found.units.then(own), comparable, found)


def _wide(table: Table, rank: int | None, found: Start) -> TableFit:
    """Columns are draws; the mean row is subtracted."""
    model = found.model
    scores = np.column_stack([model.scores_of(table), np.ones(table.shape[0])])
    mean = np.mean(model.loadings, axis=0)
    whole = leading_part(model.loadings - mean, scores, model.n_factors if rank is None else rank)
    own = ColumnScale(scores @ mean, np.ones(len(scores)))
    noise = float(np.sqrt(np.mean(model.noise)))
    return TableFit(_remembering(whole, noise), found.units.then(own), start=found)


def _from_entries(table: Any, rank: int | None, rng: np.random.Generator) -> Factorization:
    i, j, values = known_cells(table)
    return approximate(Observation(shape=table.shape, i=i, j=j, values=values), rank, rng=rng)


def _remembering(approximation: Factorization, noise: float) -> Factorization:
    """The approximation with a model for new rows."""
    report = FitReport((Fact("rank", approximation.rank), Fact("noise", noise)))
    return replace(approximation, provenance=Provenance(report=report, model=FittedModel.of(approximation, noise)))
