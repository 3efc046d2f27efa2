"""Named tuples say what a field is in a comment beside it; this brings those comments into the reference."""

import inspect
import re

FIELD = re.compile(r"^    (\w+): [^#]+?#:? (.+)$", flags=re.MULTILINE)


def comments(cls):
    """Comment of each field of a class, where there is one."""
    return dict(FIELD.findall(inspect.getsource(cls)))


def replace_alias(app, what, name, obj, options, lines):
    if lines and lines[0].startswith("Alias for field number"):
        module, _, rest = name.partition(".")
        cls = __import__(module)
        for part in rest.split(".")[:-1]:
            cls = getattr(cls, part)
        comment = comments(cls).get(name.rpartition(".")[2], "")
        lines[:] = [comment[:1].upper() + comment[1:], ""] if comment else []


def setup(app):
    app.connect("autodoc-process-docstring", replace_alias)
    return {"parallel_read_safe": True}
