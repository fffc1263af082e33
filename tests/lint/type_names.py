# Type names: a name of a type that two headers declare means the same role in each engine, or it is a mistake.
import re

from source import is_test, read, without_comments_and_strings

DECLARED = re.compile(r"^(?:struct|class|enum class) (\w+)(?= final| :|:| \{)", re.MULTILINE)
# What every engine has, under one name.
ROLES = {"Parameters", "Result", "Problem", "Kernel", "GpuKernel", "Report", "Input", "Method", "Model"}


def check(root, files):
    first, complaints = {}, []
    for path in files:
        if path.suffix not in (".h", ".cuh") or is_test(path) or path.parts[0] not in ("src", "apps", "python"):
            continue
        text = without_comments_and_strings(read(root, path))
        for match in DECLARED.finditer(text):
            name, line = match.group(1), text.count("\n", 0, match.start()) + 1
            other = first.setdefault(name, path)
            if other != path and name not in ROLES:
                complaints.append(f"{path}:{line}: expected a name of its own for the type {name}, "
                                  f"found it in {other}, too")
    return complaints
