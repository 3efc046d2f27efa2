"""Farm Ads, a matrix of the paper: which words occur in an advertisement and the page it leads to."""

from __future__ import annotations

from typing import Any

from .cards import Card, PublishedFile
from .dataset import Dataset
from .files import DataFile
from .folders import DataHome
from .formats.libsvm import read_libsvm
from .loading import load_matrix

__all__ = ["load_farm_ads"]

CARD = Card(
    name="farm_ads",
    title="Farm Ads",
    origin="Text ads from twelve web sites about farm animals, with the pages they lead to; by Mesterharm and Pazzani.",
    rows="terms",
    columns="ads",
    values="1 where the term occurs in the ad",
    shape=(54_877, 4_143),
    nnz=817_141,
    total=817_141,
    licence="CC BY 4.0",
    citation="C. Mesterharm and M. J. Pazzani. Active learning using on-line algorithms. KDD 2011, pages 850-858.",
    published="https://archive.ics.uci.edu/dataset/218/farm+ads",
    files=(PublishedFile("farm-ads-vect", "https://archive.ics.uci.edu/static/public/218/farm+ads.zip", n_rows=4_143),),
    compact="farm_ads.npz",
)


def load_farm_ads(*, data_home: DataHome = None) -> Dataset:
    """Farm Ads, 54,877 terms x 4,143 ads.

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
    One of the paper's four matrices (Section 4.2). The labels of the ads are left out.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["farm_ads"].shape
    (54877, 4143)
    """
    return load_matrix(CARD, _read, data_home)


def _read(file: DataFile) -> Any:
    return read_libsvm(file, n_features=CARD.shape[0])
