"""How good an approximation is: certificates without the matrix, metrics with it."""

from . import metrics
from .best import Best, Decision, decide
from .certificate import Certificate
from .certify import certify
from .differences import Difference
from .entry_intervals import EntryIntervals, predict_interval
from .mean_estimates import MeanEstimates
from .means import estimate_means

__all__ = [
    "Best",
    "Certificate",
    "Decision",
    "Difference",
    "EntryIntervals",
    "MeanEstimates",
    "certify",
    "decide",
    "estimate_means",
    "metrics",
    "predict_interval",
]
