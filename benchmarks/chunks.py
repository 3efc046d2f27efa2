"""A plan of columns, rows and entries from a file in chunks, beside reading the same chunks alone.

A file of random numbers is made first, Zarr or HDF5, compressed or not. It is in the cache of the system then, so what
is measured is decompression and copying, where reading ahead can help least. Wall time, best of some runs in turn; on
a machine that is shared, look at the ratios.

Run: python benchmarks/chunks.py --gigabytes 1 --folder /tmp/chunks
     python benchmarks/chunks.py --gigabytes 16 --columns 20000 --kinds zarr --repeat 1 --acquire

With ``--acquire`` as many rows, columns and entries are chosen in rounds, and the passes that this takes are counted.
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

LINES, ENTRIES = 50, 100_000
KINDS = ("zarr", "zarr plain", "hdf5 gzip", "hdf5 plain")


def made(kind: str, folder: Path, shape: tuple[int, int], chunk: int):
    """The dataset of a file, made if it is not there, and the function that makes a source of it."""
    path = folder / f"{kind.replace(' ', '-')}-{shape[0]}-{shape[1]}-{chunk}"
    if kind.startswith("zarr"):
        import zarr

        if not path.exists():
            options = {"compressors": None} if kind == "zarr plain" else {}
            fill(zarr.create_array(path, shape=shape, chunks=(chunk, chunk), dtype="f4", **options), chunk)
        return zarr.open_array(path, mode="r"), zarr_source
    import h5py

    if not path.exists():
        with h5py.File(path, "w") as file:
            options = {"compression": "gzip", "compression_opts": 1} if kind == "hdf5 gzip" else {}
            fill(file.create_dataset("m", shape, "f4", chunks=(chunk, chunk), **options), chunk)
    return h5py.File(path, "r")["m"], hdf5_source


def fill(stored, chunk: int) -> None:
    """Numbers of few digits, so that they can be compressed."""
    rng, (n, m) = np.random.default_rng(0), stored.shape
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        stored[start:stop] = np.round(rng.standard_normal((stop - start, m), dtype=np.float32), 2)


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
    curplus.observe(source, n_columns=LINES, n_rows=LINES, n_entries=ENTRIES, rng=0)
    return time.perf_counter() - start, source.bytes_read


def acquired(stored, source_of) -> tuple[float, int]:
    """Seconds to choose as much in rounds, with what a source keeps by default, and the bytes that this took."""
    source = source_of(stored)
    start = time.perf_counter()
    curplus.acquire(source, n_columns=LINES, n_rows=LINES, n_entries=ENTRIES, rng=0)
    return time.perf_counter() - start, source.bytes_read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--chunk", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--acquire", action="store_true", help="also choose in rounds")
    parser.add_argument("--folder", type=Path, default=Path("chunks"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shape = (int(options.gigabytes * 1e9 / 4 / options.columns), options.columns)
    whole = 4 * shape[0] * shape[1]
    print(versions(), file=sys.stderr)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(
        ["kind", "shape", "chunks alone, s", "plan, s", "plan ahead, s", "alone / plan", "alone / ahead", "passes"]
    )
    for kind in options.kinds:
        stored, source_of = made(kind, options.folder, shape, options.chunk)
        alone, plain, ahead = [], [], []
        for _ in range(options.repeat):  # in turn, so that other work on the machine meets all three
            alone.append(chunks_alone(stored))
            plain.append(plan_read(stored, source_of, ahead=False)[0])
            seconds, size = plan_read(stored, source_of, ahead=True)
            ahead.append(seconds)
        a, p, q = min(alone), min(plain), min(ahead)
        times = [f"{x:.2f}" for x in (a, p, q, a / p, a / q, size / whole)]
        table.writerow([kind, f"{shape[0]} x {shape[1]}", *times])
        sys.stdout.flush()
        if options.acquire:
            seconds, size = acquired(stored, source_of)
            print(f"acquire, {kind}: {seconds:.1f} s, {size / whole:.2f} passes, {seconds / a:.2f} of the chunks alone")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB", file=sys.stderr)


if __name__ == "__main__":
    main()
