# Sphinx: how the site is made of the pages that docs/site/stage.py lays out.
project = "pleat"
author = "The pleat authors"
copyright = author  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
source_suffix = [".md"]
root_doc = "index"
html_theme = "furo"
html_title = "pleat"
html_copy_source = False
html_show_sphinx = False
# A search would fetch the pages that it finds, which browsers refuse for files on the disk.
html_show_search_summary = False
# So that a line of 100 letters fits.
html_theme_options = {"light_css_variables": {"code-font-size": "0.72em"}}
myst_heading_anchors = 3
# Links between pages are checked when they are laid out; Markdown of the project opens with deep
# headings here and there.
suppress_warnings = ["myst.header"]
