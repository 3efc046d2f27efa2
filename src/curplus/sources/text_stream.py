"""The text of a file: unpacked, decoded, and watched, so that a file that is no table costs no memory."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..exceptions import SourceError

__all__ = ["GuardedText", "encoding_of", "head_of", "open_text"]

LONGEST_LINE = 2**26  # characters; a line of two million numbers has fewer
HEAD = 2**16  # bytes that are looked at first
HEAD_LINES, FEWEST_LINES = 100, 4
BLOCK = 2**20  # characters that are read at once
GZIP = b"\x1f\x8b"

#: First bytes that say how a text is encoded. The longer come first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _open_bytes(path: Path) -> Any:
    """The bytes of a file, unpacked where it is packed."""
    with path.open("rb") as stream:
        packed = stream.read(2) == GZIP
    return gzip.open(path, "rb") if packed else path.open("rb")


def encoding_of(path: Path) -> str:
    """How a text is encoded, by its first bytes: UTF-8 unless they say otherwise."""
    with _open_bytes(path) as stream:
        head = stream.read(HEAD)
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    if half := _without_mark(head):
        return half
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _without_mark(head: bytes) -> str:
    """UTF-16 without a mark, where digits and separators have a zero byte each: which one tells the order."""
    zeros = [head[start::2].count(0) for start in (0, 1)]
    enough = 0.4 * (len(head) // 2)
    if min(zeros) == 0 and max(zeros) > enough:
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return ""


class GuardedText:
    """A text that is read in pieces; it refuses NUL characters and lines without end, and counts what it has seen.

    Parameters
    ----------
    path : Path
        The file, packed by gzip or not.
    encoding : str
        How it is encoded.
    counted : str
        A character to count; empty for none.
    """

    def __init__(self, path: Path, encoding: str, counted: str = "") -> None:
        self._path, self._counted = path, counted
        self._stream = io.TextIOWrapper(_open_bytes(path), encoding=encoding, newline=None)
        self._line, self._length = 1, 0  # the line that is being read, and how much of it has been
        self.n_counted, self.has_quotes = 0, False

    def read(self, size: int = BLOCK) -> str:
        """The next characters, at most ``size`` of them; none at the end."""
        text = self._stream.read(size if size > 0 else BLOCK)
        if "\0" in text:
            line = self._line + text.count("\n", 0, text.index("\0"))
            raise SourceError(
                f"line {line} of {self._path} has a NUL character, so it is not a text, or not in the encoding "
                f"{self._stream.encoding}. Say which: encoding='utf-16', for example."
            )
        self._measure(text)
        self.n_counted += text.count(self._counted) if self._counted else 0
        self.has_quotes = self.has_quotes or '"' in text
        return text

    def _measure(self, text: str) -> None:
        """Count lines, and refuse one that does not end."""
        end = text.rfind("\n")
        if end >= 0:
            self._line, self._length = self._line + text.count("\n"), 0
        self._length += len(text) - end - 1
        if self._length > LONGEST_LINE:
            raise SourceError(
                f"line {self._line} of {self._path} has more than {LONGEST_LINE:,} characters, which no line of a "
                "table has. Check that the file is a text with one line for each row."
            )

    def lines(self) -> Iterator[str]:
        """The lines, without their ends."""
        rest = ""
        for text in self:
            *whole, rest = (rest + text).split("\n")
            yield from whole
        yield rest

    def __iter__(self) -> Iterator[str]:
        return iter(self.read, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def open_text(path: Path, encoding: str, counted: str = "") -> GuardedText:
    """The text of a file; an encoding that does not exist is named."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise SourceError(
            f"encoding={encoding!r} is not known. Use utf-8, utf-16 or latin-1, or any other that Python knows."
        ) from None
    return GuardedText(path, encoding, counted)


def head_of(path: Path, encoding: str) -> list[str]:
    """The first lines of a text, with their ends: about a hundred, or a few if they are long."""
    pieces, n_lines, size = [""], 0, 0
    with open_text(path, encoding) as stream:
        while n_lines <= HEAD_LINES and not (n_lines >= FEWEST_LINES and size > BLOCK):
            pieces.append(stream.read(HEAD))
            if not pieces[-1]:
                break
            n_lines, size = n_lines + pieces[-1].count("\n"), size + len(pieces[-1])
    lines = "".join(pieces).splitlines(keepends=True)
    return lines if not pieces[-1] else lines[:-1]  # the last may have been cut
