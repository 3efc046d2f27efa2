"""Run a sweep: each cell is saved the moment it is done, so that nothing done is ever lost.

Cells are measured by worker processes, one BLAS thread each, and written by them to a folder of their own; a sweep that
is run again goes on with the cells that are missing. A table is put together from the files, in the order in which the
sweep lists its cells, so it depends neither on the number of workers nor on interruptions.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path

from threadpoolctl import threadpool_limits

from .._files import write_bytes
from .._support.processes import ignoring_interrupts, workers
from ..datasets.folders import DataHome
from ..exceptions import CURPlusError
from .sweep import Cell, Sweep, description, versions
from .tables import Row, Rows, rounded

__all__ = ["Progress", "run_in_process", "run_in_workers"]

Progress = Callable[[str, int, int], None]  # name of the sweep, cells done, cells in all


def run_in_process(sweep: Sweep, *, data_home: DataHome = None) -> Rows:
    """The table of a sweep, measured in this process, with nothing saved: for small sweeps."""
    return [row for cell in sweep.cells() for row in _measured(sweep, cell, data_home)]


def run_in_workers(
    sweep: Sweep,
    folder: Path,
    *,
    data_home: DataHome = None,
    jobs: int | None = None,
    progress: Progress = lambda name, done, total: None,
) -> Rows:
    """The table of a sweep; cells that are not yet in ``folder`` are measured by ``jobs`` processes and saved there.

    Parameters
    ----------
    sweep : Sweep
        What to measure.
    folder : pathlib.Path
        Where cells are kept, in a subfolder for each set of options and versions of libraries. After a change of the
        code itself, take another folder.
    data_home : path, optional
        Where data sets are looked for.
    jobs : int, optional
        Number of processes; as many as there are cores if left out.
    progress : callable
        Called with the sweep's name, the number of cells done, and their number in all.

    Returns
    -------
    list of dict
        A row for each measurement.
    """
    store = folder / f"{sweep.name}-{_fingerprint(sweep)}"
    store.mkdir(parents=True, exist_ok=True)
    cells = sweep.cells()
    missing = [cell for cell in cells if _saved(store, cell) is None]
    progress(sweep.name, len(cells) - len(missing), len(cells))
    if missing:
        with workers(min(jobs or _cores(), len(missing))) as pool:
            with ignoring_interrupts():
                tasks = [pool.submit(_measure_and_save, sweep, cell, data_home, store) for cell in missing]
            for done, task in enumerate(as_completed(tasks), len(cells) - len(missing) + 1):
                task.result()
                progress(sweep.name, done, len(cells))
    return [row for cell in cells for row in _rows(store, cell)]


def _measured(sweep: Sweep, cell: Cell, data_home: DataHome) -> Rows:
    with threadpool_limits(1):  # the order of a sum may depend on the number of threads
        rows = sweep.measure(cell, data_home)
    return [{name: rounded(value) for name, value in row.items()} for row in rows]


def _measure_and_save(sweep: Sweep, cell: Cell, data_home: DataHome, store: Path) -> None:
    content = {"cell": cell, "rows": _measured(sweep, cell, data_home)}
    write_bytes(_path(store, cell), json.dumps(content).encode())


def _saved(store: Path, cell: Cell) -> list[Row] | None:
    """The rows of a cell, or None if it is missing or its file is not whole."""
    try:
        content = json.loads(_path(store, cell).read_text(encoding="utf-8"))
        return list(content["rows"]) if content["cell"] == list(cell) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _rows(store: Path, cell: Cell) -> Rows:
    rows = _saved(store, cell)
    if rows is None:
        raise CURPlusError(f"{_path(store, cell)} was there and is gone or damaged. Run the same command again.")
    return rows


def _path(store: Path, cell: Cell) -> Path:
    return store / ("-".join(str(part) for part in cell).replace(" ", "_") + ".json")


def _fingerprint(sweep: Sweep) -> str:
    text = json.dumps([description(sweep), versions()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
