"""MovieLens 100k: ratings of movies, most of them never given."""

from __future__ import annotations

from pathlib import Path

from .cards import Card, PublishedFile
from .dataset import Ratings
from .files import DataFile
from .folders import DataHome
from .formats.compact import read_compact_ratings
from .formats.movielens import Triplets, read_movielens
from .loading import obtain

__all__ = ["load_movielens_100k"]

CARD = Card(
    name="movielens_100k",
    title="MovieLens 100k",
    origin="Ratings that visitors of movielens.org gave from September 1997 to April 1998; by GroupLens, Minnesota.",
    rows="users",
    columns="movies",
    values="the rating, 1 to 5; what is not listed is unknown",
    shape=(943, 1_682),
    nnz=100_000,
    total=352_986,
    licence="for research only; may not be passed on without permission of GroupLens",
    citation=(
        "F. M. Harper and J. A. Konstan. The MovieLens datasets: history and context. ACM Transactions on Interactive "
        "Intelligent Systems 5(4), article 19, 2015."
    ),
    published="https://grouplens.org/datasets/movielens/100k/",
    files=(
        PublishedFile(
            "ml-100k/u.data",
            "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
            "sha256:50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        ),
    ),
    compact="movielens_100k.npz",
    notes="Users are rows, as published, although there are fewer of them than movies.",
)


def load_movielens_100k(*, data_home: DataHome = None) -> Ratings:
    """MovieLens 100k, 100,000 ratings of 1,682 movies by 943 users.

    Parameters
    ----------
    data_home : path, optional
        Folder that has the files, and that downloads go to. Left out, the folder that the environment variable
        CURPLUS_DATA names is looked at first, then the cache of downloads.

    Returns
    -------
    Ratings

    Raises
    ------
    SourceError
        If the files are not at hand and cannot be downloaded, or are damaged.

    Notes
    -----
    A movie without a rating is one that was not rated, not one that was rated zero. So there is no matrix here:
    :meth:`Ratings.observation <curplus.datasets.Ratings.observation>` has the entries that are known.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["movielens_100k"].shape
    (943, 1682)
    """
    return Ratings(*obtain(CARD, data_home, compact=_compact, published=_published), CARD)


def _compact(path: Path) -> Triplets:
    return _complete(read_compact_ratings(path, CARD.shape), DataFile(path))


def _published(files: list[DataFile]) -> Triplets:
    return _complete(read_movielens(files[0], CARD.shape), files[0])


def _complete(ratings: Triplets, file: DataFile) -> Triplets:
    n_ratings, total = len(ratings.values), float(ratings.values.sum())
    if (n_ratings, total) != (CARD.nnz, CARD.total):
        raise file.broken(
            f"{n_ratings} ratings of sum {total:.0f}, but {CARD.title} has {CARD.nnz} of sum {CARD.total}"
        )
    return ratings
