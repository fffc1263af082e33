# Pages of the C++ interface: the declarations of the installed headers with their comments.
import re
from pathlib import Path


def public_headers(root):
    """{module: [names within it]} of the installed headers that src/pleat/CMakeLists.txt lists."""
    text = re.sub(r"#.*", "", (root / "src" / "pleat" / "CMakeLists.txt").read_text(encoding="utf-8"))
    listed = re.search(r"FILE_SET HEADERS[^)]*FILES([^)]*)\)", text).group(1).split()
    found = {}
    for name in listed:
        module, slash, rest = name.partition("/")
        if slash:
            found.setdefault(module, []).append(rest)
    return found


def declarations(text):
    """(comment, code) of each declaration at the level of the namespace."""
    comment, code, depth = [], [], 0
    for line in text.splitlines():
        bare = re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))
        if not code and (not bare.strip() or bare.startswith("#") or re.match(
                r"(namespace\b.*\{|\}|extern\s+\"\"\s*\{)\s*$", bare.rstrip())):
            mark = re.match(r"\s*/// ?(.*)", line)
            if mark:
                comment.append(mark.group(1))
            elif not bare.strip() and not line.strip().startswith("//"):
                comment = []
            continue
        code.append(line)
        depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
        if depth == 0 and bare.rstrip().endswith((";", "}")):
            yield "\n".join(comment), "\n".join(code)
            comment, code = [], []


def shown(code):
    """What of a declaration others need: no bodies of functions, no private parts."""
    if re.match(r"\s*(template\s*<[^{]*>\s*(requires[^{]*)?)?(struct|class|enum|union)\b", code):
        return re.sub(r"\n\s*private:.*(?=\n\};\s*$)", "", code, flags=re.DOTALL)
    head = re.match(r"[^{]*\)[^{=]*(?=\{)", code)
    return head.group(0).rstrip() + ";" if head else code


def header_section(path, name):
    text = path.read_text(encoding="utf-8")
    purpose = text.splitlines()[0].lstrip("/ ")
    parts = []
    for comment, code in declarations(text):
        if re.match(r"\s*(class|struct)\s+\w+;$", code):
            continue
        told = "".join(f"/// {line}".rstrip() + "\n" for line in comment.splitlines())
        parts.append(told + shown(code))
    return f"## `pleat/{name}`\n\n{purpose}\n\n```cpp\n" + "\n\n".join(parts) + "\n```\n"


def module_page(module, names):
    """The page of one module."""
    sections = [header_section(module / name, f"{module.name}/{name}") for name in names]
    return (f"# C++: {module.name}\n\nDeclarations of the installed headers. Link with `pleat::pleat`; "
            "`pleat/pleat.h` includes all of them.\n\n" + "\n".join(sections))


def pages(root):
    """{module: text} of all modules with installed headers."""
    return {module: module_page(Path(root, "src", "pleat", module), names)
            for module, names in public_headers(Path(root)).items()}
