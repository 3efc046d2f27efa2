"""``curplus datasets``: which data sets there are, what they are, and fetching them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import datasets
from ..datasets.cards import Card
from ..datasets.catalogue import find_card
from ..factorization import Fact
from . import show
from .options import Json

__all__ = ["app"]

app = typer.Typer(help="Real matrices to try things on.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name that 'curplus datasets list' shows.")]
Folder = Annotated[Path | None, typer.Option(help="Where the files are, and where downloads go.")]


@app.command("list")
def list_all(data_home: Folder = None, json: Json = False) -> None:
    """List the data sets, and say which are at hand."""
    if json:
        found = [
            {**card.facts, "name": card.name, "shape": card.shape, "at hand": bool(_at_hand(card, data_home))}
            for card in datasets.CARDS.values()
        ]
        show.result([Fact("datasets", found)], as_json=True)
        return
    rows = []
    for card in datasets.CARDS.values():
        shape = f"{card.shape[0]:,} x {card.shape[1]:,}"
        nnz = "" if card.nnz is None else f"{card.nnz:,}"
        here = "yes" if _at_hand(card, data_home) else "no"
        rows.append([card.name, f"{card.rows} x {card.columns}", shape, nnz, card.licence.partition(";")[0], here])
    show.table(["name", "what", "shape", "non-zero", "licence", "at hand"], rows)


@app.command()
def info(name: Name, data_home: Folder = None, json: Json = False) -> None:
    """Show the card of a data set: origin, licence, citation and size."""
    card = find_card(name)
    known = [Fact(name, value) for name, value in card.facts.items() if name != "shape"]
    missing = "" if _at_hand(card, data_home) else "no; 'curplus datasets fetch' gets it if it can"
    here = Fact("at_hand", _at_hand(card, data_home) or None, reason=missing)
    show.result([Fact("shape", card.shape), *known, here], as_json=json, title=card.title)


@app.command()
def fetch(name: Name, data_home: Folder = None, json: Json = False) -> None:
    """Download a data set unless it is at hand, and check that it is complete."""
    data = datasets.load(name, data_home=data_home)
    known = [Fact("shape", data.card.shape), Fact("files", _at_hand(data.card, data_home))]
    show.result([*known, Fact("licence", data.card.licence)], as_json=json, title=repr(data)[1:-1])


def _at_hand(card: Card, data_home: Path | None) -> list[str]:
    return [str(path) for path in datasets.locate(card, data_home=data_home)]
