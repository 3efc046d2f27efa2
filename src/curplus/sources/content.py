"""Which kind of file it is, by its first bytes: an ending may be missing, or wrong."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ..exceptions import MissingExtraError, SourceError

__all__ = ["damage_told", "ending_of", "kind_by_content"]

#: First bytes of a file, and the endings that it may have.
FIRST_BYTES = (
    (b"\x93NUMPY", (".npy",)),
    (b"\x89HDF\r\n\x1a\n", (".h5", ".hdf5", ".h5ad")),
    (b"PAR1", (".parquet",)),
    (b"ARROW1", (".feather", ".arrow")),
)
ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")


def ending_of(path: Path) -> str:
    """The ending of a name in small letters; of a packed file, the one before .gz."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def kind_by_content(path: Path, ending: str) -> str:
    """The ending that a file should have; the one that it has, if that can be or if the content does not show it."""
    if path.is_dir():
        return ".zarr" if any((path / name).exists() for name in ZARR_FILES) else ending
    if not path.is_file():
        return ending
    try:
        with path.open("rb") as stream:
            first = stream.read(8)
    except OSError:  # whoever reads it next will say why
        return ending
    for start, endings in FIRST_BYTES:
        if first.startswith(start):
            return ending if ending in endings else endings[0]
    return ".npz" if first.startswith(b"PK\x03\x04") and _has_arrays(path) else ending


def _has_arrays(path: Path) -> bool:
    """Whether an archive is one of NumPy; tables of office programs are archives as well."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except Exception:  # a damaged archive can fail in many ways, and whoever reads it next will say how
        return False


@contextlib.contextmanager
def damage_told(path: Path, ending: str) -> Iterator[None]:
    """Whatever goes wrong while a file is read becomes an error that names the file."""
    try:
        yield
    except MissingExtraError:
        raise
    except SourceError as error:
        if str(path) in str(error):
            raise
        raise SourceError(f"{path} cannot be read as a {ending} file: {error}.") from error
    except Exception as error:  # a damaged file can fail in a dozen ways, all of which mean this
        raise SourceError(f"{path} cannot be read as a {ending} file: {error}") from error
