"""The identity of a sample: where it was read, and some of its values."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from .._arrays import gather, to_numpy
from .._typing import IndexVector, Vector
from .readings import Readings

__all__ = ["Fingerprint", "fingerprint"]

PROBES = 1024  # values of the columns and rows that are hashed; a whole part may lie on another device


class Fingerprint(NamedTuple):
    """Digests of the parts of a sample, such that those of the transposed sample are the same in another order."""

    columns: str
    rows: str
    i: str
    j: str
    values: str

    @property
    def T(self) -> Fingerprint:
        """The fingerprint of the transposed sample."""
        return Fingerprint(self.rows, self.columns, self.j, self.i, self.values)


def fingerprint(readings: Readings) -> Fingerprint:
    """All positions and entries, with their weights and chances, and some values of the columns and rows."""
    o = readings
    n, m = o.shape
    column, down = _spread(o.n_columns), _spread(n, o.n_columns)
    row, along = _spread(o.n_rows), _spread(m, o.n_rows)
    more = [x for x in (o.probabilities, o.weights) if x is not None]
    bounds = [np.sort(x) for x in (o.bounds.i, o.bounds.j, o.bounds.value, o.bounds.side)]  # alike when transposed
    return Fingerprint(
        _digest(n, o.column_index, to_numpy(gather(o.columns, down, column))),
        _digest(m, o.row_index, to_numpy(gather(o.rows, row, along))),
        _digest(n, o.i, bounds[0]),
        _digest(m, o.j, bounds[1]),
        _digest(o.n_entries, to_numpy(o.values), *more, *bounds[2:]),
    )


def _spread(size: int, count: int = 1) -> IndexVector:
    """Positions in ``range(size)``, evenly spread; none if there is nothing to look at."""
    return np.linspace(0, size - 1, PROBES if size and count else 0).astype(np.int64)


def _digest(size: int, *arrays: Vector) -> str:
    digest = hashlib.blake2b(str(size).encode(), digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(_one_nan(array)).tobytes())
    return digest.hexdigest()


def _one_nan(x: Vector) -> Vector:
    """A gap is a gap, whatever its bits."""
    return np.where(np.isnan(x), x.dtype.type(np.nan), x) if x.dtype.kind == "f" else x
