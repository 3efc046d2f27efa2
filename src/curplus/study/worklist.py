"""A work list: what to measure next, as a table that people fill in and send back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from typing import Any

from .._extras import import_extra
from .._files import write_bytes
from .._replacing import replacing
from .names import escaped

__all__ = ["Worklist"]


@dataclass(frozen=True)
class Worklist:
    """Cells to be measured, and what they cost.

    Measure them, write each value beside its cell, leave the value empty where a measurement failed, and give the table
    to :meth:`curplus.Study.tell`. It may come back in pieces and in any order: leave out the lines that are still to be
    measured.
    """

    id: int  # number of the list, from 1 on
    rows: dict[Any, str]  # rows asked for whole, each with the reason
    columns: dict[Any, str]  # columns asked for whole, each with the reason
    cells: Any = field(repr=False)  # pandas DataFrame with the columns row and column, one line for each cell
    price: float = 0.0  # in the unit of the budget
    asked_at: datetime | None = None
    expires: datetime | None = None  # when it stops being pending

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        parts = [
            f"{len(x)} whole {word if len(x) == 1 else word + 's'}"
            for x, word in ((self.rows, "row"), (self.columns, "column"))
            if x
        ]
        whole = f", among them {' and '.join(parts)}" if parts else ""
        return f"<Worklist {self.id}: {len(self)} cells{whole}>"

    def table(self) -> Any:
        """The table that people fill in: list, row, column, and empty columns for value and note.

        Names that a spreadsheet would take for a formula start with an apostrophe; ``tell`` knows them.
        """
        pandas = import_extra("pandas", extra="pandas", purpose="work lists need pandas")
        names = {side: [escaped(name) for name in self.cells[side]] for side in ("row", "column")}
        return pandas.DataFrame({"list": self.id, **names, "value": None, "note": None})

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table as a CSV file."""
        write_bytes(path, self.table().to_csv(index=False).encode())

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the table as a Parquet file; names are as they are."""
        import_extra("pyarrow", extra="arrow", purpose="Parquet files need pyarrow")
        names = {side: self.cells[side] for side in ("row", "column")}
        filled = self.table().assign(**names).astype({"value": "float64", "note": "object"})
        with replacing(path) as stream:
            filled.to_parquet(stream, index=False)

    def to_excel(self, path: str | PathLike[str]) -> None:
        """Write the table as an Excel workbook."""
        openpyxl = import_extra("openpyxl", extra="excel", purpose="Excel files need openpyxl")
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet(f"list {self.id}")
        table = self.table()
        sheet.append(list(table.columns))
        for line in table.itertuples(index=False):
            sheet.append(list(line))
        with replacing(path) as stream:
            book.save(stream)
