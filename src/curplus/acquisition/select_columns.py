r"""Which columns stand for the others, once the numbers are at hand.

A few columns stand for all of them if the others are nearly combinations of theirs. The classical rules for finding
such columns need only be told apart by what they call important: a column is taken because it points where the columns
taken so far do not (pivoting), because it accounts for much of what they leave left_out_error (greedy column subset
selection), because the leading singular vectors depend on it (leverage scores, DEIM), or because it is long.

:func:`select_columns` applies these rules to a matrix that is known as a whole. :mod:`curplus.acquisition` applies the
same ones to a matrix of which only some rows are known so far, in order to decide what to read next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from .._arrays import largest, real_array, to_numpy
from .._typing import IndexVector, RandomState
from .._validation import check_count, check_finite, check_two_dimensional
from ..exceptions import InvalidArgumentError
from ..observation.plan import distinct
from ..sources import as_source

__all__ = ["METHODS", "Remainder", "draw_heavy", "leverage_scores", "select_columns", "squared_norms"]

FLOOR = 1e-10  # a remainder below this share of the largest squared norm is rounding (float32 included)
SMALL = 4_000_000  # a sparse matrix of up to this many positions has its singular vectors computed densely

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]


def select_columns(
    M: Any, k: int, *, method: str = "leverage", rng: RandomState = None, rank: int | None = None
) -> IndexVector:
    r"""Choose ``k`` columns that represent a matrix known as a whole.

    Parameters
    ----------
    M : array, scipy.sparse matrix or DataFrame of shape (n, m)
        The matrix. A sparse one stays sparse. For rows, give ``M.T``.
    k : int
        How many columns, from 0 to m. It may exceed the rank of the matrix.
    method : str, default "leverage"
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
    rng : None, int or numpy.random.Generator
        Used by the methods that draw.
    rank : int, optional
        How many leading singular vectors leverage, DEIM and ``"explaining"`` look at; ``k`` if left out.

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
    matrix = _whole(M)
    n, m = matrix.shape
    k = check_count(k, name="k", at_most=m, of="columns")
    if rank is not None:
        rank = check_count(rank, name="rank", at_least=1, at_most=min(n, m), of="singular vectors")
    if method not in METHODS:
        raise InvalidArgumentError(f"method={method!r} is unknown. Use one of {', '.join(METHODS)}.")
    rng = np.random.default_rng(rng)
    if k == 0:
        return np.empty(0, dtype=np.int64)
    return METHODS[method](matrix, k, min(rank or k, n, m), rng)


# The methods. Each takes the matrix, how many columns, how many singular vectors, and a generator.


def _uniform(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:  # noqa: ARG001
    return distinct(rng, M.shape[1], k)


def _norm(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:  # noqa: ARG001
    return draw_heavy(squared_norms(M), k, rng)


def _leverage(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
    return draw_heavy(leverage_scores(_right_vectors(M, rank)[0]), k, rng)


def _top_leverage(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
    return _fill([], leverage_scores(_right_vectors(M, rank)[0]), k, rng)


def _deim(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
    V, _ = _right_vectors(M, rank)
    chosen: list[int] = []
    for t in range(min(k, V.shape[1])):
        coefficients = scipy.linalg.solve(V[chosen, :t], V[chosen, t]) if t else np.empty(0)
        error = np.abs(V[:, t] - V[:, :t] @ coefficients)
        error[chosen] = -1.0  # zero up to rounding: the interpolation is exact there
        chosen.append(int(np.argmax(error)))
    return _fill(chosen, leverage_scores(V), k, rng)


def _qdeim(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
    V, _ = _right_vectors(M, rank)
    remainder = Remainder(V.T)
    return _fill(remainder.pick(k, remainder.energies), leverage_scores(V), k, rng)


def _pivoted(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:  # noqa: ARG001
    remainder = Remainder(M)
    return _fill(remainder.pick(k, remainder.energies), squared_norms(M), k, rng)


def _explaining(M: Any, k: int, rank: int, rng: np.random.Generator) -> IndexVector:
    V, s = _right_vectors(M, rank)
    remainder = Remainder((V * s).T)
    return _fill(remainder.pick(k, remainder.explained), leverage_scores(V), k, rng)


METHODS: dict[str, Callable[[Any, int, int, np.random.Generator], IndexVector]] = {
    "leverage": _leverage,
    "top_leverage": _top_leverage,
    "deim": _deim,
    "qdeim": _qdeim,
    "pivoted": _pivoted,
    "explaining": _explaining,
    "norm": _norm,
    "uniform": _uniform,
}


# What the methods are made of


class Remainder:
    r"""What the columns of a sample still have to show, once the span of some of them is taken out.

    With :math:`Q` an orthonormal basis of the columns taken and :math:`e_j = a_j - QQ^\top a_j` the remainder of a
    column, :meth:`energies` are :math:`\|e_j\|^2` and :meth:`explained` is
    :math:`\|E^\top e_j\|^2 / \|e_j\|^2`, by how much the total energy falls if column j is taken. The first picks
    outliers, the second picks one of many alike.

    Parameters
    ----------
    sample : array or sparse matrix of shape (d, m)
        The columns to choose from, in the d rows that are known.
    taken : array of shape (t,), optional
        Columns whose span is taken out, and which cannot be picked again.
    barred : array, optional
        Further columns that cannot be picked.

    Notes
    -----
    Each column that is taken costs O(d m), or one product with a sparse sample. Remainders are never stored: with
    :math:`q` the next basis vector, all numbers follow from :math:`q^\top A`.
    """

    def __init__(self, sample: Any, taken: IndexVector | None = None, barred: IndexVector | None = None) -> None:
        none = np.empty(0, dtype=np.int64)
        taken, barred = none if taken is None else taken, none if barred is None else barred
        self._sample, norms = sample, squared_norms(sample)
        self._basis = _range_of(_dense(sample[:, taken]))
        self.energy: FloatVector = norms - squared_norms(self._basis.T @ sample)
        self._floor = FLOOR * norms.max(initial=0.0)
        self._free = np.ones(len(norms), dtype=bool)
        self._free[taken] = self._free[barred] = False
        self._gram: FloatMatrix | None = None  # E @ E.T, (d, d)
        self._captured: FloatVector = norms  # || E.T @ e_j ||**2, once the Gram matrix is there

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Columns that can be picked and still have something to show beyond rounding."""
        visible: NDArray[np.bool_] = self._free & (self.energy > self._floor)
        return visible

    def energies(self) -> FloatVector:
        """Score of the column that sticks out furthest."""
        return self.energy

    def explained(self, ridge: float = 0.0) -> FloatVector:
        """By how much the energy of all remainders falls if a column is taken; meaningless where not visible.

        With a ``ridge``, a share of the mean energy, columns of mere noise do not win because they happen to point
        where the others do.
        """
        if self._gram is None:
            gram = _dense(self._sample @ self._sample.T)
            gram = gram - self._basis @ (self._basis.T @ gram)
            self._gram = gram - (gram @ self._basis) @ self._basis.T
            self._captured = np.sum((self._gram @ self._sample) * _dense(self._sample), axis=0)
        visible = self.visible
        energy = np.where(visible, self.energy, 1.0)
        return self._captured / (energy + ridge * energy.mean(where=visible)) if visible.any() else self._captured

    def pick(self, count: int, score: Callable[[], FloatVector]) -> list[int]:
        """Take up to ``count`` columns, each time the visible one with the best score; fewer when none is left.

        Of scores that differ by one in a million, which may be rounding, the one with more energy wins: on a line, all
        explain the same.
        """
        picked: list[int] = []
        while len(picked) < count and (visible := self.visible).any():
            scores = np.where(visible, score(), -np.inf)
            ties = scores >= scores.max() - 1e-6 * abs(scores.max())
            best = int(np.argmax(np.where(ties, self.energy, -np.inf)))
            self._take(best)
            picked.append(best)
        return picked

    def _take(self, j: int) -> None:
        e = _dense(self._sample[:, [j]])[:, 0]
        for _ in range(2):  # once more for orthogonality to rounding
            e = e - self._basis @ (self._basis.T @ e)
        q = e / np.linalg.norm(e)
        along = q @ self._sample
        self.energy = self.energy - along**2
        if self._gram is not None:
            towards = self._gram @ q
            weight = float(q @ towards)
            self._captured = self._captured - 2 * along * (towards @ self._sample) + weight * along**2
            step = np.outer(towards, q)
            self._gram = self._gram - step - step.T + weight * np.outer(q, q)
        self._basis = np.column_stack([self._basis, q])
        self._free[j] = False


def draw_heavy(weights: FloatVector, count: int, rng: np.random.Generator) -> IndexVector:
    """Draw ``count`` distinct positions one after the other, chances in proportion to ``weights``; zeros come last."""
    return np.argsort(-heavy_keys(weights, rng), kind="stable")[:count]


def heavy_keys(weights: FloatVector, rng: np.random.Generator) -> FloatVector:
    r"""Random keys whose descending order is that of draws without replacement in proportion to ``weights``.

    The largest of :math:`\log w_j + g_j`, with independent Gumbel noise, is j with chance proportional to :math:`w_j`.
    """
    top = weights.max(initial=0.0) or 1.0
    return np.log(np.maximum(weights / top, 1e-300)) + rng.gumbel(size=len(weights))


def leverage_scores(V: FloatMatrix) -> FloatVector:
    """Squared row norms of orthonormal columns: how much each position contributes to their span."""
    scores: FloatVector = np.einsum("jk,jk->j", V, V)
    return scores


def squared_norms(sample: Any) -> FloatVector:
    """Squared norms of the columns of an array or sparse matrix."""
    norms: FloatVector
    if scipy.sparse.issparse(sample):
        norms = np.asarray(sample.multiply(sample).sum(axis=0)).reshape(-1)
    else:
        norms = np.einsum("ij,ij->j", sample, sample)
    return norms


def _fill(chosen: list[int], scores: FloatVector, k: int, rng: np.random.Generator) -> IndexVector:
    """``k`` positions: those chosen, then the best scores, ties in random order."""
    order = np.lexsort((rng.random(len(scores)), -scores))
    rest = order[~np.isin(order, chosen)]
    return np.concatenate([np.asarray(chosen, dtype=np.int64), rest])[:k].astype(np.int64)


def _whole(M: Any) -> Any:
    """All of M as a float64 NumPy array or CSC matrix, scaled so that squares neither overflow nor vanish."""
    if scipy.sparse.issparse(M):
        check_two_dimensional(M.shape)
        kind = real_array(np.empty(0, dtype=M.dtype), name="the matrix").dtype
        matrix = scipy.sparse.csc_array(M.astype(kind, copy=True), dtype=np.float64)
        values = matrix.data
    else:
        source = as_source(M)
        values = matrix = to_numpy(source.columns(np.arange(source.shape[1]))).astype(np.float64)
    return matrix / (check_finite(values, name="the matrix") or 1.0)


def _dense(x: Any) -> FloatMatrix:
    return x.toarray() if scipy.sparse.issparse(x) else np.asarray(x)


def _range_of(sample: FloatMatrix) -> FloatMatrix:
    """Orthonormal basis of the span of the columns of a sample, to rounding."""
    U, s, _ = np.linalg.svd(sample, full_matrices=False)
    return U[:, s > np.sqrt(FLOOR) * s.max(initial=0.0)]


def _right_vectors(M: Any, rank: int) -> tuple[FloatMatrix, FloatVector]:
    """Up to ``rank`` leading right singular vectors of M, as columns, and their singular values, zeros left out."""
    if scipy.sparse.issparse(M) and M.shape[0] * M.shape[1] > SMALL and 2 * rank < min(M.shape) and largest(M.data) > 0:
        start = np.random.default_rng(0).standard_normal(min(M.shape))
        _, s, Vt = svds(M, k=rank, v0=start)
        s, Vt = s[::-1], Vt[::-1]
    else:
        _, s, Vt = np.linalg.svd(_dense(M), full_matrices=False)
    r = min(rank, int(np.count_nonzero(s > max(M.shape) * np.finfo(np.float64).eps * s.max(initial=0.0))))
    return Vt[:r].T, s[:r]
