r"""Which of the sampled columns and rows matter: how much of the approximation each of them explains.

A column c explains of the approximation what lies along it, :math:`\|\hat c^\top \hat M\|^2` with
:math:`\hat c = c / \|c\|`. Two columns that are alike explain the same, so such shares alone do not show which
ones to look at. In the order of merit each column is the one that explains most of the residual of those before it,
and its gain is the share that it adds. Rows likewise. Only d x d matrices are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import abs_squared, adjoint, array_namespace, conjugate, double, largest, to_numpy
from .._support.extras import import_extra
from .._typing import FloatArray, IndexVector, Matrix, Names

__all__ = ["Importance", "Merits", "merits"]

SPENT = 1e-10  # of its squared norm: the residual of a column that the others span is rounding


@dataclass(frozen=True, eq=False)
class Merits:
    """Sampled columns, or rows, in their order of merit; shares are of the squares of the approximation."""

    index: IndexVector  # (d,), positions in the matrix
    names: Names  # (d,), the positions if there are no names
    alone: FloatArray  # (d,), share that each explains on its own
    gain: FloatArray  # (d,), share that each adds to those before it

    @property
    def explained(self) -> FloatArray:
        """Share that each explains together with those before it."""
        return np.cumsum(self.gain)


@dataclass(frozen=True, eq=False)
class Importance:
    """How much of an approximation each of the sampled columns and rows explains.

    Returned by :meth:`curplus.Factorization.importance`.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.outer(np.ones(6), [0.0, 6.0, 6.0, 6.0]) + np.outer([1.0, -1, 1, -1, 1, -1], [2.0, 0, 0, 0])
    >>> seen = curplus.Observation(shape=M.shape, column_index=[0, 1], columns=M[:, :2], row_index=[2, 3], rows=M[2:4])
    >>> columns = curplus.approximate(seen, rank=2, form="cur").importance().columns
    >>> columns.index.tolist(), columns.explained.round(2).tolist()
    ([1, 0], [0.96, 1.0])
    """

    columns: Merits
    rows: Merits

    @property
    def T(self) -> Importance:
        """The same for the transposed matrix."""
        return Importance(self.rows, self.columns)

    def to_frame(self) -> Any:
        """A pandas table, columns first: kind, name, position, alone, gain and explained."""
        pandas = import_extra("pandas", extra="pandas", purpose="a table of the picks needs pandas")
        parts = []
        for kind, picks in (("column", self.columns), ("row", self.rows)):
            shares = {"alone": picks.alone, "gain": picks.gain, "explained": picks.explained}
            parts.append(pandas.DataFrame({"kind": kind, "name": picks.names, "position": picks.index, **shares}))
        return pandas.concat(parts, ignore_index=True)

    def __str__(self) -> str:
        return "\n\n".join([_as_text("column", self.columns), _as_text("row", self.rows)])


def merits(sample: Matrix, directions: Matrix, index: IndexVector, names: Names) -> Merits:
    r"""The order of merit of the columns of a sample.

    Parameters
    ----------
    sample : array of shape (n, d)
        Sampled columns C.
    directions : array of shape (n, r)
        A factor F of the approximation with :math:`F F^\top = \hat M \hat M^\top`.
    index, names : arrays of shape (d,)
        Positions and names of the columns.

    Notes
    -----
    With :math:`P_k` the projector on the first k columns of the order, the gain of the k-th is
    :math:`(\|P_k \hat M\|_F^2 - \|P_{k-1} \hat M\|_F^2) / \|\hat M\|_F^2`, and each column is the one with the largest
    gain at its place. A QR factorization of C brings both factors to d rows.
    """
    xp = array_namespace(sample)
    C, F = (double(x) / (largest(x) or 1.0) for x in (sample, directions))
    Q, triangle = xp.linalg.qr(C)
    order, gain, alone = _greedy(to_numpy(triangle), to_numpy(adjoint(Q) @ F))
    total = float(xp.sum(abs_squared(F))) or 1.0
    return Merits(np.asarray(index)[order], np.asarray(names)[order], alone[order] / total, gain / total)


def _greedy(A: FloatArray, F: FloatArray) -> tuple[IndexVector, FloatArray, FloatArray]:
    """Columns of A in the order in which each explains most of F; what each adds, and, in their own order, alone.

    Residuals are not stored: with q the next basis vector, their sizes and products with F follow from ``q @ A``.
    Columns that those before them span come last and add nothing.
    """
    d = A.shape[1]
    along, sizes = adjoint(F) @ A, np.sum(abs_squared(A), axis=0)
    floor, free = SPENT * sizes, np.ones(d, dtype=bool)
    alone = np.divide(np.sum(abs_squared(along), axis=0), sizes, out=np.zeros(d), where=sizes > 0)
    basis = np.empty((len(A), min(A.shape)), dtype=A.dtype)
    order: list[int] = []
    gain = np.zeros(d)
    while len(order) < basis.shape[1] and (left := free & (sizes > floor)).any():
        k = len(order)
        scores = np.divide(np.sum(abs_squared(along), axis=0), sizes, out=np.full(d, -1.0), where=left)
        best = int(np.argmax(scores))
        basis[:, k] = _residual(A[:, best], basis[:, :k])
        shares, toward = conjugate(basis[:, k]) @ A, adjoint(F) @ basis[:, k]
        gain[k] = float((toward @ conjugate(toward)).real)
        sizes, along = sizes - abs_squared(shares), along - np.outer(toward, shares)
        free[best] = False
        order.append(best)
    return np.concatenate([np.asarray(order, dtype=np.int64), np.flatnonzero(free)]), gain, alone


def _residual(a: FloatArray, basis: FloatArray) -> FloatArray:
    """What a column adds to the span of a basis, of length 1; twice, for orthogonality to rounding."""
    for _ in range(2):
        a = a - basis @ (adjoint(basis) @ a)
    return a / np.linalg.norm(a)


def _as_text(kind: str, picks: Merits, most: int = 10) -> str:
    """The first columns in order of merit, as text."""
    shown = [str(name) for name in picks.names[:most]]
    width = max([len(kind), *map(len, shown)])
    lines = [f"{kind:{width}}  alone   gain  explained"]
    for name, *shares in zip(shown, picks.alone, picks.gain, picks.explained, strict=False):
        lines.append(f"{name:{width}} {shares[0]:6.1%} {shares[1]:6.1%}  {shares[2]:9.1%}")
    if len(picks.names) > most:
        lines.append(f"... ({len(picks.names)} in all)")
    return "\n".join(lines)
