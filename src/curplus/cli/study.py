"""``curplus study``: buy a matrix in pieces; its verbs, from the first list to the report."""

from __future__ import annotations

import typer

from . import study_answers, study_changes, study_lists, study_making, study_run

__all__ = ["app"]

app = typer.Typer(help="Buy a matrix in pieces: ask what to measure, tell what came back.", no_args_is_help=True)
app.command()(study_making.create)
app.command()(study_lists.ask)
app.command()(study_lists.tell)
app.command()(study_lists.cancel)
app.command()(study_lists.status)
app.command()(study_changes.add)
app.command()(study_changes.rename)
app.command()(study_changes.retire)
app.command()(study_answers.fit)
app.command()(study_answers.predict)
app.command()(study_answers.means)
app.command()(study_making.report)
app.command()(study_making.export)
app.command()(study_run.run)
