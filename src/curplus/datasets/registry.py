"""All data sets by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from ..exceptions import InvalidArgumentError
from . import dexter, enron, farm_ads, gisette, kos, mnist_test, movielens_100k, tdt2
from .cards import Card
from .dataset import Dataset, Ratings
from .folders import DataHome

__all__ = ["CARDS", "check_name", "load"]


class Loader(Protocol):
    """What every loader looks like."""

    def __call__(self, *, data_home: DataHome = None) -> Dataset | Ratings: ...


LOADERS: Mapping[str, Loader] = {
    "enron": enron.load_enron,
    "dexter": dexter.load_dexter,
    "farm_ads": farm_ads.load_farm_ads,
    "gisette": gisette.load_gisette,
    "tdt2": tdt2.load_tdt2,
    "kos": kos.load_kos,
    "mnist_test": mnist_test.load_mnist_test,
    "movielens_100k": movielens_100k.load_movielens_100k,
}

#: The card of every data set, by name; the paper's four come first.
CARDS: Mapping[str, Card] = MappingProxyType(
    {
        module.CARD.name: module.CARD
        for module in (enron, dexter, farm_ads, gisette, tdt2, kos, mnist_test, movielens_100k)
    }
)


def load(name: str, *, data_home: DataHome = None) -> Dataset | Ratings:
    """A data set by its name.

    Parameters
    ----------
    name : str
        A key of :data:`CARDS`.
    data_home : path, optional
        As for the loader of that data set.

    Returns
    -------
    Dataset or Ratings
        What the loader ``load_<name>`` returns.

    Examples
    --------
    >>> from curplus import datasets
    >>> list(datasets.CARDS)
    ['enron', 'dexter', 'farm_ads', 'gisette', 'tdt2', 'kos', 'mnist_test', 'movielens_100k']
    """
    return LOADERS[check_name(name)](data_home=data_home)


def check_name(name: str) -> str:
    """The name of a data set that there is."""
    if name not in CARDS:
        raise InvalidArgumentError(f"there is no data set called {name!r}. Choose one of {', '.join(CARDS)}.")
    return name
