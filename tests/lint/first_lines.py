# First lines: every source, script and build file opens by saying its purpose.
import re

from source import CODE, read

HASH = {".py", ".pyi", ".cmake", ".sh", ".toml", ".yaml", ".yml", ".cff", ".smk"}
HASH_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy", ".editorconfig",
              ".gitignore"}
SLASHES = CODE | {".ts", ".js"}
DATA_FOLDERS = {"data", "examples"}


def comment_mark(path, lines):
    """The comment mark that opens this kind of file; None where no rule applies."""
    suffix = path.with_suffix("").suffix if path.suffix == ".in" else path.suffix
    if suffix in SLASHES:
        return "//"
    if suffix in HASH or path.name in HASH_NAMES or lines[0].startswith("#!"):
        return "#"
    return None


def check(root, files):
    complaints = []
    for path in files:
        if path.parts[0] in DATA_FOLDERS and path.suffix not in {".py", ".sh"}:
            continue
        lines = read(root, path).split("\n")
        if path.suffix == ".md":
            if not re.match(r"# \S", lines[0]):
                complaints.append(f"{path}:1: expected a title line '# ...', found '{lines[0]}'")
            continue
        mark = comment_mark(path, lines)
        if mark is None:
            continue
        number = 2 if lines[0].startswith("#!") else 1
        line = lines[number - 1] if len(lines) >= number else ""
        words = re.findall(r"\w+", line[len(mark):])
        if not line.startswith(mark + " ") or len(words) < 2:
            complaints.append(f"{path}:{number}: expected a comment that says the file's purpose, "
                              f"found '{line[:60]}'")
    return complaints
