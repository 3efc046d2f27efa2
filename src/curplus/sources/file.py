"""A matrix in a file, opened without reading more than its header where the format allows."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._support.spelling import option
from ..exceptions import InvalidArgumentError, SourceError
from .chunked import ChunkedSource
from .content import damage_told, ending_of, kind_by_content
from .convert import as_source
from .long import long_source, open_arrow_table, open_text_table
from .source import Source
from .stored import open_hdf5, open_zarr

__all__ = ["READERS", "STANDARD_INPUT", "open_source"]

STANDARD_INPUT = "-"


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
    sheet: str | int | None = None,
    skip_rows: int | Iterable[int] = 0,
    na_values: str | Iterable[str] = (),
    external: bool = False,
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
    .csv, .tsv, .txt    a table, packed (.csv.gz) or not           all of it
    .xlsx               a table in a sheet of a workbook           all of it (needs openpyxl)
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

    Tables are read as people write them. Separator, decimal comma, encoding, header and names of rows are found out;
    ``source.notes`` has what was found, and each can be said instead. A first column of text, or of whole numbers that
    count up while no other column does, holds the names of rows. Empty cells, NA, NaN, null, None, ``-``, ``.`` and
    ``?`` are gaps: NaN, and ``source.gaps`` is True. ``>10000`` and ``<= 0.5`` are bounds, which ``source.bounds`` has,
    as arrays i, j, value and side; the numbers have gaps there. Any other text is refused with its place and what
    would help; "1,000" is one, since it can be a thousand.

    Parameters
    ----------
    matrix : str, path, or anything that as_source takes
        A string is always the path of a file.
    dataset : str, optional
        The name of the matrix in a file that can hold several, HDF5, Zarr or .npz. Not needed if there is only one.
    long : bool or three names, optional
        Whether the table is long: each line has a row, a column and a value. True takes the columns of these names, or
        the first three; ``("user", "film", "rating")`` says which. Left out, a table is long if its columns have these
        names, or user, item and rating, or if it has three, of which the second is text, and the same row occurs more
        than once among the first lines. The source has a gap wherever there is no line, and
        :meth:`Observation.from_table` makes scattered entries of it.
    index_col : int, str or bool, optional
        Which column of a text or a workbook holds the names of rows; False for none.
    header : bool, optional
        Whether the first line has the names of columns.
    sep : {",", ";", "\t", "|", " "}, optional
        What separates the cells of a text; a blank stands for any number of them.
    decimal : {".", ","}, optional
        The decimal mark of a text.
    encoding : str, optional
        The encoding of a text, such as "latin-1".
    sheet : str or int, optional
        The sheet of a workbook that holds several tables, by its name or its position from 0.
    skip_rows : int or list of int, optional
        How many lines at the top to leave out, or which ones, counted from 1: ``[2]`` leaves out units below the names.
    na_values : str or list of str, optional
        What else stands for a gap, such as "ND".
    external : bool, default False
        Whether an HDF5 or AnnData file may lead to other files, by external storage, virtual datasets or external
        links. Say so only of files that you trust.
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
    given = {"dataset": dataset, "long": long, "index_col": index_col, "header": header, "sep": sep, "decimal": decimal}
    given |= {"encoding": encoding, "sheet": sheet, "skip_rows": skip_rows or None, "na_values": na_values or None}
    said = {name: value for name, value in (given | {"external": external or None}).items() if value is not None}
    if not isinstance(matrix, (str, PathLike)):
        if said.keys() - {"long"}:
            listed = ", ".join(option(name, value) for name, value in said.items() if name != "long")
            raise InvalidArgumentError(f"{listed} was given, but what is no file takes none of these. Leave it out.")
        source = as_source(matrix) if long in (None, False) else long_source(matrix, long)
    elif str(matrix) == STANDARD_INPUT:
        source = _standard_input(lambda path: _open(path, said))
    else:
        source = _open(Path(matrix), said)
    if isinstance(source, ChunkedSource):
        source.limit(memory_limit, progress)
    return source


def _open(path: Path, said: dict[str, Any]) -> Source:
    ending = ending_of(path)
    _check_exists(path, ending)
    ending = kind_by_content(path, ending)
    if ending not in READERS:
        raise SourceError(f"{path} cannot be opened: its ending is not one of {', '.join(READERS)}. Convert it first.")
    read, options = READERS[ending]
    others = {name: value for name, value in said.items() if name not in options and (name, value) != ("long", False)}
    if others:
        listed, why = ", ".join(option(*pair) for pair in others.items()), WHOSE.get(next(iter(others)), OF_TABLES)
        raise SourceError(f"{listed} was given, but {path} is a {ending} file, {why}. Leave it out.")
    with damage_told(path, ending):
        return as_source(read(path, **{name: said[name] for name in options if name in said}))


def _standard_input(open_file: Callable[[Path], Source]) -> Source:
    """The source that ``open_file`` makes of what arrives on standard input; a text unless its first bytes differ."""
    folder = Path(tempfile.mkdtemp(prefix="curplus-"))
    try:
        path = folder / "standard-input.csv"
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        if not path.stat().st_size:
            raise SourceError("nothing arrived on standard input. Send a table: cat table.csv | curplus info -")
        path = path.rename(path.with_suffix(kind_by_content(path, ".csv")))
        source = open_file(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source


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


class Reader(NamedTuple):
    """How the files of an ending are read, and the options that this takes."""

    read: Callable[..., Any]
    options: tuple[str, ...] = ()


TABLES = ("long", "index_col", "header", "skip_rows", "na_values")
TEXTS, ARROWS = (".csv", ".tsv", ".txt"), (".parquet", ".feather", ".arrow")

#: How to read a file, by the ending of its name. A new kind of file is one function and one row.
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        ".npy": Reader(_npy),
        ".npz": Reader(_npz, ("dataset",)),
        **{
            ending: Reader(partial(open_text_table, ending=ending), (*TABLES, "sep", "decimal", "encoding"))
            for ending in TEXTS
        },
        ".xlsx": Reader(partial(open_text_table, ending=".xlsx"), (*TABLES, "sheet")),
        ".h5": Reader(open_hdf5, ("dataset", "external")),
        ".hdf5": Reader(open_hdf5, ("dataset", "external")),
        ".zarr": Reader(open_zarr, ("dataset",)),
        ".h5ad": Reader(open_hdf5, ("dataset", "external")),
        **{ending: Reader(partial(open_arrow_table, ending=ending), ("long",)) for ending in ARROWS},
    }
)

#: Why a file of another kind does not take an option.
OF_TABLES = "and that is for texts and workbooks"
WHOSE = {
    "dataset": "which holds one matrix",
    "long": "which is no table",
    "external": "which leads to no other files",
    "sheet": "and that is for workbooks",
    **dict.fromkeys(("sep", "decimal", "encoding"), "and that is for texts"),
}
