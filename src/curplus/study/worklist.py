"""A work list: what to measure next, as a table that people fill in and send back."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._support.extras import import_extra
from .._support.spelling import counted
from .._support.tables import write_frame
from .._typing import IndexVector
from .logs import write_harness_lists
from .names import Axis, escaped
from .schema import WIDTH
from .storage import Line, ListInfo

__all__ = ["Worklist", "pandas_for_studies", "worklist_of"]

MOST_SHOWN = 10  # cells in a notebook


@dataclass(frozen=True)
class Worklist:
    """Cells to be measured, and what they cost.

    Measure them, write each value beside its cell, or a bound such as ``>10000``, leave the value empty if a
    measurement failed, and give the table to :meth:`curplus.Study.tell`. It may come back in pieces, as it grows, and
    in any order: leave out the lines that are not measured yet. A line is known by its list, row and column: told
    again with the same value, it is the same reading. For a second reading of a cell, leave the column ``list`` empty.
    Cells drawn at random come first, in random order. A part of the list is evidence for the error if it is the
    beginning, so work from the top to the bottom.
    """

    id: int  # number of the list, from 1 on
    rows: dict[Any, str]  # rows asked for whole, each with the reason
    columns: dict[Any, str]  # columns asked for whole, each with the reason
    cells: Any = field(repr=False)  # pandas DataFrame with the columns list, row and column, one line for each cell
    price: float = 0.0  # in the unit of the budget
    asked_at: datetime | None = None
    expires: datetime | None = None  # when it stops being pending

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def _words(self) -> str:
        """How many cells there are, and whole rows and columns among them."""
        sides = ((self.rows, "whole row"), (self.columns, "whole column"))
        whole = " and ".join(counted(len(lines), what) for lines, what in sides if lines)
        return counted(len(self), "cell") + (f", among them {whole}" if whole else "")

    def __repr__(self) -> str:
        return f"<Worklist {self.id}: {self._words}>"

    def _repr_html_(self) -> str:
        more = "" if len(self) <= MOST_SHOWN else f"<p>and {len(self) - MOST_SHOWN:,} more</p>"
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.cells.head(MOST_SHOWN).to_html(index=False)}{more}"

    def table(self) -> Any:
        """The table that people fill in: list, row, column, and empty columns for value and note.

        Names that a spreadsheet would take for a formula start with an apostrophe; ``tell`` knows them.
        """
        names = {side: [escaped(name) for name in self.cells[side]] for side in ("row", "column")}
        return self.cells.assign(**names, value=None, note=None)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table as a CSV file."""
        write_frame(self.table(), path, ".csv")

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the table as a Parquet file; names are as they are."""
        names = {side: self.cells[side] for side in ("row", "column")}
        write_frame(self.table().assign(**names).astype({"value": "float64", "note": "object"}), path, ".parquet")

    def to_harness(self, folder: str | PathLike[str], format: str) -> list[Path]:
        """Write the questions of each model as a harness takes them, in a new folder; the paths of the files.

        Columns are called by task and question, as :meth:`curplus.Study.from_logs` calls them.

        Parameters
        ----------
        folder : str or Path
            Where the files are written; if it exists, it is empty.
        format : {"lm-eval", "inspect"}
            With "lm-eval" a file for each model, for ``lm_eval --samples``; its tasks are those in the file. With
            "inspect" a file for each model and task, for ``inspect eval --run-config``. HELM takes no such list.
        """
        return write_harness_lists(self.cells, Path(folder), format)

    def to_excel(self, path: str | PathLike[str]) -> None:
        """Write the table as an Excel workbook."""
        write_frame(self.table(), path, ".xlsx")


def pandas_for_studies() -> Any:
    """The package pandas."""
    return import_extra("pandas", extra="pandas", purpose="a study needs pandas")


def worklist_of(info: ListInfo, lines: Iterable[Line], cells: IndexVector, axes: tuple[Axis, Axis]) -> Worklist:
    """A list by name, of some of its cells, by their kept numbers."""
    names = [axis.labels(positions) for axis, positions in zip(axes, np.divmod(cells, WIDTH), strict=True)]
    rows, columns = dict[Any, str](), dict[Any, str]()
    for line in lines:
        (rows, columns)[line.axis][axes[line.axis].labels([line.position])[0]] = line.reason
    frame = pandas_for_studies().DataFrame({"list": info.id, "row": names[0], "column": names[1]})
    return Worklist(info.id, rows, columns, frame, info.price, info.asked_at, info.expires)
