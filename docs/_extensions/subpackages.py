"""The table and the pages of the reference, made from the list of subpackages in the code."""

from sphinx.util.docutils import SphinxDirective

from curplus import _layout

TABLE = """\
.. list-table::
   :header-rows: 1
   :widths: 24 76

   * - subpackage
     - what it is
"""

ROW = """\
   * - :doc:`curplus.{name} <{name}>`
     - {meaning}
"""

CONTENTS = """
.. toctree::
   :hidden:

"""


class Subpackages(SphinxDirective):
    """``.. subpackages::``, without arguments."""

    def run(self):
        self.env.note_dependency(_layout.__file__)
        rows = (ROW.format(name=name, meaning=meaning) for name, meaning in _layout.SUBPACKAGES.items())
        pages = (f"   {name}\n" for name in _layout.SUBPACKAGES)
        return self.parse_text_to_nodes(TABLE + "".join(rows) + CONTENTS + "".join(pages))


def setup(app):
    app.add_directive("subpackages", Subpackages)
    return {"parallel_read_safe": True}
