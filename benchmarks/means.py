"""Means of rows from a part of the matrix: coverage and width of their intervals, beside the sample mean's.

Run: python benchmarks/means.py --data DIR [--seeds 8] [--first 0] [--only NAME ...], where DIR has llm_items.npz.

"uniform" reads entries drawn uniformly. "acquired" reads rows and columns that acquire chooses, as many of each, for
half of the values, and entries drawn uniformly for the rest. Rows that were read whole are left out. Widths are
relative to those of t intervals for the mean of a simple random sample of each row without replacement, of as many
values as were read of the row.
"""

from pathlib import Path

from common import data_parser  # isort: skip

import numpy as np
import scipy.special

import curplus

NAMES, SHARES, LEVEL = ("arc_challenge", "musr", "ifeval", "gsm"), (0.05, 0.1, 0.2), 0.95


def read(M, share, how, seed):
    n, m = M.shape
    if how == "uniform":
        return curplus.observe(M, n_columns=0, n_rows=0, n_entries=int(share * n * m), rng=seed)
    d = max(1, round(share * n * m / 2 / (n + m)))
    return curplus.acquire(M, n_columns=d, n_rows=d, n_entries=int(share * n * m / 2), rng=seed)


def sample_mean_width(M, seen, rows):
    """Mean width of the t intervals for the means of some rows, of samples with the spread that each row has."""
    known = np.zeros(M.shape, dtype=bool)
    known[:, seen.column_index], known[seen.i, seen.j] = True, True
    size = np.maximum(known.sum(axis=1)[rows], 2)
    error = M.std(axis=1, ddof=1)[rows] * np.sqrt((1 - size / M.shape[1]) / size)
    return float(np.mean(2 * error * scipy.special.stdtrit(size - 1, (1 + LEVEL) / 2)))


def measure(M, share, how, seed):
    seen = read(M, share, how, seed)
    means = curplus.estimate_means(curplus.approximate(seen), seen, level=LEVEL)
    if means.reason:
        return [np.nan] * 8
    truth, open_ = M.mean(axis=1), ~means.is_exact
    inside = (means.low <= truth) & (truth <= means.high)
    joint = np.all((means.joint_low <= truth + 1e-12) & (truth - 1e-12 <= means.joint_high))
    best = means.best(10)
    found = np.isin(np.argsort(-truth, kind="stable")[:10], best).all()
    low, high = means.total_interval
    width = np.mean((means.high - means.low)[open_])
    ratio = width / sample_mean_width(M, seen, open_)
    return [inside[open_].mean(), joint, ratio, width, low <= M.sum() <= high, len(best), found, 1.0]


if __name__ == "__main__":
    parser = data_parser(__doc__, seeds=8)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args()
    print("data,read,share,covered,all covered,width / sample mean's,width,total covered,may be in top 10,top 10 in it")
    everything = np.load(Path(options.data) / "llm_items.npz", allow_pickle=False)
    for name in (x for x in NAMES if x.startswith(tuple(options.only))):
        M = everything[name].astype(float)
        for how in ("uniform", "acquired"):
            for share in SHARES:
                seeds = range(options.first, options.first + options.seeds)
                found = np.array([measure(M, share, how, seed) for seed in seeds])
                shown = ",".join(f"{x:.3f}" for x in np.nanmean(found[:, :-1], axis=0))
                print(f"{name},{how},{share:g},{shown},{int(np.isnan(found[:, 0]).sum())} refused", flush=True)
