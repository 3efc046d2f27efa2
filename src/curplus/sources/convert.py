"""Which source an object is read through."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import is_array_api_obj
from .._validation import check_names
from ..exceptions import InvalidArgumentError
from .array import ArraySource
from .source import Source
from .sparse import SparseSource
from .table import TableSource, is_table

__all__ = ["as_source", "whole_matrix"]


def as_source(
    matrix: Any, *, row_names: Iterable[Any] | None = None, column_names: Iterable[Any] | None = None
) -> Source:
    """Wrap ``matrix`` so that it can be read in part.

    Parameters
    ----------
    matrix : array, sparse matrix, DataFrame, nested list or source
        What to read. A source is returned as it is.
    row_names, column_names : sequence, optional
        One name per row and per column, kept in the result. A DataFrame has its own.

    Returns
    -------
    Source

    Examples
    --------
    >>> import curplus
    >>> source = curplus.as_source([[1, 2], [3, 4]], column_names=["height", "weight"])
    >>> source.columns([1])
    array([[2.],
           [4.]])
    """
    source = _wrap(matrix)
    if source is matrix and not (row_names is None and column_names is None):
        source = copy.copy(source)  # the caller's own source keeps its names
    for attribute, names, size in (
        ("row_names", row_names, source.shape[0]),
        ("column_names", column_names, source.shape[1]),
    ):
        if names is not None:
            setattr(source, attribute, check_names(names, size, name=attribute))
    return source


def whole_matrix(matrix: Any) -> Any:
    """All of a matrix, for functions that need it: a sparse matrix stays sparse, and a mapped file stays mapped."""
    source = as_source(matrix)
    if isinstance(source, SparseSource):
        return source.matrix.astype(source.dtype, copy=False)
    if isinstance(source, ArraySource):
        return source.matrix
    return source.rows(np.arange(source.shape[0]))


def _wrap(matrix: Any) -> Source:
    if is_table(matrix):
        return TableSource(matrix)
    if scipy.sparse.issparse(matrix):
        return SparseSource(matrix)
    if is_array_api_obj(matrix) or isinstance(matrix, (list, tuple, np.matrix)):
        return ArraySource(matrix)
    if isinstance(matrix, Source):
        return matrix
    if isinstance(matrix, (str, PathLike)):
        raise InvalidArgumentError(
            f"a {type(matrix).__name__} cannot be read as a matrix. If it is the path of a file, use open_source."
        )
    if callable(matrix):
        raise InvalidArgumentError("a function alone has no shape. Give CallableSource(function, shape).")
    raise InvalidArgumentError(
        f"a {type(matrix).__name__} cannot be read as a matrix. Give a NumPy array, a pandas DataFrame, a SciPy "
        "sparse matrix, a CallableSource, or an object with shape, dtype, rows, columns and entries."
    )
