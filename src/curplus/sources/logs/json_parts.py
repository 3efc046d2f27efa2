"""Large JSON documents, part by part, without holding the whole of one in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import Any, TextIO

__all__ = ["json_parts"]

CHUNK = 2**20  # characters
BLANKS = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()
IN_NUMBERS = "0123456789.eE+-"


def json_parts(stream: TextIO, lists: Container[str] = ()) -> Iterator[tuple[str, Any]]:
    """The members of an object as pairs of name and value, or the items of an array, each with an empty name.

    A member whose name is in ``lists`` is an array, and comes item by item.
    """
    text = _Text(stream)
    if text.next() == "[":
        yield from (("", item) for item in _items(text))
        return
    for _ in _separated(text, "{", "}"):
        name = text.value()
        text.take(":")
        if name in lists and text.next() == "[":
            yield from ((name, item) for item in _items(text))
        else:
            yield name, text.value()


def _items(text: _Text) -> Iterator[Any]:
    return (text.value() for _ in _separated(text, "[", "]"))


def _separated(text: _Text, start: str, end: str) -> Iterator[None]:
    """Once before each part between two brackets; who asks reads the part."""
    text.take(start)
    if text.next() != end:
        yield
        while text.next() == ",":
            text.take(",")
            yield
    text.take(end)


class _Text:
    """The text that was read of a stream and not used yet."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.text, self.at = stream, "", 0

    def next(self) -> str:
        """The next character that is no blank, which stays; nothing at the end."""
        while True:
            found = BLANKS.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text) or not self._more():
                return self.text[self.at : self.at + 1]

    def take(self, character: str) -> None:
        """Go past a character that must be there."""
        if self.next() != character:
            raise ValueError(f"{character!r} was expected in place of {self.text[self.at : self.at + 20]!r}")
        self.at += 1

    def value(self) -> Any:
        """The next value; as much is read as it takes."""
        self.next()
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                if not self._more():
                    raise
            else:
                may_go_on = self.text[end : end + 1] in IN_NUMBERS  # nothing follows yet, or 0. is read as 0
                if not may_go_on or not self._more():
                    self.at = end
                    return value

    def _more(self) -> bool:
        """Read on, twice as far each time, so that a long value is parsed few times; False at the end."""
        piece = self.stream.read(max(CHUNK, len(self.text) - self.at))
        if piece:
            self.text, self.at = self.text[self.at :] + piece, 0
        return bool(piece)
