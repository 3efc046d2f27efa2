"""Real and synthetic matrices to try things on: one file and one card each.

A loader looks for the files of a data set in ``data_home``, in the folder that the environment variable CURPLUS_DATA
names, and in the cache of downloads; only then does it download them. What it returns is checked against the card.
"""

from .cards import Card, PublishedFile
from .dataset import Dataset, Ratings
from .dexter import load_dexter
from .enron import load_enron
from .farm_ads import load_farm_ads
from .folders import locate
from .gisette import load_gisette
from .kos import load_kos
from .mnist_test import load_mnist_test
from .movielens_100k import load_movielens_100k
from .photograph import sample_photograph
from .registry import CARDS, load
from .synthetic import make_low_rank, make_spectrum
from .tdt2 import load_tdt2

__all__ = [
    "CARDS",
    "Card",
    "Dataset",
    "PublishedFile",
    "Ratings",
    "load",
    "load_dexter",
    "load_enron",
    "load_farm_ads",
    "load_gisette",
    "load_kos",
    "load_mnist_test",
    "load_movielens_100k",
    "load_tdt2",
    "locate",
    "make_low_rank",
    "make_spectrum",
    "sample_photograph",
]
