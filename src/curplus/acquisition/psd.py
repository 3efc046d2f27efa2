r"""Choosing columns of a PSD matrix by the residual of its diagonal: randomly pivoted Cholesky, and a step further.

The diagonal of a PSD matrix shows the rows that are not explained yet: with the Nystroem approximation
:math:`\hat M` of the columns read so far and its error E, :math:`E_{ii}` is the residual of row i, and randomly pivoted
Cholesky draws the next column with these chances [1]_. To read several columns at once, several are proposed with the
same chances, and the entries where they intersect are read.

``"rpcholesky"`` goes through them one by one and keeps each with its residual over its first residual as the chance
[2]_: the kept ones have the same distribution as if columns had been drawn and read one by one.

``"auto"`` proposes more columns than it wants. Column t takes :math:`\sum_i |E_{it}|^2 / E_{tt}` from the trace of the
error. Since the proposals are drawn with chances :math:`E_{ii}`, the mean of :math:`|E_{it}|^2 / (E_{tt} E_{ii})` over
them estimates that, as a share of the trace. The proposal with the largest mean is kept, and the next is chosen by the
residual, until half of the trace is taken.

References
----------
.. [1] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky: Practical approximation of a
   kernel matrix with few entry evaluations", Comm. Pure Appl. Math. 78, 2025, arXiv:2207.06503.
.. [2] E. N. Epperly, J. A. Tropp and R. J. Webber, "Embrace rejection: Kernel matrix approximation by accelerated
   randomly pivoted Cholesky", 2024, arXiv:2410.03969.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import abs_squared, adjoint, conjugate, take, to_numpy
from .._support.sets import NO_INDEX, is_in, union
from .._typing import FloatArray, IndexVector, Shape
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from ..factorization.nystroem import Nystroem, nystroem_of
from ..observation import Observation, SamplePlan, SamplingDesign
from ..observation.plan import ALL_UNIFORM, distinct_others
from .budget import check_budget

__all__ = ["PSD_STRATEGIES", "propose_psd", "psd_totals"]

#: How columns of a PSD matrix can be chosen.
PSD_STRATEGIES = ("auto", "rpcholesky", "uniform")
BLOCKS = 8  # in which columns are read; with more, proposals follow the residual closer, in more rounds
OVERHEAD = 0.05  # most entries read to choose a block for "auto", as a share of the wanted columns
LEFT = 0.5  # share of the trace at the start of a block that must remain, so that its proposals still represent it
DESIGN = SamplingDesign("adaptive", "adaptive", "adaptive")


def psd_totals(shape: Shape, counts: dict[str, Any], budget: Any, others: tuple[Any, ...], strategy: Any) -> int:
    """How many columns there should be, or a budget buys after the diagonal; other arguments must fit a PSD matrix."""
    n, (n_columns, n_rows, n_entries) = shape[0], counts.values()
    if any(other is not None for other in others):
        raise InvalidArgumentError(
            "columns of a PSD matrix are chosen by what is left of its diagonal, and all have the same price. Leave "
            "out costs, required and forbidden, or use symmetric=True instead of psd=True."
        )
    if budget is not None:
        money, _ = check_budget(budget, None, shape)
        bought = int((money / n - 1) / (1 + 2 * OVERHEAD))
        if bought < 1:
            raise InvalidArgumentError(
                f"budget={budget!r} is {money:.0f} values, and the diagonal and one column are {2 * n}. Give more."
            )
        n_columns = min(bought, n if n_columns is None else n_columns)
    total = check_count(n_columns, name="n_columns", at_most=n, of="columns")
    if n_rows not in (None, 0, total):
        raise InvalidArgumentError(
            f"n_rows={n_rows!r} and n_columns={total}, but rows of a PSD matrix are its columns, and only columns "
            "are read. Leave n_rows out."
        )
    if n_entries not in (None, 0, n):
        raise InvalidArgumentError(
            f"n_entries={n_entries!r}, but of a PSD matrix the diagonal is read, {n} values, and few others. Leave "
            "n_entries out."
        )
    if strategy not in PSD_STRATEGIES:
        raise InvalidArgumentError(
            f"strategy={strategy!r} does not choose columns of a PSD matrix by its diagonal. Use one of "
            f"{', '.join(map(repr, PSD_STRATEGIES))}, or symmetric=True instead of psd=True."
        )
    return total


def propose_psd(
    observation: Observation, n_columns: int, *, strategy: str, seed: int, candidates: IndexVector | None = None
) -> SamplePlan | None:
    """What to read next of a PSD matrix: the diagonal, entries where proposed columns intersect, or columns.

    Parameters
    ----------
    observation : Observation
        The known part of a PSD matrix.
    n_columns : int
        How many columns there should be in the end; fewer, if nothing but rounding is left of the diagonal.
    strategy : str
        One of :data:`PSD_STRATEGIES`.
    seed : int
        The plan depends on it and on the observation alone.
    candidates : array of positions, optional
        Columns that can be chosen; all if left out.
    """
    _check_start(observation, n_columns)
    unknown = np.flatnonzero(np.isnan(observation.diagonal()))
    if len(unknown):
        reason = f"{len(unknown)} entries, the diagonal"
        return _entries(observation, unknown, unknown, reason, SamplingDesign("uniform", "uniform", "given"))
    missing = n_columns - observation.n_columns
    if missing <= 0:
        return None
    rng = np.random.default_rng([seed, observation.n_columns])
    if strategy == "uniform":
        index = distinct_others(rng, observation.shape[1], missing, _excluded(observation, candidates))
        return _columns(observation, index, "drawn uniformly", ALL_UNIFORM)
    found = nystroem_of(observation)
    left = np.where(found.residual > found.rounding, found.residual, 0.0)
    left[_excluded(observation, candidates)] = 0.0
    if not left.any():
        return None
    count = min(missing, math.ceil(n_columns / BLOCKS))
    n_proposed = count if strategy == "rpcholesky" else _n_proposed(count, observation.shape[0])
    chances = left / left.max()
    proposed = rng.choice(len(left), size=n_proposed, p=chances / chances.sum())
    pairs = _pairs(observation, np.unique(proposed))
    if len(pairs[0]):
        return _entries(observation, *pairs, f"{len(pairs[0])} entries where proposed columns intersect", DESIGN)
    between = _left_between(observation, found, proposed)
    np.fill_diagonal(between, left[proposed])
    kept = (
        _not_rejected(between, found.rounding, rng)
        if strategy == "rpcholesky"
        else _explaining(between, count, found.rounding)
    )
    share = chances.sum() / (found.diagonal / left.max()).sum()
    why = f"of {n_proposed} that were drawn by what is left of the diagonal: {share:.3g} of the trace"
    return _columns(observation, proposed[kept], why, DESIGN)


def _excluded(observation: Observation, candidates: IndexVector | None) -> IndexVector:
    """Columns that are not chosen: known ones, and those that are no candidates."""
    known = observation.column_index
    if candidates is None:
        return known
    return np.union1d(known, np.setdiff1d(np.arange(observation.shape[1]), candidates))


def _check_start(observation: Observation, n_columns: int) -> None:
    o = observation
    if o.n_rows:
        raise InvalidArgumentError(
            f"{o.n_rows} rows are known of a PSD matrix whose columns are to be chosen. Give them as columns."
        )
    if o.n_columns > n_columns:
        raise InvalidArgumentError(
            f"start has {o.n_columns} columns but n_columns={n_columns} is the total, start included. "
            f"Use n_columns={o.n_columns} or more."
        )
    gap = np.isin(np.arange(o.shape[0]) * (o.shape[1] + 1), o.gap_index())
    if o.has_gaps or gap.any():
        raise InvalidArgumentError(
            "columns of a PSD matrix are chosen by its diagonal and by complete columns, and some of these have gaps. "
            "Use symmetric=True instead of psd=True."
        )


def _pairs(observation: Observation, index: IndexVector) -> tuple[IndexVector, IndexVector]:
    """Positions where some columns intersect, each pair of columns once, that are not known."""
    a, b = (index[t] for t in np.triu_indices(len(index), 1))
    o = observation
    m = o.shape[1]
    known = is_in(a * m + b, union(o.entries.flat_index, o.j * m + o.i, o.gap_index()))
    return a[~known], b[~known]


def _left_between(observation: Observation, found: Nystroem, index: IndexVector) -> FloatArray:
    """The error of the approximation where some columns intersect, shape (b, b), from the entries that are known."""
    o = observation
    which, inverse = np.unique(index, return_inverse=True)
    place = np.full(o.shape[0], -1)
    place[which] = np.arange(len(which))
    t = np.flatnonzero((place[o.i] >= 0) & (place[o.j] >= 0))
    factor = to_numpy(take(found.factor, which, axis=0))
    whole = np.diag(found.diagonal[which]).astype(factor.dtype)
    i, j, values = place[o.i[t]], place[o.j[t]], to_numpy(take(o.values, t, axis=0))
    whole[i, j], whole[j, i] = values, conjugate(values)
    left: FloatArray = (whole - factor @ adjoint(factor))[np.ix_(inverse, inverse)]
    return left


def _n_proposed(count: int, n: int) -> int:
    """How many columns to propose if so many are wanted, such that few entries are read to compare them."""
    affordable = math.ceil(math.sqrt(2 * OVERHEAD * n * count))
    return max(count, affordable)


def _not_rejected(left: FloatArray, rounding: float, rng: np.random.Generator) -> IndexVector:
    """Which proposed columns are kept: each with the chance of its residual over that of its proposal."""
    chances, left, kept = np.diagonal(left).real.copy(), left.copy(), []
    for t, chance in enumerate(rng.random(len(left)) * chances):
        if left[t, t].real > rounding and chance < left[t, t].real:
            kept.append(t)
            left -= np.outer(left[:, t], left[t]) / left[t, t]
    return np.asarray(kept, dtype=np.int64)


def _explaining(left: FloatArray, count: int, rounding: float) -> IndexVector:
    """Which of the proposed columns are kept: up to ``count``, each time the one that explains the others best."""
    chances, left = np.diagonal(left).real.copy(), left.copy()
    kept: list[int] = []
    while len(kept) < count and np.mean(np.diagonal(left).real / chances) > LEFT:
        own = np.diagonal(left).real
        free = np.flatnonzero(own > rounding)
        if not len(free):
            break
        explained = np.sum(abs_squared(left[:, free]) / chances[:, None], axis=0) / own[free]
        t = int(free[np.argmax(explained)])
        kept.append(t)
        left -= np.outer(left[:, t], left[t]) / left[t, t]
    return np.asarray(kept, dtype=np.int64)


def _entries(observation: Observation, i: IndexVector, j: IndexVector, why: str, design: SamplingDesign) -> SamplePlan:
    return SamplePlan(observation.shape, NO_INDEX, NO_INDEX, i, j, design=design, reasons=(why,))


def _columns(observation: Observation, index: IndexVector, why: str, design: SamplingDesign) -> SamplePlan:
    reason = f"{len(index)} columns, {why}"
    return SamplePlan(observation.shape, index, NO_INDEX, NO_INDEX, NO_INDEX, design=design, reasons=(reason,))
