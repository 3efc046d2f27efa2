"""The synthetic matrices of the paper's Experiment I: exact rank, factors of independent Gaussian entries."""

from __future__ import annotations

import numpy as np

from .._typing import RandomState
from .._validation import check_count
from ..sources.factored import FactoredSource

__all__ = ["make_low_rank"]


def make_low_rank(n: int, m: int, rank: int, rng: RandomState = None) -> FactoredSource:
    r"""A random matrix of exact rank, as in Experiment I of the paper.

    .. math:: M = M_L M_R, \qquad M_L \in \mathbb R^{n \times r},\; M_R \in \mathbb R^{r \times m},

    with independent standard normal entries.

    Parameters
    ----------
    n, m : int
        Numbers of rows and columns.
    rank : int
        The rank :math:`r`, at most ``min(n, m)``.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    FactoredSource
        A source that keeps the factors and never forms the matrix unless asked to.

    Examples
    --------
    >>> import curplus
    >>> from curplus import datasets
    >>> M = datasets.make_low_rank(10_000, 8_000, rank=10, rng=0)
    >>> M
    <Product of factors: 10000 x 8000, of rank at most 10>
    >>> curplus.observe(M, n_columns=20, n_rows=20, n_entries=400, rng=0)
    <Observation of a 10000 x 8000 matrix: 20 columns, 20 rows, 400 entries, float64>
    """
    n, m = check_count(n, name="n", at_least=1), check_count(m, name="m", at_least=1)
    r = check_count(rank, name="rank", at_least=1, at_most=min(n, m), of="rows or columns")
    generator = np.random.default_rng(rng)
    left, right = generator.standard_normal((n, r)), generator.standard_normal((r, m))
    return FactoredSource(left, right)
