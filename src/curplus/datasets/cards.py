"""What a data set is, where it is published, under which conditions, and how its files are read: its card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from .._typing import Shape
from .files import DataFile

__all__ = ["RESEARCH_ONLY", "Card", "Parser", "PublishedFile"]

RESEARCH_ONLY = "none stated; for research only, do not pass it on"  # a licence

#: Reads one published file into a CSR array, with the rows and columns of the file.
Parser: TypeAlias = Callable[[DataFile], Any]


class PublishedFile(NamedTuple):
    """A file as its authors publish it, alone or inside an archive."""

    name: str  # as published; in an archive, the path there
    url: str  # what is downloaded: the file, or the zip archive that holds it
    checksum: str | None = None  # of what is downloaded, as "sha256:..."; None if it is not certain
    n_rows: int | None = None  # what the file must hold: rows of the matrix as published
    total: int | None = None  # and the sum of its values, if its authors publish it

    @property
    def download_name(self) -> str:
        """Name under which a download is kept."""
        return unquote(urlsplit(self.url).path).rpartition("/")[2]

    @property
    def is_archived(self) -> bool:
        """Whether the file comes inside a zip archive."""
        return self.download_name.endswith(".zip")


@dataclass(frozen=True, kw_only=True)
class Card:
    """Origin, conditions, size and files of a data set.

    Parameters
    ----------
    name, title : str
        Its name in code, and its name for people.
    origin : str
        What was collected, and by whom.
    rows, columns, values : str
        What a row, a column and an entry of the matrix stand for.
    kind : {"matrix", "ratings"}
        Whether an entry that is not stored is zero, or unknown. The data set is a :class:`Dataset` or
        :class:`Ratings`.
    shape : (int, int)
        Size of the matrix, at least as many rows as columns unless ``notes`` state otherwise. Files may hold its
        transpose.
    nnz : int or None
        How many entries are not zero, or for ratings how many are known; None if it is not published.
    total : float or None
        The sum of all entries, which every copy of the data is checked against.
    licence, citation : str
        The conditions of use, and what to cite.
    published : str
        Where the files are offered.
    files : tuple of PublishedFile
        What to download; empty if no lasting address is known.
    parse : callable, optional
        Reads one of ``files`` into a CSR array. Several are put below each other.
    compact : str
        Name of an npz file that may stand in for the published ones.
    is_shipped : bool
        Whether the package has the compact file, with its licence beside it, so that nothing is downloaded.
    notes : str
        Other remarks for users.
    """

    name: str
    title: str
    origin: str
    rows: str
    columns: str
    values: str
    kind: Literal["matrix", "ratings"] = "matrix"
    shape: Shape
    nnz: int | None
    total: float | None = None
    licence: str
    citation: str
    published: str
    files: tuple[PublishedFile, ...] = ()
    parse: Parser | None = None
    compact: str
    is_shipped: bool = False
    notes: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """The card as text, heading by heading."""
        facts = {
            "name": self.name,
            "origin": self.origin,
            "shape": f"{self.shape[0]:,} x {self.shape[1]:,} ({self.rows} x {self.columns})",
            "values": self.values,
            "nnz": "not counted" if self.nnz is None else f"{self.nnz:,}",
            "licence": self.licence,
            "cite": self.citation,
            "published": self.published,
            "files": ", ".join(file.name for file in self.files),
            "or" if self.files else "file": self.compact + (", part of curplus" if self.is_shipped else ""),
            "notes": self.notes,
        }
        return {heading: text for heading, text in facts.items() if text}

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {heading:<10} {text}" for heading, text in self.facts.items())])
