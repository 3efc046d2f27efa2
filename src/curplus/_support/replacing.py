"""Writing a file all or nothing.

The content goes to a temporary file beside its destination, which takes the place of the older file once it is complete
and on the disk: a crash leaves the older file whole. A writer keeps its temporary file locked. The system drops a lock
when its process ends, however it ends, so the next save to the same destination removes only what a killed
writer left behind, and nothing that another writer is busy with.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from ..exceptions import DiskFullError, InvalidArgumentError

__all__ = ["check_destination", "flush_folder", "full_disk_in_words", "replacing"]

CAN_LOCK = find_spec("fcntl") is not None  # not on Windows: what killed writers left behind stays there

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # the disk, the quota, the largest file that is allowed
NOT_A_FILE = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link that leads in a circle",
}


def check_destination(path: str | PathLike[str]) -> Path:
    """The file that ``path`` leads to, symbolic links followed; an error if nothing can be saved there."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder; make it before saving to it", str(target.parent))
    older = _status(target)
    if older is None:
        return target
    if not stat.S_ISREG(older.st_mode):
        what = NOT_A_FILE.get(stat.S_IFMT(older.st_mode), "something else")
        raise InvalidArgumentError(
            f"{path} is {what}, and a result can only be saved to a regular file. Give the path of a file."
        )
    if not (older.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(
            errno.EACCES, "A read-only file is not replaced; make it writable or give another path", str(path)
        )
    return target


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to a file beside ``path`` that takes its place once it is complete and on the disk.

    A symbolic link stays one: the file it leads to is replaced. An older file hands down its permissions, and its owner
    where the system allows that; a new one has those that any new file gets there.
    """
    target = check_destination(path)
    older = _status(target)
    temporary, stream = _temporary_file(target, mode=0o666 if older is None else 0o600)
    try:
        with full_disk_in_words(path), stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if older is not None:
                _hand_down(older, temporary)
            if not CAN_LOCK:
                stream.close()  # Windows moves closed files only; elsewhere the lock must outlast the move
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)
    _remove_leftovers(target)


@contextmanager
def full_disk_in_words(path: str | PathLike[str]) -> Iterator[None]:
    """Explain what to do if there is no room for a file."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFullError(
            f"{path} could not be written: there is no room ({error.strerror}). What was there before is whole, and "
            "nothing is left of the new file. Make room, or give a path on another disk."
        ) from error


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.lstat()
    except FileNotFoundError:
        return None


def _temporary_file(target: Path, *, mode: int) -> tuple[Path, BinaryIO]:
    """A new file beside ``target``, locked; the system takes from ``mode`` what new files do not get."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        stream = open(path, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115 (the caller closes it)
        if _is_kept(path, stream):
            return path, stream
        stream.close()


def _is_kept(path: Path, stream: BinaryIO) -> bool:
    """Lock a new file; False if another save took it for a leftover before it was locked."""
    try:
        _lock(stream)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system: nobody can lock the file in order to remove it
        return True
    return path.exists()


def _lock(stream: BinaryIO) -> None:
    """Lock a file until it is closed; an OSError if somebody else has locked it."""
    if CAN_LOCK:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _hand_down(older: os.stat_result, temporary: Path) -> None:
    """Give a file the owner and the permissions of the one that it is to replace."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only the system's administrator may give files away
            os.chown(temporary, older.st_uid, older.st_gid)
    temporary.chmod(stat.S_IMODE(older.st_mode))


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers to ``target`` left behind: their temporary files are not locked any more."""
    if not CAN_LOCK:
        return
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.part")
    with suppress(OSError):
        for path in target.parent.iterdir():
            if pattern.fullmatch(path.name):
                _remove_if_unlocked(path)


def _remove_if_unlocked(path: Path) -> None:
    with suppress(OSError), path.open("r+b") as stream:  # some systems lock only files that are open for writing
        _lock(stream)
        path.unlink()


def flush_folder(folder: Path) -> None:
    """Make sure that a new name in a folder outlives a power cut, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
