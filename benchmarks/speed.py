"""Time of CUR+ and of approximate, against yardsticks of the same run, and memory.

The floor is what no method in this family can go below: gathering the columns and rows, their two Gram matrices and the
two products that make bases of them. The smallest case is a dense matrix, beside scikit-learn's randomized_svd of all
of it; of the larger ones only what is read exists. All are of the rank asked for, plus 1 % noise.

Run: python benchmarks/speed.py [--sizes square tall long wide deep entries] [--repeat 3] [--out FILE.csv], by default
the first. The table that is written has a column for each size.
"""

import argparse
import csv
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from common import versions  # isort: skip

import numpy as np
from sklearn.utils.extmath import randomized_svd

import curplus

SOLVER = curplus.solvers.ConjugateGradient(tol=1e-10)


class Size(NamedTuple):
    shape: tuple[int, int]
    rank: int
    lines: int  # columns, and as many rows
    entries: int
    most: dict[str, float]  # the largest that some ratios may be


MEMORY = "memory / bytes of columns and rows"
LARGE = {"cur_plus / floor": 6, "approximate / cur_plus": 3, MEMORY: 2}
SIZES = {
    "square": Size((8000, 8000), 50, 100, 10_000, {"cur_plus / floor": 4.5, "approximate / cur_plus": 2, MEMORY: 2}),
    "tall": Size((100_000, 20_000), 50, 150, 100_000, LARGE),
    "long": Size((1_000_000, 20_000), 20, 60, 100_000, LARGE),
    "wide": Size((200_000, 20_000), 100, 300, 300_000, LARGE),
    "deep": Size((4000, 4000), 50, 1200, 20_000, {"approximate / cur_plus": 4}),
    "entries": Size((20_000, 10_000), 10, 50, 4_000_000, {"certify / approximate": 2}),
}


class Sample(NamedTuple):
    """A matrix of which only what is read exists."""

    size: Size
    columns: Any
    rows: Any
    values: Any
    plan: Any

    def read(self) -> curplus.Observation:
        """An observation, made of copies."""
        p = self.plan
        index = {"column_index": p.column_index, "row_index": p.row_index, "i": p.i, "j": p.j}
        columns, rows = self.columns.copy(), self.rows.copy()
        return curplus.Observation(shape=self.size.shape, columns=columns, rows=rows, values=self.values, **index)

    def floor(self, mixing: Any) -> list[Any]:
        return gram_and_product(self.columns.copy(), self.rows.copy(), mixing)


class Whole(NamedTuple):
    """A matrix in memory."""

    size: Size
    matrix: Any
    plan: Any

    def read(self) -> curplus.Observation:
        n = self.size.lines
        return curplus.observe(self.matrix, n_columns=n, n_rows=n, n_entries=self.size.entries, rng=0)

    def floor(self, mixing: Any) -> list[Any]:
        columns, rows = np.take(self.matrix, self.plan.column_index, axis=1), self.matrix[self.plan.row_index]
        return gram_and_product(columns, rows, mixing)


def gram_and_product(columns: Any, rows: Any, mixing: Any) -> list[Any]:
    return [columns.T @ columns, rows @ rows.T, columns @ mixing, rows.T @ mixing]


def problem(size: Size) -> Whole | Sample:
    """A matrix of the rank asked for, and 1 % noise."""
    rng, (n, m) = np.random.default_rng(0), size.shape
    left, right = rng.standard_normal((n, size.rank)), rng.standard_normal((size.rank, m))
    noise = 0.01 * float(np.linalg.norm(left)) / n**0.5
    d = size.lines
    plan = curplus.observation.uniform_plan(size.shape, n_columns=d, n_rows=d, n_entries=size.entries, rng=0)
    if n == m == 8000:
        matrix = left @ right
        matrix += noise * rng.standard_normal(size.shape)
        return Whole(size, matrix, plan)
    columns, rows = left @ right[:, plan.column_index], left[plan.row_index] @ right
    columns += noise * rng.standard_normal(columns.shape)
    rows += noise * rng.standard_normal(rows.shape)
    columns[plan.row_index] = rows[:, plan.column_index]
    values = np.einsum("tr,tr->t", left[plan.i], right.T[plan.j]) + noise * rng.standard_normal(size.entries)
    for index, lines, where, other in (
        (plan.row_index, rows, plan.i, plan.j),
        (plan.column_index, columns.T, plan.j, plan.i),
    ):
        place = np.full(max(size.shape), -1)
        place[index] = np.arange(len(index))
        known = place[where] >= 0
        values[known] = lines[place[where[known]], other[known]]
    return Sample(size, columns, rows, values, plan)


def seconds(step: Callable[[], object], repeat: int) -> float:
    """Least time of the processor of several calls."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    return min(times)


def measure(given: Whole | Sample, repeat: int) -> Iterator[tuple[str, float]]:
    size = given.size
    mixing = np.random.default_rng(0).standard_normal((size.lines, size.rank))
    seen = given.read()
    yield "floor", seconds(lambda: given.floor(mixing), repeat)
    yield "read", seconds(given.read, repeat)
    yield "cur_plus, read", seconds(lambda: curplus.cur_plus(given.read(), size.rank, solver=SOLVER), repeat)
    for name in ("auto", "conjugate_gradient", "normal_equations"):
        if size.rank <= 50 or name != "normal_equations":
            yield f"cur_plus, {name}", seconds(lambda name=name: curplus.cur_plus(seen, size.rank, solver=name), repeat)
    yield "cur_plus", seconds(lambda: curplus.cur_plus(seen, size.rank, solver=SOLVER), repeat)
    yield "approximate", seconds(lambda: curplus.approximate(seen, size.rank), repeat)
    answer = curplus.approximate(seen, size.rank)
    yield "certify", seconds(lambda: curplus.certify(answer, seen), repeat)
    if isinstance(given, Whole):
        yield "randomized_svd", seconds(lambda: randomized_svd(given.matrix, size.rank, random_state=0), 1)


def ratios(times: dict[str, float]) -> Iterator[tuple[str, float]]:
    yield "cur_plus / floor", times["cur_plus, read"] / times["floor"]
    yield "approximate / cur_plus", times["approximate"] / times["cur_plus"]
    yield "certify / approximate", times["certify"] / times["approximate"]
    if "randomized_svd" in times:
        yield "randomized_svd / cur_plus", times["randomized_svd"] / times["cur_plus, read"]


def memory(given: Whole | Sample) -> float:
    """Peak memory of reading and CUR+, relative to what was read."""
    tracemalloc.start()
    seen = given.read()
    curplus.cur_plus(seen, given.size.rank, solver=SOLVER)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (seen.columns.nbytes + seen.rows.nbytes)


TABLE = {
    "floor (s)": "floor",
    "read (s)": "read",
    "read and cur_plus (s)": "cur_plus, read",
    "cur_plus (s)": "cur_plus",
    "approximate (s)": "approximate",
    "certify (s)": "certify",
    "read and cur_plus / floor": "cur_plus / floor",
    "approximate / cur_plus": "approximate / cur_plus",
    "certify / approximate": "certify / approximate",
    "memory": MEMORY,
}


def write(found: dict[str, dict[str, float]], path: Path) -> None:
    """A table with a column for each size."""
    sizes = [SIZES[name] for name in found]
    rows: list[list[Any]] = [["", *found]]
    rows += [
        ["rows", *(f"{size.shape[0]:,}" for size in sizes)],
        ["columns", *(f"{size.shape[1]:,}" for size in sizes)],
    ]
    rows += [["rank", *(size.rank for size in sizes)]]
    rows += [["sampled columns, and as many rows", *(f"{size.lines:,}" for size in sizes)]]
    rows += [["entries", *(f"{size.entries:,}" for size in sizes)]]
    rows += [[label, *(f"{numbers[what]:.3g}" for numbers in found.values())] for label, what in TABLE.items()]
    with path.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["square"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(versions())
    print("size,what,measured,at most")
    found: dict[str, dict[str, float]] = {}
    for name in options.sizes:
        given = problem(SIZES[name])
        times = dict(measure(given, options.repeat))
        for what, value in times.items():
            print(f'{name},"{what} (s)",{value:.4f},', flush=True)
        found[name] = {**times, **dict(ratios(times)), MEMORY: memory(given)}
        for what in (*dict(ratios(times)), MEMORY):
            print(f"{name},{what},{found[name][what]:.2f},{given.size.most.get(what, '')}", flush=True)
    if options.out:
        write(found, options.out)
