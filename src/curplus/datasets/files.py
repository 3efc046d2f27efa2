"""A file of a data set: plain, compressed or inside an archive, opened the same way, with errors that name the line."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..exceptions import SourceError

__all__ = ["DataFile"]

DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)
GZIP = b"\x1f\x8b"


class DataFile(NamedTuple):
    """A file on disk, or a member of a zip archive on disk."""

    path: Path
    member: str | None = None  # path inside the archive

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path} ({self.member})"

    def broken(self, what: str, *, line: int | None = None) -> SourceError:
        """The error to raise when the file is not what it should be."""
        place = "" if line is None else f", line {line}"
        return SourceError(f"{self}{place}: {what}. The file is damaged or another one: get it again.")

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes of the file, unpacked; damage that shows while they are read is reported as our error."""
        try:
            with ExitStack() as stack:
                raw: Any = stack.enter_context(self._raw(stack))
                # The first bytes decide, not the name: servers and browsers often unpack a file before they deliver it.
                stream: Any = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == GZIP else raw
                yield stack.enter_context(stream)
        except DAMAGE as error:
            raise self.broken(f"it cannot be unpacked ({error})") from error

    def lines(self) -> Iterator[str]:
        """The lines of the file without their ends; blank ones at the end of the file are left out."""
        with self.opened() as stream, io.TextIOWrapper(stream, encoding="ascii", errors="replace") as text:
            n_blank = 0
            for line in map(str.strip, text):
                if not line:
                    n_blank += 1
                    continue
                yield from [""] * n_blank
                n_blank = 0
                yield line

    def _raw(self, stack: ExitStack) -> IO[bytes]:
        if self.member is None:
            return self.path.open("rb")
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        base = self.member.rpartition("/")[2]
        for name in sorted(archive.namelist(), key=lambda name: name != self.member):
            if name.rpartition("/")[2] == base:
                return archive.open(name)
        raise self.broken("the archive has no such file")
