# Budgets: files and functions stay short enough to be read in one go, folders small enough to search.
import ast
import re
from collections import Counter

from source import CODE, is_test, line_of, read, without_comments_and_strings

FILE_LINES = 800
FUNCTION_LINES = 80
KERNEL_LINES = 120
FOLDER_FILES = 50
NOT_SOURCES = ("data", "docs", "tests")
COUNTED = CODE | {".py", ".cmake", ".sh", ".ts"}
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
# `Type() : member_` before a brace: the brace opens a member's initialiser, not the body.
MEMBER_INITIALISER = re.compile(r"\)\s*(noexcept\s*)?:(?!:).*[\w>]\s*$", re.DOTALL)


def functions(text):
    """(name, first line, line count) of every function body; `text` has no comments or strings."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group()),
                  text, flags=re.MULTILINE)
    found = []
    header_start = at = 0
    while at < len(text):
        char = text[at]
        if char in ";}":
            header_start = at + 1
        elif char == "{":
            header = text[header_start:at]
            if MEMBER_INITIALISER.search(header):
                at = _after_brace(text, at)
                continue
            if "(" in header and not re.match(r"\s*(template\s*<.*>\s*)?$", header, re.DOTALL) and \
                    not _opens_scope(header) and "=" not in _before_arguments(header):
                end = _after_brace(text, at)
                name = re.search(r"([\w:~]+|operator\S+)\s*\(", header)
                first = line_of(text, header_start + len(header) - len(header.lstrip()))
                found.append((name.group(1) if name else "?", first,
                              line_of(text, end - 1) - first + 1))
                header_start = at = end
                continue
            header_start = at + 1
        at += 1
    return found


def _before_arguments(header):
    """What stands before the argument list, where an `=` means an initialised variable."""
    head = header[:header.index("(")]
    return re.sub(r"operator\s*[^\w\s]+|template\s*<[^{]*>", "", head)


def _opens_scope(header):
    """Whether a class, a namespace or the like opens here rather than a function."""
    if re.search(r"\b(namespace|extern)\b", header):
        return True
    plain = re.sub(r"template\s*<[^{]*?>\s*(?=\w)|alignas\s*\([^)]*\)|__attribute__\s*\(\([^)]*\)\)", "",
                   header)
    return bool(SCOPE.search(plain)) and "(" not in plain


def _after_brace(text, at):
    depth = 0
    for position in range(at, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return position + 1
    return len(text)


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def large_folders(files):
    folders = Counter(path.parent for path in files
                      if path.parts[0] not in NOT_SOURCES and not is_test(path))
    return [f"{folder}:1: expected at most {FOLDER_FILES} files in a folder, found {count}"
            for folder, count in sorted(folders.items()) if count > FOLDER_FILES]


def check(root, files):
    complaints = large_folders(files)
    for path in files:
        if path.suffix not in COUNTED and path.name != "CMakeLists.txt":
            continue
        text = read(root, path)
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            complaints.append(f"{path}:{FILE_LINES + 1}: expected at most {FILE_LINES} lines a file, "
                              f"found {lines}")
        is_kernel = path.name.startswith("kernel_") or path.suffix in (".cu", ".cuh")
        limit = KERNEL_LINES if is_kernel else FUNCTION_LINES
        if path.suffix == ".py":
            measured = python_functions(text)
        elif path.suffix in CODE:
            measured = functions(without_comments_and_strings(text))
        else:
            measured = ()
        complaints += [f"{path}:{first}: expected at most {limit} lines a function, found {count} "
                       f"in {name}" for name, first, count in measured if count > limit]
    return complaints
