"""Exact recovery: every solver, on random matrices of rank r, from d = r + 10 columns and rows and 2 r^2 entries.

Run: python benchmarks/recovery.py [--sides 1000 4000 10000] [--ranks 10 20 50] [--seeds 10] [--types] [--solvers]

The dense solvers take most of the time: leave them out of --solvers for a quick look.
"""

import argparse

from common import versions  # isort: skip

import numpy as np

import curplus
from curplus.datasets import make_low_rank
from curplus.paper.recovery import relative_error
from curplus.sources import FactoredSource


def gaussian_product(n: int, rank: int, seed: int, dtype: type) -> FactoredSource:
    """Experiment I of the paper, in single or double precision."""
    matrix = make_low_rank((n, n), rank, rng=seed)
    return FactoredSource(matrix.left.astype(dtype), matrix.right.astype(dtype))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sides", type=int, nargs="+", default=[1000, 4000, 10_000])
parser.add_argument("--ranks", type=int, nargs="+", default=[10, 20, 50])
parser.add_argument("--seeds", type=int, default=10)
parser.add_argument("--types", nargs="+", default=["float64", "float32"])
parser.add_argument("--solvers", nargs="+", default=list(curplus.solvers.SOLVERS))
options = parser.parse_args()

print(versions())
print("| type | n | r | solver | worst relative error | converged | most iterations |")
print("|---|---|---|---|---|---|---|")
failures = 0
for dtype, limit in ((np.float64, 1e-10), (np.float32, 1e-4)):
    if dtype.__name__ not in options.types:
        continue
    for n in options.sides:
        for r in options.ranks:
            sources = [gaussian_product(n, r, seed, dtype) for seed in range(options.seeds)]
            seen = [
                curplus.observe(source, n_columns=r + 10, n_rows=r + 10, n_entries=2 * r * r, rng=seed)
                for seed, source in enumerate(sources)
            ]
            for solver in options.solvers:
                answers = [curplus.cur_plus(observation, r, solver=solver) for observation in seen]
                errors = [relative_error(source, f) for source, f in zip(sources, answers, strict=True)]
                converged = sum(f.core.converged for f in answers)
                steps = max(f.core.iterations for f in answers)
                failures += sum(e > limit and f.core.converged for e, f in zip(errors, answers, strict=True))
                row = (dtype.__name__, n, r, solver, f"{max(errors):.1e}", f"{converged}/{len(answers)}", steps)
                print("|", " | ".join(map(str, row)), "|", flush=True)
print(f"{failures} answers claimed convergence and missed 1e-10 (float64) or 1e-4 (float32)")
raise SystemExit(failures > 0)
