"""Does the rule for intervals of a mean square hold for errors with light and heavy tails, whatever made them?

Run: python benchmarks/tails.py [--draws 30]

Populations of 300 x 400 errors; 500 to 11,000 of them are drawn, alone or beside 14 rows and 14 columns, and their mean
square is given an interval of nominal 95 % by the rule of `certify`, or refused. Nothing is fitted. The last column is
the coverage if no upper end were moved out.
"""

import argparse
import math

from common import versions  # isort: skip

import numpy as np

from curplus.evaluation.certificate import HELD_OUT
from curplus.evaluation.effective_sample import check_tails, tail_of
from curplus.evaluation.estimate import Estimate

SHAPE = (300, 400)
SIZES = (500, 2000, 6000, 11_000)
POPULATIONS = 12


def counts(spread):
    """Counts less rates that are known to a fifth."""

    def errors(rng):
        rates = np.exp(spread * rng.standard_normal((300, 2)) @ rng.standard_normal((2, 400)))
        return rng.poisson(rates) - rates * np.exp(0.2 * rng.standard_normal(SHAPE))

    return errors


def student(freedom):
    return lambda rng: rng.standard_t(freedom, SHAPE)


ERRORS = {
    "Gaussian": lambda rng: rng.standard_normal(SHAPE),
    "Laplace": lambda rng: rng.laplace(size=SHAPE),
    **{f"Student, t({x:g})": student(x) for x in (8, 6, 5, 4, 3.5, 3)},
    "lognormal, sigma 0.7": lambda rng: rng.lognormal(0, 0.7, SHAPE),
    "lognormal, sigma 1": lambda rng: rng.lognormal(0, 1, SHAPE),
    "Weibull, 0.7": lambda rng: rng.weibull(0.7, SHAPE),
    **{f"counts, spread {x:g}": counts(x) for x in (0.2, 0.3, 0.4, 0.5)},
}


def estimate(squares, size, with_lines, rng):
    """The estimate of the mean of all from a sample."""
    lines = {}
    if with_lines:
        rows, columns = (rng.choice(n, 14, replace=False) for n in SHAPE)
        lines = {"sampled rows": squares[rows].ravel(), "sampled columns": squares[:, columns].ravel()}
    drawn = rng.choice(squares.ravel(), size, replace=False)
    tail = tail_of(drawn, *lines.values())
    effective, reason = check_tails(drawn, lines, HELD_OUT, count=size, tail=tail)
    mean = float(drawn.mean())
    variance = max(float(np.mean((drawn / mean - 1) ** 2)) / size, 1 / effective - 1 / size)
    spread = math.sqrt((1 - size / squares.size) * variance)
    return Estimate(HELD_OUT, mean, 1, effective, spread, stretch=tail.stretch, reason=reason)


def measure(errors, draws):
    """How many intervals there are of each case, given, right, and right without moving the upper end."""
    given = right = not_moved = 0
    rng = np.random.default_rng(1)
    for _ in range(POPULATIONS):
        squares = errors(rng) ** 2
        truth = float(squares.mean())
        for size in SIZES:
            for with_lines in (False, True):
                for found in (estimate(squares, size, with_lines, rng) for _ in range(draws)):
                    if not found.reason:
                        limits = (x.limits(0.95) for x in (found, found._replace(stretch=1.0)))
                        moved, plain = (low <= truth <= high for low, high in limits)
                        given, right, not_moved = given + 1, right + moved, not_moved + plain
    return given, right, not_moved


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=30)
    draws = parser.parse_args().draws
    print("#", versions())
    print("errors,given,right,right if not moved")
    for name, errors in ERRORS.items():
        given, right, not_moved = measure(errors, draws)
        shares = ",".join(f"{x / given:.1%}" if given else "" for x in (right, not_moved))
        print(f'"{name}",{given / (POPULATIONS * len(SIZES) * 2 * draws):.1%},{shares}', flush=True)
