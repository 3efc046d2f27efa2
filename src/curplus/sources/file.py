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

from ..exceptions import InvalidArgumentError, MissingExtraError, SourceError
from .anndata import open_anndata
from .chunked import ChunkedSource
from .content import ending_of, kind_by_content
from .convert import as_source
from .frames import open_feather
from .hdf5 import open_hdf5
from .long_tables import long_source, open_table
from .parquet import open_parquet
from .source import Source
from .standard_input import STANDARD_INPUT, standard_input
from .text import read_text
from .zarr import open_zarr

__all__ = ["READERS", "open_source"]


def open_source(
    matrix: Any,
    *,
    dataset: str | None = None,
    long: Any = None,
    index_col: int | str | bool | None = None,
    header: bool | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Source:
    r"""Open the matrix in a file, by the ending of its name; what is no path is wrapped by :func:`as_source`.

    ==================  =========================================  =========================================
    ending              what it holds                              what is read when it is opened
    ==================  =========================================  =========================================
    .npy                an array (:func:`numpy.save`)              its header; the rest is mapped
    .npz                a sparse matrix (scipy.sparse.save_npz)    all of it, kept sparse
                        or one array (:func:`numpy.savez`)
    .csv, .tsv, .txt    a table, packed (.csv.gz) or not           all of it (needs pandas)
    .h5, .hdf5          a dataset of an HDF5 file                  its header (needs h5py)
    .zarr               a folder with an array or group of Zarr    its header (needs zarr)
    .h5ad               the matrix X of an AnnData object          all but X (needs anndata)
    .parquet            a table of columns                         all of it up to 64 MiB, else its names
                                                                   (needs pyarrow)
    .feather, .arrow    a table of columns                         its header; the rest is mapped, or read
                                                                   where it is compressed (needs pyarrow)
    ==================  =========================================  =========================================

    Capital letters make no difference. Where the first bytes of a file say that it is of another kind than its ending
    does, they are believed. ``"-"`` is standard input, in any of these formats but HDF5 and Zarr.

    Text tables are read as people write them. Separator, decimal comma, encoding, header and names of rows are found
    out; ``source.notes`` has what was found, and each can be said instead. Empty cells, NA, NaN, null, None, ``-``,
    ``.`` and ``?`` are gaps: NaN, and ``source.gaps`` is True. Text that is no number is refused with its place.

    Parameters
    ----------
    matrix : str, path, or anything that as_source takes
        A string is always the path of a file.
    dataset : str, optional
        The name of the matrix in a file that can hold several, HDF5, Zarr or .npz. Not needed if there is only one.
    long : bool or three names, optional
        Whether the table is long: each line has a row, a column and a value. True takes the columns of these names, or
        the first three; ``("user", "film", "rating")`` says which. Left out, a table of three columns is long if they
        have these names, or if two are text and the same row occurs more than once among the first lines. The source
        has a gap wherever there is no line, and :meth:`Observation.from_table` makes scattered entries of it.
    index_col : int, str or bool, optional
        Which column of a text table holds the names of rows; False for none.
    header : bool, optional
        Whether the first line of a text table has the names of columns.
    sep : {",", ";", "\t", "|", " "}, optional
        What separates the cells of a text table; a blank stands for any number of them.
    decimal : {".", ","}, optional
        The decimal mark of a text table.
    encoding : str, optional
        The encoding of a text table, such as "latin-1".
    memory_limit : int, optional
        Most bytes to hold of a matrix in chunks: see :class:`~curplus.sources.ChunkedSource`.
    progress : callable, optional
        Called with the number of chunks read and their total, if the matrix is read in chunks.

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
    text = {"index_col": index_col, "header": header, "sep": sep, "decimal": decimal, "encoding": encoding}
    said = {name: value for name, value in text.items() if value is not None}
    if not isinstance(matrix, (str, PathLike)):
        _refuse_options(said | ({"dataset": dataset} if dataset else {}), "what is no file takes none of these")
        source = as_source(matrix) if long in (None, False) else long_source(matrix, long)
    elif str(matrix) == STANDARD_INPUT:
        source = standard_input(lambda path: _open(path, dataset, long, said))
    else:
        source = _open(Path(matrix), dataset, long, said)
    if isinstance(source, ChunkedSource):
        source.limit(memory_limit, progress)
    return source


def _open(path: Path, dataset: str | None, long: Any, said: dict[str, Any]) -> Source:
    ending = ending_of(path)
    _check_exists(path, ending)
    ending = kind_by_content(path, ending)
    if ending not in READERS:
        raise SourceError(f"{path} cannot be opened: its ending is not one of {', '.join(READERS)}. Convert it first.")
    try:
        return as_source(_reader(ending, path, dataset, long, said)(path))
    except (SourceError, MissingExtraError) as error:
        if str(path) in str(error) or isinstance(error, MissingExtraError):
            raise
        raise SourceError(f"{path} cannot be read as a {ending} matrix: {error}.") from error
    except Exception as error:  # a damaged file can fail in a dozen ways, all of which mean this
        raise SourceError(f"{path} cannot be read as a {ending} matrix: {error}") from error


def _refuse_options(said: Mapping[str, Any], why: str) -> None:
    if said:
        listed = ", ".join(f"{name}={value!r}" for name, value in said.items())
        raise InvalidArgumentError(f"{listed} was given, but {why}. Leave it out.")


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


def _reader(ending: str, path: Path, dataset: str | None, long: Any, said: dict[str, Any]) -> Callable[[Path], Any]:
    """What reads a file, with the options that it takes; others are refused."""
    if dataset is not None:
        if ending not in HOLD_SEVERAL:
            raise SourceError(
                f"dataset={dataset!r} was given, but {path} is a {ending} file, which holds one matrix. Leave it out."
            )
        return functools.partial(HOLD_SEVERAL[ending], dataset=dataset)
    if ending not in TEXTS:
        _refuse_options(said, f"{path} is a {ending} file, and that is for texts")
    if ending in TABLES:
        return functools.partial(open_table, ending=ending, wide=READERS[ending], long=long, said=said)
    _refuse_options({} if long in (None, False) else {"long": long}, f"{path} is a {ending} file, which is no table")
    return READERS[ending]


def _npy(path: Path) -> Any:
    return np.lib.format.open_memmap(path, mode="r")


def _npz(path: Path, dataset: str | None = None) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if "curplus" in names:
        raise SourceError(
            f"{path} holds a result that curplus saved, not a matrix. Read it with curplus.load, or look at it with "
            "'curplus info' on the command line."
        )
    if "format" in names and dataset is None:
        return scipy.sparse.load_npz(path)
    if (dataset is None and len(names) != 1) or (dataset is not None and dataset not in names):
        raise SourceError(
            f"{path} holds {', '.join(names) or 'nothing'}, not one matrix. Say which: "
            f"open_source(path, dataset={(names or ['name'])[0]!r})."
        )
    with np.load(path, allow_pickle=False) as arrays:
        return arrays[dataset or names[0]]


#: How to read a file, by the ending of its name. A new kind of file is one function and one row.
READERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        ".npy": _npy,
        ".npz": _npz,
        ".csv": read_text,
        ".tsv": read_text,
        ".txt": read_text,
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
    {".npz": _npz, ".h5": open_hdf5, ".hdf5": open_hdf5, ".h5ad": open_hdf5, ".zarr": open_zarr}
)

#: The endings of texts, and of all tables, which may be long.
TEXTS = (".csv", ".tsv", ".txt")
TABLES = (*TEXTS, ".parquet", ".feather", ".arrow")
