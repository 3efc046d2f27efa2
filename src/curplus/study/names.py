"""Names of rows and columns: from a name to its position, and the nearest name where there is no such one."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._support.tables import FORMULA
from .._typing import IndexVector
from .._validation import check_count
from ..exceptions import InvalidArgumentError
from .schema import WIDTH

__all__ = ["Axis", "check_axis", "escaped", "unescaped"]

LONGEST_NAME = 1000  # characters


@dataclass(frozen=True)
class Axis:
    """The rows, or the columns, of a study; a change makes another one."""

    what: str  # "row" or "column"
    size: int
    names: tuple[Any, ...] | None = None  # None if they are numbers from 0 on
    former: Mapping[str, int] = field(default_factory=dict)  # positions of names before a change
    retired: frozenset[int] = frozenset()  # positions that are not asked for any more

    def __post_init__(self) -> None:
        if self.size > WIDTH:
            raise InvalidArgumentError(
                f"a matrix of {self.size:,} {self.what}s is too large: a side may have {WIDTH:,} places."
            )

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Positions of names, as texts, and of former ones."""
        return {**self.former, **{str(name): k for k, name in enumerate(self.names or ())}}

    def labels(self, index: Any) -> list[Any]:
        """Names of some positions."""
        listed = np.asarray(index).tolist()
        return listed if self.names is None else [self.names[k] for k in listed]

    def find(self, name: Any) -> int:
        """Position of a name; -1 where there is none. The mark that exports put before a formula may be there."""
        text = _text(name)
        forms = (text, text.strip(), unescaped(text.strip()))
        if self.names is not None:
            return next((self._positions[form] for form in forms if form in self._positions), -1)
        digits = [form for form in forms if form.isascii() and form.isdigit() and len(form) < 20]
        return int(digits[0]) if digits and int(digits[0]) < self.size else -1

    def find_all(self, names: Sequence[Any]) -> IndexVector:
        """Positions of names, of which each different one is looked up once; -1 where there is none."""
        found = {name: self.find(name) for name in dict.fromkeys(names)}
        return np.fromiter(map(found.__getitem__, names), np.int64, len(names))

    def nearest(self, name: Any) -> str:
        """The name that is most like one that there is not, in words."""
        if self.names is None:
            return f"they are numbered from 0 to {self.size - 1}"
        text = _text(name)[:LONGEST_NAME]
        lower = {known.lower(): known for known in self._positions}
        near = difflib.get_close_matches(text.lower(), list(lower)[:100_000], n=1, cutoff=0.5)
        return f"the nearest is {lower[near[0]]!r}" if near else f"the first is {next(iter(self._positions))!r}"

    def positions_of(self, names: Any) -> IndexVector:
        """Positions of names that a user gave; an error if one is not known."""
        if names is None:
            return np.arange(self.size)
        listed = [names] if isinstance(names, (str, int)) else list(names)
        found = self.find_all(listed)
        for k in np.flatnonzero(found < 0)[:1]:
            raise InvalidArgumentError(f"no {self.what} is called {listed[k]!r}; {self.nearest(listed[k])}.")
        return found

    def grown(self, given: Any) -> Axis:
        """With more of them: their names, or how many where they are numbered."""
        if self.names is None:
            return replace(self, size=self.size + check_count(given, name=f"{self.what}s", at_least=1))
        if isinstance(given, (int, np.integer)):
            raise InvalidArgumentError(
                f"{self.what}s={given!r} is a number, and the {self.what}s have names. Give a list of names."
            )
        after = check_axis([*self.names, *([given] if isinstance(given, str) else given)], self.what)
        return replace(self, size=after.size, names=after.names)

    def renamed(self, old: Any, new: Any) -> Axis:
        """With another name for one of them."""
        if self.names is None:
            raise InvalidArgumentError(f"the {self.what}s of this study are numbers, so none can be renamed.")
        at = int(self.positions_of([old])[0])
        after = check_axis([*self.names[:at], new, *self.names[at + 1 :]], self.what)
        return replace(self, names=after.names, former={**self.former, str(self.names[at]): at})

    def without(self, names: Any) -> Axis:
        """With some that are not asked for any more."""
        return replace(self, retired=self.retired.union(self.positions_of(names).tolist()))


def _text(name: Any) -> str:
    """A name as a text: 12 and 12.0 are the same name."""
    if isinstance(name, (float, np.floating)) and float(name).is_integer():
        return str(int(name))
    return str(name)


def check_axis(given: Any, what: str) -> Axis:
    """Rows or columns as a user gives them: how many, or their names."""
    if isinstance(given, Axis):
        return given
    try:
        size = operator.index(given)
    except TypeError:
        names = _check_names(given, what)
        return Axis(what, len(names), names)
    if isinstance(given, bool) or size < 1:
        raise InvalidArgumentError(f"{what}s={given!r} is neither a number of {what}s, from 1 on, nor a list of names.")
    return Axis(what, size)


def _check_names(given: Iterable[Any], what: str) -> tuple[Any, ...]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InvalidArgumentError(f"{what}s={given!r} is neither a number of {what}s nor a list of names.")
    listed = [name.item() if isinstance(name, np.generic) else name for name in given]
    numbers = all(isinstance(name, int) and not isinstance(name, bool) for name in listed)
    names: tuple[Any, ...] = tuple(listed) if numbers else tuple(_text(name).strip() for name in listed)
    if not names:
        raise InvalidArgumentError(f"there are no {what}s. Give at least one name.")
    for k, name in enumerate(map(str, names)):
        if not name or len(name) > LONGEST_NAME or not _is_plain(name):
            raise InvalidArgumentError(
                f"{what} {k} is called {name[:40]!r}, which cannot be a name: names are texts of 1 to {LONGEST_NAME} "
                "characters, without control characters."
            )
    seen: dict[str, int] = {}
    for k, name in enumerate(map(str, names)):
        if name in seen:
            raise InvalidArgumentError(
                f"{what}s {seen[name]} and {k} are both called {name!r}. Give each a name of its own."
            )
        seen[name] = k
    for name, k in seen.items():
        if (written := escaped(name)) != name and written in seen:
            raise InvalidArgumentError(
                f"{what} {k} is called {name!r}, which tables for spreadsheets write as {written!r}, and that is what "
                f"{what} {seen[written]} is called. Give one of them another name."
            )
    return names


def _is_plain(text: str) -> bool:
    """Whether every program can write a text: no half characters, no control characters but tabs and line ends."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return all(letter >= " " or letter in "\t\r\n" for letter in text)


def escaped(text: Any) -> Any:
    """A text that no spreadsheet takes for a formula, and that can be told from others; numbers stay numbers."""
    return f"'{text}" if isinstance(text, str) and text.startswith((*FORMULA, "'")) else text


def unescaped(text: str) -> str:
    """The text that was escaped."""
    return text.removeprefix("'")
