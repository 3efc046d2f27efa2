r"""The score of a new language model from part of its answers, in the terms in which others publish theirs.

Run: python benchmarks/llm_numbers.py [--data DIR] [--seeds 5] [--only NAME ...] [--out docs/_static/llm_numbers.csv]

A random quarter of the models is new; the others have answered everything. Two questions. (1) The mean absolute error
of the score from 50 and from 100 questions: those of `select_columns(goal="mean")` with `row_means`, random ones with
`row_means`, and the plain mean of random ones. (2) Intervals of 95 % at 10 % of the questions: those that hold on
average over models like the known ones (chosen questions), and those that hold for this model alone (drawn questions,
`draw_columns`). "ESS" is how many times as many questions, drawn uniformly, give an interval as narrow: the square of
the mean width of normal intervals, with the finite-population factor, over that of ours. "worst" is the least coverage
in any tenth of the models, ordered by their scores.
"""

from common import data_parser, only  # isort: skip

import csv
from pathlib import Path

import numpy as np

import curplus

NAMES, SIZES, SHARE, LEVEL = ("arc_challenge", "ifeval", "musr", "gsm"), (50, 100), 0.1, 0.95
HEADER = ("table", "models", "questions")
HEADER += tuple(f"{how} {k}" for k in SIZES for how in ("chosen", "random", "sample mean of"))
HEADER += tuple(f"{how}: {what}" for how in ("on average", "alone") for what in ("ESS", "covered", "worst"))


def uniform_width(rows, k):
    """Mean width of normal intervals for the means of simple random samples of k values."""
    spread = rows.std(axis=1, ddof=1) * np.sqrt((1 - k / rows.shape[1]) / k)
    return 2 * 1.96 * np.mean(spread)


def interval(means, truth, uniform):
    """Mean width relative to that of uniform samples, and which intervals have the truth."""
    return np.mean(means.high - means.low) / uniform, (means.low <= truth) & (truth <= means.high)


def split(M, seed):
    """Errors of scores, widths of intervals, and which of these have the truth, with the scores."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(M))
    history, new = M[order[len(M) // 4 :]], M[order[: len(M) // 4]]
    truth = new.mean(axis=1)
    rows = curplus.Observation(shape=history.shape, row_index=np.arange(len(history)), rows=history)
    fitted = curplus.approximate(rows)
    errors = []
    for k in SIZES:
        random = rng.choice(M.shape[1], k, replace=False)
        chosen = curplus.select_columns(history, k, goal="mean", rng=seed)
        guesses = [fitted.row_means(only(new, columns)).estimate for columns in (chosen, random)]
        errors += [np.mean(np.abs(guess - truth)) for guess in (*guesses, new[:, random].mean(axis=1))]
    k = round(SHARE * M.shape[1])
    chosen = only(new, curplus.select_columns(history, k, goal="mean", rng=seed))
    drawn = curplus.acquisition.draw_columns(history, k, rng=rng)
    alone = fitted.row_means(only(new, drawn.columns), probabilities=drawn.probabilities, level=LEVEL)
    uniform = uniform_width(new, k)
    found = [interval(means, truth, uniform) for means in (fitted.row_means(chosen, level=LEVEL), alone)]
    return errors, [width for width, _ in found], [inside for _, inside in found], truth


def measure(M, n_seeds):
    """One line of the table, after its name and size."""
    errors, widths, inside, truth = zip(*(split(M, seed) for seed in range(n_seeds)), strict=True)
    tenths = np.array_split(np.argsort(np.concatenate(truth), kind="stable"), 10)
    line = [f"{x:.4f}" for x in np.mean(errors, axis=0)]
    for how in (0, 1):
        covered = np.concatenate([each[how] for each in inside])
        ratio = np.mean([each[how] for each in widths]) ** -2
        line += [f"{ratio:.2f}", f"{covered.mean():.3f}", f"{min(covered[tenth].mean() for tenth in tenths):.3f}"]
    return line


if __name__ == "__main__":
    parser = data_parser(__doc__, seeds=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(",".join(HEADER), flush=True)
    everything = np.load(Path(options.data) / "llm_items.npz", allow_pickle=False)
    table = [HEADER]
    for name in (x for x in NAMES if x.startswith(tuple(options.only))):
        M = everything[name].astype(float)
        table.append((name, *map(str, M.shape), *measure(M, options.seeds)))
        print(",".join(table[-1]), flush=True)
    if options.out:
        with options.out.open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(table)
