r"""Choosing columns of a matrix that is known as a whole.

A few columns stand for all of them if the others are nearly combinations of theirs. The classical rules for finding
such columns differ in what they call important: a column is taken because it points where the columns taken so far do
not (pivoting), because it accounts for much of what they leave unexplained (greedy column subset selection), because
the leading singular vectors depend on it (leverage scores, QDEIM).

:func:`select_columns` applies these rules to a whole matrix. :func:`curplus.acquire` applies the same ones to a matrix
of which only some rows are known so far, in order to decide what to read next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import double, number_array, power_of_two, to_numpy
from .._support.sets import NO_INDEX
from .._typing import IndexVector, RandomState
from .._validation import check_count, check_finite, check_real, check_two_dimensional, random_generator
from ..evaluation.history import MOST_DIRECTIONS, History
from ..evaluation.mean_columns import columns_for_mean
from ..exceptions import InvalidArgumentError
from ..sources import as_source
from .choice import RULES
from .prices import Costs
from .rules import Rule
from .score import right_vectors

__all__ = ["select_columns", "whole_history"]


def select_columns(
    source: Any,
    k: int,
    *,
    method: str | Rule | None = None,
    goal: str | None = None,
    rank: int | None = None,
    cost: Any = None,
    rng: RandomState = None,
) -> IndexVector:
    r"""Choose ``k`` columns that represent a matrix known as a whole.

    Parameters
    ----------
    source : array, scipy.sparse matrix, DataFrame or source of shape (n, m)
        The matrix; all of it is read. A sparse one stays sparse. For rows, give its transpose.
    k : int
        How many columns, from 0 to m. It may exceed the rank of the matrix.
    method : str or Rule, optional
        ``"qdeim"`` if left out: on word counts, answers of language models and noisy matrices of low rank it leaves the
        least unexplained, or up to 5 % more than that; ``"pivoted"`` needs no singular vectors and leaves up to 8 %
        more.

        ===================  =======================================================================================
        ``"leverage"``       drawn with chances proportional to the leverage scores :math:`\|v_j\|^2` [1]_
        ``"qdeim"``          discrete empirical interpolation: pivoted QR of the right singular vectors [2]_
        ``"pivoted"``        pivoted QR of the matrix: what the chosen leave over, largest norm first
        ``"explaining"``     each time the column that accounts for most of what the chosen leave over [3]_
        ``"uniform"``        drawn with equal chances
        ===================  =======================================================================================
    goal : {"mean"}, optional
        ``"mean"``, in place of a method: columns from which the mean of a new row is predicted best, by
        :meth:`~curplus.Factorization.row_means`. Each time the column that cuts the posterior variance of the mean most
        is taken. Left-out rows decide between all columns chosen so, half of them random, and all of them random.
    rank : int, optional
        How many leading singular vectors leverage, QDEIM and ``"explaining"`` look at; ``k`` if left out.
    cost : array of shape (m,), optional
        What each column costs. Squared scores are divided by it, so that columns that cost less and explain nearly as
        much are preferred; ``"uniform"``, and columns that are random, take no notice.
    rng : None, int or numpy.random.Generator
        Used by the methods that draw, and by ``goal``.

    Returns
    -------
    array of shape (k,)
        Distinct positions, in the order of choice. Once the chosen columns span what the method looks at, the others
        follow by leverage (by norm for ``"pivoted"``), and columns that are all zero come last, in random order.

    Raises
    ------
    InvalidArgumentError
        If ``k`` or ``rank`` is out of range, the method or the goal is unknown, both are given, or a value is not
        finite.

    References
    ----------
    .. [1] M. W. Mahoney and P. Drineas, "CUR matrix decompositions for improved data analysis", PNAS 106, 2009.
    .. [2] Z. Drmac and S. Gugercin, "A new selection operator for the discrete empirical interpolation method",
       SIAM J. Sci. Comput. 38, 2016.
    .. [3] A. K. Farahat, A. Ghodsi and M. S. Kamel, "An efficient greedy method for unsupervised feature selection",
       ICDM, 2011.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.random.default_rng(0).standard_normal((50, 40))
    >>> M[:, 7] *= 30
    >>> M[:, 31] *= 20
    >>> [int(j) for j in curplus.select_columns(M, 2, method="qdeim")]
    [7, 31]
    """
    matrix = whole_history(source, real=goal is not None)
    n, m = matrix.shape
    k = check_count(k, name="k", at_most=m, of="columns")
    if rank is not None:
        rank = check_count(rank, name="rank", at_least=1, at_most=min(n, m), of="singular vectors")
    _check_goal(goal, method, rank)
    rule = RULES.resolve(method or "qdeim")
    generator = random_generator(rng)
    if k == 0:
        return NO_INDEX
    prices = None if cost is None else np.array(Costs(column=cost).of((n, m)).columns, dtype=np.float64)
    if goal is not None:
        return columns_for_mean(history_of(matrix), k, generator, prices)
    if prices is None:
        return rule.select(matrix, k, min(rank or k, n, m), generator)
    return rule.select(matrix, k, min(rank or k, n, m), generator, cost=prices)


def _check_goal(goal: Any, method: Any, rank: Any) -> None:
    """A goal is known, and stands alone."""
    if goal is not None and goal != "mean":
        raise InvalidArgumentError(f'goal={goal!r} is unknown. Give goal="mean", or a method.')
    if goal is not None and (method is not None or rank is not None):
        name, value = ("method", method) if method is not None else ("rank", rank)
        raise InvalidArgumentError(
            f"goal={goal!r} and {name}={value!r} were given, but a goal has a rule of its own. Give one of them."
        )


def history_of(matrix: Any) -> History:
    """The rows of a known matrix; of a sparse one, in its leading directions."""
    rank = min(matrix.shape)
    rank = min(rank, 2 * MOST_DIRECTIONS) if scipy.sparse.issparse(matrix) else rank
    return History.of_matrix(matrix, right_vectors(matrix, rank)[0])


def whole_history(source: Any, *, real: bool) -> Any:
    """All of a matrix in double precision, in NumPy or CSC form, scaled so that squares stay in range."""
    if scipy.sparse.issparse(source):
        check_two_dimensional(source.shape)
        kind = double(number_array(np.empty(0, dtype=source.dtype), name="the matrix")).dtype
        matrix = scipy.sparse.csc_array(source.astype(kind, copy=True))
        values = matrix.data
    else:
        source = as_source(source)
        values = matrix = double(to_numpy(source.columns(np.arange(source.shape[1]))))
    if real:
        check_real(values, "columns for the mean")
    return matrix / power_of_two(check_finite(values, name="the matrix"), values)
