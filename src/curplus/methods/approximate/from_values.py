"""From values here and there: scattered entries, tables with gaps, or anything taken as such.

Two models compete where both can be afforded, and values set aside decide: a factor model, which gives every column
noise of its own and every row its uncertainty, and offsets with shrunken singular values, which need no start.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import index_table, is_numpy_array, to_device, to_numpy
from ..._typing import FloatArray, IndexVector
from ...factorization import FittedModel
from ...observation import Entries, Observation
from .als import measurements
from .assemble import leading_part, mean_of
from .evidence import FEWEST, best_on
from .factor_model import Table, fit_factor_model
from .known_table import known_table
from .nuclear import CLEARLY, chosen_threshold, low_rank_part, thresholds
from .offsets import additive_model, no_offsets
from .posterior import posterior_mean
from .rank import RankChoice, choose_rank
from .scattered import FEW_VALUES
from .start import Aside, Start
from .way import FACTORS, MEAN, SHRUNKEN, Way

__all__ = ["MOST_FACTORS", "affordable", "by_factor_model", "from_table", "from_values"]

MOST_CELLS, LONGEST_SHORT_SIDE = 50_000_000, 2000  # of a table for which a factor model is affordable
FEWEST_FACTORS, MOST_FACTORS = 10, 20  # where not more are asked for
BLOCK = 2_000_000  # numbers in the equations of the rows that are solved at a time
HIDDEN, MOST_HIDDEN, MOST_ROWS = 0.1, 1500, 300  # share of the known values that is set aside, of so many rows
FEWEST_ASIDE, MOST_COMPARED = 10, 5_000_000  # values set aside, and cells of a table, for which both are fitted
FEWEST_OF_A_LINE = 3  # known values of a row or column, of which one can be set aside
WHY = "as many directions as the values support"


def affordable(sample: Observation) -> bool:
    """Whether a matrix is small enough to be read as a table with gaps, which is made on the host."""
    on_host = is_numpy_array(sample.values) or not (sample.n_rows or sample.n_columns)
    return on_host and math.prod(sample.shape) <= MOST_CELLS and min(sample.shape) <= LONGEST_SHORT_SIDE


def from_values(
    sample: Observation,
    rank: int | None,
    offsets: str | bool,
    use: IndexVector,
    check: IndexVector,
    way: Way,
) -> Start:
    """The better of two models of the entries, and of rows and columns where there are any, on entries set aside.

    Or the one of a ``way`` that was chosen before, where it is possible here too.
    """
    starts = []
    can_judge = len(check) >= FEWEST or way.model
    if way.model != SHRUNKEN and offsets is not False and affordable(sample) and can_judge:
        starts.append(by_factor_model(known_table(sample, use), sample, rank))
    if not starts or not (way.model == FACTORS or sample.n_rows or sample.n_columns):
        starts.append(_by_shrinking(measurements(sample, use).entries, sample, rank, offsets, way.n_thresholds))
    best = _best_of(starts, sample.entries.take(check), model=way.model)
    return best._replace(approximation=best.approximation.truncate(best.rank.rank))


def _best_of(starts: list[Start], aside: Entries, *, model: str = "", by: float = 0.0) -> Start:
    """The best on entries set aside of some models and the mean of the last two, or the ``model`` chosen before.

    Another than the first must be better ``by`` so many standard errors.
    """
    if len(starts) > 1:  # the mean of two models errs less than either where they err in different places
        mean = mean_of(*(start.approximation for start in starts[-2:]))
        starts = [*starts, starts[-1]._replace(approximation=mean, way=starts[-1].way._replace(model=MEAN))]
    starts = [start for start in starts if start.way.model == model] or starts
    return starts[best_on(aside, [start.approximation for start in starts], by=by)]


def from_table(sample: Observation, rank: int | None, offsets: str | bool) -> Start:
    """All rows or all columns with gaps: the best of three models of their known values, on some that are set aside.

    Where values are large by chance, offsets alone are safe, so another model must be clearly better. Of few values
    none can be set aside to choose; of very many, a factor model is what can be afforded.
    """
    table = known_table(sample, np.arange(sample.n_entries))
    aside = _set_aside(table, np.random.default_rng(0))
    rest = _without(table, aside.entries)
    starts = _models_of(rest, sample, rank, offsets, can_choose=len(aside.entries) >= FEWEST_ASIDE)
    best = _best_of(starts, aside.entries, by=CLEARLY)
    return best._replace(aside=aside, approximation=best.approximation.truncate(best.rank.rank))


def _models_of(
    table: Table, sample: Observation, rank: int | None, offsets: str | bool, *, can_choose: bool
) -> list[Start]:
    """What a table can be taken for, the safest first: offsets, with shrunken singular values, or factors."""
    is_large = math.prod(table.shape) > MOST_COMPARED
    starts = []
    if not is_large or offsets is False:
        known = _known_entries(table)
        starts = [
            _by_shrinking(known, sample, rank, offsets, count) for count in ((0, None) if can_choose else (None,))
        ]
    if offsets is not False and (is_large or can_choose):
        starts.append(by_factor_model(table, sample, rank))
    return starts


def _set_aside(table: Table, rng: np.random.Generator) -> Aside:
    """Some known values of some rows, and what the means of rows and columns, found in these rows, say there."""
    n, m = table.shape
    chosen = np.sort(rng.choice(n, min(n, MOST_ROWS), replace=False))
    known = _known_entries(Table((len(chosen), m), lambda rows: table.rows(chosen[rows])))
    in_row, in_column = np.bincount(known.i, minlength=len(chosen)), np.bincount(known.j, minlength=m)
    can_be_hidden = np.minimum(in_row[known.i], in_column[known.j]) >= FEWEST_OF_A_LINE
    hidden = rng.permutation(np.flatnonzero(can_be_hidden))[: min(int(HIDDEN * len(known)), MOST_HIDDEN)]
    some = known.take(np.sort(hidden))
    means = additive_model(known.take(np.delete(np.arange(len(known)), hidden))).at(some.i, some.j)
    return Aside(Entries((n, m), chosen[some.i], some.j, some.values), means)


def _without(table: Table, hidden: Entries) -> Table:
    """The table with gaps at some of its known values."""

    def rows(index: slice | IndexVector) -> FloatArray:
        values, chosen = np.array(table.rows(index)), np.arange(table.shape[0])[index]
        place = index_table(chosen, table.shape[0])[hidden.i]
        here = place >= 0
        values[place[here], hidden.j[here]] = np.nan
        return values

    return Table(table.shape, rows)


def _known_entries(table: Table) -> Entries:
    """The known values of a table, one by one."""
    values = np.asarray(table.rows(slice(None)), dtype=np.float64)
    i, j = np.nonzero(~np.isnan(values))
    return Entries(table.shape, i, j, values[i, j], weights=np.ones(len(i)))


def by_factor_model(table: Table, sample: Observation, rank: int | None) -> Start:
    """A factor model of the longer side."""
    if table.shape[0] < table.shape[1]:
        turned = by_factor_model(_turned(table), sample.T, rank)
        remembered = None if turned.model is None else turned.model.T
        return turned._replace(approximation=turned.approximation.T, model=remembered)
    n, m = table.shape
    known = _known_columns(table)
    part = Table((n, len(known)), lambda rows: table.rows(rows)[:, known])
    if not len(known):
        return Start(leading_part(np.zeros((n, 1)), np.zeros((m, 1)), 1), _rank(sample, rank), way=Way(FACTORS))
    most = max(1, min(n - 1, len(known) - 1, max(len(known) // 3, FEWEST_FACTORS)))
    wanted = min(max(_most_factors(sample), rank or 0), most)
    model = fit_factor_model(part, wanted, np.random.default_rng(0))
    scores = np.column_stack([model.scores_of(part), np.ones(n)])
    loadings = np.tile(model.loadings.mean(axis=0), (m, 1))  # of a column of which nothing is known
    loadings[known] = model.loadings
    left, right = (to_device(x, sample.values) for x in (scores, loadings))
    whole = leading_part(left, right, scores.shape[1])
    fitted = FittedModel.of(whole, math.sqrt(float(np.mean(model.noise))))
    return Start(whole, _rank(sample, rank), model=fitted, way=Way(FACTORS))


def _most_factors(sample: Observation) -> int:
    """How many factors there may be; of few values, half as many as a row of the longer side has of them."""
    if sample.n_values_read > FEW_VALUES:
        return MOST_FACTORS
    return min(MOST_FACTORS, max(FEWEST_FACTORS, sample.n_values_read // (2 * max(sample.shape))))


def _rank(sample: Observation, rank: int | None) -> RankChoice:
    return RankChoice(min(sample.shape), WHY) if rank is None else choose_rank(sample, rank)


def _turned(table: Table) -> Table:
    """The transposed table; it is small enough to be held whole."""
    whole = table.rows(slice(None)).T
    return Table(whole.shape, lambda rows: whole[rows])


def _known_columns(table: Table) -> IndexVector:
    """Columns with a known value."""
    known = np.zeros(table.shape[1], dtype=bool)
    step = max(1, BLOCK // max(table.shape[1], 1))
    for start in range(0, table.shape[0], step):
        known |= np.any(~np.isnan(table.rows(slice(start, start + step))), axis=0)
    return np.flatnonzero(known)


def _by_shrinking(
    entries: Entries, sample: Observation, rank: int | None, offsets: str | bool, n_thresholds: int | None = None
) -> Start:
    """Offsets of rows and columns, and singular values of the rest shrunk by a threshold.

    The factors are made on the host, by SciPy, and sent to the device of the entries.
    """
    entries = entries.with_values(to_numpy(entries.values))
    model_of = no_offsets if offsets is False else additive_model
    found = model_of(entries)
    residual = found.residual(entries)
    falling = thresholds(residual)
    if n_thresholds is None:
        n_thresholds = chosen_threshold(entries, falling, model_of, posterior_mean, np.random.default_rng(0))
    low_rank = posterior_mean(residual, low_rank_part(residual, falling[:n_thresholds]))
    left, right = (to_device(np.hstack(pair), sample.values) for pair in zip(found.factors(), low_rank, strict=True))
    answer = leading_part(left, right, left.shape[1])
    kept = None if offsets is False else found
    return Start(answer, _rank(sample, rank), offsets=kept, way=Way(SHRUNKEN, n_thresholds))
