"""What arrives on standard input, kept in a file as long as it is used."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from ..exceptions import SourceError
from .content import kind_by_content
from .source import Source

__all__ = ["STANDARD_INPUT", "standard_input"]

STANDARD_INPUT = "-"


def standard_input(open_file: Callable[[Path], Source]) -> Source:
    """The source that ``open_file`` makes of what arrives on standard input; a text unless its first bytes differ."""
    folder = Path(tempfile.mkdtemp(prefix="curplus-"))
    try:
        path = folder / "standard-input.csv"
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        if not path.stat().st_size:
            raise SourceError("nothing arrived on standard input. Send a table: cat table.csv | curplus info -")
        path = path.rename(path.with_suffix(kind_by_content(path, ".csv")))
        source = open_file(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source
