r"""
Which models are best, from a tenth of the answers
==================================================

The answers of 448 language models to 541 questions, 1 where right, come
with the package. Suppose that each answer costs money, and that a tenth
of them can be paid for. A single answer is mostly noise. The mean of a
model is not, and it shows which models are best.
"""

# %%
# For means, scattered answers are best: models are known equally well.
# So ``acquire`` is told to read no whole rows and columns.

import matplotlib.pyplot as plt
import numpy as np

import curplus

answers = curplus.datasets.load("llm_answers").matrix
seen = curplus.acquire(answers, budget=0.1, n_columns=0, n_rows=0, rng=0)
approx = curplus.approximate(seen)
means = curplus.estimate_means(approx, seen)
print(means)

# %%
# Thick lines are intervals for one model, thin ones hold for all of them
# at once, both with 95 % confidence. Models in orange may be the best
# one: no interval of a difference puts another model above them.

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
curplus.plotting.plot_means(means, most=40, ax=ax)
truth = answers.mean(axis=1)
shown = np.argsort(-means.estimate, kind="stable")[:40]
ax.plot(truth[shown], range(40), "k|", ms=9, label="truth")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# All answers are known here. How many means are in their intervals, and
# is the best model among those that may be the best?

inside = (means.low <= truth) & (truth <= means.high)
best = means.best(1)
print(f"{inside.mean():.0%} of the means are in their intervals")
print(f"{len(best)} of {len(truth)} models may be the best one")
print("the best is among them:", np.argmax(truth) in best)

# %%
# The mean of the answers that were bought of a model would be an estimate
# too. The approximation knows which questions are hard, and is nearer to
# the truth:

asked = np.bincount(seen.i, minlength=len(truth))
plain = np.bincount(seen.i, seen.values, len(truth)) / asked
for name, found in (("plain", plain), ("estimated", means.estimate)):
    error = np.sqrt(np.mean((found - truth) ** 2))
    print(f"{name:10} root mean square error {error:.3f}")

# %%
# To tell the models apart that are left, buy more answers of these:
# :doc:`/guide/which-rows`.
