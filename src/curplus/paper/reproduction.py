"""Run experiments and write what comes out: a table, a picture drawn from it, and what it was made with."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .._files import write_bytes
from .._support.extras import pyplot
from .._validation import check_count
from ..datasets.folders import DataHome
from ..exceptions import InvalidArgumentError
from . import (
    entries_needed,
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    matrices,
    open_question,
    recovery,
    table1,
)
from .comparison import Comparison
from .experiment import Experiment
from .run import Progress, run_in_workers
from .spectra import Spectra
from .sweep import Sweep, description, versions
from .tables import Rows, read_csv, write_csv

__all__ = ["EXPERIMENTS", "SCALES", "reproduce", "sweeps"]

#: Every figure and table of the paper, and the question it leaves open, by name.
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        module.EXPERIMENT.name: module.EXPERIMENT
        for module in (figure1, figure2, figure3, figure4, figure5, figure6, figure7, table1, open_question)
    }
)

#: ``"quick"`` shows every figure in small, on matrices made on the spot; ``"paper"`` is the paper's grid on its data.
SCALES = ("quick", "paper")


def sweeps(scale: str, *, data_home: DataHome = None, seed: int = 0) -> dict[str, Sweep]:
    """The sweeps of a scale, by name."""
    if scale not in SCALES:
        raise InvalidArgumentError(f"scale={scale!r} is unknown. Use one of {', '.join(SCALES)}.")
    if scale == "quick":
        names = tuple(matrices.SYNTHETIC)
        grid = Comparison(names, ranks=(5, 10), alphas=(1, 2, 3), growths=(1, 2, 3), repetitions=5, seed=seed)
        search, count = recovery.QUICK, entries_needed.FEW_SIZES
    else:
        names = matrices.paper_matrices(data_home)
        grid = Comparison(
            names, ranks=(10, 20, 50), alphas=(1, 2, 3, 4, 5), growths=(1, 2, 3, 4, 5), repetitions=10, seed=seed
        )
        search, count = recovery.PAPER, entries_needed.ALL_SIZES
    found: list[Sweep] = [replace(search, seed=seed), Spectra(names), grid, replace(count, seed=seed)]
    return {sweep.name: sweep for sweep in found}


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    scale: str = "quick",
    data_home: DataHome = None,
    jobs: int | None = None,
    seed: int = 0,
    remark: Callable[[str], None] = lambda sentence: None,
    progress: Progress = lambda name, done, total: None,
    written: Callable[[Path], None] = lambda path: None,
) -> None:
    """Make figures and tables of the paper; what an earlier, interrupted call has measured is used.

    For each, ``out`` then has a tidy table (CSV), a picture drawn from it (PNG, except for Table 1) and a JSON file
    with the options, the seed and the versions of the libraries.

    Parameters
    ----------
    names : sequence of str
        Keys of :data:`EXPERIMENTS`, or ``"all"``.
    out : path
        Folder for the results; made if missing. Finished cells are kept in its subfolder ``cells``.
    scale : str, default "quick"
        ``"quick"`` or ``"paper"``.
    data_home : path, optional
        Where data sets are looked for, as for :func:`curplus.datasets.load`.
    jobs : int, optional
        Number of processes; as many as there are cores if left out. The results do not depend on it.
    seed : int, default 0
        Of all that is drawn.
    remark : callable
        Called with a sentence for each data set that another one stands in for.
    progress : callable
        Called with a sweep's name, its number of cells done, and their number in all.
    written : callable
        Called with the path of each file that was written.

    Notes
    -----
    A script that calls this must do so from under ``if __name__ == "__main__":``, since the workers import it.
    """
    chosen = _chosen(names)
    if jobs is not None:
        check_count(jobs, name="jobs", at_least=1)
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise InvalidArgumentError(f"out={str(out)!r} is a file, and results need a folder. Name another place.")
    if data_home is not None and not Path(data_home).is_dir():
        raise InvalidArgumentError(
            f"{data_home} is not a folder. Name the one that has the data sets, or leave it out."
        )
    options = sweeps(scale, data_home=data_home, seed=check_count(seed, name="seed"))
    _prepare(chosen, options, data_home, remark)
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Rows] = {}
    for experiment in chosen:
        for name in experiment.sweeps:
            if name not in results:
                results[name] = run_in_workers(
                    options[name], out / "cells", data_home=data_home, jobs=jobs, progress=progress
                )
        made_with = {
            "experiment": experiment.name,
            "title": experiment.title,
            "scale": scale,
            "seed": seed,
            "sweeps": [description(options[name]) for name in experiment.sweeps],
            "versions": versions() | ({"matplotlib": version("matplotlib")} if experiment.plot else {}),
        }
        path = out / f"{experiment.name}.csv"
        write_csv(path, experiment.table(results))
        write_bytes(path.with_suffix(".json"), (json.dumps(made_with, indent=2) + "\n").encode())
        written(path)
        if experiment.plot is not None:
            _draw(experiment.plot(read_csv(path)), path.with_suffix(".png"))
            written(path.with_suffix(".png"))


def _prepare(
    chosen: list[Experiment], options: dict[str, Sweep], data_home: DataHome, remark: Callable[[str], None]
) -> None:
    """Find out before hours of work, not after, whether pictures can be drawn and the data can be had."""
    if any(experiment.plot is not None for experiment in chosen):
        pyplot()
    names = [name for experiment in chosen for sweep in experiment.sweeps for name in options[sweep].matrices]
    for sentence in matrices.remarks(names):
        remark(sentence)
    for name in dict.fromkeys(names):
        matrices.make_available(name, data_home)


def _draw(figure: Any, path: Path) -> None:
    stream = io.BytesIO()
    figure.savefig(stream, dpi=110)
    pyplot().close(figure)
    write_bytes(path, stream.getvalue())


def _chosen(names: Sequence[str]) -> list[Experiment]:
    names = [names] if isinstance(names, str) else names
    choice = f"Choose from {', '.join(EXPERIMENTS)}, or all."
    if not names:
        raise InvalidArgumentError(f"no figure or table was named. {choice}")
    wanted = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in EXPERIMENTS]
    if unknown:
        raise InvalidArgumentError(f"there is no experiment called {', '.join(unknown)}. {choice}")
    return [EXPERIMENTS[name] for name in wanted]
