r"""What to read of a row that is not in the matrix yet: columns drawn with known chances, and the next ones to read.

Of k columns drawn without replacement with the chances :math:`\pi_j`, the sum of all values is estimated without bias
by :math:`\sum x_j / \pi_j`, and with the least variance if chances follow the standard deviations of what is summed
up (Neyman 1934). Those of the history stand for these; a share of the chances is equal, so that no column counts much
more than others if the history is wrong about it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import to_numpy
from .._typing import FloatArray, IndexVector, RandomState
from .._validation import check_count, check_real, random_generator
from ..evaluation.history import History
from ..evaluation.mean_columns import explaining_mean
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..factorization.new_rows import checked_order
from ..factorization.tables import numbers
from .select_columns import whole_history

__all__ = ["ColumnDraw", "draw_columns", "next_columns"]

UNIFORM = 0.2  # share of the chances that is equal; range not measured (benchmarks/llm_numbers.py shows the widths)
CERTAIN = 1 - 1e-9


class ColumnDraw(NamedTuple):
    """Columns that were drawn, and the chance of each column to be among them."""

    columns: IndexVector  # (k,)
    probabilities: FloatArray  # (m,), with the sum k


def draw_columns(history: Any, k: int, *, rng: RandomState = None) -> ColumnDraw:
    r"""Draw ``k`` columns to be read of a new row, with known chances, without replacement.

    .. math:: \pi_j \propto 0.8 \, s_j / \bar s + 0.2

    Parameters
    ----------
    history : array, scipy.sparse matrix, DataFrame, source or Factorization of shape (n, m)
        Rows that are known; :math:`s_j` is the standard deviation of column j in them. All of it is read.
    k : int
        How many columns, from 0 to m.
    rng : None, int or numpy.random.Generator
        Decides which are drawn.

    Returns
    -------
    ColumnDraw
        ``columns`` (k,), in ascending order, and ``probabilities`` (m,), for
        :meth:`~curplus.Factorization.row_means`, whose intervals then hold for each row by itself. Several new rows may
        have the same columns, or each its own draw.

    Notes
    -----
    The draw is systematic, in random order, so that each column has exactly its chance (Madow 1949).

    Examples
    --------
    >>> import numpy as np, curplus
    >>> history = np.random.default_rng(0).standard_normal((50, 40)) * np.linspace(0, 2, 40)
    >>> columns, probabilities = curplus.acquisition.draw_columns(history, 8, rng=0)
    >>> len(columns), round(float(probabilities.sum()), 9), bool(probabilities[39] > 3 * probabilities[0])
    (8, 8.0, True)
    """
    matrix = whole_history(history, real=True)
    k = check_count(k, name="k", at_most=matrix.shape[1], of="columns")
    mean, squares = (np.asarray(x.mean(axis=0)).reshape(-1) for x in (matrix, matrix * matrix))
    spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
    average = float(np.mean(spread)) if len(spread) else 0.0
    score = (1 - UNIFORM) * spread / average + UNIFORM if average > 0 else np.ones(len(spread))
    chances = _chances(score, k)
    return ColumnDraw(_systematic(chances, random_generator(rng)), chances)


def next_columns(approximation: Factorization, known: Any, k: int = 1) -> IndexVector:
    """Which ``k`` columns to read next of a new row, so that its mean becomes known best.

    Parameters
    ----------
    approximation : Factorization
        Shows what rows look like.
    known : array of shape (m,) or (p, m), or DataFrame
        One new row or several, NaN where nothing is known yet.
    k : int, default 1
        How many columns.

    Returns
    -------
    array of shape (k,) or (p, k)
        For each row, in the order of choice: each time the column that cuts the posterior variance of the mean most,
        given those that are known.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> history = rng.standard_normal((100, 1)) @ np.ones((1, 6)) + rng.standard_normal((100, 6)) * [3, 2, 1, 9, 9, 9]
    >>> approx = curplus.approximate(curplus.Observation(shape=(100, 6), row_index=range(100), rows=history))
    >>> curplus.acquisition.next_columns(approx, [np.nan, np.nan, 0.3, np.nan, np.nan, np.nan], 2).shape
    (2,)
    """
    is_one = not hasattr(known, "columns") and len(np.shape(known)) == 1
    check_real(approximation.core.Z, "means of new rows")
    values, _, names = numbers(np.asarray(known)[None] if is_one else known, name="known")
    order = checked_order(approximation, values, names, ("rows", "columns"))
    is_known = ~np.isnan(to_numpy(values if order is None else values[:, order]))
    left = int(np.min(np.count_nonzero(~is_known, axis=1), initial=approximation.shape[1]))
    k = check_count(k, name="k")
    if k > left:
        raise InvalidArgumentError(f"k={k} columns are to be read, but of a row only {left} are left. Give k={left}.")
    model = History.of(approximation).factor_model()
    chosen = [explaining_mean(model, k, start=np.flatnonzero(row)) for row in is_known]
    return chosen[0] if is_one else np.array(chosen, dtype=np.int64).reshape(len(chosen), k)


def _chances(score: FloatArray, k: int) -> FloatArray:
    """Chances of at most one, in proportion to the scores as far as that goes, which add up to k."""
    chances = np.zeros(len(score))
    is_sure = np.zeros(len(score), dtype=bool)
    while (left := k - np.count_nonzero(is_sure)) > 0:
        chances = np.where(is_sure, 1.0, left * score / float(np.sum(score[~is_sure])))
        if not np.any(over := ~is_sure & (chances >= CERTAIN)):
            return chances
        is_sure |= over
    return is_sure.astype(np.float64)


def _systematic(chances: FloatArray, rng: np.random.Generator) -> IndexVector:
    """Each position with its chance, and the same number every time."""
    sure, others = np.flatnonzero(chances == 1), rng.permutation(np.flatnonzero(chances < 1))
    ends = np.cumsum(chances[others])
    count = round(float(ends[-1])) if len(ends) else 0
    places = np.searchsorted(
        ends, (np.arange(count) + rng.random()) * (ends[-1] / count if count else 0.0), side="right"
    )
    return np.sort(np.concatenate([sure, others[np.minimum(places, len(others) - 1)]])).astype(np.int64)
