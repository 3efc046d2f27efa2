"""Where the files of a data set are looked for before anything is downloaded."""

from __future__ import annotations

import os
from importlib.resources import files
from os import PathLike
from pathlib import Path

from ..exceptions import InvalidArgumentError, MissingExtraError
from .cards import Card, PublishedFile
from .download import cache_folder
from .files import DataFile

__all__ = ["VARIABLE", "DataHome", "find_compact", "find_published", "folders", "locate"]

VARIABLE = "CURPLUS_DATA"
SHIPPED = Path(str(files(__package__))) / "shipped"  # what comes with the package
DataHome = str | PathLike[str] | None


def folders(data_home: DataHome) -> list[Path]:
    """Folders to look in: ``data_home`` if given, else the one CURPLUS_DATA names, then the cache of downloads."""
    if data_home is not None:
        return [_given(data_home)]
    named = os.environ.get(VARIABLE)
    local = [_named(Path(named).expanduser())] if named else []
    try:
        return [*local, cache_folder()]
    except MissingExtraError:
        return local


def locate(card: Card, *, data_home: DataHome = None) -> tuple[Path, ...]:
    """The files that a data set would be loaded from, if all of them are at hand.

    Parameters
    ----------
    card : Card
        The card of the data set, a value of :data:`curplus.datasets.CARDS`.
    data_home : path, optional
        As for the loader of that data set.

    Returns
    -------
    tuple of pathlib.Path
        Empty if something would have to be downloaded.
    """
    where = folders(data_home)
    compact = find_compact(card, where)
    found = [compact] if compact else [find_published(file, where) for file in card.files]
    return tuple(dict.fromkeys(file.path for file in found if file)) if all(found) else ()


def find_compact(card: Card, where: list[Path]) -> DataFile | None:
    """The compact file of a data set, if one of the folders has it, or the package itself."""
    candidates = (folder / card.compact for folder in [*where, *([SHIPPED] if card.is_shipped else [])])
    return next((DataFile(path) for path in candidates if path.is_file()), None)


def find_published(file: PublishedFile, where: list[Path]) -> DataFile | None:
    """A published file, if one of the folders has it: unpacked, packed, or in the archive it comes in."""
    for folder in where:
        for name in _names(file):
            if (folder / name).is_file():
                return DataFile(folder / name)
        archive = folder / file.download_name
        if file.is_archived and archive.is_file():
            return DataFile(archive, file.name)
    return None


def _names(file: PublishedFile) -> list[str]:
    plain = file.name.removesuffix(".gz")
    base = plain.rpartition("/")[2]
    return [name for stem in dict.fromkeys([plain, base]) for name in (stem, f"{stem}.gz")]


def _given(data_home: str | PathLike[str]) -> Path:
    folder = Path(data_home).expanduser()
    if folder.exists() and not folder.is_dir():
        raise InvalidArgumentError(f"data_home={str(folder)!r} is a file. Name the folder that holds the files.")
    return folder


def _named(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidArgumentError(
            f"{VARIABLE}={folder} is not a folder. Let it name the folder that holds the files, or unset it."
        )
    return folder
