"""The command line: it parses, calls and prints; the mathematics is elsewhere."""

from .main import run

__all__ = ["run"]
