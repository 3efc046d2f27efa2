"""How to cite: what CITATION.cff of the repository says, which is not installed with the package."""

from __future__ import annotations

from ..._layout import __version__

__all__ = ["PAPER", "SOFTWARE", "bibtex"]

PAPER = {
    "key": "xu2015cur",
    "type": "inproceedings",
    "author": "Xu, Miao and Jin, Rong and Zhou, Zhi-Hua",
    "title": "CUR Algorithm for Partially Observed Matrices",
    "booktitle": "Proceedings of the 32nd International Conference on Machine Learning",
    "series": "Proceedings of Machine Learning Research",
    "volume": "37",
    "pages": "1412--1421",
    "publisher": "PMLR",
    "year": "2015",
    "url": "https://proceedings.mlr.press/v37/xua15.html",
}

SOFTWARE = {
    "key": "curplus",
    "type": "software",
    "author": "{The curplus developers}",
    "title": "curplus: low-rank approximation of a matrix from a few of its columns, rows and scattered entries",
    "version": __version__,
    "url": "https://github.com/curplus/curplus",
}


def bibtex(work: dict[str, str]) -> str:
    """A work as BibTeX has it."""
    lines = [f"  {name} = {{{value}}}," for name, value in work.items() if name not in ("key", "type")]
    return "\n".join([f"@{work['type']}{{{work['key']},", *lines, "}"])
