"""A matrix in a file, opened without reading more than its header where the format allows."""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse

from ..exceptions import MissingExtraError, SourceError
from .anndata import open_anndata
from .content import kind_by_content
from .convert import as_source
from .frames import open_feather, open_parquet
from .hdf5 import open_hdf5
from .source import Source
from .zarr import open_zarr

__all__ = ["READERS", "open_source"]


def open_source(matrix: Any, *, dataset: str | None = None) -> Source:
    r"""Open the matrix in a file, by the ending of its name; what is no path is wrapped by :func:`as_source`.

    =================  ==========================================  =========================================
    ending             what it holds                               what is read when it is opened
    =================  ==========================================  =========================================
    .npy               an array (:func:`numpy.save`)               its header; the rest is mapped
    .npz               a sparse matrix (scipy.sparse.save_npz)     all of it, kept sparse
    .csv, .tsv         a table with a line of column names         all of it (needs pandas)
    .h5, .hdf5         a dataset of an HDF5 file                   its header (needs h5py)
    .zarr              a folder with an array or group of Zarr     its header (needs zarr)
    .h5ad              the matrix X of an AnnData object           all but X (needs anndata)
    .parquet           a table of columns                          all of it (needs pyarrow)
    .feather, .arrow   a table of columns                          its header; the rest is mapped, or read
                                                                   where it is compressed (needs pyarrow)
    =================  ==========================================  =========================================

    Capital letters make no difference. Where the first bytes of a file say that it is of another kind than its ending
    does, they are believed. The first column of a table holds row names if it has no name itself, as
    ``DataFrame.to_csv`` writes it, or if it is not numeric. Names are kept in the result.

    Parameters
    ----------
    matrix : str, path, or anything that as_source takes
        A string is always the path of a file.
    dataset : str, optional
        The name of the matrix in a file that can hold several, HDF5 or Zarr. Not needed if there is only one.

    Returns
    -------
    Source

    Raises
    ------
    SourceError
        If there is no such file, if it is not what its ending says, or if it does not hold exactly one matrix and
        none is named.

    Examples
    --------
    >>> import pathlib, tempfile, curplus
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,height,weight\nann,170,60\nbob,180,75\n")
    >>> source = curplus.open_source(path)
    >>> source.shape, source.column_names.tolist(), source.row_names.tolist()
    ((2, 2), ['height', 'weight'], ['ann', 'bob'])
    """
    if not isinstance(matrix, (str, PathLike)):
        return as_source(matrix)
    path = Path(matrix)
    _check_exists(path, path.suffix.lower())
    ending = kind_by_content(path, path.suffix.lower())
    if ending not in READERS:
        raise SourceError(f"{path} cannot be opened: its ending is not one of {', '.join(READERS)}. Convert it first.")
    try:
        return as_source(_reader(ending, path, dataset)(path))
    except (SourceError, MissingExtraError):
        raise
    except Exception as error:  # a damaged file can fail in a dozen ways, all of which mean this
        raise SourceError(f"{path} cannot be read as a {ending} matrix: {error}") from error


def _check_exists(path: Path, ending: str) -> None:
    try:
        found = path.exists()
    except OSError:  # a name that is too long, or a folder that must not be looked into
        found = False
    if found:
        return
    if ending in READERS:
        raise SourceError(f"there is no file {path} (looked for from {Path.cwd()}). Check its name and folder.")
    text = str(path) if len(str(path)) <= 60 else f"{str(path)[:60]}..."
    raise SourceError(
        f"{text!r} is not the path of a file, and a string is always taken for one. Give a file that ends in "
        f"{', '.join(READERS)}, or the data itself as an array, a list of rows or a DataFrame."
    )


def _reader(ending: str, path: Path, dataset: str | None) -> Callable[[Path], Any]:
    if dataset is None:
        return READERS[ending]
    if ending not in HOLD_SEVERAL:
        raise SourceError(
            f"dataset={dataset!r} was given, but {path} is a {ending} file, which holds one matrix. Leave it out."
        )
    return functools.partial(HOLD_SEVERAL[ending], dataset=dataset)


def _npy(path: Path) -> Any:
    return np.lib.format.open_memmap(path, mode="r")


def _npz(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if "curplus" in names:
        raise SourceError(
            f"{path} holds a result that curplus saved, not a matrix. Read it with curplus.load, or look at it with "
            "'curplus info' on the command line."
        )
    if "format" not in names:
        raise SourceError(
            f"{path} holds {', '.join(names) or 'nothing'}, not a sparse matrix. Save a sparse matrix with "
            "scipy.sparse.save_npz, or one array with numpy.save, as .npy."
        )
    return scipy.sparse.load_npz(path)


def _csv(path: Path) -> Any:
    return _table(path, ",")


def _tsv(path: Path) -> Any:
    return _table(path, "\t")


def _table(path: Path, separator: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("reading tables needs pandas: pip install 'curplus[pandas]'.") from error
    names = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str).iloc[0]
    if pd.to_numeric(names, errors="coerce").notna().all():
        raise SourceError(
            f"the first line of {path} has only numbers ({_first_three(names)}), so it looks like data and not like "
            "column names. Add a line of column names above it. If those numbers are the names, read the table with "
            f"pandas: curplus.as_source(pandas.read_csv({str(path)!r}, sep={separator!r}))."
        )
    frame = pd.read_csv(path, sep=separator)
    if frame.shape[1] < 2 or not isinstance(frame.index, pd.RangeIndex):  # pandas has found row names by itself
        return frame
    unnamed = str(frame.columns[0]).strip() in ("", "Unnamed: 0")
    if unnamed or not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]):
        return frame.set_index(frame.columns[0])
    return frame


def _first_three(names: Any) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


#: How to read a file, by the ending of its name. A new kind of file is one function and one row.
READERS: Mapping[str, Callable[[Path], Any]] = MappingProxyType(
    {
        ".npy": _npy,
        ".npz": _npz,
        ".csv": _csv,
        ".tsv": _tsv,
        ".h5": open_hdf5,
        ".hdf5": open_hdf5,
        ".zarr": open_zarr,
        ".h5ad": open_anndata,
        ".parquet": open_parquet,
        ".feather": open_feather,
        ".arrow": open_feather,
    }
)

#: The readers of files that can hold several matrices, which take the name of one.
HOLD_SEVERAL: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {".h5": open_hdf5, ".hdf5": open_hdf5, ".h5ad": open_hdf5, ".zarr": open_zarr}
)
