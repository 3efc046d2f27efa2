"""What a study keeps, as values: settings, work lists, readings, errors by round.

The number of a cell is ``row * WIDTH + column`` wherever it is kept (``kept_cells``), so that it does not change when
rows and columns are added, and ``row * m + column`` in a snapshot, whose shape is that of its moment.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from .._support.sets import NO_INDEX, different
from .._typing import FloatArray, IndexVector, Shape
from ..acquisition import Costs
from ..observation.forbidden import Region
from .names import Axis
from .schema import WIDTH

__all__ = [
    "Asked",
    "Asker",
    "Draft",
    "Kind",
    "Line",
    "ListInfo",
    "Origin",
    "Receipt",
    "Records",
    "Role",
    "Round",
    "Settings",
    "Snapshot",
    "State",
    "Summary",
    "kept_cells",
    "moment_of",
    "numbered_cells",
    "positions_of",
    "user_of",
]


class Role(IntEnum):
    """What a cell is on a list for."""

    ON_LINE = 0  # it is of a whole row or column
    DRAWN = 1  # uniformly
    STEERING = 2  # drawn uniformly, and used to choose rows and columns
    ON_DRAWN_COLUMN = 3  # it is of a column that was drawn to compare rows
    ON_DRAWN_ROW = 4  # it is of a row that was drawn to compare columns


class State(IntEnum):
    """What became of a cell of a list."""

    PENDING = 0
    ANSWERED = 1
    CANCELLED = 2
    KNOWN = 3  # measured or asked for before


class Kind(IntEnum):
    """Of what is forbidden."""

    ROW = 0
    COLUMN = 1
    CELL = 2


class Settings(NamedTuple):
    """What was given when the study was created, and what was changed since."""

    rows: Axis
    columns: Axis
    budget: float | None
    costs: Mapping[str, Any] | None  # row, column, entry
    noise: float | str | None
    rank: int | None
    records: str  # which count: "all", "latest" or "error"
    scale: str | None = None  # "log": logarithms are fitted

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def shape(self) -> Shape:
        """Numbers of rows and columns."""
        return self.rows.size, self.columns.size

    def with_axis(self, axis: Axis) -> Settings:
        """With other rows, or columns."""
        return self._replace(rows=axis) if axis.what == "row" else self._replace(columns=axis)

    @property
    def prices(self) -> Costs:
        """What rows, columns and cells cost; a cell 1, if there are no costs."""
        return Costs(**(self.costs or {}))


class Line(NamedTuple):
    """A row (axis 0) or column (axis 1) that is asked for whole."""

    axis: int
    position: int
    design: str
    reason: str


def positions_of(lines: Iterable[Line], axis: int) -> IndexVector:
    """Positions of those that are rows (axis 0), or columns."""
    return np.asarray([line.position for line in lines if line.axis == axis], dtype=np.int64)


class Draft(NamedTuple):
    """A work list that is to be kept."""

    budget: float
    price: float
    lines: tuple[Line, ...]
    cells: IndexVector  # (k,), as they are handed out: what is to be measured, and what was drawn and is known
    roles: IndexVector  # (k,)
    is_known: Any  # (k,), truth values
    forbidden: Region  # nothing was drawn from it
    after: tuple[int, int]  # the last list and the last change of the settings that its author knew of


class Asker(NamedTuple):
    """Who asks for a list, for what, and for how long."""

    who: str
    purpose: str
    expires_after: float | None = None  # seconds


class ListInfo(NamedTuple):
    """A work list in numbers."""

    id: int
    asked_at: datetime
    asked_by: str
    purpose: str
    budget: float
    price: float
    n_cells: int
    n_pending: int
    expires: datetime | None


class Records(NamedTuple):
    """Readings, as they arrived: checked, and not yet kept."""

    cells: IndexVector  # (k,), as they are kept
    values: FloatArray  # (k,), NaN where a measurement failed
    sides: IndexVector  # (k,), 1: the true value is at least this, -1: at most, 0: it is this
    lists: Any  # (k,), of the work lists that they are lines of, or None
    corrects: Any  # (k,), the records that they correct, or None
    notes: Any  # (k,), or None
    times: Any  # (k,), or None

    @staticmethod
    def of(cells: IndexVector, values: FloatArray, sides: Any = None, **listed: Any) -> Records:
        """Readings, of which some things are not said."""
        nothing: Any = np.full(len(cells), None)
        rest = (np.asarray(listed.get(name, nothing), dtype=object) for name in Records._fields[3:])
        return Records(cells, values, np.zeros(len(cells), dtype=np.int64) if sides is None else sides, *rest)

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, which: IndexVector) -> Records:
        """Some of them."""
        some: list[Any] = [x[which] for x in self]
        return Records(*some)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Reading by reading."""
        return zip(*(x.tolist() for x in self), strict=True)


class Origin(NamedTuple):
    """Where readings are from."""

    source: str
    who: str
    history: bool = False  # measured before the study: costs nothing
    design: str = ""  # "uniform" if somebody promised that the cells were drawn uniformly


def user_of(who: str | None) -> str:
    """Who it was: the user of the computer, if nobody is named."""
    if who is not None:
        return who
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


@dataclass(frozen=True)
class Receipt:
    """What was kept of a table."""

    number: int  # of the table, from 1 on
    moment: datetime  # when it was kept: study.at(moment) has it
    n_values: int  # readings
    n_failed: int  # measurements that failed
    n_unasked: int  # readings of cells that nobody had asked for
    n_again: int  # lines of work lists that had been told before with the same value, and were not kept again
    source: str = ""
    n_bounds: int = 0  # readings that are bounds, such as ``>10``, among the values

    @property
    def is_new(self) -> bool:
        """Whether anything was kept."""
        return self.n_values + self.n_failed > 0

    def __str__(self) -> str:
        if not self.is_new:
            return f"all of {self.source} was told before: nothing was kept again"
        unasked = f", {self.n_unasked} of cells that nobody had asked for" if self.n_unasked else ""
        again = f"; {self.n_again} more had been told before" if self.n_again else ""
        bounds = f" ({self.n_bounds} of them bounds)" if self.n_bounds else ""
        kept = f"kept {self.n_values} values{bounds} and {self.n_failed} failed measurements"
        return f"{kept} of {self.source}{unasked}{again}"


class Asked(NamedTuple):
    """Cells of all lists, list by list, as they were handed out."""

    cells: IndexVector  # (k,)
    lists: IndexVector  # (k,), ascending
    roles: IndexVector  # (k,)
    is_new: Any  # (k,), truth values: whether the list asked for them; False where they were known or out

    def of_role(self, *roles: int) -> IndexVector:
        """Cells of some roles, ascending."""
        return different(self.cells[np.isin(self.roles, roles)])


class Snapshot(NamedTuple):
    """All that an observation and a list are made of, at one moment."""

    cells: IndexVector  # (k,), of the readings that count, in the order in which they came
    values: FloatArray  # (k,), NaN where a measurement failed
    sides: IndexVector  # (k,), 1: the true value is at least this, -1: at most, 0: it is this
    lines: tuple[Line, ...]  # in the order in which they were asked for
    asked: Asked
    forbidden: IndexVector  # (p, 3), list, kind and position
    promised: IndexVector  # cells that somebody promised to be a uniform sample, ascending
    last_tell: int
    last_list: int
    n_values: int  # readings that succeeded, those that were corrected included
    spent: float
    settings: Settings
    last_change: int
    pending: IndexVector = NO_INDEX  # cells that are out, ascending
    pending_lines: tuple[Line, ...] = ()  # rows and columns of lists that have some


DECIDED = "decided: "  # what the reason of a decision begins with


class Round(NamedTuple):
    """The error at one moment, as a share of the matrix; or what was decided."""

    moment: datetime
    tell: int  # the last that it knew
    n_values: int
    spent: float
    error: float  # nan where nothing can be said
    relative: float
    low: float  # of the interval, relative; nan where it is refused
    high: float
    reason: str

    @property
    def is_decision(self) -> bool:
        """Whether it is a decision, and no error."""
        return self.reason.startswith(DECIDED)


class Summary(NamedTuple):
    """Where a study stands, in numbers."""

    n_values: int
    n_failed: int
    n_unasked: int
    spent: float
    n_pending: int
    pending_price: float
    n_lists: int
    last_tell: int
    is_partial: bool  # whether something was forbidden on a list


def kept_cells(cells: IndexVector, n_columns: int) -> IndexVector:
    """Numbers of cells as they are kept, from those in a matrix of so many columns."""
    return cells // n_columns * WIDTH + cells % n_columns


def numbered_cells(kept: IndexVector, n_columns: int) -> IndexVector:
    """Numbers of cells in a matrix of so many columns, from those that are kept."""
    return kept // WIDTH * n_columns + kept % WIDTH


def moment_of(microseconds: int) -> datetime:
    """A moment, from microseconds since 1970, before the year 2262."""
    seconds, rest = divmod(min(max(int(microseconds), 0), 9_214_646_400_000_000), 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
