# Lays out the pages of the site: the project's own Markdown and notebooks, links turned, and what is made from code.
import json
import re
import shutil
import sys
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

import headers
import python_reference
import records

ROOT = Path(__file__).resolve().parents[2]
# Blocks and spans of code, whose brackets are no links.
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$|^ {4,}[^\n]*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
FIXED = {"README.md": "overview.md", "ARCHITECTURE.md": "development/architecture.md",
         "CONTRIBUTING.md": "development/contributing.md", "CHANGELOG.md": "development/changelog.md",
         "bench/README.md": "development/benchmarks.md", "report/README.md": "development/page.md",
         "data/README.md": "data.md", "docs/cli/README.md": "cli/index.md"}


def page_map(root):
    """{file of the project: page of the site}"""
    pages = {name: page for name, page in FIXED.items() if (root / name).exists()}
    for path in sorted((root / "bench").glob("*.md")):
        pages.setdefault(f"bench/{path.name}", f"development/benchmarks_{path.stem}.md")
    for path in sorted((root / "docs").rglob("*.md")):
        name = path.relative_to(root).as_posix()
        pages.setdefault(name, name.removeprefix("docs/"))
    for path in sorted((root / "examples" / "notebooks").glob("*.ipynb")):
        pages[path.relative_to(root).as_posix()] = f"notebooks/{path.stem}.md"
    code = root / "src" / "pleat"
    for path in sorted(code.rglob("README.md")):
        pages[path.relative_to(root).as_posix()] = f"engines/{'_'.join(path.parent.relative_to(code).parts)}.md"
    return pages


def shown(output, heading):
    """Markdown of one output of a cell below a heading."""
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/png" in data:
        return f'<img alt="Figure: {escape(heading)}" src="data:image/png;base64,{data["image/png"].strip()}">\n'
    if "text/html" in data:  # a DataFrame; a blank line would end the HTML
        table = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
        table = table.replace('border="1" class="dataframe"', 'class="docutils"')
        return "\n".join(filter(str.strip, table.splitlines())) + "\n"
    return f"```text\n{data['text/plain'].strip()}\n```\n"


def page_text(path):
    """The Markdown of a page or of a notebook with its outputs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    parts, heading = [], path.stem
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source + "\n" if cell["cell_type"] == "markdown" else f"```python\n{source}\n```\n")
        if cell["cell_type"] == "markdown":
            heading = (re.findall(r"^#+ (.+)$", source, re.MULTILINE) or [heading])[-1]
        parts += [shown(output, heading) for output in cell.get("outputs", ())]
    return "\n".join(parts)


def turned(text, name, pages, root):
    """The text with its links between files of the project as links between pages.

    A file that is no page is named in place of the link, an image is copied by its name. ValueError
    for a link that leads nowhere.
    """
    here = PurePosixPath(name).parent.as_posix()
    page = PurePosixPath(pages[name]).parent.as_posix()

    def replace(match):
        mark, label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        found = normpath(f"{here}/{path}")
        if found in pages:
            return f"[{label}]({relpath(pages[found], page)}{'#' + anchor if anchor else ''})"
        if mark and found.startswith("docs/figures/"):  # figures.py makes them
            return f"![{label}]({relpath(found.removeprefix('docs/'), page)})"
        if not (root / found).exists():
            # Pages made here, which no file of the project holds.
            if normpath(f"{page}/{path}") in MADE:
                return match.group(0)
            raise ValueError(f"{name}: expected a link to a file of the project, found '{target}'")
        if mark:
            return f"![{label}]({relpath('images/' + PurePosixPath(found).name, page)})"
        return f"{label} (`{found}`)"

    # A link's own label may hold a span of code, so code is put aside, not cut out.
    aside = []

    def put_aside(match):
        aside.append(match.group(0))
        return f"\0{len(aside) - 1}\0"
    text = LINK.sub(replace, CODE.sub(put_aside, text))
    return re.sub("\0([0-9]+)\0", lambda match: aside[int(match.group(1))], text)


MADE = {"accuracy.md", "speed.md", "reference/python.md", "cli/pleat.md"}


def command_pages(root):
    """{page: text} of the captured helps."""
    found = {}
    for path in sorted((root / "docs" / "cli").glob("*.txt")):
        title = path.stem.replace("-", " ", 1)
        found[f"cli/{path.stem}.md"] = (f"# {title}\n\n```text\n"
                                        f"{path.read_text(encoding='utf-8').rstrip()}\n```\n")
    return found


def made_pages(root):
    found = command_pages(root)
    read = records.read_records(root / "bench" / "records")
    found["accuracy.md"], found["speed.md"] = records.accuracy_page(read), records.speed_page(read)
    found["reference/python.md"] = python_reference.page(root)
    for module, text in headers.pages(root).items():
        found[f"reference/cpp-{module}.md"] = text
    return found


def stage(root, folder):
    """Writes all pages into `folder`, which is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = page_map(root)
    texts = {page: turned(page_text(root / name), name, pages, root)
             for name, page in pages.items()}
    texts["formats.md"] += "\n" + python_reference.places(root)
    made = made_pages(root)
    assert not set(texts) & set(made) and MADE <= set(made)
    for page, text in {**texts, **made}.items():
        place = folder / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    shutil.copytree(root / "docs" / "images", folder / "images")
    shutil.copy(root / "docs" / "conf.py", folder / "conf.py")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"{sys.argv[0]}: expected a FOLDER for the pages")
    stage(ROOT, Path(sys.argv[1]))
