"""Compact copies of data sets: a sparse matrix, a dense one or ratings in an npz file."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse

from ..._validation import check_index, check_shape
from ..files import DataFile

__all__ = ["read_compact"]

NOT_COMPACT = (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error, zipfile.BadZipFile)


def read_compact(file: DataFile) -> Any:
    """What the npz file holds, as a NumPy array if that is ``X`` or ``bits``, else as a CSR array.

    ``bits`` are zeros and ones, eight in a byte along each row, of a matrix of ``shape``. Ratings are arrays ``rows``,
    ``cols`` (counted from 0), ``values``, ``shape`` and perhaps ``scale``, which the values are multiplied by; any
    other file is taken for one of :func:`scipy.sparse.save_npz`.
    """
    try:
        with file.path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            if "X" in saved:
                return saved["X"].astype(np.float64)
            if "bits" in saved:
                return _unpacked(saved)
            return _ratings(saved) if "rows" in saved else _sparse(stream)
    except NOT_COMPACT as error:
        raise file.broken(f"it is not the compact file it should be ({error})") from error


def _unpacked(saved: Any) -> Any:
    n, m = check_shape(saved["shape"])
    bits = saved["bits"]
    if bits.dtype != np.uint8 or bits.shape != (n, -(-m // 8)):
        raise ValueError(f"bits of a {n} x {m} matrix cannot be {bits.dtype} of shape {bits.shape}")
    return np.unpackbits(bits, axis=1, count=m).astype(np.float64)


def _sparse(stream: Any) -> Any:
    stream.seek(0)
    matrix = scipy.sparse.csr_array(scipy.sparse.load_npz(stream))
    matrix.check_format(full_check=True)
    return matrix


def _ratings(saved: Any) -> Any:
    n, m = check_shape(saved["shape"])
    i, j = check_index(saved["rows"], n, name="rows"), check_index(saved["cols"], m, name="cols")
    values = saved["values"].astype(np.float64)
    if not len(i) == len(j) == len(values) == len(np.unique(i * m + j)):
        raise ValueError("rows, cols and values must be equally long and name each place once")
    scale = float(saved["scale"]) if "scale" in saved else 1.0
    return scipy.sparse.csr_array((scale * values, (i, j)), shape=(n, m))
