"""Rows that were not in the matrix, completed from part of their values, beside what others do with the same values.

Run: python benchmarks/new_rows.py [--data DIR] [--seeds 8] [--out docs/_static/new_rows.csv]

Three tables. (1) OBOE: the error of 219 models on 418 data sets, ten folds over data sets. k models are run on each
new data set, chosen by Q-DEIM, and the errors of the others are predicted; relative error over all folds. "Recipe" is
that of OBOE: least squares on leading singular vectors, the better of rank k and k/2 in hindsight. (2) Answers of
language models: 50 random questions, the same for all new models; mean absolute error of the predicted score in
points, for random splits 75/25 of the models and with the strongest tenth held out. AIPW is a ridge regression (10)
of the answers of a new model on those of the others, over questions, corrected by its mean residual
(socialfoundations/benchmark-prediction). (3) Made-up matrices: error in terms of that of the mean row with a free
offset.
"""

from common import data_parser, only  # isort: skip

import csv
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

import curplus

BENCHMARKS = ("arc_challenge", "ifeval", "musr", "gsm")
N_QUESTIONS = 50


def fitted(history, rank=None):
    """The approximation of complete rows."""
    rows = curplus.Observation(shape=history.shape, row_index=np.arange(len(history)), rows=history)
    return curplus.approximate(rows, rank)


def least_squares(history, rows, columns, rank):
    """New rows as combinations of leading right singular vectors."""
    V = np.linalg.svd(history, full_matrices=False)[2][:rank].T
    return (V @ np.linalg.lstsq(V[columns], rows[:, columns].T, rcond=None)[0]).T


def oboe(data, n_seeds):
    """Relative errors for each number of models that are run, the root mean square over ways to make the folds."""
    errors = np.load(Path(data) / "oboe.npz")["error"].astype(float)
    found = {k: np.zeros((5, 2)) for k in (5, 10, 20, 40)}
    for seed in range(n_seeds):
        fold = np.random.default_rng(seed).permutation(len(errors)) % 10
        for f in range(10):
            history, new = errors[fold != f], errors[fold == f]
            approx = fitted(history)
            for k in found:
                found[k] += oboe_fold(history, new, approx, k)
    for k, sums in found.items():
        mean, with_all, with_half, cut, ours = np.sqrt(sums[:, 0] / sums[:, 1])
        yield f"{k} of 219 models", mean, min(with_all, with_half), cut, ours


def oboe_fold(history, new, approx, k):
    """Sums of squares of the errors of five guesses, and of the values that they are for."""
    columns = curplus.select_columns(history, k, method="qdeim")
    others = np.setdiff1d(np.arange(new.shape[1]), columns)
    guesses = [
        history.mean(axis=0) + np.zeros_like(new),
        least_squares(history, new, columns, k),
        least_squares(history, new, columns, max(k // 2, 1)),
        approx.truncate(k).complete_rows(only(new, columns)),
        approx.complete_rows(only(new, columns)),
    ]
    return np.asarray([[np.sum((x - new)[:, others] ** 2), np.sum(new[:, others] ** 2)] for x in guesses])


def splits_of_models(answers, seed):
    """Which models are new: a random quarter, or the strongest tenth."""
    n = len(answers)
    yield "random", np.random.default_rng(seed).permutation(n)[: n // 4]
    yield "strongest", np.argsort(answers.mean(axis=1), kind="stable")[-(n // 10) :]


def aipw(history, new, questions):
    """Scores of new models by AIPW with a ridge of 10."""
    rest = np.setdiff1d(np.arange(new.shape[1]), questions)
    ridge = Ridge(alpha=10).fit(history[:, questions].T, new[:, questions].T)
    gain = ridge.predict(history[:, rest].T).mean(axis=0) - ridge.predict(history[:, questions].T).mean(axis=0)
    return new[:, questions].mean(axis=1) + gain / (1 + len(questions) / len(rest))


def scores(data, n_seeds):
    """Mean absolute errors of scores, for each benchmark and way to split the models."""
    found = {}
    for name in BENCHMARKS:
        answers = np.load(Path(data) / "llm_items.npz")[name].astype(float)
        for seed in range(n_seeds):
            questions = np.random.default_rng(1000 + seed).choice(answers.shape[1], N_QUESTIONS, replace=False)
            for split, test in splits_of_models(answers, seed):
                history, new = np.delete(answers, test, axis=0), answers[test]
                completed = fitted(history).complete_rows(only(new, questions))
                guesses = (history.mean(), new[:, questions].mean(axis=1), aipw(history, new, questions))
                error = [np.mean(np.abs(guess - new.mean(axis=1))) for guess in (*guesses, completed.mean(axis=1))]
                found.setdefault((name, split), []).append(100 * np.asarray(error))
    table = {key: np.mean(errors, axis=0) for key, errors in found.items()}
    table["mean", ""] = np.mean(list(table.values()), axis=0)
    for (name, split), errors in table.items():
        yield name, split, *errors


def families(rng, n, m):
    """Made-up matrices."""
    signal = rng.standard_normal((n, 5)) @ rng.standard_normal((5, m))
    noise = rng.standard_normal((n, m))
    offsets = 3 * rng.standard_normal((n, 1)) + rng.standard_normal((1, m))
    yield "exact rank 5", signal
    yield "rank 5 and little noise", signal + 0.3 * noise
    yield "rank 5 and much noise", signal + 3 * noise
    yield "offsets and noise", offsets + noise
    yield "noise", noise


def made_up(n_seeds):
    """Errors in terms of those of the mean row with a free offset, for each family and number of known values."""
    found = {}
    for seed in range(n_seeds):
        for name, M in families(np.random.default_rng(seed), 300, 100):
            history, new = M[:200], M[200:]
            approx, mean = fitted(history), history.mean(axis=0)
            for k in (1, 3, 10, 30):
                known = only(new, np.arange(k))
                offset = np.mean((new - mean)[:, :k], axis=1, keepdims=True)
                baseline = np.linalg.norm((mean + offset - new)[:, k:])
                found.setdefault((name, k), []).append(np.linalg.norm(approx.complete_rows(known) - new) / baseline)
    for (name, k), ratios in found.items():
        yield name, k, np.mean(ratios), np.max(ratios)


def show(header, lines):
    """Print a table, and return it."""
    print(",".join(header), flush=True)
    table = [header]
    for line in lines:
        table.append([x if isinstance(x, str) else f"{x:.4g}" for x in line])
        print(",".join(table[-1]), flush=True)
    return table


if __name__ == "__main__":
    parser = data_parser(__doc__, seeds=8, only=False)
    parser.add_argument("--out", type=Path, help="file of the first table; that of the second ends in _scores")
    options = parser.parse_args()
    first = show(["run", "mean row", "recipe", "curplus of rank k", "curplus"], oboe(options.data, options.seeds))
    header = ["answers to", "new models", "mean score", "sample mean", "AIPW", "curplus"]
    second = show(header, scores(options.data, options.seeds))
    show(["made-up matrix", "known values", "mean ratio", "largest ratio"], made_up(options.seeds))
    if options.out:
        for path, table in ((options.out, first), (options.out.with_stem(options.out.stem + "_scores"), second)):
            with path.open("w", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows(table)
