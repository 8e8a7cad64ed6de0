"""The documentation site: ``make docs`` builds it into ``build/docs``."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent / "src"), str(DOCS / "extensions")]

import theodolite  # noqa: E402

project = "Theodolite"
author = "The Theodolite authors"
version = release = theodolite.__version__
language = "en"
# Two dashes are an option, not a long dash.
smartquotes = False

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    # Ours, in docs/extensions.
    "public_names",
    "tutorials",
    "verbs",
]
exclude_patterns = ["**/_run"]

# Every link and every name must lead somewhere.
nitpicky = True

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# Types that the page on Python explains, by their names instead of what they stand for.
autodoc_type_aliases = {
    name: name
    for name in (
        "ArrayLike", "DataLike", "FloatArray", "IntArray", "Machine", "MethodLike", "Random",
        "RobotLike",
    )
}  # fmt: skip
python_use_unqualified_type_names = True
python_display_short_literal_types = True
add_module_names = False
# Every method in every sidebar would make it useless, and the build slow.
toc_object_entries = False

html_show_copyright = False
html_theme = "furo"
html_title = "Theodolite"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
