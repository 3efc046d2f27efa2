"""The public names of the library with their signatures: ``python -m tests.public_names`` writes public_names.txt.

Whoever changes a line of that file changes what users have written: say so in CHANGELOG.md.
"""

import importlib
import inspect
import re
from pathlib import Path

import curplus
from curplus._layout import PUBLIC_NAMES, SUBPACKAGES

LISTED = Path(__file__).with_suffix(".txt")
UNLIKE = re.compile(r" at 0x[0-9a-f]+|<class '([\w.]+)'>")  # what differs between processes


def signature_of(value):
    """The arguments with their defaults; types are left to the type checker."""
    signature = inspect.signature(value)
    arguments = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    shown = signature.replace(parameters=arguments, return_annotation=inspect.Signature.empty)
    return UNLIKE.sub(lambda found: found[1] or "", str(shown))


def members_of(kind):
    """Public methods and properties that a class, or a parent of it in this library, defines."""
    owners = [parent for parent in kind.__mro__ if parent.__module__.startswith("curplus")]
    found = {name: value for parent in reversed(owners) for name, value in vars(parent).items()}
    fields = getattr(kind, "__annotations__", {})
    for name, value in sorted(found.items()):
        if name.startswith("_") or name in fields:
            continue
        inner = getattr(value, "__func__", value)
        if inspect.isfunction(inner):
            yield f"{name}{signature_of(inner)}"
        elif isinstance(value, property) or hasattr(value, "func"):
            yield name


def lines_of(name, value):
    """One line for a name, and one for each public member of a class."""
    if inspect.isclass(value):
        arguments = "" if issubclass(value, Exception) or getattr(value, "_is_protocol", False) else signature_of(value)
        yield f"{name}{arguments}"
        yield from (f"{name}.{member}" for member in members_of(value))
    elif inspect.isfunction(value):
        yield f"{name}{signature_of(value)}"
    else:
        yield name


def listing():
    """All lines: the names at the door, then those of each subpackage."""
    found = [
        f"curplus.{name} is {PUBLIC_NAMES[name]}.{name}" if PUBLIC_NAMES.get(name) else f"curplus.{name}"
        for name in curplus.__all__
    ]
    for subpackage in (*SUBPACKAGES, "exceptions"):
        module = importlib.import_module(f"curplus.{subpackage}")
        for name in sorted(module.__all__):
            found += lines_of(f"{subpackage}.{name}", getattr(module, name))
    return found


if __name__ == "__main__":
    LISTED.write_text("\n".join(listing()) + "\n", encoding="utf-8")
