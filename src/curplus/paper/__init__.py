"""The paper's experiments: one file for each figure and table, all from one command.

A sweep measures, a cell at a time (:mod:`~curplus.paper.run`); a figure or table takes what it needs from the tables of
sweeps and is drawn from its own table. ``curplus reproduce`` runs them.
"""

from .comparison import Comparison
from .entries_needed import EntriesNeeded
from .experiment import Experiment
from .methods import COMPARED_METHODS, ComparedMethod
from .recovery import Recovery
from .reproduction import EXPERIMENTS, SCALES, reproduce, sweeps
from .run import run_in_process
from .spectra import Spectra
from .sweep import Sweep

__all__ = [
    "COMPARED_METHODS",
    "EXPERIMENTS",
    "SCALES",
    "ComparedMethod",
    "Comparison",
    "EntriesNeeded",
    "Experiment",
    "Recovery",
    "Spectra",
    "Sweep",
    "reproduce",
    "run_in_process",
    "sweeps",
]
