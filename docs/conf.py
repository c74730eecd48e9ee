"""The site of the documentation: `make docs`, or `sphinx-build -W --keep-going docs docs/_build/html`.

`-D plot_gallery=0` leaves the examples out of a build, for work on the pages.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

import mercer  # noqa: E402

project = "Mercer"
author = "The Mercer developers"
copyright = author
version = release = mercer.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mercer_site",  # in _ext
]
root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_static", "_templates", "**/README.rst", "sg_execution_times.rst"]
suppress_warnings = ["config.cache"]  # the gallery's configuration holds functions

# Pages in Markdown are read on GitHub too, and run by pytest.
myst_enable_extensions = ["deflist", "attrs_inline", "colon_fence"]
myst_heading_anchors = 4

# The reference: signatures are short, the types stand under Parameters.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_validation_checks = set()
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

EXAMPLES = DOCS.parent / "examples"
sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    # every example runs; what lies beside their folders helps them, or is a script of its own
    "filename_pattern": r"examples[/\\]",
    "ignore_pattern": "^(" + "|".join(re.escape(path.name) for path in sorted(EXAMPLES.glob("*.py"))) + ")$",
    "within_subsection_order": "ExampleTitleSortKey",
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (260, 182),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "reset_modules": ("matplotlib",),
    "matplotlib_animations": False,
    "inspect_global_variables": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"Mercer {release}"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_js_files = ["mercer.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Mercer"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "primary_sidebar_end": [],
}
html_sidebars = {"index": []}
