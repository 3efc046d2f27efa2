"""Commands of ``curplus`` in the process of the tests: what they print, and how they end."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, stdin="", cwd=None, width=None):
    """Run a command in this process, with a text on standard input, without a terminal or with the width of one."""
    from curplus.cli import run as run_command

    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.delenv("COLUMNS", raising=False)
        if width is not None:
            patch.setenv("COLUMNS", str(width))
        patch.setattr(sys, "argv", ["curplus", *map(str, arguments)])
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        if cwd is not None:
            patch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            run_command()
    return Done(ended.value.code or 0, out.getvalue(), err.getvalue())
