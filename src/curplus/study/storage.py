"""Where a study keeps what it knows: the few things that a place must be able to do.

A place has verbs for whole events (a list is asked for, a table is told, a list is cancelled, an error is judged), each
of which happens as a whole or not at all, and questions that give a consistent answer. Cells are single numbers
``i * m + j``. A server can take the place of the file by offering the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from .._typing import FloatArray, IndexVector, Shape

__all__ = [
    "ANSWERED",
    "CANCELLED",
    "DRAWN",
    "KNOWN",
    "ON_LINE",
    "PENDING",
    "STEERING",
    "Draft",
    "Line",
    "ListInfo",
    "Records",
    "Round",
    "Settings",
    "Snapshot",
    "Storage",
    "Summary",
    "Told",
    "moment_of",
]

ON_LINE, DRAWN, STEERING = 0, 1, 2  # roles of a cell: of a whole row or column, drawn uniformly, drawn to steer
PENDING, ANSWERED, CANCELLED, KNOWN = 0, 1, 2, 3  # states of a cell of a list; known: measured or asked for before


class Settings(NamedTuple):
    """What was said when the study was created."""

    shape: Shape
    row_names: tuple[Any, ...] | None
    column_names: tuple[Any, ...] | None
    budget: float | None
    costs: Mapping[str, Any] | None  # row, column, entry
    noise: float | str | None
    rank: int | None
    records: str  # which count: "all", "latest" or "error"


class Line(NamedTuple):
    """A row (axis 0) or column (axis 1) that is asked for whole."""

    axis: int
    position: int
    design: str
    reason: str


class Draft(NamedTuple):
    """A work list that is to be kept."""

    budget: float
    price: float
    lines: tuple[Line, ...]
    cells: IndexVector  # (k,), ascending: what is to be measured, and what was drawn and is known
    roles: IndexVector  # (k,)
    is_known: Any  # (k,), truth values
    asked_by: str
    purpose: str
    expires_after: float | None  # seconds
    after_list: int  # the last list that its author knew of


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

    cells: IndexVector  # (k,)
    values: FloatArray  # (k,), NaN where a measurement failed
    notes: list[str | None] | None
    times: list[str | None] | None
    corrects: list[int | None] | None

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, which: IndexVector) -> Records:
        """Some of them."""
        notes, times, corrects = (None if x is None else [x[k] for k in which] for x in self[2:])
        return Records(self.cells[which], self.values[which], notes, times, corrects)


class Told(NamedTuple):
    """What became of a table."""

    number: int
    moment: datetime
    n_values: int
    n_failed: int
    n_unasked: int
    is_new: bool  # False if the same content had been told before


class Snapshot(NamedTuple):
    """All that an observation is made of, at one moment."""

    cells: IndexVector  # (k,), of the readings that count, in the order in which they came
    values: FloatArray  # (k,), NaN where a measurement failed
    lines: tuple[Line, ...]  # in the order in which they were asked for
    drawn: IndexVector  # cells drawn uniformly
    steering: IndexVector  # cells drawn to steer
    last_tell: int
    last_list: int
    n_values: int  # readings that succeeded, those that were corrected included


class Round(NamedTuple):
    """The error at one moment, as a share of the matrix."""

    moment: datetime
    tell: int  # the last that it knew
    n_values: int
    spent: float
    error: float  # nan where nothing can be said
    relative: float
    low: float  # of the interval, relative; nan where it is refused
    high: float
    reason: str


class Summary(NamedTuple):
    """Numbers that are kept up to date, so that they cost nothing."""

    n_values: int
    n_failed: int
    n_unasked: int
    spent: float
    n_pending: int
    pending_price: float
    n_lists: int
    last_tell: int


class Storage(Protocol):
    """A place for one study."""

    settings: Settings
    is_read_only: bool

    def add_list(self, draft: Draft) -> ListInfo | None:
        """Keep a list; None if another list was kept since ``draft.after_list``."""

    def add_records(
        self, records: Records, *, source: str, digest: str, who: str, price: float, only_pending: bool
    ) -> Told:
        """Keep readings; what has the digest of an earlier table is not kept again (no digest: it always is).

        A cell that is pending costs its share of its list, any other costs ``price``. With ``only_pending`` a cell that
        is not pending any more is left out.
        """

    def cancel(self, list_id: int, cells: IndexVector | None) -> int:
        """Take pending cells of a list back; their number."""

    def add_round(self, judged: Round) -> None:
        """Keep an error."""

    def summary(self) -> Summary: ...

    def rounds(self) -> tuple[Round, ...]: ...

    def lists(self) -> tuple[ListInfo, ...]: ...

    def list_parts(self, list_id: int) -> tuple[ListInfo, tuple[Line, ...], IndexVector]:
        """A list, its rows and columns, and its cells that are still pending, ascending."""

    def pending(self) -> tuple[IndexVector, tuple[Line, ...]]:
        """Cells that are out, ascending, and the rows and columns of lists that have some."""

    def snapshot(self, moment: datetime | None = None) -> Snapshot: ...

    def recent_values(self, count: int) -> FloatArray:
        """The last readings, without those that failed."""

    def record_rows(self) -> Iterator[tuple[Any, ...]]:
        """Each reading with its number, cell, value, note, times, corrected record, who and source."""

    def find_records(self, numbers: Iterable[int]) -> dict[int, tuple[int, bool]]:
        """Number of a record -> its cell, and whether it was corrected, of those that there are."""

    def dump(self, write: Callable[[str, tuple[str, ...], Iterator[tuple[Any, ...]]], None]) -> None:
        """Call ``write`` with the name, the columns and the rows of every table, all as of one moment."""

    def close(self) -> None: ...


def moment_of(microseconds: int) -> datetime:
    """A moment, from microseconds since 1970, before the year 2262."""
    seconds, rest = divmod(min(max(int(microseconds), 0), 9_214_646_400_000_000), 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
