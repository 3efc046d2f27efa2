"""Errors and times of `approximate` on named cases: run it with two versions of the code, then compare the two files.

Run: python benchmarks/accuracy.py --groups values crosses --seeds 0 1 2 --out today.csv [--cache DIR] [--only NAME ...]
     python benchmarks/accuracy.py --compare today.csv new.csv [--groups values]
     python benchmarks/accuracy.py --compare today.csv [--table errors.csv]

Rows that the file has are skipped, so a run can be stopped and started again. Observations are kept in the cache: two
versions that share it fit the same ones. CURPLUS_DATA names the folder of data sets. Four of them settle nothing and
are not here: PCMAC, gene_prostate, flixster and replicate 2 of norman_gi.

Errors are root mean squares at cells that were not read; for text they are l_F and l_s, against the best matrix of rank
10. Beside them stand that of zero, that of the damped means of rows and columns, and, if the code has models=, that of
models=("offsets",). `concentration` is the largest share of the squares at unread cells that one row or column holds.
Seconds are those of the processor, for the fit alone. A fit is stopped after 120 of them, and `note` says so.
"""

import argparse
import csv
import inspect
import os
import re
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from common import paper_entries, rms, versions  # isort: skip

import numpy as np
from zoo import counts_of_gamma_rates, heavy, lognormal_rows, of_rank, pareto_columns, power_law, student, zoo

import curplus
from curplus import Observation, acquire, metrics, observe
from curplus.estimators import CURImputer
from curplus.exceptions import CURPlusError

FIELDS = ("group", "case", "seed", "error", "offsets", "additive", "zero", "concentration", "seconds", "note")
MOST_SECONDS = 120
MOST_JUDGED = 200_000  # unread cells; more would not make the error more precise
ROUNDING = 1e-10  # of the error of zero: smaller errors count as this, as in recovery.py
DAMPING, SWEEPS = 3.0, 20  # of the means of rows and columns

# -- matrices: name -> function of the seed; NaN where a value is not known ---------------------------------------


def array(file: str, key: str) -> Callable[[int], np.ndarray]:
    return lambda seed: np.load(Path(os.environ["CURPLUS_DATA"]) / f"{file}.npz")[key].astype(float)


def ratings(name: str) -> Callable[[int], np.ndarray]:
    def make(seed):
        found = curplus.datasets.load(name)
        M = np.full(found.shape, np.nan)
        M[found.i, found.j] = found.values
        return M

    return make


def drawn(make: Callable[..., np.ndarray], *shape: int) -> Callable[[int], np.ndarray]:
    """A matrix of its own for each seed: ``make(rng, n, m)``."""
    return lambda seed: make(np.random.default_rng([seed, *shape]), *shape)


def kernel(function: Callable[..., np.ndarray], n: int = 300, m: int = 200) -> Callable[[int], np.ndarray]:
    return lambda seed: function(np.linspace(0, 1, n)[:, None], np.linspace(0, 1, m))


def kos_corner(seed):
    M = curplus.datasets.load("kos").matrix
    rows, columns = (np.sort(np.argsort(-M.count_nonzero(axis=axis), kind="stable")[:1500]) for axis in (1, 0))
    return M[rows][:, columns].toarray().astype(float)


PANELS = {
    "gdsc": array("gdsc_log2ic50", "X"),
    "oboe": array("oboe", "error"),
    "gi": array("norman_gi", "replicate1"),
    "ifeval": array("llm_items", "ifeval"),
    "rtt": array("planetlab_rtt", "rtt"),
}
HEAVY_TAILS = {
    "lognormal rows": drawn(lognormal_rows, 180, 280),
    "t(3) noise": drawn(student, 180, 260),
    "Pareto columns": drawn(pareto_columns, 160, 300),
    "counts of gamma rates": drawn(counts_of_gamma_rates, 200, 250),
    "exp of low rank, noise 1": drawn(partial(heavy, signal=0.4, noise=1.0), 150, 300),
}
MADE_UP = {
    "power law": drawn(power_law, 400, 300),
    "rank 5, noise 1 %": drawn(partial(of_rank, noise=0.01), 400, 300),
    "rank 5, noise 30 %": drawn(partial(of_rank, noise=0.3), 400, 300),
}
LARGER = {
    "kos corner": kos_corner,
    "mnist": lambda seed: curplus.datasets.load("mnist_test").matrix[:2000].toarray().astype(float),
}
KERNELS = {
    "gaussian 0.3": kernel(lambda x, y: np.exp(-(((x - y) / 0.3) ** 2))),
    "gaussian 0.1": kernel(lambda x, y: np.exp(-(((x - y) / 0.1) ** 2))),
    "cauchy": kernel(lambda x, y: 1 / (1 + (x - y) ** 2)),
    "root": kernel(lambda x, y: np.sqrt(1 + x**2 + y**2)),
    "hilbert": kernel(lambda x, y: 1 / (x + y + 1)),
}
SQUARE = {
    "gaussian 0.1, square": kernel(lambda x, y: np.exp(-(((x - y) / 0.1) ** 2)), 400, 400),
    "exponential, square": kernel(lambda x, y: np.exp(-10 * np.abs(x - y)), 400, 400),
}


@lru_cache(maxsize=1)
def text(name: str) -> metrics.ReferenceMatrix:
    M = curplus.datasets.load(name).matrix.astype(float)
    return metrics.ReferenceMatrix(M if M.shape[0] >= M.shape[1] else M.T)


# -- reading: functions of a matrix and a seed ---------------------------------------------------------------------

Read = Callable[[Any, int], Observation]


def entries(share: float) -> Read:
    def read(M, seed):
        i, j = np.nonzero(np.isfinite(M))
        kept = np.random.default_rng(seed).random(len(i)) < share
        i, j = i[kept], j[kept]
        return Observation(shape=M.shape, i=i, j=j, values=M[i, j])

    return read


def counts(n_columns: int, n_rows: int, n_entries: int) -> Read:
    sizes = {"n_columns": n_columns, "n_rows": n_rows, "n_entries": n_entries}
    return lambda M, seed: observe(M, **sizes, gaps=has_gaps(M), rng=seed)


def budget(share: float) -> Read:
    return lambda M, seed: acquire(M, budget=share, gaps=has_gaps(M), rng=seed)


def twentieth(share: float) -> Read:
    """A twentieth of the columns and rows, and a ``share`` of the cells as entries."""
    return lambda M, seed: counts(*(max(4, d // 20) for d in M.shape[::-1]), int(share * M.size))(M, seed)


def table(share: float) -> Read:
    """All rows, with a ``share`` of the values hidden."""

    def read(M, seed):
        hidden = np.random.default_rng(seed).random(M.shape) < share
        return Observation.from_table(np.where(hidden, np.nan, M))

    return read


def rows_and_parts(n_rows: int, n_known: int) -> Read:
    """All columns of a few rows, and a few values of each other row."""

    def read(M, seed):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(M))
        rows, i = np.sort(order[:n_rows]), np.repeat(np.sort(order[n_rows:]), n_known)
        j = np.concatenate([rng.choice(M.shape[1], n_known, replace=False) for _ in range(len(M) - n_rows)])
        return Observation(shape=M.shape, row_index=rows, rows=M[rows], i=i, j=j, values=M[i, j])

    return read


def words(read: Callable[..., Observation]) -> Read:
    """50 columns, 250 rows and the paper's number of entries."""

    def read_target(target, seed):
        M = target.matrix
        return read(M, n_columns=50, n_rows=250, n_entries=paper_entries(M.shape, M.nnz, 10), rng=seed)

    return read_target


def has_gaps(M: np.ndarray) -> bool:
    return not np.isfinite(M).all()


# -- fitting and judging -------------------------------------------------------------------------------------------


class Filled(NamedTuple):
    """A table without gaps, as an answer."""

    values: np.ndarray  # (n, m)

    def entries(self, i, j):
        return self.values[i, j]


def imputed(seen: Observation) -> Filled:
    return Filled(CURImputer().fit_transform(np.array(seen.rows)))


def new_rows(seen: Observation) -> Filled:
    """Rows that were not sampled as a whole, completed by a fit to those that were."""
    history = Observation(shape=seen.rows.shape, row_index=range(seen.n_rows), rows=seen.rows)
    known = np.full(seen.shape, np.nan)
    known[seen.i, seen.j] = seen.values
    return Filled(curplus.approximate(history).complete_rows(known))


def read_cells(seen: Observation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Everything that was read, each place once: i, j and values, shape (k,) each."""
    M = np.full(seen.shape, np.nan)
    M[seen.row_index] = seen.rows
    M[:, seen.column_index] = np.where(np.isfinite(seen.columns), seen.columns, M[:, seen.column_index])
    M[seen.i, seen.j] = seen.values
    if seen.symmetry is not None:
        M = np.where(np.isfinite(M), M, M.T)
    i, j = np.nonzero(np.isfinite(M))
    return i, j, M[i, j]


def unread_cells(M: np.ndarray, seen: Observation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    unread = np.isfinite(M)
    unread[read_cells(seen)[:2]] = False
    i, j = np.nonzero(unread)
    some = np.random.default_rng(0).permutation(len(i))[:MOST_JUDGED]
    return i[some], j[some], M[i[some], j[some]]


def damped_means(seen: Observation, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """A constant with offsets of rows and columns, as if each had ``DAMPING`` more values that are nothing special."""
    at = read_cells(seen)
    index, values = at[:2], at[2] - np.mean(at[2])
    offsets = [np.zeros(size) for size in seen.shape]
    sizes = [np.bincount(k, minlength=size) + DAMPING for k, size in zip(index, seen.shape, strict=True)]
    for _ in range(SWEEPS):
        for side in (0, 1):
            rest = values - offsets[1 - side][index[1 - side]]
            offsets[side] = np.bincount(index[side], rest, minlength=seen.shape[side]) / sizes[side]
    return np.mean(at[2]) + offsets[0][i] + offsets[1][j]


def judge_cells(M: np.ndarray, seen: Observation, answer: Any, offsets: Any) -> Iterator[dict[str, Any]]:
    i, j, truth = unread_cells(M, seen)
    squares = (truth / rms(truth)) ** 2 / len(truth)
    yield {
        "error": None if answer is None else rms(answer.entries(i, j) - truth),
        "offsets": None if offsets is None else rms(offsets.entries(i, j) - truth),
        "additive": rms(damped_means(seen, i, j) - truth),
        "zero": rms(truth),
        "concentration": max(np.max(np.bincount(index, squares)) for index in (i, j)),
    }


def judge_text(target: metrics.ReferenceMatrix, seen: Observation, answer: Any, offsets: Any):
    ways = {
        "l_F": (metrics.relative_frobenius_error, target.frobenius_norm / target.best_frobenius_error(10)),
        "l_s": (
            partial(metrics.relative_spectral_error, tol=1e-4),
            target.singular_values(1)[0] / target.best_spectral_error(10),
        ),
    }
    for name, (error, zero) in ways.items():
        yield {"group": f"text {name}", "error": None if answer is None else error(target, answer, 10), "zero": zero}


# -- cases ---------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    group: str
    matrix_name: str
    read_name: str
    matrix: Callable[[int], Any]
    read: Read
    options: Mapping[str, Any] = MappingProxyType({})  # of the fit
    fit: Callable[..., Any] = curplus.approximate
    judge: Callable[..., Iterator[dict[str, Any]]] = judge_cells

    @property
    def name(self) -> str:
        given = (f"{name} {value}" for name, value in self.options.items())
        return ", ".join([f"{self.matrix_name}, {self.read_name}", *given])


def values() -> Iterator[Case]:
    panels = PANELS | {"heavy": lambda seed: heavy(np.random.default_rng(1), 171, 300)}  # one matrix
    for name, matrix in panels.items():
        for share in (0.05, 0.1, 0.2, 0.5):
            yield Case("values", name, f"{share:.0%}", matrix, entries(share))
    for name in ("movielens_100k", "jester5k"):
        yield Case("values", name, "90%", ratings(name), entries(0.9))
    for name, matrix in HEAVY_TAILS.items():
        yield Case("values", name, "10%", matrix, entries(0.1))


def crosses() -> Iterator[Case]:
    reads = {"budget 5%": budget(0.05), "budget 10%": budget(0.1), "uniform": twentieth(0.02)}
    reads["no entries"] = twentieth(0.0)
    one_sided = {"20 rows": counts(0, 20, 1000), "20 columns": counts(20, 0, 1000), "only rows": counts(0, 20, 0)}
    for name, matrix in (PANELS | MADE_UP | LARGER).items():
        for kind, read in (reads if name in LARGER or name == "gdsc" else reads | one_sided).items():
            yield Case("crosses", name, kind, matrix, read)
    for name in ("oboe", "ifeval", "rank 5, noise 30 %"):
        yield Case("crosses", name, "new rows", (PANELS | MADE_UP)[name], rows_and_parts(40, 20), fit=new_rows)


def tables() -> Iterator[Case]:
    for name, share in (("oboe", 0.2), ("oboe", 0.5), ("gdsc", 0.2), ("gi", 0.2)):
        yield Case("tables", name, f"{share:.0%} gaps", PANELS[name], table(share))


def imputer() -> Iterator[Case]:
    for case in tables():
        yield case._replace(group="imputer", fit=imputed)


def texts() -> Iterator[Case]:
    for name in ("dexter", "farm_ads", "kos", "basehock", "tdt2"):
        for kind, read in (("uniform", observe), ("acquired", acquire)):
            yield Case(
                "text", name, kind, lambda seed, name=name: text(name), words(read), {"rank": 10}, judge=judge_text
            )


def all_of_the_zoo() -> Iterator[Case]:
    matrices = lru_cache(maxsize=2)(lambda seed: zoo(seed=seed))
    designs = ((1, 1, 0), (2, 2, 0), (5, 5, 0), (3, 3, 40), (0, 0, 600), (20, 20, 0), (20, 20, 100))
    for name in matrices(0):
        for design in designs:
            for options in ({}, {"rank": 5}):
                matrix = lambda seed, name=name: matrices(seed)[name]  # noqa: E731
                yield Case("zoo", name, "/".join(map(str, design)), matrix, counts(*design), options)


def exact() -> Iterator[Case]:
    for design in ((5, 5, 0), (6, 6, 0), (20, 20, 0)):
        for options in ({}, {"rank": 5}):
            matrix = drawn(of_rank, 300, 200)
            yield Case("exact", "rank 5", "/".join(map(str, design)), matrix, counts(*design), options)
    for rank in (1, 10):  # at the information limit, as above with 5/5/0
        matrix = drawn(partial(of_rank, rank=rank), 200, 150)
        yield Case("exact", f"rank {rank}", f"{rank}/{rank}/0", matrix, counts(rank, rank, 0), {"rank": rank})
    for name, matrix in KERNELS.items():
        for design in ((9, 9, 200), (20, 20, 500)):
            yield Case("exact", name, "/".join(map(str, design)), matrix, counts(*design))
    for name, matrix in SQUARE.items():
        for kind, how in (("psd", {"psd": True}), ("symmetric", {"symmetric": True, "n_entries": 0})):
            read = lambda M, seed, how=how: acquire(M, n_columns=20, rng=seed, **how)  # noqa: E731
            yield Case("exact", name, f"20 columns {kind}", matrix, read)
    for name in ("power law", "rank 5, noise 30 %"):
        yield Case("exact", name, "20/20/1000", MADE_UP[name], counts(20, 20, 1000), {"rank": 10, "form": "cur"})


GROUPS = {
    "exact": exact,
    "values": values,
    "crosses": crosses,
    "tables": tables,
    "imputer": imputer,
    "text": texts,
    "zoo": all_of_the_zoo,
}

# -- measuring -----------------------------------------------------------------------------------------------------


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` after so many seconds of the processor."""

    def stop(*_):
        raise TimeoutError(f"more than {seconds} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def processor_seconds() -> float:
    """Not ``time.process_time``: the timer of ``at_most`` makes that advance in ticks of some milliseconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def observed(case: Case, M: Any, seed: int, cache: Path) -> Observation:
    """What is read, by way of a file: so that all versions of the code fit the same values."""
    key = f"{case.group} {case.matrix_name} {case.read_name} {seed}"
    path = cache / (re.sub(r"[^\w.%+-]+", "_", key) + ".npz")
    if not path.exists():
        case.read(M, seed).save(path)
    return curplus.load(path)


def fitted(fit: Callable[..., Any], seen: Observation, **options: Any) -> tuple[Any, float, str]:
    """The answer, None if there is none; seconds; and why there is none."""
    answer, note, start = None, "", processor_seconds()
    try:
        with at_most(MOST_SECONDS):
            answer = fit(seen, **options)
    except (CURPlusError, ValueError, ArithmeticError, MemoryError, TimeoutError) as error:  # that is a result
        note = f"{type(error).__name__}: {error}"
    return answer, processor_seconds() - start, note


def measure(case: Case, seed: int, cache: Path) -> Iterator[dict[str, Any]]:
    M = case.matrix(seed)
    seen = observed(case, M, seed, cache)
    answer, seconds, note = fitted(case.fit, seen, **case.options)
    offsets = None
    if "models" in inspect.signature(curplus.approximate).parameters and case.judge is judge_cells:
        offsets = fitted(curplus.approximate, seen, models=("offsets",))[0]
    for found in case.judge(M, seen, answer, offsets):
        yield {"group": case.group, "case": case.name, "seed": seed, "seconds": seconds, "note": note} | found


def run(options: argparse.Namespace) -> None:
    done = {(row["group"].split()[0], row["case"], int(row["seed"])) for row in rows_of(options.out)}
    options.cache.mkdir(parents=True, exist_ok=True)
    curplus.approximate(counts(5, 5, 50)(np.eye(30), 0))  # imports what a fit needs, outside of the times
    for case in (case for group in options.groups for case in GROUPS[group]()):
        if not any(part in case.name for part in options.only):
            continue
        for seed in options.seeds:
            if (case.group, case.name, seed) not in done:
                append(options.out, list(measure(case, seed, options.cache)))


def append(path: Path, rows: list[dict[str, Any]]) -> None:
    shown = [{k: f"{x:.6g}" if isinstance(x, float) else x for k, x in row.items()} for row in rows]
    new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(shown)
    for row in shown:
        print(" | ".join("" if row.get(name) is None else str(row[name]) for name in FIELDS), flush=True)


# -- comparing -----------------------------------------------------------------------------------------------------


def rows_of(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def number(row: dict[str, str], *names: str) -> float:
    """The first of the fields that is filled in."""
    return float(next((row[name] for name in names if row[name]), "nan"))


def compare(paths: list[Path], groups: list[str]) -> None:
    """Print the cases that all files have, over the seeds that all files have."""
    files = [
        {(row["group"], row["case"], row["seed"]): row for row in rows_of(path) if row["group"].split()[0] in groups}
        for path in paths
    ]
    failed = [key for key in files[0] if any(key in file and not file[key]["error"] for file in files)]
    keys = [key for key in files[0] if key not in failed and all(key in file for file in files)]
    columns = ["error"] if len(files) == 1 else ["first", "second", "ratio", "s.e."]
    after = ["/zero", "worst", "/additive", "worst", "seconds", *(["ratio"] if len(files) > 1 else [])]
    for group in dict.fromkeys(key[0] for key in keys):
        print(f"\n{group:44s}" + "".join(f"{name:>10s}" for name in [*columns, *after]))
        found = {}
        for case in dict.fromkeys(key[1] for key in keys if key[0] == group):
            found[case] = summary([[file[key] for key in keys if key[:2] == (group, case)] for file in files])
            print(f"{case:44s}" + "".join(f"{x:10.4g}" for x in found[case]))
        total(found, len(files))
    for key in failed:
        print("no answer:", *key, *(file[key]["note"] for file in files if key in file))


def write_table(path: Path, groups: list[str], out: Path) -> None:
    """Errors of one file, case by case: what docs/guide/approximate.rst shows."""
    rows = [row for row in rows_of(path) if row["group"] in groups and row["error"]]
    with out.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["case", "error", "offsets", "over zero", "worst"])
        for case in dict.fromkeys(row["case"] for row in rows):
            some = [row for row in rows if row["case"] == case]
            error, offsets, zero = (
                np.array([number(row, *names) for row in some])
                for names in (("error",), ("offsets", "additive"), ("zero",))
            )
            ratios = np.mean(error) / np.mean(zero), np.max(error / zero)
            writer.writerow([case, *(f"{np.mean(x):.4g}" for x in (error, offsets)), *(f"{x:.3f}" for x in ratios)])


def summary(runs: list[list[dict[str, str]]]) -> list[float]:
    """Of one case: errors, their ratio and its standard error, the last errors over zero and additive, seconds."""
    zero = np.array([number(row, "zero") for row in runs[0]])
    errors = [np.maximum([number(row, "error") for row in rows], ROUNDING * zero) for rows in runs]
    additive = np.array([number(row, "offsets", "additive") for row in runs[-1]])
    seconds = [np.mean([number(row, "seconds") for row in rows]) for rows in runs]
    first, last = errors[0], errors[-1]
    out = [float(np.mean(e)) for e in errors]
    if len(runs) > 1:
        ratio = np.mean(last) / np.mean(first)
        spread = np.std(last - ratio * first, ddof=1) if len(first) > 1 else np.nan
        out += [ratio, spread / np.sqrt(len(first)) / np.mean(first)]
    for other in (zero, additive):
        out += [np.mean(last) / np.mean(other), np.max(last / other)]
    return [*out, seconds[-1], *([seconds[-1] / seconds[0]] if len(runs) > 1 else [])]


def total(found: dict[str, list[float]], n_files: int) -> None:
    """Geometric mean and worst case of a group."""
    columns = {"error / zero": 1, "error / additive": 3}
    if n_files > 1:
        columns = {"error": 2, "seconds": -1}
    for name, column in columns.items():
        ratios = {case: x[column] for case, x in found.items() if np.isfinite(x[column])}
        if ratios:
            worst = max(ratios, key=ratios.get)
            mean = np.exp(np.mean(np.log(list(ratios.values()))))
            print(f"= {name}: geometric mean {mean:.4f}, worst {ratios[worst]:.4f} ({worst}), {len(ratios)} cases")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of names of cases")
    parser.add_argument("--out", type=Path, default=Path("accuracy.csv"))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "curplus-accuracy")
    parser.add_argument("--compare", nargs="+", type=Path, metavar="FILE", help="one file to show, or two to compare")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the errors of the last file, case by case")
    options = parser.parse_args()
    if options.table:
        write_table(options.compare[-1], options.groups, options.table)
    elif options.compare:
        compare(options.compare, options.groups)
    else:
        print("#", versions(), Path(curplus.__file__).parent, file=sys.stderr, flush=True)
        run(options)
