r"""A logistic link for 0/1 answers: whether a logistic factor model lowers the error of cells and of means.

Run: python benchmarks/logistic.py [--data DIR] [--seeds 2] [--only NAME ...] [--out CSV], where DIR has llm_items.npz.

Entries of each table are drawn uniformly. "ours" is `approximate`. "with logistic" has one more model in the blend:

    P(M_ij = 1) = 1 / (1 + exp(-(c + a_i + b_j + u_i . v_j)))

with normal priors, fitted by Newton steps for rows and columns in turn. Its rank and the variance of the priors are
those with the largest likelihood at a tenth of the entries, which the choice left out. "logistic alone" is this model.
"calibrated" passes our predictions through a logistic curve, whose two numbers are fitted to left-out predictions.
Errors are relative to ours: root mean square at cells that were not read (ours cut to [0, 1]), root mean square of
`estimate_means` (of "logistic alone" and "calibrated": of the mean of what was read and of the other predictions).
"""

import common  # isort: skip

import csv
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import curplus
from curplus.methods.approximate import MODELS
from curplus.methods.approximate.prediction import Prediction

NAMES, SHARES = ("arc_challenge", "musr", "ifeval", "gsm"), (0.05, 0.1, 0.2)
RANKS, VARIANCES, SWEEPS = (0, 1, 2, 4), (0.1, 0.3, 1.0), 20
OFFSETS = 1.0  # variance of offsets of columns; those of rows have the variance of the prior as well
LEFT_OUT = 0.1


@dataclass(frozen=True)
class Logistic:
    """The logistic factor model, as one more model of the blend."""

    rank: int | None = None
    variance: float | None = None
    name = "logistic"
    uses_entries = True

    def applies(self, cells):
        return True

    def settled(self, cells):
        if self.rank is not None:
            return self
        values, known = table_of(cells)
        held = known & (np.random.default_rng(0).random(known.shape) < LEFT_OUT)
        choices = [replace(self, rank=r, variance=v) for r, v in product(RANKS, VARIANCES) if r or v == VARIANCES[0]]
        scores = [likelihood(choice.predict(values, known & ~held)[held], values[held]) for choice in choices]
        return choices[int(np.argmax(scores))]

    def fit(self, cells):
        model = self.settled(cells)
        chances = model.predict(*table_of(cells))
        return Prediction.of(chances, np.eye(chances.shape[1]))

    def predict(self, values, known):
        """Chances of a one, (n, m)."""
        (n, m), r = values.shape, self.rank
        rng = np.random.default_rng(0)
        center = np.log(np.mean(values[known]) / (1 - np.mean(values[known])))
        left = np.column_stack([np.zeros(n), np.ones(n), 0.1 * rng.standard_normal((n, r))])
        right = np.column_stack([np.ones(m), np.zeros(m), 0.1 * rng.standard_normal((m, r))])
        priors = np.array([OFFSETS, OFFSETS, *[self.variance] * r])
        for _ in range(SWEEPS):
            left = newton(left, right, values, known, center, priors, fixed=1)
            right = newton(right, left, values.T, known.T, center, priors, fixed=0)
        return expit(center + left @ right.T)


def newton(left, right, values, known, center, priors, fixed):
    """A Newton step for all rows of ``left`` at once, but for the feature that is one."""
    free = [k for k in range(left.shape[1]) if k != fixed]
    chances = expit(center + left @ right.T)
    slope = np.where(known, values - chances, 0) @ right[:, free] - left[:, free] / priors[free]
    pairs = (right[:, free, None] * right[:, None, free]).reshape(len(right), -1)
    curvature = (np.where(known, chances * (1 - chances), 0) @ pairs).reshape(len(left), len(free), len(free))
    found = left.copy()
    found[:, free] += np.linalg.solve(curvature + np.diag(1 / priors[free]), slope[:, :, None])[:, :, 0]
    return found


def table_of(cells):
    """Values, and which of them are known."""
    values, known = np.zeros(cells.shape), np.zeros(cells.shape, dtype=bool)
    entries = cells.scattered
    values[entries.i, entries.j], known[entries.i, entries.j] = entries.values > 0, True
    return values, known


def likelihood(chances, values):
    return float(np.mean(np.log(np.where(values > 0, chances, 1 - chances))))


def calibrated(approximation, seen):
    """Our predictions through a logistic curve that is fitted to predictions that did not use their value."""
    refits = approximation.provenance.refits
    used = np.flatnonzero(refits.fold >= 0)
    held = np.empty(len(used))
    for k, fit in enumerate(refits.fits):
        here = refits.fold[used] == k
        held[here] = fit.entries(seen.i[used[here]], seen.j[used[here]])
    curve = LogisticRegression(C=np.inf).fit(held[:, None], seen.values[used] > 0)
    predicted = approximation.to_array()
    return curve.predict_proba(predicted.reshape(-1, 1))[:, 1].reshape(predicted.shape)


def errors(M, unread, predicted, means):
    cells = np.sqrt(np.mean((np.clip(predicted, 0, 1) - M)[unread] ** 2))
    return cells, np.sqrt(np.mean((means - M.mean(axis=1)) ** 2))


def measure(M, share, seed):
    """Errors of cells and of means, for ours, with one more model, that model alone, and calibrated."""
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=round(share * M.size), rng=seed)
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.i, seen.j] = False
    ours, with_it = (curplus.approximate(seen, models=models) for models in (None, [*MODELS, Logistic()]))
    found = [errors(M, unread, x.to_array(), curplus.estimate_means(x, seen).estimate) for x in (ours, with_it)]
    others = Logistic().fit(curplus.observation.Cells.of(seen)).to_array(), calibrated(ours, seen)
    found += [errors(M, unread, chances, np.where(unread, chances, M).mean(axis=1)) for chances in others]
    return np.asarray(found)  # (4, 2)


if __name__ == "__main__":
    parser = common.data_parser(__doc__, seeds=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ways = ("with logistic", "logistic alone", "calibrated")
    header = ["table", "share", "cells: ours", "means: ours"]
    table = [header + [f"{what}: {way}" for what in ("cells", "means") for way in ways]]
    print(",".join(table[0]), flush=True)
    everything, ratios = np.load(Path(options.data) / "llm_items.npz", allow_pickle=False), []
    for name, share in product((x for x in NAMES if x.startswith(tuple(options.only))), SHARES):
        M = everything[name].astype(float)
        found = np.mean([measure(M, share, seed) for seed in range(options.seeds)], axis=0)
        ratios.append((found[1:] / found[0]).T)
        table.append([name, str(share), *(f"{x:.4f}" for x in (*found[0], *ratios[-1].ravel()))])
        print(",".join(table[-1]), flush=True)
    means = np.exp(np.mean(np.log(ratios), axis=0)).ravel()
    table.append(["geometric mean", "", "", "", *(f"{x:.4f}" for x in means)])
    print(",".join(table[-1]))
    if options.out:
        with options.out.open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(table)
