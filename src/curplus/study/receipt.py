"""What a study says when it was told something."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

__all__ = ["Receipt"]


@dataclass(frozen=True)
class Receipt:
    """What was kept of a table."""

    number: int  # of the table, from 1 on
    moment: datetime  # when it was kept: study.at(moment) has it
    n_values: int  # readings
    n_failed: int  # measurements that failed
    n_unasked: int  # readings of cells that nobody had asked for
    is_new: bool  # False if the same content had been told before, so that nothing was kept now
    source: str = ""

    def __str__(self) -> str:
        if not self.is_new:
            return f"{self.source} was told before, on {self.moment:%Y-%m-%d %H:%M:%S} UTC: nothing was kept again"
        unasked = f", {self.n_unasked} of cells that nobody had asked for" if self.n_unasked else ""
        return f"kept {self.n_values} values and {self.n_failed} failed measurements of {self.source}{unasked}"
