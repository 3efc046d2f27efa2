"""Keeping results safe: one npz format for observations and factorizations, without pickle.

A file holds plain arrays and one JSON header that says what they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import to_numpy
from ._replacing import check_destination, replacing
from .exceptions import FileFormatError

__all__ = ["damage_reported", "file_kind", "read_file", "write_bytes", "write_file"]

HEADER = "curplus"
VERSION = 1


def write_file(path: str | PathLike[str], kind: str, arrays: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write ``arrays`` (those that are not None) and the JSON-able ``fields`` to ``path``, all or nothing."""
    check_destination(path)
    present = {name: to_numpy(array) for name, array in arrays.items() if array is not None}
    header = {"version": VERSION, "kind": kind, "fields": fields, "arrays": _inventory(present)}
    described = {HEADER: np.asarray(json.dumps(header, default=lambda number: number.item()))}
    with replacing(path) as stream:
        np.savez(stream, allow_pickle=False, **described, **present)


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write ``content`` to ``path``, all or nothing."""
    with replacing(path) as stream:
        stream.write(content)


def read_file(path: str | PathLike[str], kind: str) -> dict[str, Any]:
    """Arrays and fields of a file of the given kind, in one dictionary."""
    header, arrays = _open(path)
    if header["kind"] != kind:
        raise FileFormatError(f"{path} holds a saved {header['kind']}. Load it with curplus.load.")
    return arrays | dict(header["fields"])


def file_kind(path: str | PathLike[str]) -> str:
    """What a saved file holds: ``"observation"`` or ``"factorization"``."""
    return str(_open(path)[0]["kind"])


@contextmanager
def damage_reported(path: str | PathLike[str], *, opened: bool = False) -> Iterator[None]:
    """Turn whatever goes wrong with the content of a file into one clear error; a missing file stays missing."""
    try:
        yield
    except FileFormatError:
        raise
    except Exception as error:  # a damaged archive can fail in a dozen ways, all of which mean this
        if isinstance(error, OSError) and not opened:
            raise
        raise FileFormatError(
            f"{path} cannot be read as a saved curplus result: it is damaged, truncated or was not written by "
            f"curplus ({type(error).__name__}: {error}). Restore it from a copy or compute it again."
        ) from error


def _open(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    with Path(path).open("rb") as stream, damage_reported(path, opened=True):
        archive = np.load(stream, allow_pickle=False)
        arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop(HEADER)))
        if int(header["version"]) != VERSION:
            raise FileFormatError(
                f"{path} was written in format version {header['version']}, and this curplus reads version {VERSION}. "
                "Install a curplus that is at least as new as the one that wrote it."
            )
        if header["arrays"] != _inventory(arrays) or not {"kind", "fields"} <= header.keys():
            raise ValueError("its parts are not those that were saved")
    return header, arrays


def _inventory(arrays: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Type and shape of each array, as JSON gives them back."""
    return {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
