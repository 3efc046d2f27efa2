"""The recommended method, a file for each of its steps."""

from .approximate import approximate

__all__ = ["approximate"]
