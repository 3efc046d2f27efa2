"""Progress is shown to those who ask, on standard error, and only where work takes its time."""

import importlib.util
import io
import os
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

import curplus
from curplus._support import progress as _progress
from curplus.estimators import CURImputer


@pytest.fixture
def at_once(monkeypatch):
    """Nobody waits for the first second."""
    monkeypatch.setattr(_progress, "SILENT_SECONDS", 0.0)


def slow(tell, seconds=0.3, steps=10):
    for k in range(steps):
        time.sleep(seconds / steps)
        tell(k + 1, steps)


def test_nothing_is_said_of_short_work(capsys):
    with _progress.showing("reading", wanted=True) as tell:
        slow(tell, 0.05)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_said_unless_it_is_wanted(at_once, capsys):
    with _progress.showing("reading", wanted=False) as tell:
        slow(tell)
    assert capsys.readouterr() == ("", "")


def test_lines_become_fewer_and_fewer(at_once, capsys):
    with _progress.showing("reading", wanted=True) as tell:
        slow(tell, seconds=0.5, steps=100)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("reading")
    assert all(line.endswith(" of 100") for line in lines[1:])
    counts = [int(line.split()[1]) for line in lines[1:]]
    assert counts == sorted(set(counts))
    assert len(lines) < 20


def test_nothing_is_said_after_work_that_failed(at_once, capsys):
    def fails():
        with _progress.showing("reading", wanted=True):
            time.sleep(0.05)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    said = capsys.readouterr().err
    time.sleep(0.05)
    assert said == "reading\n"
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar_which_is_gone_afterwards():
    console = pytest.importorskip("rich.console")
    progress = pytest.importorskip("rich.progress")
    file = io.StringIO()
    screen = console.Console(file=file, force_terminal=True, width=80)
    bar = _progress._Bar(progress.Progress("{task.description}", "{task.fields[words]}", console=screen), "reading")
    bar.update(3, 1200)
    bar.start()
    bar.update(1100, 1200)
    bar.stop()
    assert "reading" in file.getvalue()
    assert "1,100 of 1,200" in file.getvalue()


M = np.random.default_rng(0).standard_normal((30, 2)) @ np.random.default_rng(1).standard_normal((2, 20))
SLOW = {
    "acquire": lambda progress: curplus.acquire(
        M, n_columns=4, n_rows=4, n_entries=30, rng=0, on_round=lambda _: time.sleep(0.02), progress=progress
    ),
    "acquire to a budget": lambda progress: curplus.acquire(
        M, budget=0.5, rng=0, on_round=lambda _: time.sleep(0.02), progress=progress
    ),
    "acquire to a tolerance": lambda progress: curplus.acquire(
        M, tol=0.1, rng=0, on_round=lambda _: time.sleep(0.02), progress=progress
    ),
    "backtest": lambda progress: curplus.backtest(
        M,
        budgets=[0.3],
        strategies=["entries"],
        methods=["additive"],
        seeds=3,
        on_trial=lambda _: time.sleep(0.02),
        progress=progress,
    ),
    "imputer": lambda progress: CURImputer(progress=progress).fit(np.where(M > 1.5, np.nan, M)),
}


@pytest.mark.parametrize("name", SLOW)
def test_long_work_says_how_far_it_has_come_if_asked(name, at_once, capsys):
    SLOW[name](False)
    assert capsys.readouterr() == ("", "")
    SLOW[name](True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") >= 1
    assert err.split()[0].rstrip(":") in ("reading", "trying", "fitting")


def test_progress_changes_nothing(at_once, capsys):
    left, right = SLOW["acquire"](False), SLOW["acquire"](True)
    assert left.fingerprint == right.fingerprint


def test_a_study_says_how_far_it_has_come(tmp_path, at_once, capsys):
    pytest.importorskip("pandas")

    def measure(i, j):
        time.sleep(0.001)
        return M[i, j]

    with curplus.Study.create(tmp_path / "a.study", rows=30, columns=20) as study:
        study.run(measure, budget=60, n_rounds=1)
        assert capsys.readouterr() == ("", "")
        study.run(measure, budget=120, n_rounds=1, progress=True)
        out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("measuring")
    assert " of " in err


@pytest.mark.skipif(importlib.util.find_spec("typer") is None, reason="the command line needs Typer")
@pytest.mark.parametrize("sees", [True, False])
def test_the_command_line_shows_progress_on_a_terminal_only(tmp_path, sees):
    np.save(tmp_path / "m.npy", M)
    script = (
        "import time, curplus._support.progress as p; p.SILENT_SECONDS = 0.0\n"
        "from curplus.acquisition import acquire as a\n"
        "import curplus.cli.acquire as c\n"
        "c.acquisition.acquire = lambda *x, **y: a(*x, **y, on_round=lambda _: time.sleep(0.2))\n"
        "from curplus.cli import run; run()"
    )
    arguments = [sys.executable, "-c", script, "acquire", str(tmp_path / "m.npy"), "--columns=4", "--rows=4", "--json"]
    mine, theirs = pytest.importorskip("pty", reason="this system has no such terminals").openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": theirs if sees else subprocess.PIPE}
    with subprocess.Popen(arguments, text=True, env={**os.environ, "TERM": "xterm"}, **streams) as process:
        os.close(theirs)
        said = read_all(mine) if sees else process.stderr.read()
        assert process.stdout.read().startswith("{")
    os.close(mine)
    assert process.returncode == 0
    assert ("reading" in said) == sees
    assert sees or said == ""


def read_all(terminal):
    """All that is written to a terminal until nobody has it open any more."""
    said = b""
    with suppress(OSError):
        while part := os.read(terminal, 4096):
            said += part
    return said.decode()
