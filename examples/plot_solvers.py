r"""
One core, six solvers
=====================

The core is the solution of an ordinary least-squares problem, so every solver finds the same one. They differ in cost,
and in what they can say about the problem. The speed of the iterative solvers depends on the number of entries: few
entries per unknown make an ill-conditioned problem, which needs many steps.
"""

# %%
# A matrix of rank 20 with 5 % of noise, and two observations of it: 2 and 20 entries for each of the 400 unknowns.

import matplotlib.pyplot as plt
import numpy as np

import curplus
from curplus.factorization import leading_basis

n, m, rank = 1000, 800, 20
rng = np.random.default_rng(0)
signal = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
M = signal + 0.05 * np.sqrt(rank) * rng.standard_normal((n, m))
observations = {
    factor: curplus.observe(M, n_columns=40, n_rows=40, n_entries=factor * rank**2, rng=0) for factor in (2, 20)
}

# %%
# All solvers on both, by name; ``"auto"`` chooses one of them. The last column is the distance from the solution of
# dense least squares.

for factor, seen in observations.items():
    print(f"{factor} entries per unknown")
    reference = curplus.cur_plus(seen, rank, solver="least_squares").core.Z
    for name in curplus.solvers.SOLVERS:
        core = curplus.cur_plus(seen, rank, solver=name).core
        distance = np.linalg.norm(core.Z - reference) / np.linalg.norm(reference)
        print(f"  {name:21} iterations {core.iterations:4d}   residual {core.residual_norm:.6f}   {distance:7.0e}")

# %%
# Now stop the iterative solvers after every number of steps, to see how they approach. On an incoherent matrix the
# error of conjugate gradients shrinks by about :math:`\sqrt{r^2/|\Omega|}` a step (dotted). The accelerated gradient,
# which the paper names, needs more steps, and many more when entries are few.

solvers = {
    "conjugate gradients": (curplus.solvers.ConjugateGradient, "#0072B2", "-"),
    "LSMR": (curplus.solvers.LSMR, "#E69F00", "--"),
    "accelerated gradient": (curplus.solvers.AcceleratedGradient, "#CC79A7", "-"),
}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), sharey=True, layout="constrained")
for ax, (factor, seen), most in zip(axes, observations.items(), (150, 40), strict=True):
    left = leading_basis(seen.columns, rank).vectors
    right = leading_basis(seen.rows.T, rank).vectors
    reference = curplus.solvers.LeastSquares().solve(left, right, seen.entries).Z
    steps = np.linspace(0, most, 41, dtype=int)
    for name, (solver, colour, style) in solvers.items():
        cores = [
            solver(tol=0, max_iter=int(k)).solve(left, right, seen.entries).Z if k else 0 * reference for k in steps
        ]
        errors = [np.linalg.norm(Z - reference) / np.linalg.norm(reference) for Z in cores]
        ax.semilogy(steps, errors, style, color=colour, linewidth=2, label=name)
    ax.semilogy(steps, float(factor) ** (-steps / 2), ":", color="0.3", label=r"$(r^2/|\Omega|)^{k/2}$")
    ax.set(xlabel="iterations k", ylim=(1e-15, 3), title=f"{factor} entries per unknown")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("distance from the solution")
axes[1].legend(frameon=False)
plt.show()

# %%
# ``solver="auto"`` chooses among them by the size of the problem: see :doc:`/guide/solvers`.
