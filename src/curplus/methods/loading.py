"""Reading back what was saved, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from .._files import SavedFile, damage_reported, read_file
from ..exceptions import FileFormatError
from ..factorization.factorization import Factorization
from ..observation.observation import Observation

__all__ = ["load"]

READERS: dict[str, Callable[[SavedFile], Factorization | Observation]] = {
    "factorization": Factorization._from_saved,
    "observation": Observation._from_saved,
}


def load(path: str | PathLike[str]) -> Factorization | Observation:
    """Read a saved :class:`Factorization` or :class:`Observation`.

    Parameters
    ----------
    path : str or path
        A file that ``save`` wrote.

    Raises
    ------
    FileFormatError
        If the file is damaged, truncated or was not written by curplus.
    """
    saved = read_file(path)
    if saved.kind not in READERS:
        raise FileFormatError(f"{path} holds a {saved.kind!r}, which this version of curplus does not know.")
    with damage_reported(path):
        return READERS[saved.kind](saved)
