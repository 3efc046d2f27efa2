"""Pictures of results. Needs Matplotlib: ``pip install 'curplus[plot]'``."""

from .backtest import plot_backtest
from .certificate import plot_certificate
from .importance import plot_importance, plot_merits
from .intervals import plot_intervals
from .means import plot_means, plot_ranks
from .observation import plot_observation
from .predictions import plot_predictions
from .spectrum import plot_spectrum

__all__ = [
    "plot_backtest",
    "plot_certificate",
    "plot_importance",
    "plot_intervals",
    "plot_means",
    "plot_merits",
    "plot_observation",
    "plot_predictions",
    "plot_ranks",
    "plot_spectrum",
]
