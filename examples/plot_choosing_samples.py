r"""
How many columns, rows and entries?
===================================

A matrix of low rank *plus noise* cannot be recovered exactly. The question is how much worse than the best matrix of
rank r the approximation is. The error has two sources, and they can be separated: the leading directions of the
sampled columns and rows differ from those of the matrix, and the core is fitted to few entries.
"""

# %%
# A matrix of rank 8 with 10 % of noise.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import curplus

n, m, rank = 300, 200, 8
rng = np.random.default_rng(0)
signal = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
noise = rng.standard_normal((n, m))
M = signal + 0.1 * noise * np.linalg.norm(signal) / np.linalg.norm(noise)
best = curplus.metrics.ReferenceMatrix(M).best_frobenius_error(rank)


def loss(approx):
    """Error divided by that of the best matrix of rank 8: the paper's l_F. The best is 1."""
    return np.linalg.norm(approx.to_array() - M) / best


# %%
# Draw each combination seven times. ``cur_full`` finds the best core for the sampled columns and rows, using the whole
# matrix: its error is due to the sampling of columns and rows alone. The rest of the error is due to the entries.

sample_counts = [8, 10, 12, 16, 24, 40, 80]
entries_per_unknown = [1, 1.25, 1.5, 2, 3, 4, 8, 20]
shape = len(sample_counts), len(entries_per_unknown), 7
fitted, best_core = np.empty(shape), np.empty(shape)
for a, d in enumerate(sample_counts):
    for b, factor in enumerate(entries_per_unknown):
        for seed in range(7):
            n_entries = round(factor * rank**2)
            seen = curplus.observe(M, n_columns=d, n_rows=d, n_entries=n_entries, rng=seed)
            fitted[a, b, seed] = loss(curplus.cur_plus(seen, rank))
            best_core[a, b, seed] = loss(curplus.cur_full(M, seen, rank))

# %%
# The left picture helps to choose. From top to bottom, more columns and rows help, quickly at first: five times the
# rank is a sensible default. From left to right, more entries help quickly until about :math:`4 r^2`, and then slowly.
# In the leftmost column there are exactly as many entries as unknowns: the core follows the noise, and the
# approximation is useless.
#
# The right picture shows the effect of the entries alone: the squared error, divided by that of the best core. All
# sample sizes fall on one curve, close to that of an ordinary regression with :math:`r^2` unknowns,
# :math:`1 + r^2 / (|\Omega| - r^2)`. At :math:`4 r^2` entries the squared error is a third larger, at :math:`20 r^2` a
# twentieth. Therefore ``cur_plus`` writes a note into ``approx.core.notes`` below :math:`4 r^2`.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1.25, 1))
median = np.median(fitted, axis=2)
image = left.imshow(median, cmap="cividis_r", norm=LogNorm(1, 100), aspect="auto")
for (a, b), value in np.ndenumerate(median):
    left.text(b, a, f"{value:.2g}", ha="center", va="center", color="white" if value > 8 else "black", fontsize=9)
left.set_xticks(range(len(entries_per_unknown)), [f"{factor:g}" for factor in entries_per_unknown])
left.set_yticks(range(len(sample_counts)), sample_counts)
left.set(xlabel=r"entries / $r^2$", ylabel=f"columns, and as many rows (rank {rank})")
left.set_title(r"error / error of the best rank 8 matrix")
figure.colorbar(image, ax=left, pad=0.02, ticks=[1, 2, 5, 10, 20, 50, 100], format="%g")

excess = np.median((fitted / best_core) ** 2, axis=2)
colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(sample_counts)))
for d, line, colour in zip(sample_counts, excess, colours, strict=True):
    right.loglog(entries_per_unknown, line, "o", color=colour, markersize=5, label=f"{d}")
factor = np.geomspace(1.06, 20, 200)
right.loglog(factor, 1 + 1 / (factor - 1), color="#D55E00", linewidth=1.5, label=r"$1 + r^2/(|\Omega|-r^2)$")
right.axvline(4, color="0.5", linestyle=":", linewidth=1.5)
right.text(4.2, 60, r"$4 r^2$", color="0.3")
right.set_xticks([1, 2, 4, 8, 20], ["1", "2", "4", "8", "20"])
right.set(xlabel=r"entries / $r^2$", ylim=(0.95, 1000))
right.set_title("squared error / that of the best core")
right.minorticks_off()
right.grid(alpha=0.3)
right.legend(title="columns, rows", frameon=False, fontsize=9)
plt.show()
