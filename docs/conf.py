"""How Sphinx builds these pages: `make docs`."""

from whet import __version__

project = "whet"
release = version = __version__
project_copyright = "the whet maintainers"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"whet {__version__}"
exclude_patterns = ["_build"]

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # signatures stay readable; the attributes' sections say the rest
autodoc_member_order = "bysource"
napoleon_google_docstring = True

# Dangling references fail the build (-n -W), but only ours: to look up those of other projects
# would need the network.
nitpick_ignore_regex = [(r"py:.*", r"(?!whet\.).*")]
