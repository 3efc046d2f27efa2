r"""Choosing columns of a matrix that is known as a whole.

A few columns stand for all of them if the others are nearly combinations of theirs. The classical rules for finding
such columns differ in what they call important: a column is taken because it points where the columns taken so far do
not (pivoting), because it accounts for much of what they leave unexplained (greedy column subset selection), because
the leading singular vectors depend on it (leverage scores, DEIM), or because its norm is large.

:func:`select_columns` applies these rules to a whole matrix. :func:`curplus.acquire` applies the same ones to a matrix
of which only some rows are known so far, in order to decide what to read next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import power_of_two, real_array, to_numpy
from .._sets import NO_INDEX
from .._typing import IndexVector, RandomState
from .._validation import check_count, check_finite, check_two_dimensional, random_generator
from ..sources import as_source
from .choice import RULES
from .costs import Costs
from .rules import Rule

__all__ = ["select_columns"]


def select_columns(
    source: Any,
    k: int,
    *,
    method: str | Rule = "qdeim",
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
    method : str or Rule, default "qdeim"
        On word counts, answers of language models and noisy matrices of low rank, ``"qdeim"`` leaves the least
        unexplained, or up to 5 % more than that; ``"pivoted"`` needs no singular vectors and leaves up to 8 % more.

        ===================  =======================================================================================
        ``"leverage"``       drawn with chances proportional to the leverage scores :math:`\|v_j\|^2` [1]_
        ``"top_leverage"``   those with the largest leverage scores
        ``"deim"``           discrete empirical interpolation on the right singular vectors [2]_
        ``"qdeim"``          pivoted QR of the right singular vectors [3]_
        ``"pivoted"``        pivoted QR of the matrix: what the chosen leave over, largest norm first
        ``"explaining"``     each time the column that accounts for most of what the chosen leave over [4]_
        ``"norm"``           drawn with chances proportional to the squared norms
        ``"uniform"``        drawn with equal chances
        ===================  =======================================================================================
    rank : int, optional
        How many leading singular vectors leverage, DEIM and ``"explaining"`` look at; ``k`` if left out.
    cost : array of shape (m,), optional
        What each column costs. Squared scores are divided by it, so that columns that cost less and say nearly as much
        are preferred; ``"uniform"`` takes no notice.
    rng : None, int or numpy.random.Generator
        Used by the methods that draw.

    Returns
    -------
    array of shape (k,)
        Distinct positions, in the order of choice. Once the chosen columns span what the method looks at, the others
        follow by leverage (by norm for ``"pivoted"``), and columns that are all zero come last, in random order.

    Raises
    ------
    InvalidArgumentError
        If ``k`` or ``rank`` is out of range, the method is unknown or a value is not finite.

    References
    ----------
    .. [1] M. W. Mahoney and P. Drineas, "CUR matrix decompositions for improved data analysis", PNAS 106, 2009.
    .. [2] D. C. Sorensen and M. Embree, "A DEIM induced CUR factorization", SIAM J. Sci. Comput. 38, 2016.
    .. [3] Z. Drmac and S. Gugercin, "A new selection operator for the discrete empirical interpolation method",
       SIAM J. Sci. Comput. 38, 2016.
    .. [4] A. K. Farahat, A. Ghodsi and M. S. Kamel, "An efficient greedy method for unsupervised feature selection",
       ICDM, 2011.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.random.default_rng(0).standard_normal((50, 40))
    >>> M[:, 7] *= 30
    >>> M[:, 31] *= 20
    >>> [int(j) for j in curplus.select_columns(M, 2, method="deim")]
    [7, 31]
    """
    matrix = _whole(source)
    n, m = matrix.shape
    k = check_count(k, name="k", at_most=m, of="columns")
    if rank is not None:
        rank = check_count(rank, name="rank", at_least=1, at_most=min(n, m), of="singular vectors")
    rule = RULES.resolve(method)
    generator = random_generator(rng)
    if k == 0:
        return NO_INDEX
    if cost is None:
        return rule.select(matrix, k, min(rank or k, n, m), generator)
    prices = np.array(Costs(column=cost).of((n, m)).columns, dtype=np.float64)
    return rule.select(matrix, k, min(rank or k, n, m), generator, cost=prices)


def _whole(source: Any) -> Any:
    """All of a matrix as a float64 NumPy array or CSC matrix, scaled so that squares neither overflow nor vanish."""
    if scipy.sparse.issparse(source):
        check_two_dimensional(source.shape)
        kind = real_array(np.empty(0, dtype=source.dtype), name="the matrix").dtype
        matrix = scipy.sparse.csc_array(source.astype(kind, copy=True), dtype=np.float64)
        values = matrix.data
    else:
        source = as_source(source)
        values = matrix = to_numpy(source.columns(np.arange(source.shape[1]))).astype(np.float64)
    return matrix / power_of_two(check_finite(values, name="the matrix"), values)
