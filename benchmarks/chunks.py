"""A plan of columns, rows and entries from a file in chunks, beside reading the same chunks alone.

A file of random numbers is made first, Zarr or HDF5, compressed or not. It is in the cache of the system then, so what
is measured is decompression and copying, where reading ahead can help least. Wall time, best of some runs in turn; on
a machine that is shared, look at the ratios.

Run: python benchmarks/chunks.py --gigabytes 1 --folder /tmp/chunks
"""

import argparse
import csv
import resource
import sys
import time
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.sources import hdf5_source, zarr_source

COLUMNS = 5000
KINDS = ("zarr", "zarr plain", "hdf5 gzip", "hdf5 plain")


def made(kind: str, folder: Path, n: int, chunk: int):
    """The dataset of a file, made if it is not there, and the function that makes a source of it."""
    path = folder / f"{kind.replace(' ', '-')}-{n}-{chunk}"
    if kind.startswith("zarr"):
        import zarr

        if not path.exists():
            options = {"compressors": None} if kind == "zarr plain" else {}
            fill(zarr.create_array(path, shape=(n, COLUMNS), chunks=(chunk, chunk), dtype="f4", **options), n, chunk)
        return zarr.open_array(path, mode="r"), zarr_source
    import h5py

    if not path.exists():
        with h5py.File(path, "w") as file:
            options = {"compression": "gzip", "compression_opts": 1} if kind == "hdf5 gzip" else {}
            fill(file.create_dataset("m", (n, COLUMNS), "f4", chunks=(chunk, chunk), **options), n, chunk)
    return h5py.File(path, "r")["m"], hdf5_source


def fill(stored, n: int, chunk: int) -> None:
    """Numbers of few digits, so that they can be compressed."""
    rng = np.random.default_rng(0)
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        stored[start:stop] = np.round(rng.standard_normal((stop - start, COLUMNS)), 2).astype(np.float32)


def chunks_alone(stored) -> float:
    """Seconds to read all chunks, one after the other, with the store's own library."""
    (n, m), (a, b) = stored.shape, stored.chunks
    start = time.perf_counter()
    for i in range(0, n, a):
        for j in range(0, m, b):
            stored[i : i + a, j : j + b]
    return time.perf_counter() - start


def plan_read(stored, source_of, *, ahead: bool) -> tuple[float, int]:
    """Seconds to read a plan, and the bytes that this took."""
    source = source_of(stored, cache_bytes=0, read_ahead=ahead)
    start = time.perf_counter()
    curplus.observe(source, n_columns=50, n_rows=50, n_entries=100_000, rng=0)
    return time.perf_counter() - start, source.bytes_read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--chunk", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("chunks"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    n = int(options.gigabytes * 1e9 / 4 / COLUMNS)
    print(versions(), file=sys.stderr)
    table = csv.writer(sys.stdout)
    table.writerow(
        ["kind", "shape", "chunks alone, s", "plan, s", "plan ahead, s", "alone / plan", "alone / ahead", "passes"]
    )
    for kind in options.kinds:
        stored, source_of = made(kind, options.folder, n, options.chunk)
        alone, plain, ahead = [], [], []
        for _ in range(options.repeat):  # in turn, so that other work on the machine meets all three
            alone.append(chunks_alone(stored))
            plain.append(plan_read(stored, source_of, ahead=False)[0])
            seconds, size = plan_read(stored, source_of, ahead=True)
            ahead.append(seconds)
        a, p, q = min(alone), min(plain), min(ahead)
        passes = size / (4 * n * COLUMNS)
        table.writerow(
            [
                kind,
                f"{n} x {COLUMNS}",
                f"{a:.2f}",
                f"{p:.2f}",
                f"{q:.2f}",
                f"{a / p:.2f}",
                f"{a / q:.2f}",
                f"{passes:.2f}",
            ]
        )
        sys.stdout.flush()
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB", file=sys.stderr)


if __name__ == "__main__":
    main()
