# Conditionals: no preprocessor branches in the sources; what varies is linked, not compiled away.
import re

from source import CODE, line_of, read, without_comments

BRANCH = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b(.*)$", re.MULTILINE)
# Sections of a file that Highway includes several times: #ifndef NAME, then #define NAME.
GUARD = re.compile(r"#[ \t]*ifndef[ \t]+(\w+)\s*#[ \t]*define[ \t]+\1[ \t]*$", re.MULTILINE)
# Highway compiles a file once a target, and headers shared with CUDA mark their functions.
ALLOWED = re.compile(r"\bHWY_|\bHIGHWAY_|\b__CUDACC__\b")
# Systems other than Linux differ in files of core/hardware.
SYSTEM = re.compile(r"\b__APPLE__\b")


def check(root, files):
    complaints = []
    for path in files:
        allowed = SYSTEM if path.parts[:4] == ("src", "pleat", "core", "hardware") else ALLOWED
        if path.suffix not in CODE or path.parts[0] not in ("src", "apps"):
            continue
        text = without_comments(read(root, path))
        for match in BRANCH.finditer(text):
            if not allowed.search(match.group(2)) and not GUARD.match(text, match.start(1) - 1):
                complaints.append(f"{path}:{line_of(text, match.start())}: expected no preprocessor "
                                  f"branch, found '{match.group().strip()}'")
    return complaints
