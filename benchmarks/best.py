"""Which are the best rows: answers until it is decided, beside plain elimination by paired differences.

Run: python benchmarks/best.py [--data DIR] [--seeds 10] [--draws 20] [--out docs/_static/best.csv]

Language models answer questions (MuSR, IFEval); the true means are those over all questions. Three tables. (1) The
best 3 of 30 models drawn at random, for each of ``--draws`` draws in ``--seeds`` orders of the questions: rows left
after 10, 20 and 40 % of the answers, the share of answers until decided, and how often the true three are inside.
"plain": one-sided normal intervals of paired differences with the correction for a finite population, at 10 numbers of
questions, geometrically from 30 to all of them; a model leaves if 3 others are above it, and the probability of error
is shared by the looks and by the rows left. "history": ours, with 100 other models that are known. (2) The best of all
models. (3) Coverage: rows of 0/1 answers of which the k best have a single one more, so that nothing but chance makes
them leave; how often one of them is ruled out before all columns are read.
"""

import common  # isort: skip

import csv
from pathlib import Path

import numpy as np
from scipy.stats import norm

import curplus

BUDGETS = (0.1, 0.2, 0.4)
TABLES = ("musr", "ifeval")


def ours(answers, k, order, history=()):
    """What was known after how many answers, as pairs of answers and rows left, and the best in the end."""
    n, m = answers.shape
    known = np.concatenate([answers, history]) if len(history) else answers
    seen = curplus.Observation(shape=known.shape, row_index=range(len(known)), rows=known, drawn_columns=order)
    decision = curplus.decide(seen, curplus.Best(k, among=range(n)))
    read, before, n_open, trace = 0, 0, n, []
    for look in decision.looks:
        read, before, n_open = read + (look.n_columns - before) * n_open, look.n_columns, look.n_left
        trace.append((read, look.n_chosen + look.n_left))
    if n_open:  # to the last question
        trace.append((read + (m - before) * n_open, k))
    return trace, decision.possible


def plain(answers, k, order, level=0.95, n_looks=10):
    """The same of plain elimination."""
    (n, m), read, before, trace = answers.shape, 0, 0, []
    left = np.arange(n)
    for d in np.unique(np.geomspace(30, m, n_looks).round().astype(int)):
        read, before = read + (d - before) * len(left), d
        values = answers[np.ix_(left, order[:d])]
        mean, covariance = values.mean(axis=1), np.atleast_2d(np.cov(values))
        variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
        error = np.sqrt(np.maximum(variance, 0) * (1 / d - 1 / m))
        above = mean[:, None] - mean > norm.isf((1 - level) / n_looks / len(left)) * error
        left = left[above.sum(axis=0) < k]
        trace.append((read, len(left)))
        if len(left) <= k:
            break
    return trace, left


def summary(runs, answers):
    """Rows left at each budget, share of answers until decided (median and mean), and how often the best are inside."""
    n, m = answers
    left = [[next((p for read, p in reversed(t) if read <= b * n * m), n) for b in BUDGETS] for t, _ in runs]
    share = [trace[-1][0] / (n * m) for trace, _ in runs]
    inside = np.mean([is_inside for _, is_inside in runs])
    return [*np.mean(left, axis=0), np.median(share), np.mean(share), inside]


def is_inside(means, k, possible):
    """Whether all that are clearly among the k best may be."""
    kth = np.sort(means)[-k]
    return set(np.flatnonzero(means > kth)) <= set(np.asarray(possible).tolist())


def best_three(table, n_draws, n_orders, *, k=3, n=30, n_history=100):
    """Table (1): plain elimination, ours, and ours with a history."""
    runs = {"plain": [], "ours": [], "history": []}
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        rows = rng.permutation(len(table))
        answers, history = table[rows[:n]], table[rows[n : n + n_history]]
        for _ in range(n_orders):
            order = rng.permutation(table.shape[1])
            for name, found in (
                ("plain", plain(answers, k, order)),
                ("ours", ours(answers, k, order)),
                ("history", ours(answers, k, order, history)),
            ):
                runs[name].append((found[0], is_inside(answers.mean(axis=1), k, found[1])))
    for name, some in runs.items():
        yield f"3 of {n}", name, *summary(some, (n, table.shape[1]))


def best_of_all(table, n_orders):
    """Table (2)."""
    runs = {"plain": [], "ours": []}
    for seed in range(n_orders):
        order = np.random.default_rng(seed).permutation(table.shape[1])
        for name, found in (("plain", plain(table, 1, order)), ("ours", ours(table, 1, order))):
            runs[name].append((found[0], is_inside(table.mean(axis=1), 1, found[1])))
    for name, some in runs.items():
        yield f"1 of {len(table)}", name, *summary(some, table.shape)


def nearly_alike(rng, n, m, k, difference):
    """Rows with the same number of ones but for the k best, which have one more; unlike in a share of the columns."""
    base = rng.random(m) < 0.5
    rows = np.tile(base, (n, 1))
    size = int(difference * m / 2)
    for row in rows:
        row[rng.choice(np.flatnonzero(base), size, replace=False)] = False
        row[rng.choice(np.flatnonzero(~base), size, replace=False)] = True
    for row in rows[:k]:
        row[rng.choice(np.flatnonzero(~row))] = True
    return rows.astype(float)


def coverage(n_runs):
    """Table (3): how often one of the best is ruled out, in rows of which only chance tells them."""
    for n, k, difference in ((30, 1, 0.2), (30, 3, 0.5), (4, 1, 0.3)):
        for with_history in (False, True):
            lost = 0
            for seed in range(n_runs):
                rng = np.random.default_rng(seed)
                rows = nearly_alike(rng, n + 40 * with_history, 600, k, difference)
                possible = ours(rows[:n], k, rng.permutation(600), rows[n:])[1]
                lost += not set(range(k)) <= set(possible.tolist())
            yield f"{k} of {n}, unlike in {difference:.0%}", "history" if with_history else "ours", lost / n_runs


def main():
    parser = common.data_parser(__doc__, seeds=10)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--runs", type=int, default=1000, help="of each case of the table of coverage")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = []
    with np.load(Path(options.data) / "llm_items.npz") as data:
        tables = {name: data[name].astype(float) for name in TABLES if name.startswith(tuple(options.only))}
    for name, table in tables.items():
        for line in (*best_three(table, options.draws, options.seeds), *best_of_all(table, options.seeds)):
            lines.append([name, *line[:2], *(f"{x:.1f}" for x in line[2:5]), *(f"{x:.1%}" for x in line[5:])])
            print("  ".join(f"{part:>10}" for part in lines[-1]), flush=True)
    if options.out:
        heads = ["table", "best", "rule", *(f"left at {b:.0%}" for b in BUDGETS), "decided, median", "mean", "inside"]
        with options.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([heads, *lines])
    for case, rule, lost in coverage(options.runs):
        print(f"{case:>25} {rule:>8}  ruled out in {lost:.1%} of {options.runs} runs", flush=True)


if __name__ == "__main__":
    main()
