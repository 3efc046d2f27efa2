"""What a source is: a matrix that can be read in part."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .._typing import IndexVector, Matrix, Shape, Vector

__all__ = ["Source"]


@runtime_checkable
class Source(Protocol):
    """A matrix that can be read in part; any object with these members is one.

    Indices are one-dimensional ``int64`` NumPy arrays within range. Some more members are optional: ``row_names`` and
    ``column_names``, one name per row or column, which are kept in the result; ``matmat(X)``, the product with a tall
    matrix, which :func:`curplus.cur_full` calls instead of reading all rows; and ``read(plan)``, which returns the
    columns, rows and values of a :class:`curplus.SamplePlan` in one call. A source with ``skips_known = True`` has
    ``read(plan, known)``, where ``known`` is None or a :class:`curplus.sources.KnownParts`: what need not be asked for.
    A source may also say that it has ``gaps`` (True), or which ``noise``: see :class:`curplus.Observation`.
    """

    @property
    def shape(self) -> Shape:
        """Numbers of rows and columns."""

    @property
    def dtype(self) -> Any:
        """Type of the values that are returned."""

    def rows(self, index: IndexVector) -> Matrix:
        """Rows at ``index``, shape (len(index), m)."""

    def columns(self, index: IndexVector) -> Matrix:
        """Columns at ``index``, shape (n, len(index))."""

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        """Values at ``(i[t], j[t])``, shape (len(i),)."""
