"""All singular values of the matrices of Experiment II: Figure 2, and what every error is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..datasets.folders import DataHome
from ..evaluation.metrics import Spectrum
from . import matrices
from .sweep import Cell
from .tables import Rows, unique, where

__all__ = ["Spectra", "resolved_rank", "spectrum_of_each"]


@dataclass(frozen=True)
class Spectra:
    """Which matrices."""

    matrices: tuple[str, ...]

    name: ClassVar[str] = "spectra"

    def cells(self) -> list[Cell]:
        """One for each matrix."""
        return [(name,) for name in self.matrices]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """A row for each singular value."""
        (name,) = cell
        target = matrices.load(name, data_home)
        values = target.singular_values(min(target.shape))
        return [{"data": name, "k": k, "singular_value": float(value)} for k, value in enumerate(values, 1)]


def spectrum_of_each(rows: Rows) -> dict[str, Spectrum]:
    """The singular values of each matrix, from the rows of :class:`Spectra`."""
    return {
        name: Spectrum(np.array([row["singular_value"] for row in where(rows, data=name)]))
        for name in unique(rows, "data")
    }


def resolved_rank(spectrum: Spectrum) -> int:
    """How many singular values are more than the rounding error of a Gram matrix."""
    values = spectrum.values
    floor = math.sqrt(len(values) * np.finfo(float).eps) * values[0]
    return int(np.count_nonzero(values > floor))
