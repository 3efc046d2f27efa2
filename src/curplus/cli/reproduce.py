"""``curplus reproduce``: the paper's figures and tables, with progress, as files in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..factorization import Fact
from ..paper import EXPERIMENTS, SCALES
from ..paper import reproduce as make
from . import show
from .options import Json, Seed, verb

__all__ = ["reproduce"]

NAMES = f"{', '.join(EXPERIMENTS)}, or all."


@verb
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help=NAMES)] = None,
    scale: Annotated[str, typer.Option(help="quick: in small, needs no data. paper: the paper's grid.")] = SCALES[0],
    out: Annotated[Path | None, typer.Option(help="Folder for the results; reproduced-SCALE if left out.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder that has the data sets.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    seed: Seed = 0,
    json: Json = False,
) -> list[Fact]:
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

    with show.interruptible("finished"), show.working("measuring") as tell:
        make(
            names or [],
            folder,
            scale=scale,
            data_home=data,
            jobs=jobs,
            seed=seed,
            remark=remark,
            progress=lambda name, done, total: tell(done, total),
            written=written,
        )
    return [Fact("folder", str(folder)), Fact("files", files)] if json else []
