# Page of the Python module: signatures of its types file, docstrings of its sources.
import ast
import inspect
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path


def docstrings(package):
    """{name or Class.name: docstring} of all public functions and classes of the package's sources; of the module
    plot, whose functions have names that others have, too, plot.name."""
    found = {}
    for path in sorted(package.glob("*.py")):
        if path.stem == "plot":
            found.update({f"plot.{node.name}": ast.get_docstring(node) for node in
                          ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)})
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):  # Name.__doc__ = "...": of a class that is compiled
                place = node.targets[0]
                if isinstance(place, ast.Attribute) and place.attr == "__doc__" and \
                        isinstance(node.value, ast.Constant):
                    found[ast.unparse(place.value)] = inspect.cleandoc(node.value.value)
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                continue
            found.setdefault(node.name, ast.get_docstring(node))
            for part in node.body:
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


def class_section(node, prefix, documented):
    lines, told = [], [documented[node.name]] if node.name in documented else []
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and is_property(part):
            lines.append(f"{part.name}: {ast.unparse(part.returns)}")
        elif isinstance(part, ast.FunctionDef):
            lines.append(signature(part))
        elif isinstance(part, ast.AnnAssign):
            lines.append(ast.unparse(part))
        name = getattr(part, "name", None)
        if f"{node.name}.{name}" in documented:
            told.append(f"{name}\n" + textwrap.indent(documented[f"{node.name}.{name}"], "    "))
    bases = ", ".join(ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("_"))
    text = f"## class `{prefix}.{node.name}{f'({bases})' if bases else ''}`\n"
    if lines:
        text += "\n```python\n" + "\n".join(lines) + "\n```\n"
    return text + ("\n```text\n" + "\n\n".join(told) + "\n```\n" if told else "")


# What each engine's function takes beside its own arguments, and what the library says of each class of results:
# [{name: [(keyword, type, default, meaning)]}, {class: [{name, help, file, key, ...}]}].
MODULE_CODE = """
import json, pleat
from pleat import _pleat
from pleat.options import HOW, annotation, keyword, limits
found = {}
for module in (pleat, pleat.saxs):
    for name in module.__all__:
        fields = getattr(getattr(module, name), "fields", None)
        if isinstance(fields, list):
            rows = [(keyword(field), annotation(field), field["default"], f"{field['help']} [{limits(field)}]"
                     if limits(field) else field["help"]) for field in fields]
            found.setdefault(name, rows + [(one, kind, default, text) for one, kind, default, text in HOW])
print(json.dumps([found, _pleat.result_columns], default=str))
"""


def engine_options(package):
    """({function: [(keyword, type, default, meaning)]}, {class: columns}), asked of the module that was built."""
    done = subprocess.run([sys.executable, "-B", "-c", MODULE_CODE], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(package.parent)})
    if done.returncode != 0:
        sys.exit(f"cannot import the module in {package}:\n{done.stderr}")
    return json.loads(done.stdout)


def places(root):
    """A section of the page of formats: where each value of a result is, in a run's folder and in Python."""
    _, columns = engine_options(stub_folder(root).resolve())
    parts = {"results": "`manifest.json`, results", "parameters": "`manifest.json`, parameters",
             "manifest": "`manifest.json`"}
    text = ("## Where results are\n\nEach value of a result: the attribute of what Python returns, and its place in the "
            "folder of a run of the program.\n")

    def place(one):
        file = parts.get(one["file"]) or f"`{one['file']}`"
        return "" if not one["file"] else file if one["file"].endswith(".npy") else f"{file}: `{one['key']}`"
    for kind, listed in columns.items():
        rows = [(f"`{one['name']}`" if one["name"] else "",
                 place(one), one["help"])
                for one in listed if not one["name"].startswith("_")]
        text += f"\n### `{kind}`\n\n| attribute | place | meaning |\n|---|---|---|\n" + "".join(
            "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in row) + " |\n" for row in rows)
    return text


def option_table(rows):
    cells = [[f"`{name}`", f"`{kind}`", f"`{default!r}`", text] for name, kind, default, text in rows]
    lines = [["keyword", "type", "default", "meaning"], ["---"] * 4, *cells]
    return "\n" + "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in line) + " |"
                            for line in lines) + "\n"


def function_section(node, prefix, documented):
    text = f"## `{prefix}.{node.name}`\n\n```python\n{signature(node)}\n```\n"
    name = f"plot.{node.name}" if prefix == "pleat.plot" else node.name
    return text + (f"\n```text\n{documented[name]}\n```\n" if name in documented else "")


def stub_folder(root):
    """The package with the type stubs that a build writes: PLEAT_PACKAGE, or the newest of build/."""
    if os.environ.get("PLEAT_PACKAGE"):
        return Path(os.environ["PLEAT_PACKAGE"])
    found = sorted(Path(root).glob("build/*/python/pleat/__init__.pyi"), key=lambda path: path.stat().st_mtime)
    if not found:
        sys.exit("expected a build of the Python module in build/, found none: run scripts/build release")
    return found[-1].parent


def page(root):
    package = Path(root, "python", "pleat")
    documented, (options, columns) = docstrings(package), engine_options(stub_folder(root).resolve())
    documented.update({f"{kind}.{one['name']}": textwrap.fill(one["help"], 92) for kind, listed in columns.items()
                       for one in listed})
    functions, classes = [], []
    for types in sorted(stub_folder(root).glob("*.pyi")):
        prefix = "pleat" if types.stem == "__init__" else f"pleat.{types.stem}"
        for node in ast.parse(types.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                # A module that is called has a function of its own name.
                own = "pleat" if node.name == types.stem else prefix
                section = function_section(node, own, documented)
                rows = options.get(node.name, ()) if prefix != "pleat.plot" else ()
                functions.append(section + (option_table(rows) if rows else ""))
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.append(class_section(node, prefix, documented))
    opening = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    return (f"# Python\n\n```text\n{opening}\n```\n\nThe tables of keywords are those of `help(pleat.rmsd)`; they are the "
            "[options of the program](../cli/index.md), too.\n\n" + "\n".join(functions + classes))
