"""KOS blog entries: a small collection of texts, handy where Enron is too large."""

from __future__ import annotations

from .cards import Card, PublishedFile
from .dataset import Dataset
from .folders import DataHome
from .formats.bag_of_words import read_bag_of_words
from .loading import load_matrix

__all__ = ["load_kos"]

CARD = Card(
    name="kos",
    title="KOS blog entries",
    origin="Entries of the Daily Kos blog as bags of words, without stop words and rare words; by David Newman, UCI.",
    rows="words",
    columns="documents",
    values="how often the word occurs in the document",
    shape=(6_906, 3_430),
    nnz=353_160,
    total=467_714,
    licence="CC BY 4.0",
    citation="D. Newman. Bag of Words. UCI Machine Learning Repository, 2008.",
    published="https://archive.ics.uci.edu/dataset/164/bag+of+words",
    files=(
        PublishedFile(
            "docword.kos.txt.gz",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/bag-of-words/docword.kos.txt.gz",
            n_rows=3_430,
        ),
    ),
    compact="kos.npz",
)


def load_kos(*, data_home: DataHome = None) -> Dataset:
    """KOS blog entries, 6,906 words x 3,430 documents.

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
    The published file lists documents; the matrix is turned so that it has more rows than columns, as in the paper.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["kos"].shape
    (6906, 3430)
    """
    return load_matrix(CARD, read_bag_of_words, data_home)
