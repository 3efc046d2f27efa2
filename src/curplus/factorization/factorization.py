r"""The approximation :math:`\hat M = \hat U Z \hat V^\top`, which acts like the matrix it stands for.

Of a complex matrix it is :math:`\hat U Z \hat V^*`: the paper's transposes become adjoints. The n x m matrix is formed
only on request. The approximation follows SciPy's operator protocol without inheriting from it, so that its arrays may
come from any array-API library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from .._arrays import (
    adjoint,
    array_namespace,
    blocks,
    conjugate,
    device,
    is_complex,
    is_dask_array,
    keep,
    read_only,
    row_products,
    small_svd,
    take,
    to_numpy,
)
from .._files import write_file
from .._support.sets import NO_INDEX
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_count, check_index
from ..exceptions import InvalidArgumentError, SpanError
from ..observation import Observation
from .basis import Basis
from .core import SVD, Core, CURForm
from .facts import facts_of, origin_of
from .importance import Importance, merits
from .new_rows import Completing
from .operator import Operator
from .provenance import Provenance
from .report import Fact, FitReport, facts_as_html
from .saving import saved_parts
from .symmetric import eigenvalues, entries_of, leading_eigenvalues, symmetric_core, whole_of
from .tables import filled_frame
from .top import Top, top_columns
from .zarr_store import write_store

__all__ = ["Factorization"]


@dataclass(frozen=True, eq=False, repr=False)
class Factorization(Operator, Completing):
    """The approximation ``left @ Z @ right.H``, never stored as a full matrix.

    Returned by :func:`curplus.approximate`, :func:`curplus.cur_plus`, :func:`curplus.cur_full` and
    :func:`curplus.cur_unbiased`.

    Parameters
    ----------
    left : Basis
        Orthonormal vectors (n, r1) from the sampled columns.
    core : Core
        The matrix Z (r1, r2) and how it was found.
    right : Basis
        Orthonormal vectors (m, r2) from the sampled rows.
    row_names, column_names : array, optional
        Names of all rows and columns.
    provenance : Provenance, optional
        How it was made.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
    >>> approx = curplus.cur_plus(curplus.observe(M, n_columns=2, n_rows=2, n_entries=4, rng=0), rank=1)
    >>> approx
    <Factorization of a 8 x 6 matrix: rank 1, from 2 columns and 2 rows, by LeastSquares>
    >>> bool(np.allclose(approx.to_array(), M)), bool(np.allclose(approx @ np.ones(6), M.sum(axis=1)))
    (True, True)
    """

    left: Basis
    core: Core
    right: Basis
    row_names: Names | None = None
    column_names: Names | None = None
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        assert self.core.Z.shape == (self.left.rank, self.right.rank)
        vectors = map(read_only, keep(self.left.vectors, self.right.vectors))
        left, right = (side._replace(vectors=x) for side, x in zip((self.left, self.right), vectors, strict=True))
        right = left if self.right is self.left else right
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "right", right)
        object.__setattr__(self, "core", self.core._replace(Z=read_only(self.core.Z)))

    @property
    def rank(self) -> int:
        """Largest rank it can have: the smaller side of the core."""
        return min(self.left.rank, self.right.rank)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether it approximates a symmetric, or Hermitian, matrix: one basis, and a real diagonal core."""
        return self.left is self.right and eigenvalues(self.core.Z) is not None

    @property
    def held_out(self) -> IndexVector:
        """Which entries of the observation, as positions in its ``i`` and ``j``, the fit did not use."""
        return self.provenance.held_out

    @property
    def report(self) -> FitReport:
        """The report of the fit: what was chosen, and why."""
        return self.provenance.report

    @property
    def H(self) -> Factorization:
        """The adjoint: the transposed matrix, and conjugated if it is complex."""
        core, provenance = self.core._replace(Z=adjoint(self.core.Z)), self.provenance
        if not is_complex(core.Z):
            provenance = provenance.T
        elif not self.is_symmetric:  # a Hermitian matrix is its own adjoint
            provenance = provenance.H
        return Factorization(self.right, core, self.left, self.column_names, self.row_names, provenance)

    @property
    def T(self) -> Factorization:
        """The transposed matrix; of a complex Hermitian one, use ``H``."""
        if not is_complex(self.core.Z):
            return self.H
        if self.is_symmetric:
            raise InvalidArgumentError(
                "the transpose of a complex Hermitian matrix is its complex conjugate, another matrix. Use .H, the "
                "adjoint, which is the matrix itself, or .conj() if you mean the other."
            )
        return replace(self.H.conj(), provenance=self.provenance.T)

    def conj(self) -> Factorization:
        """The complex conjugate; a real approximation is its own."""
        if not is_complex(self.core.Z):
            return self
        left = self.left.conj()
        right = left if self.right is self.left else self.right.conj()
        core, provenance = self.core._replace(Z=conjugate(self.core.Z)), self.provenance.conj()
        return replace(self, left=left, core=core, right=right, provenance=provenance)

    # -- parts of the matrix --------------------------------------------------------------------------------------

    def entries(self, i: Any, j: Any) -> Vector:
        """Values at ``(i[t], j[t])``, in O(len(i) * rank**2) time, and no more memory than a factor."""
        n, m = self.shape
        i, j = check_index(i, n, name="i"), check_index(j, m, name="j")
        if len(i) != len(j):
            raise InvalidArgumentError(f"i has {len(i)} positions and j has {len(j)}. Give pairs.")
        left, right, Z = self.left.vectors, self.right.vectors, self.core.Z
        if self.is_symmetric:
            parts = [entries_of(self, i[part], j[part]) for part in blocks(len(i), max(Z.shape))]
            xp = array_namespace(Z)
            return xp.concat([xp.sum(left[:0, :], axis=1), *parts])
        if len(i) <= min(n, m):
            return row_products(take(left, i, axis=0) @ Z, right, np.arange(len(i)), j)
        left, right = (keep(left @ Z), right) if n <= m else (left, keep(right @ adjoint(Z)))
        return row_products(left, right, i, j)

    def rows(self, i: Any) -> Matrix:
        """Rows at ``i``, shape (len(i), m)."""
        index = check_index(i, self.shape[0], name="i")
        return (take(self.left.vectors, index, axis=0) @ self.core.Z) @ adjoint(self.right.vectors)

    def columns(self, j: Any) -> Matrix:
        """Columns at ``j``, shape (n, len(j))."""
        index = check_index(j, self.shape[1], name="j")
        return self.left.vectors @ (self.core.Z @ adjoint(take(self.right.vectors, index, axis=0)))

    def to_array(self) -> Matrix:
        """The whole matrix, shape (n, m): mind the memory."""
        if self.is_symmetric:
            return whole_of(self)
        return (self.left.vectors @ self.core.Z) @ adjoint(self.right.vectors)

    def to_frame(
        self,
        observation: Observation | None = None,
        *,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Any:
        """The whole matrix as a pandas DataFrame with the names of rows and columns: mind the memory.

        Parameters
        ----------
        observation : Observation, optional
            What was measured: its values are kept, and the rest is predicted.
        min_value, max_value : float, optional
            Smallest and largest prediction, for values on a scale, such as ratings.

        Returns
        -------
        pandas.DataFrame of shape (n, m)

        Examples
        --------
        >>> import pandas as pd, curplus
        >>> table = pd.DataFrame([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], ["ann", "bob", "eve"], ["tea", "milk"])
        >>> seen = curplus.observe(table, n_columns=1, n_rows=1, n_entries=0, rng=0)
        >>> curplus.approximate(seen, rank=1).to_frame(seen).loc["eve", "milk"].round(6)
        np.float64(6.0)
        """
        return filled_frame(self, observation, min_value, max_value)

    def top(self, k: int, *, rows: Any = None, exclude: Observation | None = None) -> Top:
        """The k columns with the largest predictions in each row, best first: what to recommend.

        Parameters
        ----------
        k : int
            Number of columns for each row.
        rows : array of positions, optional
            Which rows; all if left out.
        exclude : Observation, optional
            Known values: a column is left out for a row if its value there was read.

        Returns
        -------
        Top
            Positions (p, k) and predictions (p, k), and the names; ``to_frame()`` makes a table of them. Of equal
            predictions, the first columns are taken. Rows are predicted some at a time, so that memory stays small.

        Examples
        --------
        >>> import numpy as np, curplus
        >>> M = np.outer([1.0, 2.0, 3.0, 4.0], [5.0, 4.0, 1.0, 2.0])
        >>> seen = curplus.Observation(shape=M.shape, column_index=[0], columns=M[:, :1], row_index=[0], rows=M[:1])
        >>> curplus.approximate(seen, rank=1).top(2, rows=[1, 2], exclude=seen).columns.tolist()
        [[1, 3], [1, 3]]
        """
        return top_columns(self, k, rows, exclude)

    # -- other forms ----------------------------------------------------------------------------------------------

    def svd(self) -> SVD:
        """Singular value decomposition, with as many values as the core's smaller side."""
        P, s, Qh = self._core_svd()
        return SVD(self.left.vectors @ P, s, Qh @ adjoint(self.right.vectors))

    def _core_svd(self) -> tuple[Matrix, Vector, Matrix]:
        Z = self.core.Z
        return small_svd(Z) if is_dask_array(Z) else array_namespace(Z).linalg.svd(Z, full_matrices=False)

    def truncate(self, rank: int) -> Factorization:
        """The closest matrix of rank at most ``rank``."""
        rank = min(check_count(rank, name="rank", at_least=1), self.rank)
        if self.is_symmetric:
            return self._leading(rank)
        xp = array_namespace(self.core.Z)
        P, s, Qh = self._core_svd()
        Z = s[:rank, None] * xp.eye(rank, dtype=self.dtype, device=device(s))
        return replace(
            self,
            left=self.left.rotate(P[:, :rank]),
            core=self.core._replace(Z=Z, residual_norm=math.nan),
            right=self.right.rotate(adjoint(Qh[:rank, :])),
            provenance=self.provenance.truncate(rank, _left_over(s[rank:], self.shape))
            if rank < self.rank
            else self.provenance,
        )

    def _leading(self, rank: int) -> Factorization:
        """The part of the ``rank`` eigenvalues of largest magnitude, for the approximation of a symmetric matrix."""
        basis, kept, left_out = leading_eigenvalues(self.left, np.diagonal(to_numpy(self.core.Z).real), rank)
        core = self.core._replace(Z=symmetric_core(kept, self.core.Z).Z, residual_norm=math.nan)
        provenance = self.provenance
        if rank < self.rank:
            provenance = provenance.truncate(rank, _left_over(left_out, self.shape))
        return replace(self, left=basis, core=core, right=basis, provenance=provenance)

    def cur(self) -> CURForm:
        r"""The same matrix as ``C @ U @ R``, where C and R are the sampled columns and rows.

        .. math:: U = W_A \Sigma_A^{-1} \, Z \, \Sigma_B^{-1} W_B^\top

        with :math:`A = \hat U \Sigma_A W_A^\top` the columns' SVD, and B's likewise: the "group of linear equations"
        of Section 3.1, solved. Equal to the approximation up to rounding times the condition of the samples.

        Raises
        ------
        SpanError
            If the approximation is not a combination of the sampled columns and rows.
        """
        left, right = self.left, self.right
        if left.coefficients is None or right.coefficients is None or right.sample is None:
            raise SpanError(
                "this approximation does not lie in the span of the sampled columns and rows, so it has no C U R form. "
                'Use .svd(), or approximate(observation, rank, form="cur") for an approximation that has one.'
            )
        U = left.coefficients @ self.core.Z @ adjoint(right.coefficients)
        return CURForm(left.sample, U, adjoint(right.sample), self.column_index, self.row_index)

    def importance(self) -> Importance:
        r"""How much of the approximation each of the sampled columns and rows explains, in their order of merit.

        .. math:: \text{gain}_k = \frac{\|P_k \hat M\|_F^2 - \|P_{k-1} \hat M\|_F^2}{\|\hat M\|_F^2}

        with :math:`P_k` the projector on the first k columns of the order; each column is the one with the largest
        gain at its place. Rows likewise.

        Raises
        ------
        SpanError
            If the approximation is not a combination of the sampled columns and rows.
        """
        C, _, R, column_index, row_index = self.cur()
        U, s, Vh = self.svd()
        return Importance(
            columns=merits(C, U * s, column_index, self.sampled_column_names),
            rows=merits(adjoint(R), adjoint(Vh) * s, row_index, self.sampled_row_names),
        )

    @property
    def column_index(self) -> IndexVector:
        """Positions of the sampled columns; none if the approximation is not made of them."""
        return NO_INDEX if self.left.sample_index is None else self.left.sample_index

    @property
    def row_index(self) -> IndexVector:
        """Positions of the sampled rows; none if the approximation is not made of them."""
        return NO_INDEX if self.right.sample_index is None else self.right.sample_index

    @property
    def sampled_column_names(self) -> Names:
        """Names of the sampled columns, or their positions if columns have no names."""
        return self.column_index if self.column_names is None else self.column_names[self.column_index]

    @property
    def sampled_row_names(self) -> Names:
        """Names of the sampled rows, or their positions if rows have no names."""
        return self.row_index if self.row_names is None else self.row_names[self.row_index]

    # -- keeping and showing --------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``path`` (npz, no pickle) for :func:`curplus.load`; an older file stays whole until that is done.

        The method is kept by its name and options; one that is not plain data is left out.
        """
        write_file(path, "factorization", *saved_parts(self))

    def to_zarr(self, path: str | PathLike[str]) -> None:
        """Write to a new Zarr store, a folder, for :func:`curplus.load`.

        Factors that are Dask arrays are written block by block, each by the process that has it, and are Dask arrays
        again when they are loaded. The arrays are called ``left_vectors`` (n, r1), ``Z`` (r1, r2) and
        ``right_vectors`` (m, r2), for those who read them with Zarr.
        """
        write_store(path, "factorization", *saved_parts(self))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The approximation as facts, ready to be shown."""
        return facts_of(self)

    def __repr__(self) -> str:
        n, m = self.shape
        trouble = "" if self.core.converged else " (not converged)"
        return (
            f"<Factorization of a {n} x {m} matrix: rank {self.rank}{origin_of(self)}, by {self.core.solver}{trouble}>"
        )

    def _repr_html_(self) -> str:
        return facts_as_html("Factorization", self.facts)


def _left_over(s: Vector, shape: Shape) -> float:
    """Root mean square of a matrix with these singular values."""
    return float(math.hypot(*to_numpy(s).astype(float).tolist())) / math.sqrt(math.prod(shape))
