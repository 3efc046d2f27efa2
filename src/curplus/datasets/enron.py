"""Enron emails, the largest matrix of the paper: how often a word occurs in a message."""

from __future__ import annotations

from .cards import Card, PublishedFile
from .dataset import Dataset
from .folders import DataHome
from .formats.bag_of_words import read_bag_of_words
from .loading import load_matrix

__all__ = ["load_enron"]

CARD = Card(
    name="enron",
    title="Enron emails",
    origin="Messages of the Enron corpus as bags of words, without stop words and rare words; by David Newman, UCI.",
    rows="documents",
    columns="words",
    values="how often the word occurs in the document",
    shape=(39_861, 28_102),
    nnz=3_710_420,
    licence="CC BY 4.0",
    citation="D. Newman. Bag of Words. UCI Machine Learning Repository, 2008.",
    published="https://archive.ics.uci.edu/dataset/164/bag+of+words",
    files=(
        PublishedFile(
            "docword.enron.txt.gz",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/bag-of-words/docword.enron.txt.gz",
            n_rows=39_861,
        ),
    ),
    compact="enron.npz",
)


def load_enron(*, data_home: DataHome = None) -> Dataset:
    """Enron emails, 39,861 documents x 28,102 words.

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
    One of the paper's four matrices (Section 4.2). About 12 MB to download.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["enron"].shape
    (39861, 28102)
    """
    return load_matrix(CARD, read_bag_of_words, data_home)
