"""An array of a Zarr store, read chunk by chunk as it is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._extras import import_extra, is_kind
from .._validation import check_two_dimensional
from .chunked import ChunkedSource
from .hdf5 import only_matrix

__all__ = ["is_zarr", "open_zarr", "zarr_source"]


def is_zarr(matrix: Any) -> bool:
    """Whether ``matrix`` is a Zarr array."""
    return is_kind(matrix, "zarr", "Array")


def zarr_source(array: Any, **options: Any) -> ChunkedSource:
    """A source of an open Zarr array.

    Parameters
    ----------
    array : zarr.Array of shape (n, m)
        In any store. What is read at once is a chunk, also where chunks are joined in shards.
    **options
        As for :class:`ChunkedSource`.
    """
    check_two_dimensional(array.shape)
    options = {"dtype": array.dtype, "read_ahead": True, **options}
    return ChunkedSource(lambda rows, columns: array[rows, columns], array.shape, array.chunks, **options)


def open_zarr(path: Path, dataset: str | None = None) -> Any:
    """The array of a store; of a group, the one that is named, or the only one that is a matrix of numbers."""
    zarr = import_extra("zarr", extra="zarr", purpose="reading Zarr stores needs zarr")
    opened = zarr.open(str(path), mode="r")
    if is_zarr(opened):
        return opened
    return only_matrix(
        {str(name): item for name, item in opened.members(max_depth=None) if is_zarr(item)}, path, dataset
    )
