"""Speed and memory of CUR+ on an 8000 x 8000 matrix of rank 50 plus 1 % noise, against two yardsticks of the same run.

The yardsticks are scikit-learn's randomized_svd of the whole matrix, and a floor no method in this family can go below:
gathering the columns and rows, their two Gram matrices and the two products that make bases of them.

Run: python benchmarks/speed.py
"""

import tracemalloc

from common import seconds, versions  # isort: skip

import numpy as np
from sklearn.utils.extmath import randomized_svd

import curplus
from curplus.solvers.equations import entry_equations

N, RANK, D, ENTRIES = 8000, 50, 100, 10_000
SOLVER = curplus.solvers.ConjugateGradient(tol=1e-10)

rng = np.random.default_rng(0)
M = rng.standard_normal((N, RANK)) @ rng.standard_normal((RANK, N))
M += 0.01 * M.std() * rng.standard_normal((N, N))
plan = curplus.observation.uniform_plan(M.shape, n_columns=D, n_rows=D, n_entries=ENTRIES, rng=0)
mixing = rng.standard_normal((D, RANK))


def observe():
    return curplus.observe(M, n_columns=D, n_rows=D, n_entries=ENTRIES, rng=0)


def floor():
    A, B = np.take(M, plan.column_index, axis=1), np.take(M, plan.row_index, axis=0)
    return A.T @ A, B @ B.T, A @ mixing, B.T @ mixing


seen = observe()
left = curplus.factorization.leading_basis(seen.columns, RANK).vectors
right = curplus.factorization.leading_basis(seen.rows.T, RANK).vectors
answer = curplus.cur_plus(seen, RANK, solver=SOLVER)

steps = {
    "everything: observe and cur_plus": lambda: curplus.cur_plus(observe(), RANK, solver=SOLVER),
    "observe": observe,
    "the two bases": lambda: (
        curplus.factorization.leading_basis(seen.columns, RANK),
        curplus.factorization.leading_basis(seen.rows.T, RANK),
    ),
    "setting up the equations": lambda: entry_equations(left, right, seen),
    f"solving them, {answer.core.iterations} iterations": lambda: SOLVER.solve(left, right, seen),
    "floor": floor,
}
times = {name: seconds(step) for name, step in steps.items()}
times["randomized_svd of the whole matrix"] = seconds(lambda: randomized_svd(M, RANK, random_state=0), repeat=1)

whole = times["everything: observe and cur_plus"]
print(versions())
print("| step | milliseconds | share of everything |")
print("|---|---|---|")
for name, time in times.items():
    print(f"| {name} | {1e3 * time:.1f} | {time / whole:.2f} |")
print(f"everything / floor: {whole / times['floor']:.1f}")
print(f"randomized_svd / everything: {times['randomized_svd of the whole matrix'] / whole:.0f}")

tracemalloc.start()
curplus.cur_plus(observe(), RANK, solver=SOLVER)
peak = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
print(f"peak memory above the input / bytes of A and B: {peak / (seen.columns.nbytes + seen.rows.nbytes):.2f}")
