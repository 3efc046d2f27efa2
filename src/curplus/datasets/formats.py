"""Parsers of published formats: each takes a file and returns a CSR array of what the file stores."""

from __future__ import annotations

import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._support.sets import NO_INDEX
from .._typing import Shape
from .._validation import check_index, check_shape
from .files import DataFile

__all__ = [
    "read_bag_of_words",
    "read_compact",
    "read_dense_rows",
    "read_idx_images",
    "read_libsvm",
    "read_matlab",
    "read_movielens",
    "read_sparse_rows",
]

WORD_COUNTS_HEADER = ("the number of documents", "the number of words", "the number of records")
NOT_COMPACT = (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error, zipfile.BadZipFile)
IDX_MAGIC = 0x00000803  # unsigned bytes, three axes
IDX_HEADER = struct.Struct(">4i")
NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PAIRS_PATTERN = re.compile(rf"(?:\d+:{NUMBER_PATTERN}(?:\s+|$))*")
LABEL = re.compile(rf"{NUMBER_PATTERN}(?:\s+|$)")
PARSED_AT_A_TIME = 2**18  # numbers that are parsed at a time
EXACT_INTEGERS = 2.0**53  # whole numbers below are exact in float64

Table = NDArray[np.int64]

# -- one record in each line -----------------------------------------------------------------------------------------


def read_bag_of_words(file: DataFile) -> Any:
    """UCI Bag of Words: three lines D, W and NNZ, then lines "document word count"; shape (documents, words)."""
    lines = file.lines()
    n_documents, n_words, n_records = (
        _header(file, next(lines, ""), meaning, number) for number, meaning in enumerate(WORD_COUNTS_HEADER, start=1)
    )
    ranges = {"document": (1, n_documents), "word": (1, n_words), "count": (1, 2**31)}
    counts = _records(file, lines, ranges, 3, "a word of a document", first_line=4)
    if counts.nnz != n_records:
        raise file.broken(f"{n_records} records are announced and {counts.nnz} follow", line=3)
    return counts


def _header(file: DataFile, line: str, meaning: str, number: int) -> int:
    if not (line.isascii() and line.isdigit()):
        raise file.broken(f"expected {meaning}, found {line[:60]!r}", line=number)
    return int(line)


def read_movielens(file: DataFile, shape: Shape) -> Any:
    """MovieLens ``u.data``: lines "user movie rating time"; shape (users, movies), which is the ``shape`` given."""
    ranges = {"user": (1, shape[0]), "movie": (1, shape[1]), "rating": (1, 5), "time": (0, 2**40)}
    return _records(file, file.lines(), ranges, 4, "a movie that the user has rated before")


def _records(
    file: DataFile, lines: Iterator[str], ranges: dict[str, tuple[int, int]], width: int, what: str, first_line: int = 1
) -> Any:
    """Row and column, counted from 1, and value of each line, as the stored entries of a CSR array."""
    blocks = [np.empty((0, width), dtype=np.int64)]
    for first, table in _number_blocks(file, lines, width, f"'{' '.join(ranges)}'", first_line):
        for column, (name, (lowest, highest)) in zip(table.T, ranges.items(), strict=True):
            outside = (column < lowest) | (column > highest)
            if outside.any():
                t = int(np.argmax(outside))
                raise file.broken(f"{name} {column[t]} is not between {lowest} and {highest}", line=first + t)
        blocks.append(table)
    i, j, values = np.concatenate(blocks).T[:3]
    (_, n), (_, m), *_ = ranges.values()
    _, once = np.unique(i * (m + 1) + j, return_index=True)
    if len(once) < len(i):
        repeated = np.delete(np.arange(len(i)), once)
        raise file.broken(f"{what} occurs a second time", line=first_line + int(repeated[0]))
    return scipy.sparse.csr_array((values.astype(np.float64), (i - 1, j - 1)), shape=(n, m))


def _number_blocks(
    file: DataFile, lines: Iterator[str], width: int, meaning: str, first_line: int = 1
) -> Iterator[tuple[int, Table]]:
    """Blocks of lines with ``width`` whole numbers each, with the number of the line that each block begins at."""
    n_lines = max(1, PARSED_AT_A_TIME // width)
    while block := list(islice(lines, n_lines)):
        yield first_line, _table(file, block, width, meaning, first_line)
        first_line += len(block)


def _table(file: DataFile, block: list[str], width: int, meaning: str, first_line: int) -> Table:
    table = _parsed(block, width)
    if table is not None:
        return table
    if len(block) == 1:
        raise file.broken(f"expected {meaning}, found {block[0][:60]!r}", line=first_line)
    middle = len(block) // 2  # halving finds the first bad line
    _table(file, block[:middle], width, meaning, first_line)
    return _table(file, block[middle:], width, meaning, first_line + middle)


def _parsed(block: list[str], width: int) -> Table | None:
    if not all(block):  # NumPy would skip a blank line
        return None
    try:
        table = np.loadtxt(block, dtype=np.float64, comments=None, ndmin=2)
    except ValueError:
        return None
    whole = (
        table.shape == (len(block), width)
        and (np.abs(table) < EXACT_INTEGERS).all()
        and (table == np.floor(table)).all()
    )
    return table.astype(np.int64) if whole else None


# -- one row of the matrix in each line ------------------------------------------------------------------------------


def read_dense_rows(file: DataFile, n_features: int) -> Any:
    """Examples of the NIPS 2003 challenge with all features, most of them zero; shape (examples, n_features)."""
    blocks = _number_blocks(file, file.lines(), n_features, f"{n_features} whole numbers")
    parts = [scipy.sparse.csr_array(table.astype(np.float64)) for _, table in blocks]
    return scipy.sparse.vstack([scipy.sparse.csr_array((0, n_features), dtype=np.float64), *parts], format="csr")


def read_sparse_rows(file: DataFile, n_features: int) -> Any:
    """Examples of the NIPS 2003 challenge as pairs "feature:value"; shape (examples, n_features)."""
    rows = [_sparse_row(file, text, n_features, line=line) for line, text in enumerate(file.lines(), start=1)]
    return _stack_rows(rows, n_features)


def read_libsvm(file: DataFile, n_features: int) -> Any:
    """Lines of libsvm and SVMlight: a label, which is left out, pairs "index:value", perhaps a comment after "#"."""
    rows = [_labelled_row(file, text, n_features, line) for line, text in enumerate(file.lines(), start=1)]
    return _stack_rows(rows, n_features)


def _labelled_row(file: DataFile, text: str, n_features: int, line: int) -> SparseRow:
    label = LABEL.match(text)
    if label is None:
        raise file.broken(f"expected a label, found {text[:60]!r}", line=line)
    return _sparse_row(file, text[label.end() :].partition("#")[0].rstrip(), n_features, line=line)


class SparseRow(NamedTuple):
    """One row: the columns that are stored, counted from 0, and their values."""

    columns: NDArray[np.int64]  # (k,)
    values: NDArray[np.float64]  # (k,)


def _sparse_row(file: DataFile, text: str, n_columns: int, *, line: int) -> SparseRow:
    """Parse the pairs of one line."""
    good = PAIRS_PATTERN.match(text)
    if good is None or good.end() < len(text):
        rest = text[good.end() if good else 0 :]
        raise file.broken(f"expected pairs 'index:value', found {rest[:60]!r}", line=line)
    numbers = np.array(text.replace(":", " ").split(), dtype=np.float64).reshape(-1, 2)
    outside = (numbers[:, 0] < 1) | (numbers[:, 0] > n_columns)
    if outside.any():
        raise file.broken(f"index {numbers[outside, 0][0]:.0f} is not between 1 and {n_columns}", line=line)
    columns = numbers[:, 0].astype(np.int64)
    if len(np.unique(columns)) < len(columns):
        raise file.broken("an index occurs a second time", line=line)
    return SparseRow(columns - 1, numbers[:, 1])


def _stack_rows(rows: list[SparseRow], n_columns: int) -> Any:
    """The rows as a CSR array of shape (len(rows), n_columns)."""
    starts = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns = np.concatenate([NO_INDEX, *(row.columns for row in rows)])
    values = np.concatenate([np.empty(0), *(row.values for row in rows)])
    return scipy.sparse.csr_array((values, columns, starts), shape=(len(rows), n_columns))


# -- binary files ----------------------------------------------------------------------------------------------------


def read_idx_images(file: DataFile) -> Any:
    """Images as rows of pixels, a CSR array of shape (images, height * width)."""
    with file.opened() as stream:
        content = stream.read()
    if len(content) < IDX_HEADER.size:
        raise file.broken(f"it has {len(content)} bytes, which is less than the header of {IDX_HEADER.size}")
    magic, n_images, height, width = IDX_HEADER.unpack_from(content)
    if magic != IDX_MAGIC:
        raise file.broken(f"it begins with the number {magic:#010x} and images with {IDX_MAGIC:#010x}")
    n_pixels = len(content) - IDX_HEADER.size
    if min(n_images, height, width) < 0 or n_pixels != n_images * height * width:
        raise file.broken(f"{n_images} images of {height} x {width} pixels are announced and {n_pixels} pixels follow")
    pixels = np.frombuffer(content, dtype=np.uint8, offset=IDX_HEADER.size).reshape(n_images, height * width)
    return scipy.sparse.csr_array(pixels, dtype=np.float64)


def read_matlab(file: DataFile, variable: str) -> Any:
    """The matrix called ``variable``, as a CSR array."""
    from scipy.io import loadmat

    with file.opened() as stream:
        try:
            with warnings.catch_warnings():  # newer SciPy announces another type of sparse result; both are taken
                warnings.simplefilter("ignore", DeprecationWarning)
                found = loadmat(stream, variable_names=[variable])
        except Exception as error:  # the reader runs into damage in many ways, none of them documented
            raise file.broken(f"it cannot be read as a MATLAB file ({error})") from error
    if variable not in found:
        raise file.broken(f"it has no variable {variable!r}")
    return scipy.sparse.csr_array(found[variable])


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
            return _compact_ratings(saved) if "rows" in saved else _sparse(stream)
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


def _compact_ratings(saved: Any) -> Any:
    n, m = check_shape(saved["shape"])
    i, j = check_index(saved["rows"], n, name="rows"), check_index(saved["cols"], m, name="cols")
    values = saved["values"].astype(np.float64)
    if not len(i) == len(j) == len(values) == len(np.unique(i * m + j)):
        raise ValueError("rows, cols and values must be equally long and name each place once")
    scale = float(saved["scale"]) if "scale" in saved else 1.0
    return scipy.sparse.csr_array((scale * values, (i, j)), shape=(n, m))
