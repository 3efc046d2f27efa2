"""Gisette, the densest matrix of the paper: handwritten fours and nines."""

from __future__ import annotations

from typing import Any

from .cards import Card, PublishedFile
from .dataset import Dataset
from .files import DataFile
from .folders import DataHome
from .formats.nips2003 import read_dense_rows
from .loading import load_matrix

__all__ = ["load_gisette"]

URL = "https://archive.ics.uci.edu/static/public/170/gisette.zip"

CARD = Card(
    name="gisette",
    title="Gisette",
    origin="Digits 4 and 9 of MNIST for the NIPS 2003 feature selection challenge: pixels, products of pixels, probes.",
    rows="images",
    columns="features",
    values="whole numbers, 0 to 999",
    shape=(13_500, 5_000),
    nnz=None,
    total=7_131_157_186,
    licence="CC BY 4.0",
    citation=(
        "I. Guyon, S. Gunn, A. Ben-Hur and G. Dror. Result analysis of the NIPS 2003 feature selection challenge. "
        "Advances in Neural Information Processing Systems 17, 2005."
    ),
    published="https://archive.ics.uci.edu/dataset/170/gisette",
    files=(
        PublishedFile("GISETTE/gisette_train.data", URL, n_rows=6_000, total=3_164_568_508),
        PublishedFile("GISETTE/gisette_valid.data", URL, n_rows=1_000, total=535_016_668),
        PublishedFile("GISETTE/gisette_test.data", URL, n_rows=6_500, total=3_431_572_010),
    ),
    compact="gisette.npz",
    notes="Rows are the 6,000 training, 1,000 validation and 6,500 test images, in this order.",
)


def load_gisette(*, data_home: DataHome = None) -> Dataset:
    """Gisette, 13,500 images x 5,000 features.

    Parameters
    ----------
    data_home : path, optional
        Folder that has the files, and that downloads go to. Left out, the folder that the environment variable
        CURPLUS_DATA names is looked at first, then the cache of downloads.

    Returns
    -------
    Dataset

    Raises
    ------
    SourceError
        If the files are not at hand and cannot be downloaded, or are damaged.

    Notes
    -----
    One of the paper's four matrices (Section 4.2). Each part is compared with the check-sum of the challenge. Most
    features are zero, so the matrix is kept sparse.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["gisette"].shape
    (13500, 5000)
    """
    return load_matrix(CARD, _read, data_home)


def _read(file: DataFile) -> Any:
    return read_dense_rows(file, n_features=CARD.shape[1])
