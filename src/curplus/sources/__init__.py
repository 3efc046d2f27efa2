"""Where a matrix comes from: one file per kind of source.

A source is any object with ``shape``, ``dtype``, ``rows(index)``, ``columns(index)`` and ``entries(i, j)``.
:func:`as_source` finds the right one for NumPy and array-API arrays, pandas frames and SciPy sparse matrices.
"""

from .array import ArraySource
from .convert import as_source
from .factored import FactoredSource
from .file import open_source
from .function import CallableSource
from .source import Source
from .sparse import SparseSource
from .table import TableSource

__all__ = [
    "ArraySource",
    "CallableSource",
    "FactoredSource",
    "Source",
    "SparseSource",
    "TableSource",
    "as_source",
    "open_source",
]
