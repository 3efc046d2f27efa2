"""UCI Bag of Words: three header lines D, W and NNZ, then one line "document word count" for each, counted from 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..files import DataFile
from .numbers import check_no_repeats, check_range, number_blocks

__all__ = ["read_bag_of_words"]

WORD_COUNTS_HEADER = ("the number of documents", "the number of words", "the number of records")


def read_bag_of_words(file: DataFile) -> Any:
    """Counts of words in documents, as a CSR array of shape (documents, words)."""
    lines = file.lines()
    n_documents, n_words, n_records = (
        _header(file, next(lines, ""), meaning, number) for number, meaning in enumerate(WORD_COUNTS_HEADER, start=1)
    )
    blocks = [np.empty((0, 3), dtype=np.int64)]
    for first, table in number_blocks(file, lines, width=3, meaning="'document word count'", first_line=4):
        check_range(file, table[:, 0], 1, n_documents, name="document", first_line=first)
        check_range(file, table[:, 1], 1, n_words, name="word", first_line=first)
        check_range(file, table[:, 2], 1, 2**31, name="count", first_line=first)
        blocks.append(table)
    documents, words, counts = np.concatenate(blocks).T
    if len(counts) != n_records:
        raise file.broken(f"{n_records} records are announced and {len(counts)} follow", line=3)
    i, j = documents - 1, words - 1
    check_no_repeats(file, i, j, n_words, what="a word of a document", first_line=4)
    return scipy.sparse.csr_array((counts.astype(np.float64), (i, j)), shape=(n_documents, n_words))


def _header(file: DataFile, line: str, meaning: str, number: int) -> int:
    if not (line.isascii() and line.isdigit()):
        raise file.broken(f"expected {meaning}, found {line[:60]!r}", line=number)
    return int(line)
