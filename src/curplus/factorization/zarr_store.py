"""Keeping what is too large for one file: a Zarr group with the same arrays and the same header as a saved file.

Dask arrays are written block by block, by whoever has the block, and come back as Dask arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import is_dask_array, to_numpy
from .._dask import dask_array, even
from .._files import FILE_HEADER, FILE_VERSION, SavedFile, damage_reported
from .._support.extras import import_extra
from ..exceptions import FileFormatError, InvalidArgumentError

__all__ = ["read_store", "write_store"]


def write_store(path: str | PathLike[str], kind: str, arrays: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write ``arrays`` (those that are not None) and the JSON-able ``fields`` to a new Zarr group."""
    zarr = _zarr()
    if Path(path).exists():
        raise InvalidArgumentError(f"{path} exists already, and a store is not written over. Give another path.")
    present = {name: array for name, array in arrays.items() if array is not None}
    group = zarr.create_group(str(path))
    for name, array in present.items():
        _write(group, name, array)
    header = {
        "version": FILE_VERSION,
        "kind": kind,
        "fields": fields,
        "types": {name: str(array.dtype) for name, array in present.items()},
        "dask": [name for name, array in present.items() if is_dask_array(array)],
    }
    group.attrs[FILE_HEADER] = json.loads(
        json.dumps(header, default=lambda number: number.item())
    )  # last: all is there


def _zarr() -> Any:
    return import_extra("zarr", extra="zarr", purpose="Zarr stores need zarr")


def _write(group: Any, name: str, array: Any) -> None:
    if not is_dask_array(array):
        group.create_array(name, data=_as_numbers(to_numpy(array)))
        return
    blocks = even(array)
    chunks = tuple(max(sizes[0], 1) for sizes in blocks.chunks)
    target = group.create_array(name, shape=blocks.shape, chunks=chunks, dtype=blocks.dtype)
    dask_array().store(blocks, target, lock=False)


def _as_numbers(x: Any) -> Any:
    """Text as the numbers of its characters, one row each."""
    return x.view(np.uint32).reshape(*x.shape, -1) if x.dtype.kind == "U" else x


def read_store(path: str | PathLike[str]) -> SavedFile:
    """Read what :func:`write_store` wrote; Dask arrays are read when they are needed."""
    with damage_reported(path):
        group = _zarr().open_group(str(path), mode="r")
        header: dict[str, Any] = dict(group.attrs[FILE_HEADER])
        if int(header["version"]) != FILE_VERSION:
            raise FileFormatError(
                f"{path} has format version {header['version']}, and this curplus reads version {FILE_VERSION}. "
                "Install a curplus that is at least as new as the one that wrote it."
            )
        arrays = {name: _read(group[name], kind, name in header["dask"]) for name, kind in header["types"].items()}
        return SavedFile(str(header["kind"]), arrays, dict(header["fields"]))


def _read(stored: Any, kind: str, as_dask: bool) -> Any:
    if as_dask:
        return dask_array().from_array(stored, chunks=stored.chunks)
    numbers = stored[...]
    return numbers.view(np.dtype(kind))[..., 0] if np.dtype(kind).kind == "U" else numbers
