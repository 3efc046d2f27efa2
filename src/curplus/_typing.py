"""Array aliases: the name carries the number of axes, docstrings carry the shape.

``Array``, ``Matrix`` and ``Vector`` may come from any array-API library, so no static type can be more precise than
``Any`` without shutting one of them out. ``IndexVector`` is always NumPy: positions live on the host.
"""

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
Matrix: TypeAlias = Any
Vector: TypeAlias = Any
Namespace: TypeAlias = Any

IndexVector: TypeAlias = NDArray[np.int64]
Names: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, int]

RandomState: TypeAlias = int | np.random.Generator | None


@runtime_checkable
class Source(Protocol):
    """A matrix that can be read in part; any object with these members is one.

    Indices are one-dimensional ``int64`` NumPy arrays within range. ``row_names`` and ``column_names`` are optional
    attributes, one name per row or column, that travel to the result. So is ``matmat(X)``, the product with a tall
    matrix, which :func:`curplus.cur_full` prefers to reading all rows.
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
