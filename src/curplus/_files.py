"""Keeping results safe: one npz format for observations and factorizations, without pickle.

A file holds plain arrays and one JSON header that describes them. Before any array is read, the inventory in the
header is compared with the headers and sizes of the parts, so a file with a false header is refused before it costs
memory.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ._arrays import to_numpy
from ._support.replacing import check_destination, replacing
from .exceptions import FileFormatError, InvalidArgumentError

__all__ = ["SavedFile", "check_destination", "damage_reported", "read_file", "write_bytes", "write_file"]

FILE_HEADER = "curplus"
FILE_VERSION = 1  # of the format
LONGEST_HEADER = 2**20  # characters; one or two thousand are usual

Inventory: TypeAlias = dict[str, list[Any]]


class SavedFile(NamedTuple):
    """What a file holds."""

    kind: str  # "observation" or "factorization"
    arrays: dict[str, Any]  # NumPy arrays
    fields: dict[str, Any]  # all that is not an array, as JSON gives it back


def write_file(path: str | PathLike[str], kind: str, arrays: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Write ``arrays`` (those that are not None) and the JSON-able ``fields`` to ``path``, all or nothing."""
    check_destination(path)
    present = {name: to_numpy(array) for name, array in arrays.items() if array is not None}
    header = {"version": FILE_VERSION, "kind": kind, "fields": fields, "arrays": _inventory(present)}
    text = json.dumps(header, default=lambda number: number.item())
    _check_can_be_saved(present, text)
    content: dict[str, Any] = {FILE_HEADER: np.asarray(text), **present}
    with replacing(path) as stream:
        np.savez(stream, **content)


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write ``content`` to ``path``, all or nothing."""
    with replacing(path) as stream:
        stream.write(content)


def read_file(path: str | PathLike[str]) -> SavedFile:
    """Read what :func:`write_file` wrote."""
    with Path(path).open("rb") as stream, damage_reported(path), zipfile.ZipFile(stream) as archive:
        members = _members(archive)
        header = _read_header(archive, members.pop(FILE_HEADER))
        if int(header["version"]) != FILE_VERSION:
            raise FileFormatError(
                f"{path} has format version {header['version']}, and this curplus reads version {FILE_VERSION}. "
                "Install a curplus that is at least as new as the one that wrote it."
            )
        kind, fields = str(header["kind"]), dict(header["fields"])
        _check_parts(archive, members, header["arrays"], size=os.fstat(stream.fileno()).st_size)
        arrays = {name: _read_array(archive, member) for name, member in members.items()}
    return SavedFile(kind, arrays, fields)


@contextmanager
def damage_reported(path: str | PathLike[str]) -> Iterator[None]:
    """Turn whatever goes wrong with the content of an open file into one clear error."""
    try:
        yield
    except FileFormatError:
        raise
    except Exception as error:  # a damaged archive can fail in a dozen ways, all of which mean this
        raise FileFormatError(
            f"{path} cannot be read as a saved curplus result: it is damaged, truncated or was not written by "
            f"curplus ({type(error).__name__}: {error}). Restore it from a copy or compute it again."
        ) from error


def _inventory(arrays: Mapping[str, Any]) -> Inventory:
    """Type and shape of each array, as JSON gives them back."""
    return {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}


def _check_can_be_saved(arrays: Mapping[str, NDArray[Any]], header: str) -> None:
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InvalidArgumentError(
                f"{name} holds Python objects, which cannot be saved without pickle. Give numbers or strings."
            )
    if len(header) > LONGEST_HEADER:
        raise InvalidArgumentError(
            f"what is to be saved besides arrays takes {len(header)} characters, and a file has room for "
            f"{LONGEST_HEADER}. Save long lists as arrays."
        )


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The parts of an archive by name; a file that was saved holds arrays only, each once."""
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    if len(set(names)) < len(names) or not all(member.filename.endswith(".npy") for member in members):
        raise ValueError("its parts are not arrays of different names")
    return dict(zip(names, members, strict=True))


def _read_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
    kind, shape = _announced(archive, member)
    if kind.kind != "U" or shape != () or kind.itemsize > LONGEST_HEADER * np.dtype("U1").itemsize:
        raise ValueError(f"its header is {kind} of shape {shape}, not one text of at most {LONGEST_HEADER} characters")
    return dict(json.loads(_read_array(archive, member).item()))


def _check_parts(
    archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], inventory: Inventory, *, size: int
) -> None:
    """Compare the parts with the inventory of the header and with the size of the file, before any of them is read."""
    announced = {name: _announced(archive, member) for name, member in members.items()}
    if inventory != {name: [kind.str, list(shape)] for name, (kind, shape) in announced.items()}:
        raise ValueError("its parts are not those that were saved")
    if sum(member.file_size for member in members.values()) > size:
        raise ValueError("its parts are larger than the file")


def _announced(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Type and shape of a part by its first bytes, if they agree with its size."""
    if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size or member.flag_bits & 1:
        raise ValueError(f"its part {member.filename} is compressed or encrypted, which saved files are not")
    with archive.open(member) as stream:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError(f"its part {member.filename} is not an array of numbers or text")
        shape, _, kind = npy.read_array_header_1_0(stream)
        start = stream.tell()
    if member.file_size != start + math.prod(shape) * kind.itemsize:
        raise ValueError(f"its part {member.filename} has {member.file_size} bytes, too few or too many for its shape")
    return kind, shape


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
        stream.read()  # nothing is left to read: at the end, the checksum is compared
    return array
