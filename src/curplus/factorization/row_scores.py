r"""How far new rows lie along given directions, in closed form: many rows at a time, whatever is known of each.

Rows in which the same places are known share one small matrix, :math:`(F^\top F + \sigma^2 I)^{-1} F^\top` for the
known places F of the directions. A pattern that many rows share is solved once, for all of them. Patterns of one or a
few rows are solved many at a time, those of similar length together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._arrays import blocks, take, to_numpy
from .._sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix

__all__ = ["KnownValues", "ridge_inverse", "row_scores"]

SHARED = 16  # patterns of at least as many rows are solved one by one, others many at a time
MOST = 2**22  # numbers at a time
SLACK, LEAST_SLACK = 1.25, 8  # patterns that are solved together may differ by so much in length


class KnownValues(NamedTuple):
    """Known values of some rows, row by row."""

    i: IndexVector  # (t,), ascending
    j: IndexVector  # (t,)
    values: FloatArray  # (t, q), several for each place


class _Lists(NamedTuple):
    """Where the known values of each row stand among all of them."""

    starts: IndexVector  # (p,)
    lengths: IndexVector  # (p,)

    def places(self, rows: IndexVector, width: int) -> tuple[IndexVector, FloatArray]:
        """Where those of some rows stand, padded to ``width``; and 1 for a value, 0 for padding."""
        step = np.arange(width)
        is_value = step < self.lengths[rows, None]
        return np.where(is_value, self.starts[rows, None] + step, 0), is_value.astype(np.float64)


def row_scores(known: KnownValues, shape: tuple[int, int], directions: Matrix, noise: float) -> FloatArray:
    r"""The w that minimise :math:`\|y - F w\|^2 + \sigma^2 \|w\|^2`, for each row over its known places.

    Parameters
    ----------
    known : KnownValues
        The y of all rows, q for each.
    shape : (int, int)
        Number of rows and of columns, (p, m).
    directions : array of shape (m, r)
        The F, of any array library.
    noise : float
        The :math:`\sigma > 0`.

    Returns
    -------
    array of shape (q, p, r)
        Zero for rows of which nothing is known, and for those that are known as a whole.
    """
    n_directions = int(directions.shape[1])
    scores = np.zeros((known.values.shape[1], shape[0], n_directions))
    counts = np.bincount(known.i, minlength=shape[0])
    lists = _Lists(np.cumsum(counts) - counts, counts)
    for rows, pattern in _groups(known, lists, shape[1], n_directions):
        width = int(counts[rows].max())
        places, is_value = lists.places(rows[np.unique(pattern, return_index=True)[1]], width)
        F = to_numpy(take(directions, known.j[places].reshape(-1), axis=0)).reshape(*places.shape, n_directions)
        inverse = ridge_inverse(F * is_value[:, :, None], noise)
        for part in blocks(len(rows), width * (n_directions if len(inverse) > 1 else 1), most=MOST):
            places, is_value = lists.places(rows[part], width)
            for q, values in enumerate(known.values.T):
                scores[q, rows[part]] = _applied(inverse, pattern[part], values[places] * is_value)
    return scores


def _applied(inverse: FloatArray, pattern: IndexVector, values: FloatArray) -> FloatArray:
    """For each row of ``values``, its product with the matrix of its pattern."""
    if len(inverse) == 1:
        return np.asarray(values @ inverse[0].T)
    return np.asarray((inverse[pattern] @ values[:, :, None])[:, :, 0])


def _groups(known: KnownValues, lists: _Lists, m: int, n_directions: int) -> Iterator[tuple[IndexVector, IndexVector]]:
    """Rows that are solved together, and for each of them the number of its pattern among theirs, ascending."""
    rows = np.flatnonzero((lists.lengths > 0) & (lists.lengths < m))
    pattern = _patterns(known, rows, m)
    _, first, sharing = np.unique(pattern, return_index=True, return_counts=True)
    lengths = lists.lengths[rows[first]]
    order = np.lexsort((lengths, sharing < SHARED))  # the shared ones first
    rows, sharing = rows[np.argsort(np.argsort(order)[pattern], kind="stable")], sharing[order]
    ends = np.cumsum(sharing)
    for start, stop in _batches(lengths[order], int(np.count_nonzero(sharing >= SHARED)), n_directions):
        yield (
            rows[ends[start] - sharing[start] : ends[stop - 1]],
            np.repeat(np.arange(stop - start), sharing[start:stop]),
        )


def _patterns(known: KnownValues, rows: IndexVector, m: int) -> IndexVector:
    """The number of the pattern of known places of each of some rows."""
    if not len(rows):
        return NO_INDEX
    is_known = np.zeros((int(known.i[-1]) + 1, m), dtype=bool)
    is_known[known.i, known.j] = True
    return np.unique(np.packbits(is_known[rows], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _batches(lengths: IndexVector, n_alone: int, n_directions: int) -> Iterator[tuple[int, int]]:
    """Ranges of patterns that are solved at once: the first ``n_alone`` one by one, then such of similar length."""
    yield from ((t, t + 1) for t in range(n_alone))
    start = n_alone
    while start < len(lengths):
        longest = int(max(SLACK * lengths[start], lengths[start] + LEAST_SLACK))
        at_once = max(1, MOST // ((longest + n_directions) * min(longest, n_directions)))
        stop = start + min(int(np.searchsorted(lengths[start:], longest, side="right")), at_once)
        yield start, stop
        start = stop


def ridge_inverse(F: FloatArray, noise: float) -> FloatArray:
    r"""The matrices :math:`(F^\top F + \sigma^2 I)^{-1} F^\top` for a stack of F, without the squares.

    Parameters
    ----------
    F : array of shape (b, k, r)
        Rows of zeros are as good as none.
    noise : float
        The :math:`\sigma > 0`.

    Returns
    -------
    array of shape (b, r, k)
        By a QR factorization of F above :math:`\sigma I`, or of its transpose, where that has fewer columns.
    """
    b, k, r = F.shape
    if k < r:
        return np.swapaxes(ridge_inverse(np.swapaxes(F, 1, 2), noise), 1, 2)
    ridge = np.broadcast_to(noise * np.eye(r), (b, r, r))
    Q, R = np.linalg.qr(np.concatenate([F, ridge], axis=1))
    return np.asarray(np.linalg.solve(R, np.swapaxes(Q[:, :k, :], 1, 2)))
