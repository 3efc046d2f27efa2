r"""
How much should be read?
========================

More values, a smaller error: but how much smaller? If an older matrix of
the same kind is known, it can be replayed. The paper's algorithm asks for
more: a rank, and numbers of columns, rows and entries. This page chooses
both on a real table.
"""

# %%
# The table has the errors of 219 ways to classify on 418 data sets (OBOE,
# BSD-3). Suppose that those of the first half are known, and that every
# further one costs a training run.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import curplus

table = np.asarray(curplus.datasets.load("oboe_errors").matrix)
older, newer = table[:209], table[209:]

# %%
# ``backtest`` spends each budget twice on the older half, and judges by
# the values that it did not read. ``"auto"`` is what ``acquire`` does
# unless it is told otherwise.

budgets = [0.05, 0.1, 0.2, 0.4]
result = curplus.backtest(
    older, budgets=budgets, strategies=["auto", "uniform"], seeds=2
)


# %%
# Now the newer half is bought with the same budgets, to see whether its
# errors are those of the older one.


def error_at_unread(M, seen, approx):
    """Root mean square, relative to that of the whole matrix."""
    unread = np.ones(M.shape, dtype=bool)
    unread[seen.row_index] = unread[:, seen.column_index] = False
    unread[seen.i, seen.j] = False
    misses = (M - approx.to_array())[unread]
    return np.sqrt(np.mean(misses**2) / np.mean(M**2))


newer_errors = []
for budget in budgets:
    seen = curplus.acquire(newer, budget=budget, rng=0)
    approx = curplus.approximate(seen)
    newer_errors.append(error_at_unread(newer, seen, approx))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
curplus.plotting.plot_backtest(result, ax=ax)
ax.plot(budgets, newer_errors, "k*", ms=11, label="auto, newer half")
ax.legend(fontsize=8, frameon=False)
plt.show()

# %%
# The stars are below the line of the older half: the newer data sets are
# easier. Still, the line shows what a further value is worth: it falls
# all the way here, where the additive model hardly gets better. Up to a
# tenth, choosing rows and columns is no better than drawing them; at 5 %
# there is too little money for any, and all is spent on entries. From a
# fifth on, choosing is better.

# %%
# The paper's algorithm
# ---------------------
#
# ``cur_plus`` needs a rank, here 5, and counts. Its error has two
# sources: the leading directions of the sampled columns and rows differ
# from those of the matrix, and the core is fitted to few entries.
# ``cur_full`` finds the best core for the same columns and rows, using
# the whole matrix, so that the two can be separated.

rank = 5
best = curplus.metrics.ReferenceMatrix(table).best_frobenius_error(rank)


def errors(M, d, n_entries, seed):
    """Of CUR+, and of the best core for its columns and rows."""
    seen = curplus.observe(
        M, n_columns=d, n_rows=d, n_entries=n_entries, rng=seed
    )
    found = curplus.cur_plus(seen, rank), curplus.cur_full(M, seen, rank)
    return [np.linalg.norm(M - approx.to_array()) for approx in found]


def all_errors(M):
    return np.array(
        [
            [
                [
                    errors(M, d, round(f * rank**2), seed)
                    for seed in range(9)
                ]
                for f in factors
            ]
            for d in counts
        ]
    )


counts = [5, 10, 15, 25, 40, 80]
factors = [1, 1.5, 2, 4, 8, 20, 40]
real = all_errors(table)

# %%
# A second matrix is made up, for comparison: rank 5, and a tenth of
# noise. Its noise is the same everywhere, which no real table can
# promise.

rng = np.random.default_rng(0)
signal = rng.standard_normal((418, rank))
signal = signal @ rng.standard_normal((rank, 219))
noise = 0.1 * np.sqrt(rank) * rng.standard_normal(signal.shape)
made_up = all_errors(signal + noise)

# %%

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(5, 4)
)
median = np.median(real[..., 0], axis=2) / best
image = left.imshow(
    median, cmap="cividis_r", norm=LogNorm(1, 100), aspect="auto"
)
for (a, b), value in np.ndenumerate(median):
    colour = "white" if value > 8 else "black"
    left.text(b, a, f"{value:.2g}", ha="center", va="center", c=colour)
left.set_xticks(range(len(factors)), factors)
left.set_yticks(range(len(counts)), counts)
left.set_xlabel(r"entries / $r^2$")
left.set_ylabel(f"columns, and as many rows (rank {rank})")
left.set_title(f"the table: error / that of the best rank {rank} matrix")
ticks = [1, 2, 5, 10, 20, 50, 100]
figure.colorbar(image, ax=left, pad=0.02, ticks=ticks, format="%g")

for found, colour, marker, label in (
    (real, "#0072B2", "o", "the table"),
    (made_up, "#009E73", "s", "made up"),
):
    excess = np.median((found[..., 0] / found[..., 1]) ** 2, axis=2)
    lines = right.loglog(factors, excess.T, marker, c=colour, alpha=0.7)
    lines[0].set_label(label)
factor = np.geomspace(1.06, 40, 200)
law = r"$1 + r^2/(|\Omega|-r^2)$"
right.loglog(factor, 1 + 1 / (factor - 1), c="#D55E00", label=law)
right.set_xticks(factors, factors)
right.set(xlabel=r"entries / $r^2$", ylim=(0.95, 1e4))
right.set_title("squared error / that of the best core")
right.minorticks_off()
right.grid(alpha=0.3)
right.legend(frameon=False)
plt.show()

# %%
# The left picture is the table's. From top to bottom, more columns and
# rows help, and so do more entries from left to right. In the leftmost
# column there are exactly as many entries as unknowns: the core follows
# the noise, and the approximation is useless.
#
# The right picture shows the effect of the entries alone, a point for
# each number of columns and rows. The made-up matrix is near the line,
# which is that of an ordinary regression with :math:`r^2` unknowns. The
# table needs more entries, because what five directions miss is larger in
# some places than in others:

for k in (4, 8, 20):
    at = factors.index(k)
    line = f"{k:2} r^2 entries:"
    for found, name in ((real, "the table"), (made_up, "made up")):
        excess = (found[:, at, :, 0] / found[:, at, :, 1]) ** 2
        line += f"  {name} {np.median(excess):.2f}"
    print(f"{line}  the line {1 + 1 / (k - 1):.2f}")

# %%
# Below :math:`4 r^2` entries ``cur_plus`` writes a note into
# ``approx.core.notes``; the command line and the estimators read
# :math:`20 r^2`.
