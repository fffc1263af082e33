# Page of the Python module: signatures of its types file, docstrings of its sources.
import ast
from pathlib import Path


def docstrings(package):
    """{name or Class.name: docstring} of all public functions and classes of the package's sources."""
    found = {}
    for path in sorted(package.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                continue
            found.setdefault(node.name, ast.get_docstring(node))
            for part in getattr(node, "body", ()):
                if isinstance(node, ast.ClassDef) and isinstance(part, ast.FunctionDef):
                    found[f"{node.name}.{part.name}"] = ast.get_docstring(part)
    return {name: text for name, text in found.items() if text}


def signature(node):
    """A function as its types file declares it, an argument a line where it is long."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = ast.unparse(node.args)
    if len(node.name) + len(arguments) + len(returns) < 90:
        return f"{node.name}({arguments}){returns}"
    return f"{node.name}(\n" + "".join(f"    {one},\n" for one in argument_list(node.args)) + f"){returns}"


def argument_list(arguments):
    def told(argument, default):
        text = ast.unparse(argument)
        return text if default is None else f"{text} = {ast.unparse(default)}"
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    listed = [told(*pair) for pair in zip(plain, defaults)]
    if arguments.kwonlyargs:
        listed.append("*" + (ast.unparse(arguments.vararg) if arguments.vararg else ""))
    return listed + [told(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]


def is_property(node):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def class_section(node, documented):
    lines = []
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and is_property(part):
            lines.append(f"{part.name}: {ast.unparse(part.returns)}")
        elif isinstance(part, ast.FunctionDef):
            lines.append(signature(part))
        elif isinstance(part, ast.AnnAssign):
            lines.append(ast.unparse(part))
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    text = f"## `class {node.name}{f'({bases})' if bases else ''}`\n"
    if node.name in documented:
        text += f"\n```text\n{documented[node.name]}\n```\n"
    return text + ("\n```python\n" + "\n".join(lines) + "\n```\n" if lines else "")


def page(root):
    package = Path(root, "python", "pleat")
    documented = docstrings(package)
    functions, classes = [], []
    for types in sorted(package.glob("*.pyi")):
        prefix = "pleat" if types.stem == "__init__" else f"pleat.{types.stem}"
        for node in ast.parse(types.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                text = f"## `{prefix}.{node.name}`\n\n```python\n{signature(node)}\n```\n"
                if node.name in documented:
                    text += f"\n```text\n{documented[node.name]}\n```\n"
                functions.append(text)
            elif isinstance(node, ast.ClassDef):
                classes.append(class_section(node, documented))
    opening = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    return (f"# Python\n\n```text\n{opening}\n```\n\nWhat the keywords mean, their units and ranges: "
            "`help(pleat.rmsd)`, or the [options of the program](../cli/index.md), which are the same.\n\n"
            + "\n".join(functions + classes))
