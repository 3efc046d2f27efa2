"""Named tuples say what a field is in a comment beside it; this brings those comments into the reference."""

import inspect
import operator
import re
import sys

FIELD = re.compile(r"^    (\w+): [^#]+?#:? (.+)$", flags=re.MULTILINE)


def comments(cls):
    """Comment of each field of a class, where there is one."""
    return dict(FIELD.findall(inspect.getsource(cls)))


def replace_alias(app, what, name, obj, options, lines):
    if any(line.startswith("Alias for field number") for line in lines):
        path, _, field = name.removeprefix("curplus.").rpartition(".")
        comment = comments(operator.attrgetter(path)(sys.modules["curplus"])).get(field, "")
        lines[:] = [re.sub(r"([|*])", r"\\\1", comment[:1].upper() + comment[1:]), ""]


def setup(app):
    app.connect("autodoc-process-docstring", replace_alias)
    return {"parallel_read_safe": True}
