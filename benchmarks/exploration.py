"""Matrices whose parts do not touch each other: does `acquire` find them all?

Run: python benchmarks/exploration.py [--seeds 10] [--cases blocks20 ...] [--strategies uniform pivoted auto]

Relative errors of `approximate` on what each strategy read, mean over the seeds. "auto" may exceed the better of
uniform and pivoted by 5 %. "few" is "auto" in three rounds, as for files that are larger than what is kept of them.
"""

import argparse

from common import versions  # isort: skip

import numpy as np

import curplus


def blocks(count):
    def make(rng):
        same = np.arange(2000)[:, None] * count // 2000 == np.arange(1500) * count // 1500
        return same * (1 + 0.1 * rng.standard_normal((2000, 1500)))

    return make


def communities(rng):
    share = rng.dirichlet(np.full(20, 1.5))
    same = rng.choice(20, size=2000, p=share)[:, None] == rng.choice(20, size=1500, p=share)
    return same * (1 + 0.1 * rng.standard_normal(same.shape)) + 0.02 * rng.standard_normal(same.shape)


def kernel(function, n=2000, m=1500):
    return lambda _rng: function(np.abs(np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, m)))


def noisy_rows(rng):
    M = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 200))
    M[rng.choice(300, 30, replace=False)] = 5 * rng.standard_normal((30, 200))
    return M


def hidden_block(rng):
    """A hundredth of the rows and columns, and a tenth of the squares."""
    M = rng.standard_normal((2000, 5)) @ rng.standard_normal((5, 1500)) + 0.1 * rng.standard_normal((2000, 1500))
    rows, columns = rng.choice(2000, 20, replace=False), rng.choice(1500, 15, replace=False)
    block = np.outer(rng.standard_normal(20), rng.standard_normal(15))
    M[np.ix_(rows, columns)] += block * np.sqrt(np.sum(M**2) / 9 / np.sum(block**2))
    return M


def matern(d):
    return (1 + np.sqrt(3) * d / 0.03) * np.exp(-np.sqrt(3) * d / 0.03)


LARGE, SMALL = (50, 250, 2000), (15, 15, 500)
CASES = {
    "blocks20": (blocks(20), LARGE, 20),
    "blocks10": (blocks(10), LARGE, 10),
    "communities": (communities, LARGE, 20),
    "exponential": (kernel(lambda d: np.exp(-50 * d)), LARGE, 20),
    "gaussian": (kernel(lambda d: np.exp(-((d / 0.02) ** 2))), LARGE, 20),
    "matern": (kernel(matern), LARGE, 20),
    "triangle": (lambda _rng: np.triu(np.ones((300, 200))), SMALL, 5),
    "autoregressive": (lambda _rng: 0.95 ** np.abs(np.arange(300)[:, None] - np.arange(200)), SMALL, 5),
    "noisy_rows": (noisy_rows, SMALL, 5),
    "hidden_block": (hidden_block, (50, 50, 50_000), 6),
}


class Passes(curplus.sources.ArraySource):
    """A matrix of which each round is a pass through a file."""

    a_round_is_a_pass = True


def error(M, counts, rank, strategy, seed):
    budget = dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True))
    if strategy == "few":
        seen = curplus.acquire(Passes(M), **budget, rng=seed)
    else:
        seen = curplus.acquire(M, **budget, strategy=strategy, rng=seed)
    answer = curplus.approximate(seen, rank)
    return np.linalg.norm(M - answer.to_array()) / np.linalg.norm(M)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--strategies", nargs="+", default=["uniform", "pivoted", "auto"])
    options = parser.parse_args()
    print("#", versions(), f"{options.seeds} seeds")
    print(",".join(["case", *options.strategies, "auto / better"]))
    for case in options.cases:
        make, counts, rank = CASES[case]
        errors = {strategy: [] for strategy in options.strategies}
        for seed in range(options.seeds):
            M = make(np.random.default_rng(seed))
            for strategy in options.strategies:
                errors[strategy].append(error(M, counts, rank, strategy, seed))
        means = {strategy: np.mean(x) for strategy, x in errors.items()}
        better = min(means.get("uniform", np.inf), means.get("pivoted", np.inf))
        ratio = f"{means['auto'] / better:.3f}" if "auto" in means and np.isfinite(better) else ""
        print(",".join([case, *(f"{x:.4f}" for x in means.values()), ratio]), flush=True)
