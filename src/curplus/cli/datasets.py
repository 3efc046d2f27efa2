"""``curplus datasets``: which data sets there are, what they are, and fetching them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import datasets
from ..datasets.cards import Card
from ..datasets.catalogue import find_card
from ..factorization import Fact
from .options import verb

__all__ = ["fetch", "info", "list_all"]

Name = Annotated[str, typer.Argument(help="A name that 'curplus datasets list' shows.")]
Folder = Annotated[Path | None, typer.Option(help="Where the files are, and where downloads go.")]


@verb
def list_all(data_home: Folder = None) -> list[Fact]:
    """List the data sets, and say which are at hand."""
    found = [
        {
            "name": card.name,
            "what": f"{card.rows} x {card.columns}",
            "shape": f"{card.shape[0]:,} x {card.shape[1]:,}",
            "non-zero": card.nnz,
            "licence": card.licence.partition(";")[0],
            "at hand": "yes" if _at_hand(card, data_home) else "no",
        }
        for card in datasets.CARDS.values()
    ]
    return [Fact("datasets", found)]


@verb
def info(name: Name, data_home: Folder = None) -> list[Fact]:
    """Show the card of a data set: origin, licence, citation and size."""
    card = find_card(name)
    known = [Fact(name, value) for name, value in card.facts.items() if name != "shape"]
    missing = "" if _at_hand(card, data_home) else "no; 'curplus datasets fetch' gets it if it can"
    here = Fact("at_hand", _at_hand(card, data_home) or None, reason=missing)
    return [Fact("title", card.title), Fact("shape", card.shape), *known, here]


@verb
def fetch(name: Name, data_home: Folder = None) -> list[Fact]:
    """Download a data set unless it is at hand, and check that it is complete."""
    data = datasets.load(name, data_home=data_home)
    known = [Fact("title", repr(data)[1:-1]), Fact("shape", data.card.shape)]
    return [*known, Fact("files", _at_hand(data.card, data_home)), Fact("licence", data.card.licence)]


def _at_hand(card: Card, data_home: Path | None) -> list[str]:
    return [str(path) for path in datasets.locate(card, data_home=data_home)]
