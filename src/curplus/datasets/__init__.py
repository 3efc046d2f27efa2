"""Real and synthetic matrices to try things on: one table of cards, and one parser for each format.

``load`` looks for the files of a data set in ``data_home``, in the folder that the environment variable CURPLUS_DATA
names, and in the cache of downloads; only then does it download them. What it returns is checked against the card.
"""

from .cards import Card, PublishedFile
from .catalogue import CARDS
from .dataset import Dataset, Ratings
from .folders import locate
from .loading import load
from .synthetic import make_low_rank, make_spectrum

__all__ = [
    "CARDS",
    "Card",
    "Dataset",
    "PublishedFile",
    "Ratings",
    "load",
    "locate",
    "make_low_rank",
    "make_spectrum",
]
