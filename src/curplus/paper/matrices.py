"""The matrices of Experiment II: the paper's four data sets, or what stands in for them, and two made on the spot."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .. import datasets
from ..datasets.folders import DataHome
from ..evaluation.metrics import ReferenceMatrix
from ..exceptions import InvalidArgumentError

__all__ = ["PAPER", "SYNTHETIC", "label", "load", "paper_matrices"]

#: The paper's data sets, each with what stands in for it where it is not at hand.
PAPER = {"enron": "tdt2", "dexter": None, "farm_ads": None, "gisette": "mnist_test"}

#: Made by :func:`curplus.datasets.make_spectrum`: how fast singular values fall, and how coherent they are.
SYNTHETIC = {"power_law": (1.0, None), "coherent": (1.0, 0.5)}

LABELS = {
    "enron": "Enron",
    "dexter": "Dexter",
    "farm_ads": "Farm Ads",
    "gisette": "Gisette",
    "tdt2": "TDT2 (for Enron)",
    "mnist_test": "MNIST test (for Gisette)",
    "power_law": "power law (synthetic)",
    "coherent": "coherent (synthetic)",
}


class Sought(NamedTuple):
    """Which data sets will be used, and what to tell the user about it."""

    names: tuple[str, ...]
    remarks: tuple[str, ...]


def paper_matrices(data_home: DataHome = None) -> Sought:
    """The paper's data sets; one that is not at hand is replaced by its stand-in if that is, else downloaded."""
    names, remarks = [], []
    for name, stand_in in PAPER.items():
        here = datasets.locate(datasets.CARDS[name], data_home=data_home)
        if not here and stand_in and datasets.locate(datasets.CARDS[stand_in], data_home=data_home):
            remarks.append(f"{LABELS[name]} is not at hand: {datasets.CARDS[stand_in].title} stands in for it.")
            names.append(stand_in)
        else:
            names.append(name)
    return Sought(tuple(names), tuple(remarks))


def label(name: str) -> str:
    """How a matrix is called in pictures."""
    return LABELS.get(name, name)


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
