"""Reading back what was saved, whatever it is."""

from __future__ import annotations

from os import PathLike

from .._files import file_kind
from ..exceptions import FileFormatError
from ..factorization.factorization import Factorization
from ..observation.observation import Observation

__all__ = ["load"]


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
    kind = file_kind(path)
    if kind == "factorization":
        return Factorization.load(path)
    if kind == "observation":
        return Observation.load(path)
    raise FileFormatError(f"{path} holds a {kind!r}, which this version of curplus does not know.")
