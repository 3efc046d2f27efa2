r"""
Same answer, less read
======================

Which of 219 ways to classify suits a new data set? The errors of all of them on 418 data sets of OpenML come with the
package (OBOE, BSD-3). How many of them had to be computed, to know the others well enough?
"""

# %%
# Nothing but a part of the table is read. ``acquire`` chooses whole rows and columns, and scattered entries, by what it
# has read before; ``approximate`` predicts the others, and ``certify`` says what is known of the error without looking
# at them. Here a few errors are much larger than the others, so it gives a lower bound and says why.

import matplotlib.pyplot as plt
import numpy as np

import curplus

errors = curplus.datasets.load("oboe_errors").matrix
seen = curplus.acquire(errors, budget=0.15, rng=0)
approx = curplus.approximate(seen)
print(seen)
print(curplus.certify(approx, seen).verdict)

# %%
# The whole table is known here, so this can be compared with the truth.

table = np.asarray(errors)
difference = table - approx.to_array()
true_error = np.linalg.norm(difference) / np.linalg.norm(table)
print(f"true error: {true_error:.1%} of the matrix")
print(f"in its norm: {np.linalg.norm(difference):.2f}")

# %%
# ``backtest`` repeats this with several budgets, beside uniform samples, and beside the usual additive model: a
# constant, and an offset for each row and column.

result = curplus.backtest(
    table,
    budgets=[0.1, 0.2, 0.4],
    strategies=["auto", "uniform"],
    seeds=1,
)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
curplus.plotting.plot_backtest(result, ax=ax)
plt.show()

# %%
# Read the picture from left to right at one height: that is how many values each way needs for the same error.
