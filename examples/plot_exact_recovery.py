r"""
Exact recovery, and how few samples it needs
============================================

A matrix of rank r is often recovered *exactly*, to the last digits of
double precision, from r columns, r rows and :math:`r^2` entries. This
page measures the two thresholds on a real matrix, and shows that
``acquire`` finds them without being told the rank.
"""

# %%
# Squared distances have a low rank, whoever measures them: for points
# with p coordinates it is at most p + 2, because
# :math:`\|x - y\|^2 = \|x\|^2 - 2 x^\top y + \|y\|^2`. Here are those
# between 250 patients and 192 others, described by ten values each (the
# diabetes data of scikit-learn).

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import pairwise_distances

import curplus

patients = load_diabetes().data
M = pairwise_distances(
    patients[:250], patients[250:], metric="sqeuclidean"
)
rank = np.linalg.matrix_rank(M)
print(f"{M.shape[0]} x {M.shape[1]}, rank {rank}")

# %%
# Who does not know the rank names a tolerance. ``acquire`` reads until
# the error at entries that the answer has not seen is below it;
# the scattered entries that it reads are for this check.


def relative_error(approx):
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


seen = curplus.acquire(M, tol=1e-6, rng=0)
approx = curplus.approximate(seen)
share = seen.n_values_read / M.size
print(f"{seen.n_columns} columns, {seen.n_rows} rows, {share:.0%} read")
print(f"rank {approx.rank}, error {relative_error(approx):.0e}")

# %%
# The paper's algorithm needs the rank, and draws everything uniformly.
# ``MinimumNorm`` returns the smallest core that fits where the entries do
# not determine it; other solvers raise an error there.

solver = curplus.solvers.MinimumNorm()


def error_of_cur_plus(n_samples, n_entries, seed):
    """From as many rows as columns."""
    seen = curplus.observe(
        M,
        n_columns=n_samples,
        n_rows=n_samples,
        n_entries=n_entries,
        rng=seed,
    )
    at_most = min(rank, n_samples)
    return relative_error(curplus.cur_plus(seen, at_most, solver=solver))


# %%
# Ten draws for each number of entries, with 18 columns and rows, and ten
# for each number of columns and rows, with 288 entries. The core has
# :math:`r^2` = 144 unknowns.

entry_counts = [90, 110, 125, 135, 143, 144, 145, 150, 160, 200, 250]
sample_counts = [6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20]
draws = range(10)
by_entries = np.array(
    [[error_of_cur_plus(18, k, s) for s in draws] for k in entry_counts]
)
by_samples = np.array(
    [[error_of_cur_plus(d, 288, s) for s in draws] for d in sample_counts]
)

# %%
# With exactly :math:`r^2` entries the equations are square. They can be
# solved, but are badly conditioned, and digits are lost. A few more
# entries are enough to avoid that.

for count in (143, 144, 150, 200):
    worst = by_entries[entry_counts.index(count)].max()
    print(f"{count} entries: worst error of ten draws {worst:.0e}")

# %%
# Square equations do little harm here because there is no noise. Most
# real matrices have some: see
# :ref:`sphx_glr_gallery_plot_choosing_samples.py`.


def draw(ax, counts, errors, threshold, label):
    ax.semilogy(counts, errors, "o", color="#56B4E9", ms=4, alpha=0.6)
    median = np.median(errors, axis=1)
    ax.semilogy(counts, median, color="#0072B2", label="median of 10")
    ax.axvline(threshold, color="#D55E00", ls="--", label=label)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)


figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained"
)
label = rf"$r^2$ = {rank**2} entries"
draw(left, entry_counts, by_entries, rank**2, label)
label = f"r = {rank} columns and rows"
draw(right, sample_counts, by_samples, rank, label)
left.set_xlabel("scattered entries (18 columns, 18 rows)")
left.set_ylabel("relative error")
right.set_xlabel("columns, and as many rows (288 entries)")
figure.suptitle(f"Distances between patients, of rank {rank}")
plt.show()
