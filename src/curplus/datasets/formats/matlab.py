"""A sparse matrix among the variables of a MATLAB file, as Deng Cai publishes text collections."""

from __future__ import annotations

import warnings
from typing import Any

import scipy.sparse

from ..files import DataFile

__all__ = ["read_matlab"]


def read_matlab(file: DataFile, variable: str) -> Any:
    """The matrix called ``variable``, as a CSR array."""
    from scipy.io import loadmat

    with file.opened() as stream:
        try:
            with warnings.catch_warnings():  # newer SciPy announces another type of sparse result; both are taken
                warnings.simplefilter("ignore", DeprecationWarning)
                found = loadmat(stream, variable_names=[variable])
        except Exception as error:  # the reader runs into damage in many ways, none of them documented
            raise file.broken(f"it cannot be read as a MATLAB file ({error})") from error
    if variable not in found:
        raise file.broken(f"it has no variable {variable!r}")
    return scipy.sparse.csr_array(found[variable])
