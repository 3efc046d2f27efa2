"""The report of a study: one page that needs no server, no network and no other file."""

from .page import write_report

__all__ = ["write_report"]
