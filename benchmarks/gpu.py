"""Every step on a GPU: times for a matrix of 200,000 x 20,000, and differences from NumPy for a small dense one.

The large matrix is given by its factors on the device and never formed. Whatever is installed of PyTorch and CuPy is
measured, beside NumPy on the host; what comes out must be of the same library, type and device as what goes in.
Run: python benchmarks/gpu.py, or without a GPU: python benchmarks/gpu.py --device cpu --small

With --huge the matrix has 1,000,000 x 100,000 entries. Each step is compared with the floor, which no method can do
without (reading the columns and rows, two Gram matrices, two products), and with NumPy on as many processor cores as
the process may use: taskset -c 0,1 env OPENBLAS_NUM_THREADS=2 python benchmarks/gpu.py --huge
Its factors decay to a ten-thousandth; with --flat they do not, and NumPy is left out.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

import curplus
from curplus._arrays import array_namespace, device, to_numpy
from curplus.sources import FactoredSource


class Library(NamedTuple):
    name: str
    put: Callable[[Any], Any]  # a NumPy array on the device
    wait: Callable[[], object] = lambda: None  # until the device has done all that it was asked for


class Size(NamedTuple):
    shape: tuple[int, int]
    width: int  # of the factors
    rank: int
    lines: int  # columns, and as many rows
    entries: int
    many: int = 0  # entries, as many as the model of factors has unknowns: rank * (n + m) / 2, and those set aside
    decay: float = 1.1  # by which each factor is smaller than the one before

    def factors(self, kind: str) -> tuple[Any, Any]:
        rng, (n, m), k = np.random.default_rng(0), self.shape, self.width
        left = rng.standard_normal((n, k)) / self.decay ** np.arange(k)
        return left.astype(kind), rng.standard_normal((k, m)).astype(kind)


LARGE = Size((200_000, 20_000), width=60, rank=20, lines=50, entries=40_000, many=2_600_000)
HUGE = Size((1_000_000, 100_000), width=100, rank=100, lines=300, entries=1_000_000)
SMALL = Size((2_000, 800), width=30, rank=5, lines=20, entries=3_000, many=10_000)


def libraries(where: str) -> list[Library]:
    found = [Library(f"NumPy {np.__version__}", np.asarray)]
    with suppress(ImportError):
        import torch

        wait = [] if where == "cpu" else [torch.cuda.synchronize]
        found.append(Library(f"PyTorch {torch.__version__}, {where}", partial(torch.asarray, device=where), *wait))
    with suppress(ImportError):
        import cupy

        if where != "cpu":
            found.append(Library(f"CuPy {cupy.__version__}", cupy.asarray, cupy.cuda.Device().synchronize))
    return found


def check(result: Any, like: Any) -> None:
    """The arrays of a sample or an approximation must be of the library, type and device of another array."""
    parts = {
        curplus.Observation: ("columns", "rows", "values"),
        curplus.Factorization: ("left.vectors", "core.Z", "right.vectors"),
    }
    for x in (attrgetter(name)(result) for name in parts.get(type(result), ())):
        assert (array_namespace(x), x.dtype, device(x)) == (array_namespace(like), like.dtype, device(like))


def steps(source: Any, like: Any, size: Size, library: Library) -> dict[str, tuple[Any, float]]:
    """What each step returns, and the seconds that it takes; on a device, when taken a second time."""
    done: dict[str, tuple[Any, float]] = {}
    counts = {"n_columns": size.lines, "n_rows": size.lines, "n_entries": size.entries, "rng": 0}
    for name, step in {
        "floor": lambda: floor(curplus.as_source(source), size),
        "observe": lambda: curplus.observe(source, **counts),
        "acquire": lambda: curplus.acquire(source, **counts),
        "cur_plus": lambda: curplus.cur_plus(done["observe"][0], size.rank),
        "approximate": lambda: curplus.approximate(done["observe"][0], size.rank),
        "certify": lambda: curplus.certify(done["approximate"][0], done["observe"][0]),
        "observe many": lambda: curplus.observe(source, **counts | {"n_entries": size.many}),
        "approximate many": lambda: curplus.approximate(done["observe many"][0], size.rank),
    }.items():
        if not size.many and name.endswith("many"):
            continue
        for _ in range(1 if str(device(like)) == "cpu" else 2):
            start = time.perf_counter()
            result = step()
            library.wait()
            done[name] = result, time.perf_counter() - start
        if size.shape == HUGE.shape:
            print(f"# {library.name}, {name}: {done[name][1]:.3f} s", flush=True)
        check(result, like)
    return done


def floor(source: Any, size: Size) -> list[Any]:
    """Columns and rows, their Gram matrices, and two products."""
    some, r = np.arange(size.lines), size.rank
    columns, rows = source.columns(some), source.rows(some)
    mixing = columns[: size.lines, :r]
    return [columns.T @ columns, rows @ rows.T, columns @ mixing, rows.T @ mixing]


def difference(ours: Any, theirs: Any) -> float:
    """Of two results, relative to the largest number; of two samples, 1 if other places were read."""
    if isinstance(ours, list):
        return max(float(np.abs(to_numpy(a) - b).max() / np.abs(b).max()) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, curplus.Factorization):
        a, b = to_numpy(ours.to_array()), theirs.to_array()
        return float(np.abs(a - b).max() / np.abs(b).max())
    if isinstance(ours, curplus.Observation):
        return float(not all(np.array_equal(getattr(ours, x), getattr(theirs, x)) for x in ("column_index", "i", "j")))
    return abs(ours.error / theirs.error - 1)


def huge(library: Library, size: Size) -> dict[str, float]:
    left, right = map(library.put, size.factors("float64"))
    return {name: seconds for name, (_, seconds) in steps(FactoredSource(left, right), left, size, library).items()}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--device", default="cuda", help="of PyTorch; 'cpu' leaves CuPy out")
parser.add_argument("--small", action="store_true", help="2,000 x 800 instead of 200,000 x 20,000")
parser.add_argument("--huge", action="store_true", help="1,000,000 x 100,000, in double precision")
parser.add_argument("--flat", action="store_true", help="with --huge: without decay, and without NumPy")
options = parser.parse_args()
if options.huge:
    found, size = libraries(options.device)[options.flat :], HUGE._replace(decay=1.0) if options.flat else HUGE
    print(f"curplus {curplus.__version__}, {size}")
    timed = {library.name: huge(library, size) for library in reversed(found)}
    first = list(timed.values())[-1]
    print(f"{'':40} {'step':12} {'seconds':>9} {'of the floor':>13} {'NumPy / this':>13}")
    for name, seconds in timed.items():
        for step, x in seconds.items():
            print(f"{name:40} {step:12} {x:9.3f} {x / seconds['floor']:13.1f} {first[step] / x:13.1f}", flush=True)
    raise SystemExit
print(f"curplus {curplus.__version__}, {(size := SMALL if options.small else LARGE)}")
for kind in ("float64", "float32"):
    host: dict[str, tuple[Any, float]] = {}
    for library in libraries(options.device):
        dense = library.put(np.matmul(*SMALL.factors(kind)))
        left, right = map(library.put, size.factors(kind))
        found, timed = (steps(x, left, s, library) for x, s in ((dense, SMALL), (FactoredSource(left, right), size)))
        host = host or found
        print(f"\n{library.name + ', ' + kind:40} {'seconds':>9} {'difference from NumPy, 2,000 x 800':>36}")
        for name, (_, seconds) in timed.items():
            print(f"{name:40} {seconds:9.3f} {difference(found[name][0], host[name][0]):36.1e}")
