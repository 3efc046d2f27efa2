"""``curplus datasets``: which data sets there are, what they are, and fetching them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import datasets
from ..datasets.catalogue import find_card

app = typer.Typer(help="Real matrices to try things on.", no_args_is_help=True)
console = Console()

Name = Annotated[str, typer.Argument(help="A name that 'curplus datasets list' shows.")]
Folder = Annotated[Path | None, typer.Option(help="Where the files are, and where downloads go.")]


@app.command("list")
def list_all(data_home: Folder = None) -> None:
    """List the data sets, and say which are at hand."""
    table = Table("name", "what", "shape", "non-zero", "licence", "at hand")
    for card in datasets.CARDS.values():
        shape = f"{card.shape[0]:,} x {card.shape[1]:,}"
        nnz = "" if card.nnz is None else f"{card.nnz:,}"
        here = "yes" if datasets.locate(card, data_home=data_home) else "no"
        table.add_row(card.name, f"{card.rows} x {card.columns}", shape, nnz, card.licence.partition(";")[0], here)
    console.print(table)


@app.command()
def info(name: Name, data_home: Folder = None) -> None:
    """Show the card of a data set: origin, licence, citation and size."""
    card = find_card(name)
    at_hand = [str(path) for path in datasets.locate(card, data_home=data_home)]
    _print(card.title, card.facts | {"at hand": ", ".join(at_hand) or "no; 'curplus datasets fetch' gets it if it can"})


@app.command()
def fetch(name: Name, data_home: Folder = None) -> None:
    """Download a data set unless it is at hand, and check that it is complete."""
    data = datasets.load(name, data_home=data_home)
    paths = datasets.locate(data.card, data_home=data_home)
    _print(repr(data)[1:-1], {"files": ", ".join(map(str, paths)), "licence": data.card.licence})


def _print(title: str, facts: dict[str, str]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for heading, text in facts.items():
        table.add_row(f"[bold]{heading}[/]", escape(text))
    console.print(escape(title), style="bold", highlight=False)
    console.print(table, highlight=False)
