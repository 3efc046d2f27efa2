"""TDT2, news of 1998: a collection of texts of the kind and size of Enron."""

from __future__ import annotations

from typing import Any

from .cards import Card, PublishedFile
from .dataset import Dataset
from .files import DataFile
from .folders import DataHome
from .formats.matlab import read_matlab
from .loading import load_matrix

__all__ = ["load_tdt2"]

CARD = Card(
    name="tdt2",
    title="TDT2",
    origin="News of six agencies and stations, first half of 1998 (NIST); counts of words prepared by Deng Cai.",
    rows="terms",
    columns="documents",
    values="how often the term occurs in the document",
    shape=(36_771, 10_212),
    nnz=1_323_869,
    total=1_863_655,
    licence="none stated; for research only, do not pass it on",
    citation=(
        "C. Cieri, D. Graff, M. Liberman, N. Martey and S. Strassel. The TDT-2 text and speech corpus. DARPA Broadcast "
        "News Workshop, 1999; and D. Cai, Q. Mei, J. Han and C. Zhai. Modeling hidden topics on document manifold. "
        "CIKM 2008."
    ),
    published="http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html",
    files=(
        PublishedFile("TDT2_all.mat", "http://www.cad.zju.edu.cn/home/dengcai/Data/TDT2/TDT2_all.mat", n_rows=10_212),
    ),
    compact="tdt2.npz",
    notes="All 96 topics; TDT2.mat on the same page holds only the 30 largest.",
)


def load_tdt2(*, data_home: DataHome = None) -> Dataset:
    """TDT2, 36,771 terms x 10,212 documents.

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
    Stands in for Enron where that is not at hand. The published file lists documents; the matrix is turned so that it
    has more rows than columns, as in the paper.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["tdt2"].shape
    (36771, 10212)
    """
    return load_matrix(CARD, _read, data_home)


def _read(file: DataFile) -> Any:
    return read_matlab(file, variable="fea")
