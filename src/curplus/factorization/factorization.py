r"""The answer: :math:`\hat M = \hat U Z \hat V^\top`, which acts like the matrix it stands for.

The n x m matrix is never formed unless it is asked for. The answer speaks SciPy's operator protocol without inheriting
from it, so that its arrays may come from any array-API library.
"""

from __future__ import annotations

import html
import math
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, blocks, device, take, to_device
from .._files import SavedFile, check_kind, damage_reported, read_file, write_file
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_count, check_index
from ..exceptions import InvalidArgumentError, SpanError
from .basis import Basis
from .core import Core
from .cur_form import SVD, CURForm

__all__ = ["Factorization", "FitReport"]


class FitReport(NamedTuple):
    """What :func:`curplus.approximate` chose, and why."""

    rank: int  # of the answer
    rank_reason: str
    row_ridge: float  # relative ridge of the skeleton, by leaving rows out; nan where that was not possible
    column_ridge: float  # the same by leaving columns out
    sum_coefficient: float  # coefficient of the product of row sums and column sums
    intersection_condition: float  # condition of the crossing of rows and columns
    left_out_error: float  # share of the squares of left-out rows and columns that was not predicted
    correction_z: float  # by how many standard errors a core fitted to the entries did better; kept above 2
    refined: bool  # whether alternating least squares on all entries was kept
    refinement_z: float  # by how many standard errors it did better on entries set aside; nan if not tried
    verdict: str  # what the evidence says of the answer
    entry_ridge: float = math.nan  # relative ridge by entries, where neither rows nor columns could be left out

    def __str__(self) -> str:
        lines = {
            "rank": f"{self.rank}, {self.rank_reason}",
            "ridge": f"{self.row_ridge:.2g} by rows, {self.column_ridge:.2g} by columns, relative",
            "ridge, by the entries": f"{self.entry_ridge:.2g}, relative",
            "condition of the crossing": f"{self.intersection_condition:.2g}",
            "left-out rows and columns": f"{self.left_out_error:.1%} of their squares not predicted",
            "core for the entries": _outcome(self.correction_z),
            "refinement": _outcome(self.refinement_z),
            "verdict": self.verdict,
        }
        return "\n".join(f"{name}: {value}" for name, value in lines.items() if "nan" not in value)


def _outcome(gain: float) -> str:
    if math.isnan(gain):
        return "not tried: too few entries"
    return f"{'kept' if gain > 2 else 'not kept'} ({gain:+.1f} standard errors on entries set aside)"


class Factorization:
    """The approximation ``left @ Z @ right.T``, never stored as a full matrix.

    Returned by :func:`curplus.cur_plus`, :func:`curplus.cur_full` and :func:`curplus.cur_unbiased`.

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
    held_out : array, optional
        Which entries of the observation (positions in its ``i`` and ``j``) the fit did not see; none by default.
    report : FitReport, optional
        What :func:`curplus.approximate` chose.

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

    __array_ufunc__ = None  # so that array @ factorization asks the factorization

    def __init__(
        self,
        left: Basis,
        core: Core,
        right: Basis,
        *,
        row_names: Names | None = None,
        column_names: Names | None = None,
        held_out: IndexVector | None = None,
        report: FitReport | None = None,
    ) -> None:
        assert core.Z.shape == (left.rank, right.rank)
        self.left, self.core, self.right = left, core, right
        self.row_names, self.column_names = row_names, column_names
        self.held_out = np.empty(0, dtype=np.int64) if held_out is None else held_out
        self.report = report

    @property
    def shape(self) -> Shape:
        """Size of the matrix."""
        return int(self.left.vectors.shape[0]), int(self.right.vectors.shape[0])

    @property
    def dtype(self) -> Any:
        """Type of its entries."""
        return self.core.Z.dtype

    @property
    def rank(self) -> int:
        """Largest rank it can have: the smaller side of the core."""
        return min(self.left.rank, self.right.rank)

    @property
    def T(self) -> Factorization:
        """The transposed matrix."""
        core = self.core._replace(Z=self.core.Z.T)
        names = {"row_names": self.column_names, "column_names": self.row_names}
        return Factorization(self.right, core, self.left, **names, held_out=self.held_out, report=self.report)

    # -- the operator protocol ------------------------------------------------------------------------------------

    def matmat(self, X: Matrix) -> Matrix:
        """Product with ``X``, shape (m,) or (m, k)."""
        return self.left.vectors @ (self.core.Z @ (self.right.vectors.T @ X))

    def rmatmat(self, X: Matrix) -> Matrix:
        """Product of the transpose with ``X``, shape (n,) or (n, k)."""
        return self.T.matmat(X)

    matvec, rmatvec = matmat, rmatmat

    def __matmul__(self, X: Any) -> Any:
        X = X if hasattr(X, "shape") else to_device(np.asarray(X, dtype=float), self.core.Z)
        if not X.shape or X.shape[0] != self.shape[1]:
            raise InvalidArgumentError(f"a {self.shape} matrix cannot multiply an array of shape {tuple(X.shape)}.")
        return self.matmat(X)

    def __rmatmul__(self, X: Any) -> Any:
        X = X if hasattr(X, "shape") else to_device(np.asarray(X, dtype=float), self.core.Z)
        return self.T @ X if len(X.shape) < 2 else (self.T @ X.T).T

    # -- parts of the matrix --------------------------------------------------------------------------------------

    def entries(self, i: Any, j: Any) -> Vector:
        """Values at ``(i[t], j[t])``, in O(len(i) * rank**2) time and bounded memory."""
        n, m = self.shape
        i, j = check_index(i, n, name="i"), check_index(j, m, name="j")
        if len(i) != len(j):
            raise InvalidArgumentError(f"i has {len(i)} positions and j has {len(j)}. Give pairs.")
        xp = array_namespace(self.core.Z)
        parts = [xp.sum(self.left.vectors[:0, :], axis=1)]
        for part in blocks(len(i), max(self.core.Z.shape)):
            left, right = (take(basis.vectors, k[part], axis=0) for basis, k in ((self.left, i), (self.right, j)))
            parts.append(xp.sum((left @ self.core.Z) * right, axis=1))
        return xp.concat(parts)

    def rows(self, i: Any) -> Matrix:
        """Rows at ``i``, shape (len(i), m)."""
        index = check_index(i, self.shape[0], name="i")
        return (take(self.left.vectors, index, axis=0) @ self.core.Z) @ self.right.vectors.T

    def columns(self, j: Any) -> Matrix:
        """Columns at ``j``, shape (n, len(j))."""
        index = check_index(j, self.shape[1], name="j")
        return self.left.vectors @ (self.core.Z @ take(self.right.vectors, index, axis=0).T)

    def to_array(self) -> Matrix:
        """The whole matrix, shape (n, m): mind the memory."""
        return (self.left.vectors @ self.core.Z) @ self.right.vectors.T

    # -- other forms ----------------------------------------------------------------------------------------------

    def svd(self) -> SVD:
        """Singular value decomposition, with as many values as the core's smaller side."""
        xp = array_namespace(self.core.Z)
        P, s, Qt = xp.linalg.svd(self.core.Z, full_matrices=False)
        return SVD(self.left.vectors @ P, s, Qt @ self.right.vectors.T)

    def truncate(self, rank: int) -> Factorization:
        """The closest matrix of rank at most ``rank``."""
        rank = min(check_count(rank, name="rank", at_least=1), self.rank)
        xp = array_namespace(self.core.Z)
        P, s, Qt = xp.linalg.svd(self.core.Z, full_matrices=False)
        Z = s[:rank, None] * xp.eye(rank, dtype=self.dtype, device=device(s))
        return Factorization(
            self.left.rotate(P[:, :rank]),
            self.core._replace(Z=Z, residual_norm=math.nan),
            self.right.rotate(Qt[:rank, :].T),
            row_names=self.row_names,
            column_names=self.column_names,
            held_out=self.held_out,
            report=self.report,
        )

    def cur(self) -> CURForm:
        r"""The same matrix as ``C @ U @ R``, where C and R are the sampled columns and rows.

        .. math:: U = W_A \Sigma_A^{-1} \, Z \, \Sigma_B^{-1} W_B^\top

        with :math:`A = \hat U \Sigma_A W_A^\top` the columns' SVD, and B's likewise: the "group of linear equations"
        of Section 3.1, solved. Equal to the answer up to rounding times the condition of the samples.

        Raises
        ------
        SpanError
            If the answer is not a combination of the sampled columns and rows.
        """
        left, right = self.left, self.right
        if left.coefficients is None or right.coefficients is None or right.sample is None:
            raise SpanError(
                "this answer does not lie in the span of the sampled columns and rows, so it has no C U R form. "
                "Use .svd(), or ask cur_plus for an answer that has one."
            )
        U = left.coefficients @ self.core.Z @ right.coefficients.T
        return CURForm(left.sample, U, right.sample.T, self.column_index, self.row_index)

    @property
    def column_index(self) -> IndexVector:
        """Positions of the sampled columns; none if the answer is not made of them."""
        return np.empty(0, dtype=np.int64) if self.left.sample_index is None else self.left.sample_index

    @property
    def row_index(self) -> IndexVector:
        """Positions of the sampled rows; none if the answer is not made of them."""
        return np.empty(0, dtype=np.int64) if self.right.sample_index is None else self.right.sample_index

    @property
    def sampled_column_names(self) -> Names:
        """Names of the sampled columns, or their positions where columns have no names."""
        return self.column_index if self.column_names is None else self.column_names[self.column_index]

    @property
    def sampled_row_names(self) -> Names:
        """Names of the sampled rows, or their positions where rows have no names."""
        return self.row_index if self.row_names is None else self.row_names[self.row_index]

    # -- keeping and showing --------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``path`` (npz, no pickle); an older file there stays whole until the new one is complete."""
        arrays = {f"left_{name}": part for name, part in self.left._asdict().items()}
        arrays |= {f"right_{name}": part for name, part in self.right._asdict().items()}
        names = {"row_names": self.row_names, "column_names": self.column_names, "held_out": self.held_out}
        diagnostics = self.core._asdict()
        fields = {"core": diagnostics, "report": None if self.report is None else self.report._asdict()}
        write_file(path, "factorization", arrays | names | {"Z": diagnostics.pop("Z")}, fields)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Factorization:
        """Read what :meth:`save` wrote."""
        saved = check_kind(read_file(path), "factorization", path)
        with damage_reported(path):
            return cls._from_saved(saved)

    @classmethod
    def _from_saved(cls, saved: SavedFile) -> Factorization:
        """The factorization that a file holds."""
        arrays, fields = saved.arrays, saved.fields
        left, right = (Basis(**{k: arrays.get(f"{side}_{k}") for k in Basis._fields}) for side in ("left", "right"))
        diagnostics = fields["core"]
        core = Core(**diagnostics | {"Z": arrays["Z"], "notes": tuple(diagnostics["notes"])})
        names = {name: arrays.get(name) for name in ("row_names", "column_names", "held_out")}
        report = None if fields["report"] is None else FitReport(**fields["report"])
        return cls(left, core, right, **names, report=report)

    def __repr__(self) -> str:
        n, m = self.shape
        trouble = "" if self.core.converged else " (not converged)"
        return (
            f"<Factorization of a {n} x {m} matrix: rank {self.rank}{self._origin()}, by {self.core.solver}{trouble}>"
        )

    def _repr_html_(self) -> str:
        core = self.core
        facts = {
            "shape": f"{self.shape[0]} x {self.shape[1]}",
            "core": f"{self.left.rank} x {self.right.rank}{self._origin()}",
            "found by": f"{core.solver}{'' if core.converged else ' (not converged)'}",
            "residual on entries": "" if math.isnan(core.residual_norm) else f"{core.residual_norm:.3g}",
            "condition": "" if core.condition is None else f"{core.condition:.3g}",
            "columns": _listed(self.sampled_column_names),
            "rows": _listed(self.sampled_row_names),
            "note": " ".join(core.notes),
        }
        cells = "".join(f"<tr><th>{k}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items() if v)
        return f"<table><caption>Factorization</caption>{cells}</table>"

    def _origin(self) -> str:
        if self.left.sample is None or self.right.sample is None:
            return ""
        return f", from {len(self.column_index)} columns and {len(self.row_index)} rows"


def _listed(names: Names, most: int = 6) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")
