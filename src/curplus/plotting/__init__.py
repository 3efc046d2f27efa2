"""Pictures of results. Needs Matplotlib: ``pip install 'curplus[plot]'``."""

from .backtest import plot_backtest
from .certificate import plot_certificate
from .error_path import plot_error_path
from .images import plot_images
from .importance import plot_importance
from .observation import plot_observation

__all__ = ["plot_backtest", "plot_certificate", "plot_error_path", "plot_images", "plot_importance", "plot_observation"]
