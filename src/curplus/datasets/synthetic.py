"""Synthetic matrices, kept as factors, of exact rank or with chosen singular values and coherence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import RandomState, Shape
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError
from ..sources.factored import FactoredSource

__all__ = ["make_low_rank", "make_spectrum"]


def make_low_rank(shape: Shape, rank: int, *, rng: RandomState = None) -> FactoredSource:
    r"""A random matrix of exact rank, as in Experiment I of the paper.

    .. math:: M = M_L M_R, \qquad M_L \in \mathbb R^{n \times r},\; M_R \in \mathbb R^{r \times m},

    with independent standard normal entries.

    Parameters
    ----------
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    rank : int
        The rank :math:`r`, at most ``min(n, m)``.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    FactoredSource
        A source that keeps the factors and forms the matrix only on request.

    Examples
    --------
    >>> import curplus
    >>> from curplus import datasets
    >>> M = datasets.make_low_rank((10_000, 8_000), rank=10, rng=0)
    >>> M
    <Product of factors: 10000 x 8000, of rank at most 10>
    >>> curplus.observe(M, n_columns=20, n_rows=20, n_entries=400, rng=0)
    <Observation of a 10000 x 8000 matrix: 20 columns, 20 rows, 400 entries, float64>
    """
    n, m = check_shape(shape)
    r = check_count(rank, name="rank", at_least=1, at_most=min(n, m), of="rows or columns")
    generator = np.random.default_rng(rng)
    left, right = generator.standard_normal((n, r)), generator.standard_normal((r, m))
    return FactoredSource(left, right)


def make_spectrum(
    shape: Shape, singular_values: ArrayLike, *, coherence: float | None = None, rng: RandomState = None
) -> FactoredSource:
    r"""A random matrix with the given singular values, as coherent as wanted.

    .. math:: M = U \operatorname{diag}(\sigma) V^\top,

    where U and V have random orthonormal columns.

    Parameters
    ----------
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    singular_values : array of shape (k,)
        The :math:`\sigma_i`, at most ``min(n, m)`` of them, not negative and descending.
    coherence : float, optional
        Between 0 and 1: the squared length :math:`c` that rows of U and V reach. Each leading direction has one row
        and one column where it holds the share :math:`c` of its square. Left out, all directions are spread evenly.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    FactoredSource
        A source that keeps the factors ``U * sigma`` and ``V.T``.

    Notes
    -----
    The incoherence :math:`\mu(r)` of the r leading directions is at least :math:`\max(n, m)\, c / r`, and equals it
    once c is larger than the same quantity of the other rows, about :math:`(r + 2 \sqrt{r \ln n}) / n`. The first
    ``min(k, n // 2)`` and ``min(k, m // 2)`` directions have a spike each; there are no rows for more.

    Examples
    --------
    >>> import numpy as np
    >>> from curplus import datasets
    >>> M = datasets.make_spectrum((200, 100), 0.5 ** np.arange(8), coherence=0.9, rng=0)
    >>> np.abs(M.singular_values() - 0.5 ** np.arange(8)).max() < 1e-14
    np.True_
    >>> round(float(np.square(M.right).sum(axis=0).max()), 6)
    0.9
    """
    n, m = check_shape(shape)
    s = _check_spectrum(singular_values, min(n, m))
    if coherence is not None and not 0 <= coherence <= 1:
        raise InvalidArgumentError(f"coherence={coherence} is a share of the whole. Give a number from 0 to 1.")
    generator = np.random.default_rng(rng)
    U, V = (_orthonormal(size, len(s), coherence, generator) for size in (n, m))
    return FactoredSource(U * s, V.T)


def _check_spectrum(singular_values: ArrayLike, at_most: int) -> NDArray[np.float64]:
    s = np.asarray(singular_values, dtype=np.float64)
    if s.ndim != 1 or not 1 <= len(s) <= at_most:
        raise InvalidArgumentError(
            f"singular_values has shape {s.shape}. Give a list of 1 to {at_most}, the smaller side of the matrix."
        )
    if not (np.isfinite(s).all() and (s >= 0).all() and (np.diff(s) <= 0).all()):
        raise InvalidArgumentError("singular_values must be finite, not negative and descending. Sort them first.")
    return s


def _orthonormal(size: int, k: int, coherence: float | None, rng: np.random.Generator) -> NDArray[Any]:
    """Random orthonormal columns; with a coherence, each leading one has its spike in a row of its own."""
    Q = rng.standard_normal((size, k))
    if coherence is not None:
        p = min(k, size // 2)
        spikes, rest = np.eye(size, p), np.zeros((size, p))
        rest[p:] = np.linalg.qr(Q[p:, :p])[0]
        Q[:, :p] = math.sqrt(coherence) * spikes + math.sqrt(1 - coherence) * rest
        Q = Q[rng.permutation(size)]
    return np.linalg.qr(Q)[0]  # the spiked columns are orthonormal already and only change sign
