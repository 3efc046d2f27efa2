"""What each model and each mechanism of `approximate` is worth: its error without it, relative to that with it.

Run: python benchmarks/ablation.py [--groups values crosses text] [--seeds 0 1] [--only NAME ...] [--out ablation.csv]

The cases are those of accuracy.py. A mechanism stays if the error rises by more than 1 % somewhere without it. Printed
are, for each group, the geometric mean over the cases and the case that needs it most.
"""

import argparse
import csv
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import accuracy

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.methods.approximate import MODELS

CODE = "curplus.methods.approximate."


def replaced(module: str, name: str, value: Any) -> Callable[[ExitStack], None]:
    return lambda stack: stack.enter_context(patch.object(import_module(CODE + module), name, value))


def plain_weights(held):
    """Least squares, not negative and with a sum of at most one, without shrinkage."""
    root = np.sqrt(held.weights)
    return import_module(CODE + "blend")._least(held.predicted * root[:, None], held.values * root, 0.0)


MECHANISMS: dict[str, Callable[[ExitStack], None]] = {
    "target zero": replaced("skeleton", "zero_target", import_module(CODE + "cross").offset_target),
    "target offsets": replaced("skeleton", "offset_target", import_module(CODE + "cross").zero_target),
    "posterior mean of the shrunken factors": replaced(
        "shrunken", "posterior_mean", lambda sums, start, *sweeps: start
    ),
    "shrinkage of the weights": replaced("blend", "blend_weights", plain_weights),
    "rows and columns as they were read": replaced(
        "approximate",
        "put_back",
        lambda cells, prediction: import_module(CODE + "assemble").orthogonal(*prediction.factors),
    ),
    "choice of the rank": replaced("approximate", "_least_rank", lambda parts, trials: 10**6),
}


def without(name: str, case: accuracy.Case, stack: ExitStack) -> accuracy.Case:
    """The case, fitted without a model or a mechanism."""
    others = tuple(model for model in MODELS if model.name != name)
    if len(others) < len(MODELS):
        return case._replace(options={**case.options, "models": others})
    MECHANISMS[name](stack)
    return case


def errors(case: accuracy.Case, seed: int, cache: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    M = case.matrix(seed)
    seen = accuracy.observed(case, M, seed, cache)
    for name in ["", *names]:
        with ExitStack() as stack:
            now = without(name, case, stack) if name else case
            answer, _, note = accuracy.fitted(now.fit, seen, **now.options)
        for found in case.judge(M, seen, answer, None):
            yield {"without": name, "group": case.group, "case": case.name, "seed": seed, "note": note} | found


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    names = [
        name
        for name in (*(model.name for model in MODELS), *MECHANISMS)
        if not options.without or name in options.without
    ]
    rows = []
    for case in (case for group in options.groups for case in accuracy.GROUPS[group]()):
        if case.fit is curplus.approximate and any(part in case.name for part in options.only):
            for seed in options.seeds:
                rows += errors(case, seed, options.cache, names)
                print(case.group, case.name, seed, flush=True)
    return rows


def show(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """One row for each mechanism: geometric mean and worst case of each group."""
    mean: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        error = max(row["error"] or np.nan, accuracy.ROUNDING * row["zero"])
        mean.setdefault((row["without"], row["group"], row["case"]), []).append(error)
    table = []
    for name in dict.fromkeys(row["without"] for row in rows):
        shown = {"without": name}
        for group in dict.fromkeys(row["group"] for row in rows):
            ratios = {
                case: float(np.mean(x) / np.mean(mean["", group, case]))
                for (which, at, case), x in mean.items()
                if (which, at) == (name, group)
            }
            worst = max(ratios, key=lambda case: np.nan_to_num(ratios[case], nan=np.inf))
            whole = np.exp(np.mean(np.log(list(ratios.values()))))
            shown[group] = "no answer" if np.isnan(whole) else f"{whole:.3f}"
            shown[f"{group}, most"] = f"no answer ({worst})" if np.isnan(whole) else f"{ratios[worst]:.3f} ({worst})"
        if name:
            table.append(shown)
    return table


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", choices=list(accuracy.GROUPS), default=["values", "crosses", "text"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of names of cases")
    parser.add_argument("--without", nargs="+", default=[], help="models and mechanisms; all if left out")
    parser.add_argument("--out", type=Path, default=Path("ablation.csv"))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "curplus-accuracy")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    print("#", versions(), flush=True)
    table = show(measure(options))
    with options.out.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    for row in table:
        print(" | ".join(row.values()))
