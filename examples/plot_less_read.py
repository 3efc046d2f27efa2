r"""
Same answer, less read
======================

Which of 219 ways to classify suits a new data set? The errors of all of
them on 418 data sets of OpenML come with the package (OBOE, BSD-3). Each
took a training run. How many of them had to be computed, to know the
others well enough?
"""

# %%
# Three functions are the recommended way. ``acquire`` reads a part of the
# table and nothing else: whole rows and columns, and scattered entries,
# chosen by what it has read before.

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import curplus

errors = curplus.datasets.load("oboe_errors").matrix
seen = curplus.acquire(errors, budget=0.15, rng=0)
print(seen)

# %%
# ``approximate`` predicts the others. The rank and all else is chosen by
# values that were set aside.

approx = curplus.approximate(seen)
print(approx)

# %%
# ``certify`` estimates the error without looking at the rest.
# Here a few errors are much larger than the others. So it gives an
# estimate that may be too small instead of an interval, with the reason.

certificate = curplus.certify(approx, seen)
print(textwrap.fill(certificate.verdict, 74))

# %%
# The whole table is known here, so this can be compared with the truth.

table = np.asarray(errors)
difference = np.linalg.norm(table - approx.to_array())
print(f"true error: {difference:.2f}")
print(f"which is {difference / np.linalg.norm(table):.1%} of the table")

# %%
# The estimate was near. It could have been too small, as it warns itself.
#
# ``backtest`` repeats this with several budgets, beside uniform samples,
# and beside the usual additive model: a constant, and an offset for each
# row and column.

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
# Read the picture from left to right at one height: that is how many
# values each way needs for the same error.
