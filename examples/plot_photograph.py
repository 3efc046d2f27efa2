r"""
A photograph from a few of its pixels
=====================================

A photograph is a matrix of grey values, of full rank but with quickly
falling singular values, so it cannot be recovered exactly. How good is
the approximation from 5 % of the pixels, and from 25 %?
"""

# %%
# The photograph comes with scikit-learn.

# sphinx_gallery_thumbnail_number = 2
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import curplus

M = load_sample_image("china.jpg").mean(axis=2)
grey = {"cmap": "gray", "vmin": 0, "vmax": 255}
figure, ax = plt.subplots(figsize=(4.6, 3.1), layout="constrained")
ax.imshow(M, **grey)
ax.set_axis_off()
plt.show()

# %%
# A quarter of it, by the recommended way: the budget is all that has to
# be said. ``certify`` judges by pixels that the fit did not use.

seen = curplus.acquire(M, budget=0.25, rng=0)
approx = curplus.approximate(seen)
print(seen)
print(approx)
verdict = curplus.certify(approx, seen).verdict
print(textwrap.fill(verdict, 74))

# %%
# The photograph is known, so the certificate can be checked.

norm = np.linalg.norm(M)


def error(answer):
    """Relative to the norm of the photograph."""
    return np.linalg.norm(M - answer) / norm


print(f"the true error is {error(approx.to_array()):.1%}")

# %%
# The paper's algorithm, CUR+, reads uniformly, and wants to know how many
# columns, rows and single pixels, and a rank. These are 5 % and 25 % of
# the photograph, with dozens of entries for each unknown of the core.

plans = {
    6: {"n_columns": 10, "n_rows": 10, "n_entries": 3200},
    20: {"n_columns": 55, "n_rows": 55, "n_entries": 15900},
}

# %%
# Three draws of each. The same uniform sample is given to CUR+ and to
# ``approximate``, and ``acquire`` may read as many pixels as it has.

U, s, Vt = np.linalg.svd(M, full_matrices=False)
answers = {}
for rank, plan in plans.items():
    best = (U[:, :rank] * s[:rank]) @ Vt[:rank]
    table = []
    for seed in range(3):
        even = curplus.observe(M, **plan, rng=seed)
        budget = even.n_values_read
        chosen = curplus.acquire(M, budget=budget, rng=seed)
        made = {
            "uniform, CUR+": curplus.cur_plus(even, rank),
            "uniform, approximate": curplus.approximate(even),
            "acquire, approximate": curplus.approximate(chosen),
        }
        made = {name: found.to_array() for name, found in made.items()}
        table.append([error(answer) for answer in made.values()])
        if seed == 0:
            answers[rank] = chosen, made, best
    print(f"{budget / M.size:.0%} of the pixels: error in three draws")
    for name, line in zip(made, np.transpose(table), strict=True):
        print(f"  {name:22}" + "".join(f"{e:7.3f}" for e in line))
    print(f"  best matrix of rank {rank:2}{error(best):7.3f}")
print(f"a constant grey       {error(M.mean()):9.3f}")

# %%
# ``approximate`` makes more of the same pixels than CUR+ in every draw.
# Choosing what to read helps at 25 %. At 5 % it does not: a photograph
# has no rows or columns that matter much more than others, and twenty of
# them are few to learn from. Where there are such rows, the choice is
# what matters most: see :ref:`sphx_glr_gallery_plot_documents.py`. The
# best matrix of a rank is what nobody can reach who does not see all.

figure, axes = plt.subplots(2, 4, figsize=(12, 4.7), layout="constrained")
for row, (rank, (chosen, made, best)) in zip(
    axes, answers.items(), strict=True
):
    share = chosen.n_values_read / M.size
    curplus.plotting.plot_observation(chosen, ax=row[0], **grey)
    row[0].set_title(f"acquire reads {share:.0%}", fontsize=10)
    images = {
        "acquire, approximate": made["acquire, approximate"],
        "uniform, CUR+": made["uniform, CUR+"],
        f"best of rank {rank}": best,
    }
    for ax, (name, image) in zip(row[1:], images.items(), strict=True):
        ax.imshow(image, aspect="auto", **grey)
        ax.set_title(f"{name}: {error(image):.3f}", fontsize=10)
    for ax in row:
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
plt.show()

# %%
# The stripes come from the rows and columns that were read: each row of
# CUR+ is a combination of the rows that were read, and each column of the
# columns that were read.
