"""Ten million values in a study: time to tell them from Parquet, to ask for the status and for the observation.

Run: python benchmarks/study_size.py [--values 10000000] [--asked]

The file of values is long (row, column, value), with names. With --asked they are those of a list, so that each is
looked up and marked. Then one writer tells value after value, alone and beside a reader that asks for the status
every 100 ms.
"""

import argparse
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import versions  # isort: skip

import numpy as np
import pandas as pd

import curplus

N_ROWS, N_COLUMNS = 20_000, 5_000


def timed(name: str, function: Callable[[], Any], count: int = 0) -> Any:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name},{wall:.2f},{cpu:.2f},{count / wall if count else 0:.0f},{peak:.1f}", flush=True)
    return result


def write_values(path: Path, cells: np.ndarray) -> None:
    rows, columns = (
        np.char.add(letter, np.arange(size).astype(str)) for letter, size in (("r", N_ROWS), ("c", N_COLUMNS))
    )
    values = 1 + np.random.default_rng(1).random(len(cells))
    names = {"row": rows[cells // N_COLUMNS], "column": columns[cells % N_COLUMNS]}
    pd.DataFrame({**names, "value": values}).to_parquet(path, index=False)


def delays(study: curplus.Study, n_tells: int, first: int) -> np.ndarray:
    """Seconds that each tell of one value takes."""
    found = []
    for k in range(first, first + n_tells):
        table = pd.DataFrame({"row": [f"r{k % N_ROWS}"], "column": [f"c{k // N_ROWS}"], "value": [1 + k / 1e6]})
        start = time.perf_counter()
        study.tell(table)
        found.append(time.perf_counter() - start)
    return np.array(found)


def beside_a_reader(path: Path, n_tells: int) -> None:
    study, reader, stop = curplus.Study.open(path), curplus.Study.open(path), threading.Event()
    alone = delays(study, n_tells, 0)

    def poll() -> None:
        while not stop.wait(0.1):
            reader.status()

    thread = threading.Thread(target=poll)
    thread.start()
    together = delays(study, n_tells, n_tells)
    stop.set()
    thread.join()
    for name, found in (("alone", alone), ("beside a reader", together)):
        print(f"99th percentile of a tell {name},{np.quantile(found, 0.99):.4f},,,")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=10_000_000)
    parser.add_argument("--asked", action="store_true")
    parser.add_argument("--tells", type=int, default=300)
    options = parser.parse_args()
    print("#", versions(), flush=True)
    print("step,seconds,cpu seconds,values per second,peak memory GiB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.study"
        names = {"rows": [f"r{k}" for k in range(N_ROWS)], "columns": [f"c{k}" for k in range(N_COLUMNS)]}
        study = timed("create", lambda: curplus.Study.create(path, **names))
        cells = np.sort(np.random.default_rng(0).permutation(N_ROWS * N_COLUMNS)[: options.values])
        if options.asked:
            todo = timed("ask", lambda: study.ask(options.values), options.values)
            rows, columns = (todo.cells[side].str[1:].astype(int) for side in ("row", "column"))
            cells = (rows * N_COLUMNS + columns).to_numpy()
            del todo
        write_values(Path(folder) / "values.parquet", cells)
        timed("tell from Parquet", lambda: study.tell(Path(folder) / "values.parquet"), len(cells))
        timed("status", study.status)
        seen = timed("observation", study.observation, len(cells))
        print(f"file in GiB,{path.stat().st_size / 2**30:.2f},,,")
        assert seen.n_values_read == len(cells)
        beside_a_reader(path, options.tells)
