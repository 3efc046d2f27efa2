r"""Choosing columns of a matrix that is known as a whole.

A few columns stand for all of them if the others are nearly combinations of theirs. The classical rules for finding
such columns differ in what they call important: a column is taken because it points where the columns taken so far do
not (pivoting), because it accounts for much of what they leave unexplained (greedy column subset selection), because
the leading singular vectors depend on it (leverage scores, DEIM), or because its norm is large.

:func:`select_columns` applies these rules to a whole matrix. :func:`curplus.acquire` applies the same ones to a matrix
of which only some rows are known so far, in order to decide what to read next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse

from .._arrays import power_of_two, real_array, to_numpy
from .._registry import Registry
from .._typing import IndexVector, RandomState
from .._validation import check_count, check_finite, check_two_dimensional, random_generator
from ..observation.plan import distinct
from ..sources import as_source
from .greedy import ResidualColumns
from .scores import FloatVector, leverage_scores, right_vectors, squared_norms, weighted_draw

__all__ = ["RULES", "Rule", "select_columns"]


def select_columns(
    source: Any, k: int, *, method: str | Rule = "leverage", rank: int | None = None, rng: RandomState = None
) -> IndexVector:
    r"""Choose ``k`` columns that represent a matrix known as a whole.

    Parameters
    ----------
    source : array, scipy.sparse matrix, DataFrame or source of shape (n, m)
        The matrix; all of it is read. A sparse one stays sparse. For rows, give its transpose.
    k : int
        How many columns, from 0 to m. It may exceed the rank of the matrix.
    method : str or Rule, default "leverage"
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
        return np.empty(0, dtype=np.int64)
    return rule.select(matrix, k, min(rank or k, n, m), generator)


class Rule(Protocol):
    """A way to choose columns of a matrix known as a whole; any object with this method is one."""

    def select(self, matrix: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
        """``k`` distinct columns of a float64 array or CSC matrix; ``rank`` singular vectors may be looked at."""


@dataclass(frozen=True)
class Drawn:
    """Columns drawn with chances in proportion to a score."""

    score: Callable[[Any, int], FloatVector]

    def select(self, matrix: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
        return weighted_draw(self.score(matrix, rank), k, rng)


@dataclass(frozen=True)
class Ranked:
    """Columns picked one by one, then those with the best scores."""

    pick: Callable[[Any, int, int], tuple[list[int], FloatVector]]

    def select(self, matrix: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
        chosen, scores = self.pick(matrix, k, rank)
        order = np.lexsort((rng.random(len(scores)), -scores))  # ties in random order
        rest = order[~np.isin(order, chosen)]
        return np.concatenate([np.asarray(chosen, dtype=np.int64), rest])[:k].astype(np.int64)


@dataclass(frozen=True)
class EquallyLikely:
    """Columns drawn with equal chances."""

    def select(self, matrix: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
        return distinct(rng, matrix.shape[1], k)


def _leverage(M: Any, rank: int) -> FloatVector:
    return np.asarray(leverage_scores(right_vectors(M, rank)[0]))


def _deim(M: Any, k: int, rank: int) -> tuple[list[int], FloatVector]:
    V, _ = right_vectors(M, rank)
    chosen: list[int] = []
    for t in range(min(k, V.shape[1])):
        coefficients = scipy.linalg.solve(V[chosen, :t], V[chosen, t]) if t else np.empty(0)
        error = np.abs(V[:, t] - V[:, :t] @ coefficients)
        error[chosen] = -1.0  # zero up to rounding: the interpolation is exact there
        chosen.append(int(np.argmax(error)))
    return chosen, leverage_scores(V)


def _qdeim(M: Any, k: int, rank: int) -> tuple[list[int], FloatVector]:
    V, _ = right_vectors(M, rank)
    residual = ResidualColumns(V.T)
    return residual.pick(k, residual.norms), leverage_scores(V)


def _pivoted(M: Any, k: int, _rank: int) -> tuple[list[int], FloatVector]:
    residual = ResidualColumns(M)
    return residual.pick(k, residual.norms), squared_norms(M)


def _explaining(M: Any, k: int, rank: int) -> tuple[list[int], FloatVector]:
    V, s = right_vectors(M, rank)
    residual = ResidualColumns((V * s).T)
    return residual.pick(k, residual.explained), leverage_scores(V)


#: The rules by name. A new one is a new row.
RULES: Registry[Rule] = Registry(
    "method",
    "select(matrix, k, rank, rng)",
    {
        "leverage": Drawn(_leverage),
        "top_leverage": Ranked(lambda M, _k, rank: ([], _leverage(M, rank))),
        "deim": Ranked(_deim),
        "qdeim": Ranked(_qdeim),
        "pivoted": Ranked(_pivoted),
        "explaining": Ranked(_explaining),
        "norm": Drawn(lambda M, _rank: squared_norms(M)),
        "uniform": EquallyLikely(),
    },
)


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
