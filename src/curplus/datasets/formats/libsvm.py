"""The text format of libsvm and SVMlight: a label, then "index:value" pairs, and perhaps a comment after "#"."""

from __future__ import annotations

import re
from typing import Any

from ..files import DataFile
from .pairs import NUMBER_PATTERN, SparseRow, sparse_row, stack_rows

__all__ = ["read_libsvm"]

LABEL = re.compile(rf"{NUMBER_PATTERN}(?:\s+|$)")


def read_libsvm(file: DataFile, n_features: int) -> Any:
    """Examples without their labels, as a CSR array of shape (examples, n_features)."""
    rows = [_row(file, text, n_features, line) for line, text in enumerate(file.lines(), start=1)]
    return stack_rows(rows, n_features)


def _row(file: DataFile, text: str, n_features: int, line: int) -> SparseRow:
    label = LABEL.match(text)
    if label is None:
        raise file.broken(f"expected a label, found {text[:60]!r}", line=line)
    return sparse_row(file, text[label.end() :].partition("#")[0].rstrip(), n_features, line=line)
