# Layers: includes go downward only, engines never include one another, kernels stay in their room.
import re

from source import CODE, ENGINES, is_test, line_of, read, without_comments

BELOW_ENGINES = ("core", "bio", "report", "weights", "cluster", "phylogeny")
LEVEL = {name: level for level, name in enumerate(BELOW_ENGINES)}
LEVEL.update({engine: len(BELOW_ENGINES) for engine in ENGINES})
LEVEL["workflows"] = len(BELOW_ENGINES) + 1  # they call engines
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def complaint(path, included):
    """What is wrong with this include, or nothing."""
    parts = included.split("/")
    if len(parts) > 1 and parts[0] != "pleat" and parts[0] not in LEVEL:
        return None  # another library's header, which it wants in quotes
    if included == "pleat/pleat.h" and path.parts[0] == "examples":
        return None  # what users of the library include
    if len(parts) < 3 or parts[1] not in LEVEL:
        return f'expected an include of the form "pleat/MODULE/FILE.h", found "{included}"'
    target = parts[1]
    inside = path.parts[:2] == ("src", "pleat")
    module = path.parts[2] if inside else None
    if target in ENGINES and parts[2].startswith("kernel") and module != target:
        stand_in = path.parts == ("src", "pleat", "without_cuda.cpp")
        if not is_test(path) and path.parts[0] != "bench" and not stand_in:
            return f'expected {target}/{target}.h from outside the engine, found "{included}"'
    if not inside or len(path.parts) < 4:
        return None
    if module not in LEVEL:
        return f"expected one of the modules {', '.join(LEVEL)}, found '{module}'"
    if module in ENGINES and target in ENGINES and module != target:
        return f'expected no include of another engine, found "{included}" in {module}'
    if LEVEL[target] > LEVEL[module]:
        return f'expected includes from {module} downward, found "{included}"'
    return None


def check(root, files):
    complaints = []
    for path in files:
        if path.suffix not in CODE:
            continue
        text = without_comments(read(root, path))
        for match in INCLUDE.finditer(text):
            quoted, included = match.groups()
            if quoted == "<" and not included.startswith("pleat/"):
                continue
            beside = is_test(path) or path.parts[0] != "src"
            if beside and not included.startswith("pleat/"):
                continue  # helpers of a test or of the program lie beside it
            told = complaint(path, included)
            if told:
                complaints.append(f"{path}:{line_of(text, match.start(2))}: {told}")
    return complaints
