"""A matrix made block by block on a cluster of processes on this machine: memory, blocks computed, a lost worker.

Run: python benchmarks/cluster.py [--shape 2000000 2000] [--n 40] [--rank 10] [--workers 2] [--certify]

The matrix is a product of factors of the given rank with 1 % noise. It is observed and approximated twice: once without
trouble, and once with a worker that is killed when a third of the blocks have been computed. The second answer must be
the first. Needs ``distributed``.
"""

import argparse
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.sources import DaskSource


def block(left, right, log, rank, block_info=None):
    """One block of the matrix, and a file that says that it was computed."""
    (a, b), (c, d) = block_info[None]["array-location"]
    rng = np.random.default_rng([a, c])
    U = np.random.default_rng([left, a]).standard_normal((b - a, rank))
    V = np.random.default_rng([right]).standard_normal((rank, d))[:, c:]
    (Path(log) / f"{a}-{c}-{uuid.uuid4().hex}").touch()
    x = U @ V
    for row in range(0, b - a, 1000):
        x[row : row + 1000] += 0.01 * rank**0.5 * rng.standard_normal((len(x[row : row + 1000]), d - c))
    return x


def matrix(shape, length, rank, log):
    import dask.array as da

    n, m = shape
    sizes = (length,) * (n // length) + ((n % length,) if n % length else ())
    return da.map_blocks(
        block, 1, 2, str(log), rank, chunks=(sizes, (m,)), dtype=np.float64, meta=np.empty((0, 0)), name=False
    )


def peak_of_process():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def kill_later(client, log, when, killed):
    """Kill one worker when so many blocks have been computed."""
    pid = next(iter(client.run(os.getpid).values()))

    def wait():
        while len(list(Path(log).iterdir())) < when:
            time.sleep(0.02)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def run(args, kill):
    """One observation and its approximation: what it predicts, and what it took."""
    from distributed import Client, LocalCluster

    n, m = args.shape
    with (
        tempfile.TemporaryDirectory() as log,
        LocalCluster(
            n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        killed, n_blocks = [], -(-n // args.block)
        if kill:
            kill_later(client, log, n_blocks // 3, killed)
        start = time.perf_counter()
        source = DaskSource(matrix(args.shape, args.block, args.rank, log), distributed=True)
        seen = curplus.observe(source, n_columns=args.n, n_rows=args.n, n_entries=args.entries, rng=0)
        read = time.perf_counter()
        if args.method == "cur_plus":
            approx = curplus.cur_plus(seen, args.rank, holdout=0.1)
        else:
            approx = curplus.approximate(seen, args.rank)
        made = time.perf_counter()
        certificate = curplus.certify(approx, seen) if args.certify else None
        judged = time.perf_counter()
        rng = np.random.default_rng(1)
        some = np.asarray(approx.entries(rng.integers(n, size=1000), rng.integers(m, size=1000)))
        singular_values = np.asarray(approx.svd().s)
        peaks = client.run(peak_of_process)
        computed = len(list(Path(log).iterdir()))
    return {
        "killed": len(killed),
        "blocks": n_blocks,
        "computed": computed,
        "reading": read - start,
        "fitting": made - read,
        "certifying": judged - made,
        "largest worker GB": max(peaks.values()) / 1e9,
        "relative error": certificate.relative_error if certificate else np.nan,
    }, np.concatenate([some, singular_values])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=int, nargs=2, default=(2_000_000, 2_000))
    parser.add_argument("--n", type=int, default=40, help="sampled columns, and rows")
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--block", type=int, default=10_000, help="rows of a block")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1.5GB", help="limit of a worker, above which it is restarted")
    parser.add_argument("--certify", action="store_true", help="also the certificate, which fits ten times")
    parser.add_argument("--method", choices=["cur_plus", "approximate"], default="cur_plus")
    args = parser.parse_args()
    print(versions())
    answers = []
    for kill in (False, True):
        facts, answer = run(args, kill)
        answers.append(answer)
        print(", ".join(f"{name}: {value:.4g}" for name, value in facts.items()), flush=True)
    difference = np.max(np.abs(answers[0] - answers[1])) / np.max(np.abs(answers[0]))
    print(f"largest relative difference of the two answers: {difference:.1e}")
    return int(difference > 1e-10)


if __name__ == "__main__":
    sys.exit(main())
