# What the lints share: the project's files, their text without comments or strings, and complaints.
"""A lint is a function `check(root, files)` that returns complaints, `path:line: text`."""
import re
import subprocess
from pathlib import Path

CODE = {".h", ".cpp", ".cu", ".cuh"}
ENGINES = ("couplings", "mutual_information", "rmsd", "saxs")


def project_files(root):
    """Paths, relative to root, of all files that are or may be committed, sorted."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:  # an unpacked archive, without git
        names = [str(path.relative_to(root)) for path in root.rglob("*")]
    skipped = re.compile(r"^(build[^/]*|\.git|\.cache|demo-run|env)/|(^|/)(__pycache__|node_modules)/")
    return sorted(Path(name) for name in set(names)
                  if name and not skipped.search(name) and (root / name).is_file())


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


def is_test(path):
    """Tests of a module, or anything under the top-level tests/."""
    return "tests" in path.parts[:-1]


_TOKENS = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')", re.DOTALL)


def _blanked(text, keep_strings):
    """The same text with comments, and strings unless kept, turned into spaces; lines stay."""
    def blank(match):
        if keep_strings and match.lastgroup != "comment":
            return match.group()
        inside = re.sub(r"[^\n]", " ", match.group())
        return inside if match.lastgroup == "comment" else '"' + inside[1:-1] + '"'
    return _TOKENS.sub(blank, text)


def without_comments(text):
    return _blanked(text, keep_strings=True)


def without_comments_and_strings(text):
    return _blanked(text, keep_strings=False)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def closing(text, position):
    """Position after the bracket that closes the one at `position`; text has no strings."""
    pairs = {"(": ")", "{": "}"}
    opening, end, depth = text[position], pairs[text[position]], 0
    for at in range(position, len(text)):
        if text[at] == opening:
            depth += 1
        elif text[at] == end:
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)
