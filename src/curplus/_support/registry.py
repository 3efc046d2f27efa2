"""Objects of one kind by name: solvers, strategies, selection rules, methods. A new one is a new row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from ..exceptions import InvalidArgumentError

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(dict[str, T], Generic[T]):
    """A table from names to objects with one verb, so that a caller may pass a name or an object.

    Parameters
    ----------
    kind : str
        What the objects are, as the argument that takes one is called.
    verb : str
        The method that every one of them has.
    objects : mapping
        The objects by name.
    """

    def __init__(self, kind: str, verb: str, objects: Mapping[str, T]) -> None:
        super().__init__(objects)
        self.kind, self.verb = kind, verb

    def resolve(self, choice: str | T) -> T:
        """The object of a name; an object that has the verb is returned as it is."""
        names = ", ".join(self)
        if isinstance(choice, str):
            if choice not in self:
                raise InvalidArgumentError(f"{self.kind}={choice!r} is unknown. Use one of {names}.")
            return self[choice]
        if isinstance(choice, type) or not callable(getattr(choice, self.verb.partition("(")[0], None)):
            raise InvalidArgumentError(
                f"{self.kind}={choice!r} has no method {self.verb}. Use one of {names}, or an object that has."
            )
        return choice

    def classes(self) -> dict[str, Any]:
        """The classes of the objects by their own names, to make an object again that was saved."""
        return {type(item).__name__: type(item) for item in self.values()}
