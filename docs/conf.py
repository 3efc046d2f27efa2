"""How the documentation is built: ``make docs``."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the examples are small; more threads only get in their way
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import curplus

sys.modules["curplus.metrics"] = curplus.metrics  # documented under the name by which users reach it

project = "curplus"
author = "The curplus developers"
copyright = "The curplus developers"
version = release = curplus.__version__

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_line",
    "data_sets",
    "field_comments",
    "subpackages",
]
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
default_role = "py:obj"

autodoc_typehints = "none"  # types stand in the Parameters sections, where shapes do too
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False  # the template lists members itself, with their full text

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery_order.story",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("curplus",),
    "reference_url": {"curplus": None},
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "first_notebook_cell": "%pip install --quiet 'curplus[all]'",
    "plot_gallery": "True",
    "parallel": 2,
}

html_theme = "pydata_sphinx_theme"
html_title = "curplus"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/curplus/curplus",
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
bare = ("index", "getting-started", "changelog", "bibliography", "extending", "glossary", "paper-to-code")
html_sidebars = {page: [] for page in bare}


def setup(app):
    """Let pages be read in parallel: the extension only adds a script, and does not say so."""
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
