"""``curplus demo``: a photograph from a tenth of its pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..evaluation import metrics
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..methods import approximate, cur_full, cur_plus
from ..observation import SampleCounts, observe
from . import show
from .options import Json, Seed, check_writable, counts
from .results import answer_facts, read_facts, share, true_errors

__all__ = ["demo"]

A_TENTH = SampleCounts(n_columns=25, n_rows=25, n_entries=4000)  # of the photograph; the picture shows single pixels
ENDINGS = (".png", ".pdf", ".svg", ".jpg")


def _check_picture(path: Path) -> Path:
    if path.suffix.lower() not in ENDINGS:
        raise InvalidArgumentError(f"--out={path} does not end like a picture. Use one of {', '.join(ENDINGS)}.")
    check_writable(path)
    return path


Picture = Annotated[Path, typer.Option(callback=_check_picture, help="Where to put the picture.")]


def demo(
    rank: Annotated[int, typer.Option(help="Target rank.")] = 10,
    columns: Annotated[int, typer.Option(help="How many columns of pixels to read.")] = A_TENTH.n_columns,
    rows: Annotated[int, typer.Option(help="How many rows of pixels to read.")] = A_TENTH.n_rows,
    entries: Annotated[int, typer.Option(help="How many single pixels to read.")] = A_TENTH.n_entries,
    seed: Seed = 0,
    out: Picture = Path("curplus-demo.png"),
    json: Json = False,
) -> None:
    """Approximate a photograph from a tenth of its pixels, and draw the result."""
    from ..datasets.photograph import sample_photograph
    from ..plotting import plot_images

    photograph = sample_photograph()
    to_read = counts(photograph.shape, rank, columns, rows, entries)
    observation = observe(photograph, **to_read._asdict(), rng=seed)
    paper, recommended = cur_plus(observation, rank), approximate(observation, rank)
    answers = {
        "CUR+, the paper's algorithm": paper,
        "approximate, the recommended one": recommended,
        "CUR-F, which sees all pixels": cur_full(photograph, observation, rank),
    }
    target = metrics.ReferenceMatrix(photograph)
    errors = [
        Fact(approx.core.solver, true_errors(target, approx, rank), f"errors of {name}")
        for name, approx in answers.items()
    ]
    images = {
        "the photograph": photograph,
        f"what was read: {share(observation):.0%} of it": observation,
        f"CUR+, rank {rank}": paper.to_array(),
        f"approximate, rank {rank}": recommended.to_array(),
    }
    plot_images(images).savefig(out, dpi=120)
    known = [*answer_facts(recommended), *read_facts(observation), *errors, Fact("out", str(out), "picture in")]
    show.result(known, as_json=json)
