"""The assay trial: 500 compounds x 200 cell lines through a study, with failures and repeats, beside acquire without.

Run: python benchmarks/study_assay.py --data DIR [--seeds 40] [--lists 4], with the folder that has the data sets.

The matrix is the logarithm of 500 of the features of Arcene that are positive in at least nine samples of ten. A tenth
of it can be afforded. Every reading has noise of standard deviation 0.1; through the study, five readings of a hundred
fail, and two of a hundred are made again, out of the same budget. Errors are root mean squares, against values without
noise, on cells that were not read. cmfrec, where it is installed, gets as many random readings that did not fail, and
the best of twelve settings in hindsight. One draw differs from the next by a twentieth, so ten of them show little.
"""

import importlib.util
import tempfile
from pathlib import Path

from common import data_parser, neighbour, rms  # isort: skip

import numpy as np
import pandas as pd
import scipy.sparse

import curplus

SHARE, NOISE, FAILURES, REPEATS = 0.1, 0.1, 0.05, 0.02


def assays(folder: str, seed: int) -> np.ndarray:
    with np.load(Path(folder) / "arcene_train_valid.npz", allow_pickle=False) as file:
        parts = (file["data"], file["indices"], file["indptr"])
        shape = tuple(file["shape"])
    M = scipy.sparse.csr_array(parts, shape=shape).toarray().astype(float)
    M = M if M.shape[0] > M.shape[1] else M.T
    often = np.flatnonzero((M > 0).mean(axis=1) > 0.9)
    return np.log1p(M[np.random.default_rng(seed).choice(often, 500, replace=False)])


def through_a_study(truth: np.ndarray, n_lists: int, seed: int) -> tuple[float, int]:
    rng = np.random.default_rng([seed, 1])

    def readings(cells: pd.DataFrame) -> pd.DataFrame:
        values = truth[cells["row"], cells["column"]] + NOISE * rng.standard_normal(len(cells))
        return cells.assign(value=np.where(rng.random(len(cells)) < FAILURES, np.nan, values))

    with tempfile.TemporaryDirectory() as folder:
        study = curplus.Study.create(
            Path(folder) / "assay.study", rows=truth.shape[0], columns=truth.shape[1], budget=SHARE, noise=NOISE
        )
        for _ in range(n_lists):
            todo = study.ask(SHARE * truth.size / n_lists * (1 - REPEATS), rng=seed)
            study.tell(readings(todo.cells))
            again = todo.cells.sample(int(REPEATS * len(todo)), random_state=seed)
            study.tell(readings(again))
        table = study.predict()
        error = (table["value"].to_numpy() - truth.ravel())[~table["measured"].to_numpy()]
        return rms(error), int(study.status().spent)


def acquired(truth: np.ndarray, seed: int, counts: tuple[int, int, int]) -> float:
    rng = np.random.default_rng([seed, 2])
    noisy = truth + NOISE * rng.standard_normal(truth.shape)
    names = dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True))
    seen = curplus.acquire(noisy, **names, rng=seed)
    known = np.zeros(truth.shape, dtype=bool)
    known[seen.row_index], known[:, seen.column_index], known[seen.i, seen.j] = True, True, True
    return rms((curplus.approximate(seen).to_array() - truth)[~known])


def by_cmfrec(truth: np.ndarray, seed: int) -> float:
    if importlib.util.find_spec("cmfrec") is None:
        return np.nan
    rng = np.random.default_rng([seed, 3])
    cells = rng.choice(truth.size, int(SHARE * truth.size), replace=False)
    i, j = np.divmod(cells, truth.shape[1])
    known = np.zeros(truth.shape, dtype=bool)
    known[i, j] = True
    values = truth[i, j] + NOISE * rng.standard_normal(len(i))
    models = neighbour(i, j, values, truth.shape, (3, 6, 10, 15), (1.0, 3.0, 10.0), random_state=seed)
    others = np.nonzero(~known)
    return min(rms(model.predict(*others) - truth[others]) for model in models)


if __name__ == "__main__":
    parser = data_parser(__doc__, seeds=40, only=False)
    parser.add_argument("--lists", type=int, nargs="+", default=[4])
    options = parser.parse_args()
    print("seed,lists,spent,study,acquire 10 columns 20 rows 1200 entries,cmfrec best of 12")
    table = []
    for seed in range(options.seeds):
        truth = assays(options.data, seed)
        others = acquired(truth, seed, (10, 20, 1200)), by_cmfrec(truth, seed)
        for n_lists in options.lists:
            error, spent = through_a_study(truth, n_lists, seed)
            table.append((n_lists, spent, error, *others))
            print(f"{seed},{n_lists},{spent}," + ",".join(f"{x:.4f}" for x in table[-1][2:]), flush=True)
    for n_lists in options.lists:
        _, spent, *errors = np.median([row for row in table if row[0] == n_lists], axis=0)
        print(f"median,{n_lists},{spent:.0f}," + ",".join(f"{x:.4f}" for x in errors))
