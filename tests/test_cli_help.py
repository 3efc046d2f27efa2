"""Every command explains itself, with the oldest Typer that is allowed and with the newest."""

import pytest

pytest.importorskip("typer")

from typer.main import get_command
from typer.testing import CliRunner

from curplus.cli.main import app


def paths(command, *before):
    """The words that lead to a command, and to each of its own."""
    yield before
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, *before, name)


@pytest.mark.parametrize("path", list(paths(get_command(app))), ids=" ".join)
def test_every_command_explains_itself(path):
    done = CliRunner().invoke(app, [*path, "--help"])
    assert done.exit_code == 0, done.exception
    assert "Usage:" in done.output
    assert all(word in done.output for word in path)
