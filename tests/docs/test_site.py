# The site: its pages are laid out with living links, and Sphinx builds them without a warning.
import html.parser
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import headers  # noqa: E402  pylint: disable=wrong-import-position
import python_reference  # noqa: E402  pylint: disable=wrong-import-position
import records  # noqa: E402  pylint: disable=wrong-import-position
import stage  # noqa: E402  pylint: disable=wrong-import-position

PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"


def sphinx_is_there():
    return subprocess.run([PYTHON, "-c", "import sphinx, furo, myst_parser, matplotlib"], capture_output=True,
                          check=False).returncode == 0


class Links(html.parser.HTMLParser):
    """What a page of HTML links to, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.places.add(told.get("id"))
        for name in ("href", "src"):
            if told.get(name) and (tag, name) != ("link", "href"):
                self.targets.append(unquote(told[name]))


class Built(unittest.TestCase):
    @unittest.skipUnless(sphinx_is_there(), "Sphinx, furo, myst-parser and matplotlib are not all there: scripts/setup docs")
    def test_without_warnings_and_with_living_links(self):
        with tempfile.TemporaryDirectory(prefix="pleat-site-") as name:
            done = subprocess.run([ROOT / "scripts" / "build_docs", name], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
            site = Path(name, "html")
            static = site / "_static"
            self.assertNotIn("/javascript/", (static / "styles" / "furo.css").read_text(encoding="utf-8"))
            self.assertNotRegex((static / "scripts" / "furo.js").read_text(encoding="utf-8"), r"(?m)^import ")
            pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
            self.assertGreater(len(pages), 60)
            self.assertIn(site / "tutorials" / "couplings.html", pages)
            for path, links in pages.items():
                for target in links.targets:
                    if "://" in target or target.startswith(("mailto:", "data:")):
                        self.assertTrue(target.startswith(("https://", "data:")), (path.name, target))
                        continue
                    where, _, place = target.partition("#")
                    file = (path.parent / where.partition("?")[0]).resolve() if where else path
                    self.assertTrue(file.exists(), f"{path.relative_to(site)}: {target}")
                    if place and file in pages:
                        self.assertIn(place, pages[file].places, f"{path.relative_to(site)}: {target}")


class Laid(unittest.TestCase):
    def test_links_are_turned(self):
        pages = stage.page_map(ROOT)
        text = stage.turned("[a](src/pleat/rmsd/README.md#cost) ![b](docs/images/report.png) "
                            "[c](bench/records/) [d](https://x.org/y_(z))\n```sh\n[e](f)\n```\n", "README.md", pages, ROOT)
        self.assertEqual(text, "[a](engines/rmsd.md#cost) ![b](images/report.png) c (`bench/records`) "
                               "[d](https://x.org/y_(z))\n```sh\n[e](f)\n```\n")
        self.assertEqual(stage.turned("[x](../../../docs/decisions/0005-fit-of-the-couplings.md)",
                                      "src/pleat/couplings/README.md", pages, ROOT),
                         "[x](../decisions/0005-fit-of-the-couplings.md)")
        with self.assertRaises(ValueError):
            stage.turned("[x](nowhere.md)", "README.md", pages, ROOT)

    def test_notebooks_are_pages_with_their_outputs(self):
        pages = [name for name in stage.page_map(ROOT) if name.endswith(".ipynb")]
        self.assertEqual(len(pages), 4)
        for name in pages:
            text = stage.page_text(ROOT / name)
            self.assertRegex(text, r"\A# .+\n")
            self.assertIn("data:image/png;base64,iVBOR", text)
            self.assertRegex(text, r'<div>\n<table class="docutils">')

    def test_figures_come_from_the_records(self):
        read = records.read_records(ROOT / "bench" / "records")
        speed, accuracy = records.speed_page(read), records.accuracy_page(read)
        for name, record in read.items():
            page = accuracy if record["format"] in records.ACCURACY else speed
            if record["format"] == records.GPU:
                page = speed + accuracy
            self.assertIn(name, page)
            for bar in record.get("bars", ()):
                self.assertIn(f"| {bar['name']} | {bar['bar']} | {records.number(bar['measured'])} |",
                              speed + accuracy)
        self.assertEqual([records.number(value) for value in
                          (None, 0, 3, 0.30655, 10.91, 1189.2, 4.05e-6, 66186870912, 58.0)],
                         ["-", "0", "3", "0.307", "10.9", "1189", "4.05e-6", "6.62e10", "58"])

    def test_every_public_header_and_function_is_there(self):
        pages = headers.pages(ROOT)
        listed = headers.public_headers(ROOT)
        self.assertGreater(sum(map(len, listed.values())), 20)
        for module, names in listed.items():
            for name in names:
                self.assertIn(f"## `pleat/{module}/{name}`", pages[module])
        self.assertIn("Result run(const Alignment& alignment", pages["couplings"])
        page = python_reference.page(ROOT)
        for name in ("couplings", "mutual_information", "rmsd", "cluster", "read_ensemble"):
            self.assertIn(f"## `pleat.{name}`", page)
        self.assertIn("lambda_pair: float = 0.2", page)
        self.assertRegex(page, r"\n\| `lambda_pair` \| `float` \| `0.2` \| Regularisation .*at least 1e-06")
        self.assertRegex(page, r"\n\| `device` \| `str` \| `'auto'` \| Where to compute")
        self.assertIn("## `pleat.plot.fit`", page)

    def test_declarations(self):
        text = ("// Purpose of it.\n#pragma once\n#include <x>\n\nnamespace a {\n\n/// Told.\nstruct S {\n"
                "    int x = 0;  ///< one\n\nprivate:\n    int y;\n};\n\n/// Adds\n/// up.\n"
                "inline int f(int a,\n             int b) {\n    return a + b;\n}\n\nint g();\n\n}  // namespace a\n")
        found = [(comment, headers.shown(code)) for comment, code in headers.declarations(text)]
        self.assertEqual(found, [("Told.", "struct S {\n    int x = 0;  ///< one\n};"),
                                 ("Adds\nup.", "inline int f(int a,\n             int b);"), ("", "int g();")])


if __name__ == "__main__":
    unittest.main()
