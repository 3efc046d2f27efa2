"""Keeping results safe: one npz format for observations and factorizations, without pickle.

A file holds plain arrays and one JSON header that says what they are. It is written beside its destination and moved
there when complete, so a crash leaves the older file whole.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import to_numpy
from .exceptions import FileFormatError

__all__ = ["file_kind", "read_file", "write_file"]

HEADER = "curplus"
VERSION = 1


def write_file(path: str | PathLike[str], kind: str, arrays: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write ``arrays`` (those that are not None) and the JSON-able ``fields`` to ``path``, all or nothing."""
    path = Path(path)
    header = json.dumps({"version": VERSION, "kind": kind, "fields": fields})
    present = {name: to_numpy(array) for name, array in arrays.items() if array is not None}
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, allow_pickle=False, **{HEADER: np.asarray(header)}, **present)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_file(path: str | PathLike[str], kind: str) -> dict[str, Any]:
    """Arrays and fields of a file of the given kind, in one dictionary."""
    header, arrays = _open(path)
    if header["kind"] != kind:
        raise FileFormatError(f"{path} holds a saved {header['kind']}, not a {kind}. Load it with curplus.load.")
    return arrays | dict(header["fields"])


def file_kind(path: str | PathLike[str]) -> str:
    """What a saved file holds: ``"observation"`` or ``"factorization"``."""
    return str(_open(path)[0]["kind"])


def _open(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    with Path(path).open("rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop(HEADER)))
            version = int(header["version"])
            complete = {"kind", "fields"} <= header.keys()
        except Exception as error:  # a damaged archive can fail in a dozen ways, all of which mean this
            raise FileFormatError(
                f"{path} cannot be read as a saved curplus result: it is damaged, truncated or was not written by "
                f"curplus ({type(error).__name__}: {error}). Restore it from a copy or compute it again."
            ) from error
    if version != VERSION or not complete:
        raise FileFormatError(
            f"{path} was written in format version {version}, and this curplus reads version {VERSION}. "
            "Install a curplus that is at least as new as the one that wrote it."
        )
    return header, arrays


def _umask() -> int:
    """The permissions a new file would not get; reading them means setting them for a moment."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
