"""The matrices of Experiment II: the paper's four data sets, or what stands in for them, and two made on the spot."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np

from .. import datasets
from ..datasets.folders import DataHome
from ..evaluation.metrics import ReferenceMatrix
from ..exceptions import InvalidArgumentError

__all__ = ["PAPER_MATRICES", "STAND_INS", "SYNTHETIC", "label", "load", "make_available", "paper_matrices", "remarks"]

#: The paper's data sets.
PAPER_MATRICES = ("enron", "dexter", "farm_ads", "gisette")

#: What stands in for a data set that is not at hand.
STAND_INS = {"enron": "tdt2", "gisette": "mnist_test"}

#: Made by :func:`curplus.datasets.make_spectrum`: how fast singular values fall, and how coherent they are.
SYNTHETIC = {"power_law": (1.0, None), "coherent": (1.0, 0.5)}

MATRIX_LABELS = {
    "enron": "Enron",
    "dexter": "Dexter",
    "farm_ads": "Farm Ads",
    "gisette": "Gisette",
    "tdt2": "TDT2 (for Enron)",
    "mnist_test": "MNIST test (for Gisette)",
    "power_law": "power law (synthetic)",
    "coherent": "coherent (synthetic)",
}


def paper_matrices(data_home: DataHome = None) -> tuple[str, ...]:
    """Names of the paper's data sets; one that is not at hand is replaced by its stand-in if that is."""
    stands_in = {
        name: other for name, other in STAND_INS.items() if _at_hand(other, data_home) and not _at_hand(name, data_home)
    }
    return tuple(stands_in.get(name, name) for name in PAPER_MATRICES)


def remarks(names: Collection[str]) -> list[str]:
    """A sentence for each of the matrices ``names`` that stands in for another."""
    return [
        f"{MATRIX_LABELS[name]} is not at hand. Its place is taken by {datasets.CARDS[other].title}."
        for name, other in STAND_INS.items()
        if other in names
    ]


def make_available(name: str, data_home: DataHome = None) -> None:
    """Download a matrix whose files are not at hand; others are not loaded, so that this takes no time.

    A file that is at hand but damaged is met by the first cell that loads it: the singular values come first.

    Raises
    ------
    SourceError
        If it cannot be downloaded.
    """
    if name not in SYNTHETIC and not _at_hand(name, data_home):
        load(name, data_home)


def _at_hand(name: str, data_home: DataHome) -> bool:
    return name in datasets.CARDS and bool(datasets.locate(datasets.CARDS[name], data_home=data_home))


def label(name: str) -> str:
    """How a matrix is called in pictures."""
    return MATRIX_LABELS.get(name, name)


def load(name: str, data_home: DataHome = None) -> ReferenceMatrix:
    """A matrix by its name, with at least as many rows as columns; the last one is kept."""
    return _load(name, None if data_home is None else str(data_home))


@lru_cache(maxsize=1)
def _load(name: str, data_home: str | None) -> ReferenceMatrix:
    if name in SYNTHETIC:
        decay, coherence = SYNTHETIC[name]
        spectrum = np.arange(1, 301, dtype=float) ** -decay
        return ReferenceMatrix(datasets.make_spectrum((600, 300), spectrum, coherence=coherence, rng=0).to_array())
    data = datasets.load(name, data_home=data_home)
    if isinstance(data, datasets.Ratings):
        raise InvalidArgumentError(f"{name} is only known in part, and errors cannot be measured. Choose another.")
    matrix: Any = data.matrix
    return ReferenceMatrix(matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T)
