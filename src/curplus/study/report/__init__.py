"""The report of a study: one page that needs no server, no network and no other file."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ..._files import check_destination, write_bytes
from ..._support.extras import import_extra
from .facts import facts_of
from .pictures import COLOUR_OF_KIND, MOST_NAMES, MOST_POINTS, pictures_of

if TYPE_CHECKING:
    from ..answers import Answers

__all__ = ["write_report"]


def write_report(study: Answers, path: Path, *, axis: int, n_best: int, largest: bool) -> None:
    """Write the report of a study, all or nothing."""
    jinja = import_extra("jinja2", extra="report", purpose="reports need Jinja2")
    check_destination(path)
    facts = facts_of(study, axis=axis, n_best=n_best, largest=largest)
    how = {"autoescape": True, "undefined": jinja.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    script = _part("page.js")
    page = jinja.Template(_part("page.html"), **how).render(
        facts=facts,
        pictures=pictures_of(facts),
        colours=COLOUR_OF_KIND,
        most_names=MOST_NAMES,
        most_points=MOST_POINTS,
        style=_part("page.css"),
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
    )
    write_bytes(path, page.encode())


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
