"""Compact copies of data sets: a sparse matrix as SciPy saves it, or ratings as plain arrays, in an npz file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse

from ..._typing import Shape
from ..._validation import check_index
from ..files import DataFile
from .movielens import Triplets

__all__ = ["read_compact_matrix", "read_compact_ratings"]

DAMAGE = (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error, zipfile.BadZipFile)


def read_compact_matrix(path: Path) -> Any:
    """A matrix that :func:`scipy.sparse.save_npz` wrote, as a CSR array."""
    with _opened(path) as stream:
        matrix = scipy.sparse.csr_array(scipy.sparse.load_npz(stream))
        matrix.check_format(full_check=True)
        return matrix


def read_compact_ratings(path: Path, shape: Shape) -> Triplets:
    """Arrays ``rows``, ``cols`` (counted from 0), ``values`` and ``shape``."""
    with _opened(path) as stream, np.load(stream, allow_pickle=False) as saved:
        if tuple(saved["shape"]) != shape:
            raise ValueError(f"the matrix is {tuple(saved['shape'].tolist())} and should be {shape}")
        i, j = check_index(saved["rows"], shape[0], name="rows"), check_index(saved["cols"], shape[1], name="cols")
        values = saved["values"].astype(np.float64)
        if not len(i) == len(j) == len(values) == len(np.unique(i * shape[1] + j)):
            raise ValueError("rows, cols and values must be equally long and name each place once")
        return Triplets.ordered(i, j, values)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as stream:  # NumPy would leave a broken file open
            yield stream
    except DAMAGE as error:
        raise DataFile(path).broken(f"it is not the compact file it should be ({error})") from error
