"""Which source an object is read through."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import is_array_api_obj, is_dask_array
from .._support.extras import is_kind
from .._validation import check_names
from ..exceptions import InvalidArgumentError
from .anndata import backed_sparse_source, is_anndata, matrix_of
from .array import ArraySource
from .dask import DaskSource
from .frames import FrameSource, is_frame
from .source import Source
from .sparse import SparseSource
from .stored import hdf5_source, is_zarr, zarr_source
from .striped import MappedSource, is_large_map

__all__ = ["as_source", "whole_matrix"]


def as_source(
    matrix: Any, *, row_names: Iterable[Any] | None = None, column_names: Iterable[Any] | None = None
) -> Source:
    """Wrap ``matrix`` so that it can be read in part.

    Parameters
    ----------
    matrix : array, sparse matrix, table, dataset in a file, nested list or source
        What to read. A source is returned as it is. Known are arrays of NumPy and other array-API libraries, sparse
        matrices of SciPy, tables of pandas, Polars, Arrow and others that hand out columns as Arrow does, AnnData
        objects, and arrays of h5py, Zarr and Dask. A first column of text holds the names of rows.
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
    if isinstance(source, (ArraySource, MappedSource)):
        return source.matrix
    return source.rows(np.arange(source.shape[0]))


def _wrap(matrix: Any) -> Source:
    if isinstance(matrix, ArraySource):
        return matrix
    for recognised, make in RECOGNISED:
        if recognised(matrix):
            return make(matrix)
    if isinstance(matrix, Source):
        if not callable(matrix.rows):
            raise InvalidArgumentError(
                f"a {type(matrix).__name__} holds what was read of a matrix. Give the matrix itself."
            )
        return matrix
    if isinstance(matrix, (str, PathLike)):
        raise InvalidArgumentError(
            f"a {type(matrix).__name__} cannot be read as a matrix. If it is the path of a file, use open_source."
        )
    if callable(matrix):
        raise InvalidArgumentError("a function alone has no shape. Give CallableSource(function, shape).")
    raise InvalidArgumentError(
        f"a {type(matrix).__name__} cannot be read as a matrix. Give a NumPy array, a pandas DataFrame, a SciPy "
        "sparse matrix, a table of Polars or Arrow, an AnnData object, an array of h5py, Zarr or Dask, a "
        "CallableSource, or an object with shape, dtype, rows, columns and entries."
    )


def _annotated(data: Any) -> Source:
    return as_source(matrix_of(data), row_names=data.obs_names, column_names=data.var_names)


#: How to tell a kind of matrix, without importing its library, and its source. The first that fits is taken.
RECOGNISED: tuple[tuple[Callable[[Any], bool], Callable[[Any], Source]], ...] = (
    (lambda matrix: type(matrix) is np.ndarray, ArraySource),
    (is_frame, FrameSource),
    (is_anndata, _annotated),
    (lambda matrix: is_kind(matrix, "anndata", "BaseCompressedSparseDataset"), backed_sparse_source),
    (lambda matrix: is_kind(matrix, "h5py", "Dataset"), hdf5_source),
    (is_zarr, zarr_source),
    (is_dask_array, DaskSource),
    (scipy.sparse.issparse, SparseSource),
    (is_large_map, MappedSource),
    (lambda matrix: is_array_api_obj(matrix) or isinstance(matrix, (list, tuple, np.matrix)), ArraySource),
)
