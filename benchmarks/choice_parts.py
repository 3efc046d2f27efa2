"""What each part of the automatic choice of rows and columns is worth: it is left out, and the error compared.

Run: python benchmarks/choice_parts.py [--seeds 3] [--cases oboe kernel ...] [--parts size ...] [--data DIR]

Errors of `approximate` on what `acquire` read, measured values kept, relative to the error with all parts; mean over
the seeds. The matrices are parts of those of budget.py, of a few hundred rows and columns.
"""

import argparse
import contextlib
import importlib
import os
from pathlib import Path
from unittest import mock

from budget import matrix, relative

from common import versions  # isort: skip

import numpy as np

import curplus

adaptive, budget, propose = (
    importlib.import_module(f"curplus.acquisition.{name}") for name in ("adaptive", "budget", "propose")
)


def kernel(_folder):
    return np.exp(-(((np.linspace(0, 1, 500)[:, None] - np.linspace(0, 1, 400)) / 0.03) ** 2))


def blocks(_folder):
    same = np.arange(600)[:, None] * 10 // 600 == np.arange(450) * 10 // 450
    return same * (1 + 0.1 * np.random.default_rng(0).standard_normal(same.shape))


def whole(name, most=600, part=300):
    """A matrix; of a large one 300 of the rows and columns."""

    def make(folder):
        rng, M = np.random.default_rng(0), matrix(name, folder)
        if max(M.shape) <= most:
            return M
        rows, columns = (np.sort(rng.choice(size, min(size, part), replace=False)) for size in M.shape)
        return M[rows][:, columns]

    return make


def text(name):
    """350 documents, and the 700 words that are in most of them."""

    def make(folder):
        M = curplus.datasets.load(name, data_home=folder).matrix.tocsr()
        rows = np.random.default_rng(0).choice(M.shape[0], 350, replace=False)
        words = np.argsort(-np.asarray((M != 0).sum(0)).ravel())[:700]
        return M[rows][:, np.sort(words)].toarray().astype(float)

    return make


def counts(n_columns, n_rows, n_entries):
    return {"n_columns": n_columns, "n_rows": n_rows, "n_entries": n_entries}


CASES = {
    "oboe": (whole("oboe"), {"budget": 0.1}),
    "norman": (whole("genetic_interactions"), {"budget": 0.1}),
    "planetlab": (whole("planetlab"), {"budget": 0.1}),
    "basehock": (text("basehock"), counts(20, 60, 2000)),
    "basehock_budget": (text("basehock"), {"budget": 0.1}),
    "dexter": (text("dexter"), counts(60, 20, 2000)),
    "noisy_rows": (lambda folder: matrix("noisy_rows", folder)[:400, :300], {"budget": 0.15}),
    "kernel": (kernel, counts(30, 60, 500)),
    "blocks": (blocks, counts(15, 25, 1500)),
}
expected = adaptive._expected


def drawn_uniformly(candidates, _expected, chosen, count, rng):
    return rng.permutation(candidates.available_except(chosen))[:count].tolist()


PARTS = {
    "nothing": contextlib.nullcontext,
    "explaining": lambda: mock.patch.object(adaptive, "_explaining", lambda _residual, drawn: drawn),
    "surprise": lambda: mock.patch.object(adaptive, "SURPRISE", 0.0),
    "untouched": lambda: mock.patch.object(adaptive, "_expected", lambda c: expected(c)._replace(of_untouched=0.0)),
    "wanted_more": lambda: mock.patch.object(propose, "CLEARLY_MORE", np.inf),
    "draws": lambda: mock.patch.object(adaptive, "_drawn_by_size", drawn_uniformly),
    "size": lambda: mock.patch.object(adaptive, "_power_of_size", return_value=1.0),
    "moving": lambda: mock.patch.object(budget, "unexplained_in_largest", return_value=1.0),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--parts", nargs="+", default=list(PARTS)[1:], choices=PARTS)
    options = parser.parse_args()
    print("#", versions(), f"{options.seeds} seeds")
    print(",".join(["data", "error", *(f"without {part}" for part in options.parts)]))
    for name in options.cases:
        make, how = CASES[name]
        M, errors = make(options.data), []
        for part in ("nothing", *options.parts):
            with PARTS[part]():
                read = [curplus.acquire(M, **how, rng=seed) for seed in range(options.seeds)]
            errors.append(np.mean([relative(M, seen, curplus.approximate(seen).to_array()) for seen in read]))
        print(",".join([name, f"{errors[0]:.4f}", *(f"{x / errors[0]:.3f}" for x in errors[1:])]), flush=True)
