"""Studies outlive kills, full disks and each other: real processes on real files."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import effort

pytest.importorskip("pandas")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests fork processes")

WORKERS = Path(__file__).with_name("study_workers.py")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("kill_tell", effort(6, 200)),
        ("kill_writers", effort(8, 200)),
        ("kill_run", effort(4, 200)),
        ("many_tells", effort(5, 1000)),
        ("many_asks", effort(2, 20)),
        ("asks_within_budget", 800),
        ("kill_writer", effort(3, 50)),
        ("full_disk", 1),
        ("read_only", 1),
        pytest.param(
            *("reader_of_others", effort(2000, 200_000)),
            marks=pytest.mark.skipif(
                getattr(os, "getuid", int)() != 0, reason="only the administrator can become somebody else"
            ),
        ),
    ],
)
def test_what_was_kept_is_whole(name, number):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        Path(folder).chmod(0o755)
        command = [sys.executable, "-W", "error", str(WORKERS), name, str(Path(folder) / "a.study"), str(number)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert ended.stdout.strip() == "ok", ended.stderr[-3000:]
    assert "Error" not in ended.stderr
