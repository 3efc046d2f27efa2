"""A matrix in a file, opened without reading more than its header where the format allows."""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse

from .._support.spelling import option
from ..exceptions import InvalidArgumentError, SourceError
from .anndata import open_anndata
from .chunked import ChunkedSource
from .content import damage_told, ending_of, kind_by_content
from .convert import as_source
from .long import long_source, open_arrow_table, open_text_table
from .source import Source
from .stored import check_self_contained, open_hdf5, open_zarr

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
    text: dict[str, Any] = {"index_col": index_col, "header": header, "sep": sep, "decimal": decimal}
    text |= {"encoding": encoding, "sheet": sheet, "skip_rows": skip_rows or None, "na_values": na_values or None}
    said = {name: value for name, value in text.items() if value is not None}
    if not isinstance(matrix, (str, PathLike)):
        _refuse_options(said | ({"dataset": dataset} if dataset else {}), "what is no file takes none of these")
        source = as_source(matrix) if long in (None, False) else long_source(matrix, long)
    elif str(matrix) == STANDARD_INPUT:
        source = _standard_input(lambda path: _open(path, dataset, long, said, external))
    else:
        source = _open(Path(matrix), dataset, long, said, external)
    if isinstance(source, ChunkedSource):
        source.limit(memory_limit, progress)
    return source


def _open(path: Path, dataset: str | None, long: Any, said: dict[str, Any], external: bool) -> Source:
    ending = ending_of(path)
    _check_exists(path, ending)
    ending = kind_by_content(path, ending)
    if ending not in READERS:
        raise SourceError(f"{path} cannot be opened: its ending is not one of {', '.join(READERS)}. Convert it first.")
    with damage_told(path, ending):
        if ending in HDF5 and not external:
            check_self_contained(path)
        return as_source(_reader(ending, path, dataset, long, said)(path))


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


def _refuse_options(said: Mapping[str, Any], why: str) -> None:
    if said:
        listed = ", ".join(option(name, value) for name, value in said.items())
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
    if ending in TEXTS:
        _refuse_options({name: said[name] for name in TEXTS[ending] if name in said}, f"{path} is a {ending} file")
        return functools.partial(open_text_table, ending=ending, long=long, said=said)
    _refuse_options(said, f"{path} is a {ending} file, and that is for texts and workbooks")
    if ending in ARROWS:
        return functools.partial(open_arrow_table, ending=ending, long=long)
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
        ".csv": open_text_table,
        ".tsv": open_text_table,
        ".txt": open_text_table,
        ".xlsx": open_text_table,
        ".h5": open_hdf5,
        ".hdf5": open_hdf5,
        ".zarr": open_zarr,
        ".h5ad": open_anndata,
        ".parquet": open_arrow_table,
        ".feather": open_arrow_table,
        ".arrow": open_arrow_table,
    }
)

#: The readers of files that can hold several matrices, which take the name of one.
HOLD_SEVERAL: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {".npz": _npz, ".h5": open_hdf5, ".hdf5": open_hdf5, ".h5ad": open_hdf5, ".zarr": open_zarr}
)

#: The endings of files that may lead to other files.
HDF5 = (".h5", ".hdf5", ".h5ad")

#: The endings of tables, which may be long: those made of text cells, with the options that are not theirs, and others.
TEXTS = {".csv": ("sheet",), ".tsv": ("sheet",), ".txt": ("sheet",), ".xlsx": ("sep", "encoding", "decimal")}
ARROWS = (".parquet", ".feather", ".arrow")
