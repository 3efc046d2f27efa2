r"""Guarantees: how much must be read, and how good the approximation then is.

CUR+ works when information is spread evenly, so that no row or column matters far more than the others. *Incoherence*
measures that, from 1 (perfectly even) up to ``n / r`` (all in r rows). Each theorem of the paper requires ``d``
columns, ``d`` rows and :math:`|\Omega|` entries, and bounds the error with some probability. The functions here
evaluate it as a :class:`Guarantee`, whose ``vacuous`` and ``reason`` show if nothing is guaranteed at the given sizes.

Equation numbers are those of Xu, Jin and Zhou, *CUR Algorithm for Partially Observed Matrices*, ICML 2015. The paper
takes n >= m; here n is the longer side.
"""

from .complexity import distinct_entries, sample_complexity
from .guarantees import Guarantee, frobenius_bound, lemma_1, lemma_2, projection_bound, theorem_1, theorem_2, theorem_3
from .measures import generalized_incoherence, incoherence, numerical_rank, sin_theta

__all__ = [
    "Guarantee",
    "distinct_entries",
    "frobenius_bound",
    "generalized_incoherence",
    "incoherence",
    "lemma_1",
    "lemma_2",
    "numerical_rank",
    "projection_bound",
    "sample_complexity",
    "sin_theta",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]
