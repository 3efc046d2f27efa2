"""Do intervals of nominal 95 % cover the truth, and are the rest refused? Five matrices, two of them heavy-tailed.

Run: python benchmarks/certificate.py [--draws 200] [--data DIR]

MNIST test digits are used where the data sets are at hand (DIR, or CURPLUS_DATA), scikit-learn's digits otherwise.
"""

import argparse
import collections
import os
from pathlib import Path

from common import versions  # isort: skip

import numpy as np
import scipy.sparse
from sklearn.datasets import load_digits

import curplus


def matrices(folder: str | None):
    """name: (matrix, rank, columns, rows, entries)"""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 300))
    yield "low rank + noise", signal + 0.3 * rng.standard_normal(signal.shape), 5, 15, 15, 6000
    U, V = (np.linalg.qr(rng.standard_normal((k, 300))).Q for k in (400, 300))
    yield "power law", (U / np.arange(1, 301)) @ V.T, 10, 20, 60, 1500
    digits = load_digits().data
    if folder:
        digits = scipy.sparse.load_npz(Path(folder) / "mnist_t10k.npz").toarray()[:2000].astype(float)
    yield "digits", digits, 10, 20, 100, 3000
    yield "Student noise, t(3)", signal + 0.5 * rng.standard_t(3, signal.shape), 5, 15, 15, 6000
    words, topics = rng.pareto(1.2, (2000, 1)), rng.gamma(0.3, size=(2000, 5)) @ rng.gamma(0.3, size=(5, 600))
    yield "word counts", rng.poisson(0.05 * words * topics).astype(float), 5, 30, 100, 10_000


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--draws", type=int, default=200)
parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
parser.add_argument("--evidence", nargs="+", default=["entries", "rows"])
parser.add_argument("--only", nargs="+", help="names of matrices, or the beginnings of them")
options = parser.parse_args()
print(versions())
print("| matrix | evidence wanted | given | covered | mean half-width | median estimate / truth | refused because |")
print("|---|---|---|---|---|---|---|")
failures = 0
for name, M, rank, d1, d2, n_entries in matrices(options.data):
    if options.only and not name.startswith(tuple(options.only)):
        continue
    for wanted in options.evidence:
        given = covered = 0
        widths, ratios = [], []
        reasons: collections.Counter[str] = collections.Counter()
        for seed in range(options.draws):
            count = n_entries if wanted == "entries" else 0
            seen = curplus.observe(M, n_columns=d1, n_rows=d2, n_entries=count, rng=seed)
            answer = curplus.approximate(seen, rank)
            truth = np.linalg.norm(M - answer.to_array())
            certificate = curplus.certify(answer, seen)
            ratios.append(certificate.error / truth)
            if certificate.interval is None:
                words_only = "".join(c for c in certificate.reason.split(";")[0] if not c.isdigit() and c != "%")
                reasons[" ".join(words_only.split())] += 1
                continue
            low, high = certificate.interval
            given += 1
            covered += low <= truth <= high
            widths.append((high - low) / 2 / truth)
        share = f"{covered / given:.1%}" if given else ""
        failures += given >= 40 and not 0.90 <= covered / given <= 0.98
        why = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(2))
        half = f"{np.mean(widths):.1%}" if widths else ""
        print(
            f"| {name} | {wanted} | {given} of {options.draws} | {share} | {half} | {np.median(ratios):.3f} | {why} |",
            flush=True,
        )
print(f"{failures} coverages outside 90 to 98 %, of those with at least 40 intervals")
raise SystemExit(failures > 0)
