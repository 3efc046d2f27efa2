"""The paper's experiments: one file for each figure and table, all from one command.

A study measures, a cell at a time (:mod:`~curplus.paper.cells`); a figure or table takes what it needs from the
tables of studies and is drawn from its own table. ``curplus reproduce`` runs them.
"""

from .cells import measure_here
from .comparison import Comparison
from .experiment import Experiment
from .methods import METHODS, Method
from .recovery import Recovery
from .reproduction import EXPERIMENTS, SCALES, reproduce, studies
from .spectra import Spectra

__all__ = [
    "EXPERIMENTS",
    "METHODS",
    "SCALES",
    "Comparison",
    "Experiment",
    "Method",
    "Recovery",
    "Spectra",
    "measure_here",
    "reproduce",
    "studies",
]
