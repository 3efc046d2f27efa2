"""A dataset of an HDF5 file, or an array of a Zarr store, read chunk by chunk as it is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._support.extras import import_extra, is_kind
from .._support.spelling import option
from .._validation import check_two_dimensional
from ..exceptions import SourceError
from .anndata import anndata_package
from .chunked import ChunkedSource
from .striped import StripedSource

__all__ = ["hdf5_source", "is_zarr", "open_hdf5", "open_zarr", "zarr_source"]


def hdf5_source(dataset: Any, **options: Any) -> ChunkedSource:
    """A source of an open ``h5py.Dataset``.

    Parameters
    ----------
    dataset : h5py.Dataset of shape (n, m)
        In chunks, or row after row without chunks. Its file must stay open as long as the source is used.
    **options
        As for :class:`ChunkedSource`.
    """
    check_two_dimensional(dataset.shape or ())
    options = {"dtype": dataset.dtype, "read_ahead": True, **options}

    def block(rows: slice, columns: slice) -> Any:
        return dataset[rows, columns]

    if dataset.chunks is not None:
        return ChunkedSource(block, dataset.shape, dataset.chunks, **options)
    line_bytes = dataset.shape[1] * dataset.dtype.itemsize
    return StripedSource(block, dataset.shape, line_bytes=line_bytes, **options)


def open_hdf5(path: Path, dataset: str | None = None, *, external: bool = False) -> Any:
    """A dataset of a file: the one that is named, or the only one that is a matrix of numbers; X of an AnnData file."""
    h5py = import_extra("h5py", extra="hdf5", purpose="reading HDF5 files needs h5py")
    anndata = anndata_package() if dataset is None and path.suffix.lower() == ".h5ad" else None
    file = h5py.File(path, mode="r")
    if not external:
        _check_self_contained(file, path, h5py)
    if anndata is not None or (dataset is None and file.attrs.get("encoding-type") == "anndata"):
        file.close()
        return anndata_package().read_h5ad(path, backed="r")
    named = None if dataset is None else file.get(dataset)
    if isinstance(named, h5py.Dataset):  # also behind a link, which visititems does not follow
        return named
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return _only_matrix(found, path, dataset)


def _check_self_contained(file: Any, path: Path, h5py: Any) -> None:
    """An error if an HDF5 file leads to other files: whoever sent it could have us read, and publish, any of ours."""

    def leads_elsewhere(name: str, item: Any) -> str | None:
        if isinstance(item, h5py.Dataset):
            return name if item.external or item.is_virtual else None
        links = ((key, item.get(key, getlink=True)) for key in item)
        return next((f"{name}/{key}" for key, link in links if isinstance(link, h5py.ExternalLink)), None)

    where = leads_elsewhere("", file["/"]) or file.visititems(leads_elsewhere)
    if where is not None:
        file.close()
        raise SourceError(
            f"{path} has data in other files ({where.lstrip('/')}: external storage, a virtual dataset or an external "
            f"link), which could be any file of yours. If you trust it, say {option('external', True)}."
        )


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
    return _only_matrix(
        {str(name): item for name, item in opened.members(max_depth=None) if is_zarr(item)}, path, dataset
    )


def _only_matrix(arrays: dict[str, Any], path: Path, dataset: str | None) -> Any:
    """Of the arrays in a file, by name: the one that is asked for, or the only matrix of numbers."""
    if dataset is not None:
        if dataset.strip("/") not in arrays:
            raise SourceError(f"{path} has no dataset {dataset!r}. It holds {_listed(arrays)}.")
        return arrays[dataset.strip("/")]
    matrices = {name: array for name, array in arrays.items() if _is_matrix(array)}
    if not matrices:
        raise SourceError(f"{path} holds no matrix of numbers. It holds {_listed(arrays)}.")
    if len(matrices) > 1:
        raise SourceError(
            f"{path} holds {len(matrices)} matrices: {_listed(matrices)}. "
            f"Say which: open_source(path, dataset={next(iter(matrices))!r})."
        )
    return next(iter(matrices.values()))


def _listed(arrays: dict[str, Any], *, most: int = 20) -> str:
    """Names, shapes and types of arrays."""
    parts = [f"{name} of shape {array.shape}, {array.dtype}" for name, array in list(arrays.items())[:most]]
    return "; ".join([*parts, *(["..."] if len(arrays) > most else [])]) or "no arrays"


def _is_matrix(array: Any) -> bool:
    return len(array.shape or ()) == 2 and np.dtype(array.dtype).kind in "biufc"
