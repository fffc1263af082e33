# Results: each value of a result is declared once, in columns() of its engine's output.cpp.
import re

from source import is_test, line_of, read, without_comments

# Where a value would be listed again: what is wrong, and how to find it.
RULES = (("output.cpp", re.compile(r"\brun(?:\.|->)fact\("), "facts from columns()"),
         (".pyi", re.compile(r"^class \w+\(_Result\):(?:\n    (?!@property).*)*\n    @property", re.MULTILINE),
          "attributes of results from columns()"),
         (".py", re.compile(r"^    \w+ = Attribute\(", re.MULTILINE), "attributes of results from columns()"))


def check(root, files):
    complaints = []
    for path in files:
        if is_test(path) or path.parts[0] not in ("src", "python"):
            continue
        for ending, again, wanted in RULES:
            if not path.name.endswith(ending):
                continue
            text = read(root, path)
            text = without_comments(text) if ending == "output.cpp" else text
            complaints += [f"{path}:{line_of(text, match.start())}: expected {wanted}, found them listed again"
                           for match in again.finditer(text)]
    return complaints
