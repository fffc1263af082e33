# Options: each engine option is declared once, in its parameters.cpp, and nowhere else.
import re

from source import is_test, line_of, read, without_comments

DECLARED = re.compile(r'[{(]\s*(?:\.name\s*=\s*)?"([a-z][a-z0-9]*(?:-[a-z0-9]+)*)"\s*,\s*'
                      r'(?:\.target\s*=\s*)?&')


def check(root, files):
    complaints = []
    names = set()
    sources = [path for path in files if path.suffix in {".h", ".cpp"} and not is_test(path)]
    for path in (path for path in sources if path.name == "parameters.cpp"):
        text = without_comments(read(root, path))
        here = set()
        for match in DECLARED.finditer(text):
            name = match.group(1)
            if name in here:
                complaints.append(f"{path}:{line_of(text, match.start())}: expected each option "
                                  f"once, found '{name}' again")
            here.add(name)
        if not here:
            complaints.append(f"{path}:1: expected declarations {{\"name\", &member, ...}}, "
                              "found none")
        names |= here
    for path in (path for path in sources if path.parts[:3] == ("apps", "pleat", "options")):
        # A command's own option of the same name, such as --symmetry, which others may mean.
        names -= {match.group(1) for match in DECLARED.finditer(without_comments(read(root, path)))}
    if not names:
        return complaints
    flag = re.compile('"(?:-[a-zA-Z],)?--(' + "|".join(sorted(names, key=len, reverse=True)) +
                      ')[" ,=]')
    for path in sources:
        if path.name == "parameters.cpp" or path.parts[0] not in ("apps", "src", "python"):
            continue
        text = without_comments(read(root, path))
        complaints += [f"{path}:{line_of(text, match.start())}: expected the option from fields(), "
                       f"found '--{match.group(1)}' written out" for match in flag.finditer(text)]
    return complaints
