"""Where a matrix comes from: one file per kind of source.

A source is any object with ``shape``, ``dtype``, ``rows(index)``, ``columns(index)`` and ``entries(i, j)``.
:func:`as_source` finds the right one for NumPy and array-API arrays, tables of pandas, Polars and Arrow, SciPy sparse
matrices, AnnData objects, and arrays of h5py, Zarr and Dask.
"""

from .._support.tables import Form
from .array import ArraySource
from .cells import TableSource
from .chunked import ChunkedSource
from .convert import as_source
from .dask import DaskSource
from .factored import FactoredSource
from .file import open_source
from .frames import FrameSource
from .function import CallableSource
from .layout import Note
from .logs.open_logs import open_logs
from .long import LongSource
from .once import KnownParts
from .parquet import ParquetSource
from .source import Source
from .sparse import SparseSource
from .stored import hdf5_source, zarr_source
from .striped import MappedSource, StripedSource

__all__ = [
    "ArraySource",
    "CallableSource",
    "ChunkedSource",
    "DaskSource",
    "FactoredSource",
    "Form",
    "FrameSource",
    "KnownParts",
    "LongSource",
    "MappedSource",
    "Note",
    "ParquetSource",
    "Source",
    "SparseSource",
    "StripedSource",
    "TableSource",
    "as_source",
    "hdf5_source",
    "open_logs",
    "open_source",
    "zarr_source",
]
