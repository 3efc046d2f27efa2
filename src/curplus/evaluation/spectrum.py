"""Singular values of a matrix, and the errors of its best approximations, which they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import blocks, largest, power_of_two
from .._typing import FloatArray

__all__ = ["Spectrum", "gram_singular_values"]


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Singular values of a matrix M, and the errors of its best approximations :math:`M_r`.

    Parameters
    ----------
    values : array of shape (k,)
        All singular values, descending. If only the first are given, those left out count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> spectrum = Spectrum(np.array([4.0, 3.0, 0.0]))
    >>> spectrum.best_spectral_error(1), spectrum.best_frobenius_error(0)
    (3.0, 5.0)
    """

    values: FloatArray

    def best_spectral_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_2`, the first singular value left out; with rank 0, the norm of M."""
        return float(self.values[rank]) if rank < len(self.values) else 0.0

    def best_frobenius_error(self, rank: int) -> float:
        r""":math:`\|M - M_r\|_F`, the norm of the singular values left out; with rank 0, the norm of M."""
        unit = power_of_two(largest(self.values), self.values)
        return float(np.linalg.norm(self.values[rank:] / unit)) * unit


def gram_singular_values(matrix: Any) -> FloatArray:
    """All singular values of a sparse matrix, descending, from the eigenvalues of its smaller Gram matrix.

    Those below about 1e-8 of the largest are rounding error. The matrix is made dense a few columns at a time.
    """
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    n, m = tall.shape
    columns = scipy.sparse.csc_array(tall)
    gram, turned = np.empty((m, m), dtype=tall.dtype), tall.conj(copy=False).T
    for part in blocks(m, n):
        gram[:, part] = turned @ columns[:, part].toarray()
    squares = np.linalg.eigvalsh(gram)
    return np.asarray(np.sqrt(squares[::-1].clip(min=0.0)))
