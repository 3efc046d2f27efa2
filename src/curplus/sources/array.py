"""A matrix held in memory, or mapped from disk, as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from .._arrays import gather, host_array, is_array_api_obj, number_array, take
from .._typing import IndexVector, Matrix, Names, Shape, Vector
from .._validation import check_two_dimensional
from ..exceptions import InvalidArgumentError

__all__ = ["ArraySource"]


class ArraySource:
    """A two-dimensional array of any array-API library, in any memory order.

    Only what is asked for is converted to floating point, so an integer or memory-mapped array costs nothing extra.

    Parameters
    ----------
    matrix : array of shape (n, m)
        Real or complex numbers: float32 and complex64 stay as they are, integers are read as float64.
    """

    row_names: Names | None = None
    column_names: Names | None = None

    def __init__(self, matrix: Any) -> None:
        masked = isinstance(matrix, np.ma.MaskedArray)
        plain = is_array_api_obj(matrix) and not isinstance(matrix, np.ndarray)
        array = matrix if plain or masked else host_array(matrix, name="the matrix")
        if is_torch_array(array) and str(array.layout) != "torch.strided":
            raise InvalidArgumentError(
                f"the matrix is a sparse tensor ({array.layout}), of which no part can be read. Convert it: "
                ".to_dense(), or to a sparse matrix of SciPy, which stays sparse."
            )
        check_two_dimensional(array.shape)
        self.dtype = number_array(array[:0, :0], name="the matrix").dtype
        self.matrix = array

    @property
    def shape(self) -> Shape:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def rows(self, index: IndexVector) -> Matrix:
        return number_array(take(self.matrix, index, axis=0), name="the matrix")

    def columns(self, index: IndexVector) -> Matrix:
        return number_array(take(self.matrix, index, axis=1), name="the matrix")

    def entries(self, i: IndexVector, j: IndexVector) -> Vector:
        return number_array(gather(self.matrix, i, j), name="the matrix")
