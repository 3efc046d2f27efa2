"""``curplus reproduce``: the paper's figures and tables, with progress, as files in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..factorization import Fact
from ..paper import EXPERIMENTS, SCALES
from ..paper import reproduce as make
from . import show
from .options import Json, Seed

__all__ = ["reproduce"]

NAMES = f"{', '.join(EXPERIMENTS)}, or all."


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help=NAMES)] = None,
    scale: Annotated[str, typer.Option(help="quick: in small, needs no data. paper: the paper's grid.")] = SCALES[0],
    out: Annotated[Path | None, typer.Option(help="Folder for the results; reproduced-SCALE if left out.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder that has the data sets.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Make figures and tables of the paper; go on where an interrupted run stopped."""
    folder = out or Path(f"reproduced-{scale}")
    console = show.console(stderr=True)
    files: list[str] = []

    def remark(text: str) -> None:
        console.print(text, soft_wrap=True)

    def written(path: Path) -> None:
        files.append(str(path))
        if not json:
            show.line(str(path))

    with show.interruptible("finished"), _counting(console) as progress:
        make(
            names or [],
            folder,
            scale=scale,
            data_home=data,
            jobs=jobs,
            seed=seed,
            remark=remark,
            progress=progress,
            written=written,
        )
    if json:
        show.result([Fact("folder", str(folder)), Fact("files", files)], as_json=True)


@contextmanager
def _counting(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A function that shows how many cells are done: bars in a terminal, elsewhere a line for every twentieth."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("cells"))
    times = TimeElapsedColumn(), TimeRemainingColumn()
    tasks = {}
    with Progress(*columns, *times, console=console, disable=not console.is_terminal) as bars:

        def progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done)
            if not console.is_terminal and done * 20 // total > (done - 1) * 20 // total:
                console.print(f"{name}: {done} of {total} cells")

        yield progress
