"""From files to a checked matrix: found in a folder or downloaded, parsed, and compared with the card."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from ..exceptions import SourceError
from .cards import Card
from .dataset import Dataset
from .download import download
from .files import DataFile
from .folders import DataHome, find_compact, find_published, folders
from .formats.compact import read_compact_matrix

__all__ = ["load_matrix", "obtain"]

Content = TypeVar("Content")


def load_matrix(card: Card, parse: Callable[[DataFile], Any], data_home: DataHome) -> Dataset:
    """The matrix of a card; ``parse`` reads one published file into a CSR array with the rows of the file."""

    def published(files: list[DataFile]) -> Any:
        return _checked(_stacked(card, files, parse), card, files[0].path)

    def compact(path: Path) -> Any:
        return _checked(read_compact_matrix(path), card, path)

    return Dataset(obtain(card, data_home, compact=compact, published=published), card)


def obtain(
    card: Card,
    data_home: DataHome,
    *,
    compact: Callable[[Path], Content],
    published: Callable[[list[DataFile]], Content],
) -> Content:
    """What the files of a card hold: a compact file if there is one, else the published ones, downloaded if need be."""
    where = folders(data_home)
    path = find_compact(card, where)
    if path is not None:
        return compact(path)
    downloads: set[Path] = set()
    files = []
    for file in card.files:
        found = find_published(file, where)
        if found is None:
            path = download(card, file, None if data_home is None else where[0])
            downloads.add(path)
            found = DataFile(path, file.name if file.is_archived else None)
        files.append(found)
    try:
        return published(files)
    except SourceError:
        for path in downloads:  # without a checksum, only now do we know that it is the wrong file
            path.unlink(missing_ok=True)
        raise


def _stacked(card: Card, files: list[DataFile], parse: Callable[[DataFile], Any]) -> Any:
    parts = []
    for file, published in zip(files, card.files, strict=True):
        part = parse(file)
        if published.n_rows is not None and part.shape[0] != published.n_rows:
            raise file.broken(f"it holds {part.shape[0]} rows and should hold {published.n_rows}")
        if published.total is not None and _total(part) != published.total:
            raise file.broken(f"its values add up to {_total(part):.0f} and should add up to {published.total}")
        parts.append(part)
    return scipy.sparse.vstack(parts, format="csr")


def _checked(matrix: Any, card: Card, path: Path) -> Any:
    """The matrix the way up that the card says, as a CSR array of float64 in canonical form, and complete."""
    if matrix.shape == card.shape[::-1]:
        matrix = matrix.T
    if matrix.shape != card.shape:
        raise DataFile(path).broken(f"the matrix is {matrix.shape} and {card.title} is {card.shape}")
    matrix = _canonical(matrix)
    for what, found, expected in (("non-zero entries", matrix.nnz, card.nnz), ("sum", _total(matrix), card.total)):
        if expected is not None and found != expected:
            raise DataFile(path).broken(f"{what}: {found:.0f}, but {card.title} has {expected}")
    return matrix


def _canonical(matrix: Any) -> Any:
    """The same bits whatever the files: sorted, without stored zeros, positions in 32 bits, which is ample here."""
    csr = scipy.sparse.csr_array(matrix, dtype=np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    positions = csr.indices.astype(np.int32, copy=False), csr.indptr.astype(np.int32, copy=False)
    return scipy.sparse.csr_array((csr.data, *positions), shape=csr.shape)


def _total(matrix: Any) -> float:
    """Sum of whole numbers, exact up to 2**53."""
    return float(matrix.sum(dtype=np.float64))
