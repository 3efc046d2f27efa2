r"""CUR-F: the best core for the sampled columns and rows, found with the whole matrix (Section 4.2 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._arrays import adjoint, array_namespace, blocks, is_numpy_array, largest
from .._typing import Matrix, RandomState
from .._validation import check_finite
from ..exceptions import InvalidArgumentError
from ..factorization import Core, Factorization
from ..observation import Observation
from ..observation.observation import check_observation
from ..sources import Source, as_source
from .method import Bases, approximation_of, check_complete, sampled_bases

__all__ = ["CURFull", "cur_full"]


def cur_full(source: Any, observation: Observation, rank: int | None = None) -> Factorization:
    r"""CUR-F: the best core for the sampled columns and rows, found with the whole matrix.

    .. math:: Z = C^\dagger M R^\dagger, \qquad \hat M = C Z R = \hat U (\hat U^\top M \hat V) \hat V^\top

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix; all of it is read, a block of rows at a time.
    observation : Observation
        Its columns C and rows R are used; its entries are not.
    rank : int, optional
        Use only the ``rank`` leading directions of each sample; all of them if left out. The latter is the paper's
        baseline, of rank up to ``min(n_columns, n_rows)``.

    Returns
    -------
    Factorization
        The closest matrix to M, in Frobenius norm, with these column and row spaces.
    """
    if isinstance(source, Observation):
        raise InvalidArgumentError("the first argument is an Observation. Give cur_full(source, observation).")
    return CURFull(rank, source).fit(observation)


@dataclass(frozen=True)
class CURFull:
    """The method :func:`curplus.cur_full`, with its options. The source is not saved with an approximation."""

    rank: int | None = None
    source: Any = field(default=None, repr=False, compare=False, metadata={"saved": False})
    sees_whole_matrix: ClassVar[bool] = True

    def fit(self, observation: Observation, *, rng: RandomState = 0, bases: Bases | None = None) -> Factorization:
        """The approximation; ``bases`` are those of the samples, if they are known already."""
        check_observation(observation)
        check_complete(observation, "CUR-F")
        if self.source is None:
            raise InvalidArgumentError("CUR-F needs the whole matrix. Give cur_full(source, observation).")
        source = as_source(self.source)
        if tuple(source.shape) != observation.shape:
            raise InvalidArgumentError(
                f"the source has shape {tuple(source.shape)} but the observation is of a matrix of shape "
                f"{observation.shape}. Give the matrix that was observed."
            )
        bases = sampled_bases(observation, self.rank, bases)
        core = Core(_project(source, bases.left.vectors, bases.right.vectors), "cur_full")
        held_out = np.flatnonzero(~observation.steering)
        return approximation_of(observation, bases, core, self, rank=self.rank, held_out=held_out)


def _project(source: Source, U: Matrix, V: Matrix) -> Matrix:
    """The core ``U.H @ M @ V``."""
    matmat = getattr(source, "matmat", None)
    if matmat is not None:
        with np.errstate(invalid="ignore"):  # what is not finite is looked for below
            Z = adjoint(U) @ matmat(V)
        if math.isfinite(largest(Z)):
            return Z
    Z = adjoint(U[:0, :]) @ V[:0, :]
    for part in blocks(*source.shape):
        index = np.arange(part.start, part.stop)
        rows = source.rows(index)
        check_finite(rows, name="rows", place=lambda k, j, index=index: f"row {index[k]}, column {j}")
        if not is_numpy_array(rows):
            rows = array_namespace(rows).astype(rows, V.dtype, copy=False)  # not all libraries mix types
        Z = Z + adjoint(U[part, :]) @ (rows @ V)
    return Z
