"""From files to a checked data set: found in a folder or downloaded, parsed, and compared with the card."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..exceptions import SourceError
from .cards import Card
from .catalogue import find_card
from .dataset import Dataset, Ratings
from .download import by_hand, download
from .files import DataFile
from .folders import DataHome, find_compact, find_published, folders
from .formats import read_compact

__all__ = ["load"]

SAME_SUM = 1e-12  # relative: whole numbers differ by more, sums of the same fractions in another order by less


def load(name: str, *, data_home: DataHome = None) -> Dataset | Ratings:
    """A data set by its name.

    Parameters
    ----------
    name : str
        A key of :data:`CARDS`.
    data_home : path, optional
        Folder that has the files, and that downloads go to. Left out, the folder that the environment variable
        CURPLUS_DATA names is looked at first, then the cache of downloads.

    Returns
    -------
    Dataset or Ratings
        According to the kind on the card.

    Raises
    ------
    SourceError
        If the files are not at hand and cannot be downloaded, or are damaged.

    Examples
    --------
    >>> from curplus import datasets
    >>> list(datasets.CARDS)[:4]
    ['enron', 'dexter', 'farm_ads', 'gisette']
    >>> datasets.CARDS["dexter"].shape
    (20000, 2600)
    """
    card = find_card(name)
    where = folders(data_home)
    compact = find_compact(card, where)
    if compact is not None:
        return _checked(read_compact(compact), card, compact)
    return _load_published(card, where, None if data_home is None else where[0])


def _load_published(card: Card, where: list[Path], folder: Path | None) -> Dataset | Ratings:
    """The data set from its published files; what is not found is downloaded, and removed if it is another file."""
    if not card.files:
        raise SourceError(f"{card.compact} is not at hand, and cannot be downloaded. {by_hand(card, None, folder)}")
    files, downloads = [], set()
    for file in card.files:
        found = find_published(file, where)
        if found is None:
            found = DataFile(download(card, file, folder), file.name if file.is_archived else None)
            downloads.add(found.path)
        files.append(found)
    try:
        return _checked(_stacked(card, files), card, DataFile(files[0].path))
    except SourceError:
        for path in downloads:  # without a checksum, the wrong file is found only now
            path.unlink(missing_ok=True)
        raise


def _stacked(card: Card, files: list[DataFile]) -> Any:
    assert card.parse is not None, f"{card.name} has files and no parser"
    parts = []
    for file, published in zip(files, card.files, strict=True):
        part = card.parse(file)
        if published.n_rows is not None and part.shape[0] != published.n_rows:
            raise file.broken(f"it holds {part.shape[0]} rows and should hold {published.n_rows}")
        if published.total is not None and _total(part) != published.total:
            raise file.broken(f"its values add up to {_total(part):.0f} and should add up to {published.total}")
        parts.append(part)
    return scipy.sparse.vstack(parts, format="csr")


def _checked(matrix: Any, card: Card, file: DataFile) -> Dataset | Ratings:
    """The matrix or ratings, transposed if the card has it the other way round, and complete."""
    if matrix.shape == card.shape[::-1]:
        matrix = matrix.T
    if matrix.shape != card.shape:
        raise file.broken(f"the matrix is {matrix.shape} and {card.title} is {card.shape}")
    data = Dataset(_canonical(matrix, card), card)
    total = _total(data.matrix)
    if card.nnz is not None and data.nnz != card.nnz:
        entries = "ratings" if card.kind == "ratings" else "non-zero entries"
        raise file.broken(f"{entries}: {data.nnz}, but {card.title} has {card.nnz}")
    if card.total is not None and not math.isclose(total, card.total, rel_tol=SAME_SUM):
        raise file.broken(f"sum: {total:.12g}, but {card.title} has {card.total:.12g}")
    return _as_ratings(data) if card.kind == "ratings" else data


def _canonical(matrix: Any, card: Card) -> Any:
    """The same bits whatever the files: sorted, without stored zeros, positions in 32 bits, which is enough here."""
    if card.kind == "matrix" and not scipy.sparse.issparse(matrix):
        return np.ascontiguousarray(matrix)
    csr = scipy.sparse.csr_array(matrix, dtype=np.float64)
    csr.sum_duplicates()
    if card.kind == "matrix":  # a rating may be zero
        csr.eliminate_zeros()
    positions = csr.indices.astype(np.int32, copy=False), csr.indptr.astype(np.int32, copy=False)
    return scipy.sparse.csr_array((csr.data, *positions), shape=csr.shape)


def _as_ratings(data: Dataset) -> Ratings:
    stored = data.matrix.tocoo()
    return Ratings(stored.row.astype(np.int64), stored.col.astype(np.int64), stored.data, data.card)


def _total(matrix: Any) -> float:
    """Sum of whole numbers, exact up to 2**53."""
    return float(matrix.sum(dtype=np.float64))
