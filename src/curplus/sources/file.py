"""A matrix in a file, opened without reading more than its header where the format allows."""

from __future__ import annotations

import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..exceptions import MissingExtraError, SourceError

__all__ = ["open_source"]


def open_source(path: str | PathLike[str]) -> Any:
    """The matrix in a file, by the ending of its name, as an array, a sparse matrix or a DataFrame.

    ``.npy`` is mapped, not read; ``.npz`` holds a sparse matrix (:func:`scipy.sparse.save_npz`); ``.csv`` and ``.tsv``
    have a line of column names and, if it is not numeric, a first column of row names (needs pandas).

    Raises
    ------
    SourceError
        If the file is not what its ending says.
    """
    path = Path(path)
    readers = {".npy": _npy, ".npz": _npz, ".csv": _table, ".tsv": _table}
    if path.suffix not in readers:
        raise SourceError(f"{path} cannot be opened: its ending is not one of {', '.join(readers)}. Convert it first.")
    try:
        return readers[path.suffix](path)
    except (ValueError, EOFError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise SourceError(f"{path} cannot be read as a {path.suffix} matrix: {error}") from error


def _npy(path: Path) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _npz(path: Path) -> Any:
    return scipy.sparse.load_npz(path)


def _table(path: Path) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("reading tables needs pandas: pip install 'curplus[pandas]'.") from error
    frame = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    if frame.shape[1] > 1 and not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]):
        frame = frame.set_index(frame.columns[0])
    return frame
