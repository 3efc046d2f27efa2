"""Buying a matrix in pieces: what to measure next, a safe place for what comes back, and when to stop."""

from .progress import Status
from .storage import Receipt, Round
from .study import Study
from .worklist import Worklist

__all__ = ["Receipt", "Round", "Status", "Study", "Worklist"]
