"""Published splits and settings, with the present code: the table of docs/guide/published.rst.

Run: python benchmarks/published.py --data DIR [--seeds 3] [--out docs/_static/published.csv]

Nothing is set for any of them. Ratings: `approximate` of the training ratings, predictions clipped to the scale, root
mean square error at the test ratings; of Jester, which has no published split, a random tenth, and the mean absolute
error over the range of the scale. Scores of new language models: llm_numbers.py.
"""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from common import data_parser, rms  # isort: skip

import numpy as np

import curplus

ASIDE = 0.1  # of the ratings, if no split is published


def ratings(file: Path, scale: tuple[float, float], is_test: Callable[..., np.ndarray]) -> np.ndarray:
    """Errors at the ratings that ``is_test`` says are set aside."""
    data = np.load(file, allow_pickle=False)
    i, j = (data[side].astype(np.int64) for side in ("rows", "cols"))
    values = data["values"].astype(float) * (float(data["scale"]) if "scale" in data.files else 1.0)
    test = is_test(data)
    seen = curplus.Observation(
        shape=tuple(int(size) for size in data["shape"]), i=i[~test], j=j[~test], values=values[~test]
    )
    predicted = np.clip(curplus.approximate(seen).entries(i[test], j[test]), *scale)
    return predicted - values[test]


def movielens(folder: Path, fold: int) -> np.ndarray:
    return ratings(folder / "movielens_100k.npz", (1, 5), lambda data: data["test_fold"] == fold)


def jester(folder: Path, seed: int) -> np.ndarray:
    def is_test(data):
        return np.random.default_rng(seed).random(len(data["values"])) < ASIDE

    return ratings(folder / "jester5k.npz", (-10, 10), is_test)


def table(folder: Path, seeds: int) -> Iterator[tuple[str, str, str, float]]:
    """Data, split, what is measured, value."""
    folds = {fold: rms(movielens(folder, fold)) for fold in range(1, 6)}
    yield "MovieLens 100k", "u1", "RMSE", folds[1]
    yield "MovieLens 100k", "u1 to u5, mean", "RMSE", float(np.mean(list(folds.values())))
    flixster = ratings(folder / "flixster.npz", (0.5, 5), lambda data: data["is_test"])
    yield "Flixster, 3000 x 3000", "of Monti and others 2017", "RMSE", rms(flixster)
    errors = [jester(folder, seed) for seed in range(seeds)]
    split = f"random 90/10, {seeds} draws"
    yield "Jester, 5000 users", split, "RMSE", float(np.mean([rms(x) for x in errors]))
    yield "Jester, 5000 users", split, "NMAE", float(np.mean([np.mean(np.abs(x)) / 20 for x in errors]))


if __name__ == "__main__":
    parser = data_parser(__doc__, only=False)
    parser.add_argument("--out", type=Path, help="file for the table (CSV)")
    options = parser.parse_args()
    rows = [("data", "split", "measured", "curplus")]
    for *words, value in table(Path(options.data), options.seeds):
        rows.append((*words, f"{value:.4f}"))
        print(*rows[-1], sep=" | ", flush=True)
    if options.out:
        with options.out.open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
