"""The recommended method, a file for each of its steps."""

from .approximate import CrossApproximation, approximate

__all__ = ["CrossApproximation", "approximate"]
