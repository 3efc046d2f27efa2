r"""
One core, six solvers
=====================

``approximate`` needs no solver to be chosen. The paper's ``cur_plus``
fits its core by an ordinary least-squares problem, so that every solver
finds the same one. They differ in cost, and in what they can say about
the problem. The speed of the iterative ones depends on the number of
entries, and on how evenly the matrix is spread.
"""

# %%
# Two real tables come with the package: right and wrong answers of 448
# language models to 541 questions, and errors of 219 ways to classify on
# 418 data sets, a few of them far larger than the others. With rank 20
# the core has 400 unknowns. The first is read with 2 and with 20 entries
# for each of them, the second with 20.

import matplotlib.pyplot as plt
import numpy as np

import curplus
from curplus.factorization import leading_basis

rank = 20
answers = curplus.datasets.load("llm_answers").matrix
errors = curplus.datasets.load("oboe_errors").matrix
cases = {
    "answers, 2 entries per unknown": (answers, 2),
    "answers, 20 entries per unknown": (answers, 20),
    "errors, 20 entries per unknown": (errors, 20),
}
observations = {
    name: curplus.observe(
        source, n_columns=40, n_rows=40, n_entries=k * rank**2, rng=0
    )
    for name, (source, k) in cases.items()
}

# %%
# All solvers, by name; ``"auto"`` chooses one of them. The last column is
# the distance from the solution of dense least squares.

for case, seen in observations.items():
    print(case)
    exact = curplus.cur_plus(seen, rank, solver="least_squares").core
    print(f"  condition of the equations {exact.condition:.1f}")
    for name in curplus.solvers.SOLVERS:
        core = curplus.cur_plus(seen, rank, solver=name).core
        distance = np.linalg.norm(core.Z - exact.Z)
        distance /= np.linalg.norm(exact.Z)
        print(
            f"  {name:21} {core.iterations:4d} iterations   "
            f"residual {core.residual_norm:.6f}   {distance:7.0e}"
        )

# %%
# Now stop the iterative solvers after every number of steps, to see how
# they approach. If the bases were perfectly even, the error of conjugate
# gradients would shrink by about :math:`\sqrt{r^2/|\Omega|}` a step
# (dotted). The accelerated gradient, which the paper names, needs more
# steps, and many more when entries are few or the table is uneven.

solvers = {
    "conjugate gradients": (curplus.solvers.ConjugateGradient, "#0072B2"),
    "LSMR": (curplus.solvers.LSMR, "#E69F00"),
    "accelerated": (curplus.solvers.AcceleratedGradient, "#CC79A7"),
}


def distances(solver, seen, steps):
    """From the solution, after each number of steps."""
    left = leading_basis(seen.columns, rank).vectors
    right = leading_basis(seen.rows.T, rank).vectors
    given = left, right, seen.entries
    exact = curplus.solvers.LeastSquares().solve(*given).Z
    stopped = [solver(tol=0, max_iter=k).solve(*given).Z for k in steps]
    misses = [np.linalg.norm(Z - exact) for Z in stopped]
    return np.array(misses) / np.linalg.norm(exact)


figure, axes = plt.subplots(
    1, 3, figsize=(11, 4.2), sharey=True, layout="constrained"
)
most = (150, 40, 60)
for ax, case, end in zip(axes, cases, most, strict=True):
    steps = [int(k) for k in np.linspace(1, end, 30)]
    for name, (solver, colour) in solvers.items():
        found = distances(solver, observations[case], steps)
        style = "--" if name == "LSMR" else "-"
        ax.semilogy(steps, found, style, c=colour, lw=2, label=name)
    factor = cases[case][1]
    even = np.power(float(factor), -np.array(steps) / 2)
    ax.semilogy(
        steps, even, ":", c="0.3", label=r"$(r^2/|\Omega|)^{k/2}$"
    )
    ax.set(xlabel="iterations k", ylim=(1e-15, 3))
    ax.set_title(case, fontsize=10)
    ax.grid(alpha=0.3)
axes[0].set_ylabel("distance from the solution")
figure.legend(
    *axes[0].get_legend_handles_labels(),
    loc="outside lower center",
    ncols=4,
    frameon=False,
)
plt.show()

# %%
# ``solver="auto"`` chooses among them by the size of the problem: see
# :doc:`/guide/solvers`.
