"""The table of data sets, made from their cards."""

from sphinx.util.docutils import SphinxDirective

from curplus.datasets import CARDS

HEADER = """\
.. list-table::
   :header-rows: 1
   :widths: 24 20 18 38

   * - name
     - shape
     - non-zero or known
     - an entry is
"""

ROW = """\
   * - ``{card.name}``
     - {card.shape[0]:,} × {card.shape[1]:,}
     - {nnz}
     - {card.values}
"""


class DataSets(SphinxDirective):
    """``.. data-sets::``, without arguments."""

    def run(self):
        cards = CARDS.values()
        rows = [ROW.format(card=card, nnz="not counted" if card.nnz is None else f"{card.nnz:,}") for card in cards]
        return self.parse_text_to_nodes(HEADER + "".join(rows))


def setup(app):
    app.add_directive("data-sets", DataSets)
    return {"parallel_read_safe": True}
