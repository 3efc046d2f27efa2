"""Writing all or nothing: what is at the destination stays what it is, and writers do not disturb each other."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import curplus
from curplus import _files
from curplus._files import write_bytes, write_file
from curplus._support import replacing as _replacing
from curplus._support.replacing import check_destination, replacing
from curplus.exceptions import InvalidArgumentError

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has neither these permissions nor these files")
locks_only = pytest.mark.skipif(not _replacing.CAN_LOCK, reason="without locks, leftovers stay")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run(script, *arguments, **options):
    """Start another process that runs a script."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


# Symbolic links


@posix_only
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("present", [True, False], ids=["to a file", "to nothing yet"])
def test_a_symbolic_link_is_written_through(tmp_path, relative, present):
    target = tmp_path / "elsewhere" / "target"
    target.parent.mkdir()
    if present:
        target.write_bytes(b"old")
    (tmp_path / "first").symlink_to(Path("elsewhere", "target") if relative else target)
    (tmp_path / "second").symlink_to("first")
    write_bytes(tmp_path / "second", b"new")
    assert target.read_bytes() == b"new"
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert names(tmp_path) == ["elsewhere", "first", "second"]
    assert names(target.parent) == ["target"]


@posix_only
def test_a_saved_result_is_read_back_through_a_link(tmp_path):
    seen = curplus.observe(np.ones((5, 4)), n_columns=2, n_rows=2, n_entries=3, rng=0)
    (tmp_path / "link").symlink_to("target")
    seen.save(tmp_path / "link")
    assert curplus.load(tmp_path / "link").n_entries == curplus.load(tmp_path / "target").n_entries == 3
    assert (tmp_path / "link").is_symlink()


# Permissions


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix_only
@pytest.mark.parametrize("before", [0o600, 0o640, 0o664, 0o755], ids=oct)
def test_an_older_file_keeps_its_permissions(tmp_path, before):
    path = tmp_path / "saved"
    path.touch()
    path.chmod(before)
    write_bytes(path, b"new")
    assert mode(path) == before
    assert path.read_bytes() == b"new"


@posix_only
def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "saved"
    path.touch()
    path.chmod(0o600)
    with replacing(path):
        assert [mode(file) for file in tmp_path.iterdir()] == [0o600, 0o600]


@posix_only
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o000], ids=oct)
def test_a_new_file_has_the_permissions_of_any_other(tmp_path, umask):
    script = """
        import os, sys
        from pathlib import Path
        from curplus._files import write_bytes

        os.umask(int(sys.argv[1]))
        os.umask = None  # nobody may ask for it: asking means setting it, for all threads
        write_bytes("saved", b"new")
        Path("other").touch()
    """
    with run(script, umask, cwd=tmp_path) as process:
        assert process.wait() == 0
    assert mode(tmp_path / "saved") == mode(tmp_path / "other") == 0o666 & ~umask


@posix_only
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_root_leaves_a_file_to_its_owner(tmp_path):
    path = tmp_path / "saved"
    path.touch()
    os.chown(path, 12345, 23456)
    write_bytes(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@posix_only
def test_a_file_that_cannot_be_given_away_is_still_saved(tmp_path, monkeypatch):
    def refuse(*args):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    write_bytes(tmp_path / "saved", b"old")
    write_bytes(tmp_path / "saved", b"new")
    assert (tmp_path / "saved").read_bytes() == b"new"


# Destinations that are refused


def make_folder(path):
    path.mkdir()


def make_pipe(path):
    os.mkfifo(path)


def make_device(path):
    path.symlink_to(os.devnull)


def make_circle(path):
    path.symlink_to(path.name)


REFUSED = {
    "a folder": make_folder,
    "a named pipe": make_pipe,
    "a device": make_device,
    "a symbolic link that leads in a circle": make_circle,
}


@posix_only
@pytest.mark.parametrize(("what", "make"), REFUSED.items(), ids=REFUSED)
def test_only_a_regular_file_is_replaced(tmp_path, monkeypatch, what, make):
    path = tmp_path / "saved"
    make(path)
    before = path.lstat()
    monkeypatch.setattr(_files, "to_numpy", None)  # nothing is done before the destination is known to be good
    message = rf"saved is {what}, and a result can only be saved to a regular file\. Give the path of a file\."
    saves = [check_destination, lambda path: write_bytes(path, b""), lambda path: write_file(path, "", {"x": 1}, {})]
    for save in saves:
        with pytest.raises(InvalidArgumentError, match=message):
            save(path)
    assert path.lstat() == before
    assert names(tmp_path) == ["saved"]


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "saved"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="A read-only file is not replaced; make it writable or give another"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["saved"]


def test_a_file_that_others_may_write_but_we_may_not_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "saved").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, what: False)
    with pytest.raises(PermissionError, match="read-only"):
        write_bytes(tmp_path / "saved", b"new")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such folder; make it before saving to it: .*nowhere'"):
        check_destination(tmp_path / "nowhere" / "saved")


# What killed writers leave behind

DIES = """
    import os, signal, sys
    from curplus._support.replacing import replacing

    with replacing(sys.argv[1]) as stream:
        stream.write(b"half")
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""

WAITS = """
    import sys
    from curplus._support.replacing import replacing

    with replacing(sys.argv[1]) as stream:
        stream.write(b"theirs")
        stream.flush()
        print("ready", flush=True)
        input()
"""


def die_while_saving(path):
    with run(DIES, path) as process:
        assert process.wait() == -signal.SIGKILL


@locks_only
def test_the_next_save_removes_what_killed_ones_left_behind(tmp_path):
    path = tmp_path / "saved [1].npz"
    for _ in range(2):
        die_while_saving(path)
    assert len(names(tmp_path)) == 2
    write_bytes(path, b"new")
    assert names(tmp_path) == [path.name]


@locks_only
def test_what_belongs_to_others_is_not_removed(tmp_path):
    die_while_saving(tmp_path / "saved.npz")
    (tmp_path / ".saved.notes.part").touch()
    others = names(tmp_path)
    assert len(others) == 2
    write_bytes(tmp_path / "saved", b"new")
    assert names(tmp_path) == sorted([*others, "saved"])


@locks_only
def test_a_failed_save_removes_nothing_but_its_own(tmp_path):
    die_while_saving(tmp_path / "saved")
    before = names(tmp_path)
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "saved"):
        raise KeyboardInterrupt
    assert names(tmp_path) == before


def test_a_writer_in_another_process_is_not_disturbed(tmp_path):
    path = tmp_path / "saved"
    with run(WAITS, path) as process:
        assert process.stdout.readline() == "ready\n"
        write_bytes(path, b"ours")
        assert path.read_bytes() == b"ours"
        assert len(names(tmp_path)) == 2
        process.communicate("go on\n")
    assert process.returncode == 0
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["saved"]


def test_a_writer_in_another_thread_is_not_disturbed(tmp_path):
    path = tmp_path / "saved"
    begun, go_on = threading.Event(), threading.Event()

    def write_slowly():
        with replacing(path) as stream:
            stream.write(b"theirs")
            begun.set()
            assert go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(write_slowly)
        assert begun.wait(60)
        write_bytes(path, b"ours")
        assert path.read_bytes() == b"ours"
        go_on.set()
        other.result()
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["saved"]


MANY = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    from curplus._files import write_bytes

    def write(k):
        write_bytes(sys.argv[1], bytes([k]) * 100_000)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [int(sys.argv[2])] * 40))
"""


def test_many_writers_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "saved"
    processes = [run(MANY, path, k) for k in range(3)]
    while any(process.poll() is None for process in processes):
        if path.exists():
            content = path.read_bytes()
            assert len(content) == 100_000
            assert len(set(content)) == 1
        time.sleep(0.001)
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert names(tmp_path) == ["saved"]


@locks_only
@pytest.mark.parametrize("held", [True, False], ids=["about to be removed", "removed"])
def test_a_writer_whose_file_was_taken_for_a_leftover_starts_another(tmp_path, monkeypatch, held):
    """Between making a file and locking it, another save may find it without a lock."""
    really_lock, calls = _replacing._lock, []

    def lock(stream):
        calls.append(stream.name)
        if len(calls) == 1:
            Path(stream.name).unlink()
            if held:
                raise BlockingIOError(errno.EWOULDBLOCK, "Resource temporarily unavailable")
        really_lock(stream)

    monkeypatch.setattr(_replacing, "_lock", lock)
    write_bytes(tmp_path / "saved", b"new")
    assert len(set(calls)) == 2
    assert (tmp_path / "saved").read_bytes() == b"new"
    assert names(tmp_path) == ["saved"]


# Systems without locks


def test_a_system_without_locks_saves_and_leaves_leftovers_alone(tmp_path, monkeypatch):
    """As on Windows, where a file must be closed before it is moved."""
    leftover = tmp_path / ".saved.0123456789ab.part"
    leftover.touch()
    monkeypatch.setattr(_replacing, "CAN_LOCK", False)
    streams, really_replace = [], Path.replace

    def replace(path, target):
        assert streams[0].closed
        return really_replace(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with replacing(tmp_path / "saved") as stream:
        streams.append(stream)
        stream.write(b"new")
    assert (tmp_path / "saved").read_bytes() == b"new"
    assert names(tmp_path) == [leftover.name, "saved"]


@locks_only
def test_a_file_system_without_locks_saves_and_leaves_leftovers_alone(tmp_path, monkeypatch):
    def refuse(stream, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    leftover = tmp_path / ".saved.0123456789ab.part"
    leftover.touch()
    monkeypatch.setattr("fcntl.flock", refuse)
    write_bytes(tmp_path / "saved", b"new")
    assert (tmp_path / "saved").read_bytes() == b"new"
    assert names(tmp_path) == [leftover.name, "saved"]
