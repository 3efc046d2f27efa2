"""``curplus datasets``: which data sets there are, what they are, and fetching them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import datasets
from ..datasets.catalogue import find_card
from . import show

__all__ = ["app"]

app = typer.Typer(help="Real matrices to try things on.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name that 'curplus datasets list' shows.")]
Folder = Annotated[Path | None, typer.Option(help="Where the files are, and where downloads go.")]


@app.command("list")
def list_all(data_home: Folder = None) -> None:
    """List the data sets, and say which are at hand."""
    rows = []
    for card in datasets.CARDS.values():
        shape = f"{card.shape[0]:,} x {card.shape[1]:,}"
        nnz = "" if card.nnz is None else f"{card.nnz:,}"
        here = "yes" if datasets.locate(card, data_home=data_home) else "no"
        rows.append([card.name, f"{card.rows} x {card.columns}", shape, nnz, card.licence.partition(";")[0], here])
    show.table(["name", "what", "shape", "non-zero", "licence", "at hand"], rows)


@app.command()
def info(name: Name, data_home: Folder = None) -> None:
    """Show the card of a data set: origin, licence, citation and size."""
    card = find_card(name)
    at_hand = [str(path) for path in datasets.locate(card, data_home=data_home)]
    known = card.facts | {"at hand": ", ".join(at_hand) or "no; 'curplus datasets fetch' gets it if it can"}
    show.facts(known.items(), title=card.title)


@app.command()
def fetch(name: Name, data_home: Folder = None) -> None:
    """Download a data set unless it is at hand, and check that it is complete."""
    data = datasets.load(name, data_home=data_home)
    paths = datasets.locate(data.card, data_home=data_home)
    known = {"files": ", ".join(map(str, paths)), "licence": data.card.licence}
    show.facts(known.items(), title=repr(data)[1:-1])
