"""The matrix of an AnnData object, with the names of its observations and variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._support.extras import import_extra, is_kind
from ..exceptions import InvalidArgumentError
from .chunks import Chunk
from .striped import StripedSource

__all__ = ["anndata_package", "backed_sparse_source", "is_anndata", "matrix_of"]


def is_anndata(matrix: Any) -> bool:
    """Whether ``matrix`` is an AnnData object."""
    return is_kind(matrix, "anndata", "AnnData")


def anndata_package() -> Any:
    """The package anndata."""
    return import_extra("anndata", extra="anndata", purpose="reading AnnData files needs anndata")


def matrix_of(data: Any) -> Any:
    """The matrix ``X`` of an AnnData object, wherever it is."""
    if data.X is None:
        raise InvalidArgumentError("the AnnData object has no matrix X. Give one of its layers: data.layers[name].")
    return data.X


def backed_sparse_source(stored: Any, **options: Any) -> StripedSource:
    """A source of a CSR or CSC matrix in an HDF5 file or a Zarr store: rows, or columns, are read as they lie there.

    Parameters
    ----------
    stored : CSRDataset or CSCDataset of anndata
        The ``X`` of an AnnData object that was opened with ``backed="r"``.
    **options
        As for :class:`ChunkedSource`.
    """
    group, axis = stored.group, 0 if stored.format == "csr" else 1
    start = np.asarray(group["indptr"][:]).astype(np.int64)
    make = scipy.sparse.csr_matrix if axis == 0 else scipy.sparse.csc_matrix
    n, m = (int(size) for size in stored.shape)

    def stripe(rows: slice, columns: slice) -> Chunk:
        lines = (rows, columns)[axis]
        begin, end = int(start[lines.start]), int(start[lines.stop])
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        parts = group["data"][begin:end], group["indices"][begin:end], start[lines.start : lines.stop + 1] - begin
        return make(parts, shape=shape)

    itemsize = group["data"].dtype.itemsize + group["indices"].dtype.itemsize
    line_bytes = start[-1] * itemsize / max((n, m)[axis], 1)
    options = {"dtype": stored.dtype, "read_ahead": True, **options}
    return StripedSource(stripe, (n, m), axis=axis, line_bytes=line_bytes, **options)
