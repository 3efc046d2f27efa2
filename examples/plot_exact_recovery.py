r"""
Exact recovery, and how few samples it needs
============================================

A matrix of rank r that is spread evenly over its rows and columns is recovered *exactly*, to the last digits of
double precision, from r columns, r rows and :math:`r^2` entries. With one column, row or entry less, the error is
larger by a factor of about :math:`10^{12}`. This page measures the two thresholds.
"""

# %%
# A matrix of rank 10: the product of two random factors, as in Section 4.1 of the paper.

import matplotlib.pyplot as plt
import numpy as np

import curplus

n, m, rank = 400, 300, 10
rng = np.random.default_rng(0)
M = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))


def relative_error(n_samples, n_entries, seed):
    """Error of CUR+ from ``n_samples`` columns, as many rows, and ``n_entries`` entries."""
    seen = curplus.observe(M, n_columns=n_samples, n_rows=n_samples, n_entries=n_entries, rng=seed)
    approx = curplus.cur_plus(seen, min(rank, n_samples), solver=curplus.solvers.MinimumNorm())
    return np.linalg.norm(approx.to_array() - M) / np.linalg.norm(M)


# %%
# First one draw. Fifteen columns, fifteen rows and 150 entries are 9 % of the matrix. They determine the rest.

error = relative_error(15, 150, seed=0)
share = curplus.theory.distinct_entries(M.shape, n_columns=15, n_rows=15, n_entries=150) / M.size
print(f"relative error {error:.0e} from {share:.1%} of the matrix")

# %%
# Now ten draws for each number of entries, with 15 columns and rows, and ten for each number of columns and rows, with
# 200 entries. The core has :math:`r^2 = 100` unknowns, so below 100 entries it is not determined; ``MinimumNorm`` then
# returns the smallest one that fits, where other solvers raise an error.

entry_counts = [60, 80, 90, 95, 99, 100, 101, 105, 110, 120, 150, 200]
sample_counts = [5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 20]
by_entries = np.array([[relative_error(15, k, seed) for seed in range(10)] for k in entry_counts])
by_samples = np.array([[relative_error(d, 200, seed) for seed in range(10)] for d in sample_counts])

# %%
# With exactly :math:`r^2` entries the equations are square. They can be solved, but are badly conditioned, and one or
# two digits are lost. A few more entries are enough to avoid that.

for count in (99, 100, 110, 200):
    print(f"{count} entries: worst error of ten draws {by_entries[entry_counts.index(count)].max():.0e}")

# %%
# Square equations do little harm here because the matrix has no noise. With noise they do:
# see :ref:`sphx_glr_gallery_plot_choosing_samples.py`.


def draw(ax, counts, errors, threshold, label):
    ax.semilogy(counts, errors, "o", color="#56B4E9", markersize=4, alpha=0.6)
    ax.semilogy(counts, np.median(errors, axis=1), "-", color="#0072B2", linewidth=2, label="median of 10 draws")
    ax.axvline(threshold, color="#D55E00", linestyle="--", linewidth=1.5, label=label)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)


figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
draw(axes[0], entry_counts, by_entries, rank**2, rf"$r^2$ = {rank**2} entries")
draw(axes[1], sample_counts, by_samples, rank, f"r = {rank} columns and rows")
axes[0].set(xlabel="scattered entries (15 columns, 15 rows)", ylabel="relative error")
axes[1].set(xlabel="columns, and as many rows (200 entries)")
figure.suptitle(f"Recovering a {n} × {m} matrix of rank {rank}")
plt.show()
