# Pages of the C++ interface: the declarations of the public headers with their comments.
import re
from pathlib import Path


def public_headers(module):
    """Names that the module's CMakeLists.txt hands to pleat_headers, in its order."""
    text = re.sub(r"#.*", "", (module / "CMakeLists.txt").read_text(encoding="utf-8"))
    return [name for listed in re.findall(r"pleat_headers\(([^)]*)\)", text) for name in listed.split()]


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


def module_page(module):
    """The page of one module; None where it has no public header."""
    names = public_headers(module)
    if not names:
        return None
    sections = [header_section(module / name, f"{module.name}/{name}") for name in names]
    return (f"# C++: {module.name}\n\nWhat the public headers declare. Link with `pleat::pleat`.\n\n"
            + "\n".join(sections))


def pages(root):
    """{module: text} of all modules with public headers."""
    found = {}
    for listing in sorted(Path(root, "src", "pleat").glob("*/CMakeLists.txt")):
        text = module_page(listing.parent)
        if text:
            found[listing.parent.name] = text
    return found
