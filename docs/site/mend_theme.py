#!/usr/bin/env python3
# Completes the files of Debian's furo theme in a built site, so that a browser opens it from the disk.
"""Usage: mend_theme.py HTML_FOLDER

Debian builds furo without a bundler: its script is a module that imports a second file, but pages load it as a
plain script; its style sheet imports normalize.css from the root of a web server, and lacks the rules for a system
that prefers dark pages, since sassc drops media queries inside `@media not print`. Here the two scripts become one
plain script, normalize.css moves into the style sheet, and the dark colours are repeated for dark systems. Its
list of contents asks for the last section also on a page that has none and fits the window: that is left out. A
furo that comes bundled stays as it is.
"""
import re
import sys
from pathlib import Path

IMPORT_SCRIPT = re.compile(r'^import Gumshoe from "\./(gumshoe[\w.-]*\.js)";\n', re.M)
DARK_COLOURS = re.compile(r'body\[data-theme="dark"\] (\{\s*--color-[^}]*\})')
PREFERS_DARK = "prefers-color-scheme: dark"
IMPORT_STYLE = re.compile(r'@import url\("?/javascript/([\w./-]+\.css)"?\);\n?')
LAST_SECTION = ("if (isAtBottom() && isInView(item.content", "if (item && isAtBottom() && isInView(item.content")
JAVASCRIPT = Path("/usr/share/javascript")


def plain_script(text, folder):
    """furo.js without its import: the imported file defines Gumshoe for a plain script when it stands before it."""
    found = IMPORT_SCRIPT.search(text)
    if found is None:
        return text
    gumshoe = (folder / found.group(1)).read_text(encoding="utf-8").replace(*LAST_SECTION)
    return gumshoe + "\n" + IMPORT_SCRIPT.sub("", text)


def whole_style(text, javascript=JAVASCRIPT):
    """The style sheet with the text of what it imports from a web server's root, and with dark colours for dark systems."""
    text = IMPORT_STYLE.sub(lambda found: (javascript / found.group(1)).read_text(encoding="utf-8") + "\n", text)
    dark = DARK_COLOURS.search(text)
    if dark is None or PREFERS_DARK in text:
        return text
    return (f"{text}\n@media not print {{ @media ({PREFERS_DARK}) {{\n"
            f'  body:not([data-theme="light"]) {dark.group(1)}\n'
            '  html body:not([data-theme="light"]) .only-light { display: none !important; }\n'
            '  body:not([data-theme="light"]) .only-dark { display: block !important; }\n} }\n')


def mend(html):
    static = html / "_static"
    script, style = static / "scripts" / "furo.js", static / "styles" / "furo.css"
    script.write_text(plain_script(script.read_text(encoding="utf-8"), script.parent), encoding="utf-8")
    style.write_text(whole_style(style.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"{sys.argv[0]}: expected the FOLDER of a built site")
    mend(Path(sys.argv[1]))
