"""What can go wrong, as one tree.

::

    CURPlusError
    ├── InvalidArgumentError (ValueError)       an argument without a valid meaning
    │   ├── RankTooLargeError                   more directions asked for than were sampled
    │   ├── TooFewEntriesError                  the core is not determined by the entries
    │   └── InconsistentObservationError        two readings of one place disagree
    ├── SourceError                             the matrix could not be read
    ├── SpanError                               the approximation is not made of sampled columns and rows
    ├── FileFormatError                         a saved file is damaged or not ours
    ├── StudyError                              a study file cannot be used now: read-only, or in use
    ├── DiskFullError                           there is no room for a file; older files are whole
    └── MissingExtraError (ImportError)         an optional dependency is not installed

Every message states what arrived, why it cannot work and how to fix it.
"""

import typing

__all__ = [
    "CURPlusError",
    "DiskFullError",
    "FileFormatError",
    "InconsistentObservationError",
    "InvalidArgumentError",
    "MissingExtraError",
    "RankTooLargeError",
    "SourceError",
    "SpanError",
    "StudyError",
    "TooFewEntriesError",
]


class CURPlusError(Exception):
    """Base class of every error this library raises on purpose.

    Parameters
    ----------
    message : str
        What arrived, why it cannot work and how to fix it.
    observation : Observation, optional
        What had been read before, if :func:`curplus.acquire` was at work; else None.
    """

    def __init__(self, message: str = "", *, observation: typing.Any = None) -> None:
        super().__init__(message)
        self.observation = observation


class InvalidArgumentError(CURPlusError, ValueError):
    """An argument has a value that cannot work."""


class RankTooLargeError(InvalidArgumentError):
    """More directions were asked for than columns or rows were sampled."""


class TooFewEntriesError(InvalidArgumentError):
    """The observed entries do not determine the core."""


class InconsistentObservationError(InvalidArgumentError):
    """Two readings of the same place of the matrix disagree."""


class SourceError(CURPlusError):
    """The matrix could not be read; the original exception, if any, is the cause."""


class SpanError(CURPlusError):
    """The approximation does not lie in the span of the sampled columns and rows."""


class FileFormatError(CURPlusError):
    """A file is damaged, truncated, or was not written by this library."""


class StudyError(CURPlusError):
    """A study file is whole and cannot be used now: it is read-only, or somebody else is busy."""


class DiskFullError(CURPlusError):
    """There is no room for a file; what was there before is whole."""


class MissingExtraError(CURPlusError, ImportError):
    """An optional dependency is needed and not installed."""
