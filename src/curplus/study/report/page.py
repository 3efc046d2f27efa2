"""The page itself: facts and pictures in a template, written as one file."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._extras import import_extra
from ..._files import check_destination, write_bytes
from .charts import MOST_NAMES, charts_of, legend
from .facts import facts_of

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["write_report"]


def write_report(study: Study, path: Path, *, axis: int, n_best: int, largest: bool) -> None:
    """Write the report of a study, all or nothing."""
    jinja = _jinja()
    check_destination(path)
    facts = facts_of(study, axis=axis, n_best=n_best, largest=largest)
    write_bytes(path, _page_of(facts, jinja).encode())


def _page_of(facts: dict[str, Any], jinja: Any) -> str:
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    safe = import_extra("markupsafe", extra="report", purpose="reports need Jinja2").Markup
    charts = {
        name: [safe(x) for x in made] if isinstance(made, list) else safe(made)
        for name, made in charts_of(facts).items()
    }
    style, script = safe(_part("page.css")), safe(_part("page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return str(
        environment.from_string(_part("page.html")).render(
            facts=facts,
            charts=charts,
            legend=legend(),
            style=style,
            script=script,
            script_digest=digest,
            most_names=MOST_NAMES,
        )
    )


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _jinja() -> Any:
    return import_extra("jinja2", extra="report", purpose="reports need Jinja2")
