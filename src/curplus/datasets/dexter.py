"""Dexter, the smallest matrix of the paper: terms of news articles, with many made-up terms among them."""

from __future__ import annotations

from typing import Any

from .cards import Card, PublishedFile
from .dataset import Dataset
from .files import DataFile
from .folders import DataHome
from .formats.nips2003 import read_sparse_rows
from .loading import load_matrix

__all__ = ["load_dexter"]

URL = "https://archive.ics.uci.edu/static/public/168/dexter.zip"

CARD = Card(
    name="dexter",
    title="Dexter",
    origin="Reuters articles for the NIPS 2003 feature selection challenge, about half of the terms made up.",
    rows="terms",
    columns="documents",
    values="scaled frequency of the term in the document, 1 to 999",
    shape=(20_000, 2_600),
    nnz=248_616,
    total=24_764_775,
    licence="CC BY 4.0",
    citation=(
        "I. Guyon, S. Gunn, A. Ben-Hur and G. Dror. Result analysis of the NIPS 2003 feature selection challenge. "
        "Advances in Neural Information Processing Systems 17, 2005."
    ),
    published="https://archive.ics.uci.edu/dataset/168/dexter",
    files=(
        PublishedFile("DEXTER/dexter_train.data", URL, n_rows=300, total=2_816_528),
        PublishedFile("DEXTER/dexter_valid.data", URL, n_rows=300, total=2_820_952),
        PublishedFile("DEXTER/dexter_test.data", URL, n_rows=2_000, total=19_127_295),
    ),
    compact="dexter.npz",
    notes="Columns are the 300 training, 300 validation and 2,000 test documents, in this order.",
)


def load_dexter(*, data_home: DataHome = None) -> Dataset:
    """Dexter, 20,000 terms x 2,600 documents.

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
    One of the paper's four matrices (Section 4.2). Each part is compared with the check-sum of the challenge.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["dexter"].shape
    (20000, 2600)
    """
    return load_matrix(CARD, _read, data_home)


def _read(file: DataFile) -> Any:
    return read_sparse_rows(file, n_features=CARD.shape[0])
