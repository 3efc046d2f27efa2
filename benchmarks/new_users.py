"""New users of MovieLens-100k, of whom 2 to 50 ratings are known, beside item means with a shrunken offset.

Run: python benchmarks/new_users.py [--data DIR] [--seeds 10]

A quarter of the users is new; those with at least 70 ratings are completed, the same for all numbers of known ratings,
from the fit to the others (`complete_rows`). Errors are root mean squares at the ratings after the first 50 of a random
order. Beside them: item means, shrunk towards the mean of all as by 5 more ratings of that size; the same with an
offset, the sum of k residuals over k + s, with the s that is best in hindsight (of 0.25 to 10); and ours over that.
"""

from common import data_parser, rms  # isort: skip

import numpy as np

import curplus

KNOWN = (2, 5, 10, 20, 50)
FEWEST_RATINGS = 70
SHRINKAGES = np.linspace(0.25, 10, 40)


def split(ratings, seed):
    """Ratings of old users and of new ones, NaN where there is none, and a random order of those of each new user."""
    rng = np.random.default_rng(seed)
    is_new = rng.permutation(len(ratings)) < len(ratings) // 4
    new = ratings[is_new & (np.count_nonzero(~np.isnan(ratings), axis=1) >= FEWEST_RATINGS)]
    order = np.argsort(np.where(np.isnan(new), 2.0, rng.random(new.shape)), axis=1)
    return ratings[~is_new], new, order


def shrunken_item_means(train):
    total, counts = np.nanmean(train), np.count_nonzero(~np.isnan(train), axis=0)
    return total + np.nansum(train - total, axis=0) / (counts + 5)


def errors(ratings, seed):
    """For each number of known ratings: the error of item means, of these with the best offset, and ours."""
    train, new, order = split(ratings, seed)
    i, j = np.nonzero(~np.isnan(train))
    approx = curplus.approximate(curplus.Observation(shape=train.shape, i=i, j=j, values=train[i, j]))
    items, rows = shrunken_item_means(train), np.arange(len(new))[:, None]
    judged = ~np.isnan(new)
    judged[rows, order[:, : KNOWN[-1]]] = False
    for k in KNOWN:
        known = np.full_like(new, np.nan)
        known[rows, order[:, :k]] = new[rows, order[:, :k]]
        sums = np.nansum(known - items, axis=1)[:, None]
        with_offset = min(rms((items + sums / (k + s) - new)[judged]) for s in SHRINKAGES)
        yield rms((items - new)[judged]), with_offset, rms((approx.complete_rows(known) - new)[judged])


if __name__ == "__main__":
    options = data_parser(__doc__, seeds=10, only=False).parse_args()
    found = curplus.datasets.load("movielens_100k", data_home=options.data)
    ratings = np.full(found.shape, np.nan)
    ratings[found.i, found.j] = found.values
    print("known ratings,item means,with offset,curplus,ratio")
    table = np.mean([list(errors(ratings, seed)) for seed in range(options.seeds)], axis=0)
    for k, row in zip(KNOWN, table, strict=True):
        print(k, *(f"{x:.4f}" for x in row), f"{row[2] / row[1]:.4f}", sep=",", flush=True)
