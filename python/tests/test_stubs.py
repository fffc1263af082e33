# Stubs: the type stubs that the build writes name what the modules have, and type checkers accept them.
import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pleat
import pytest

PACKAGE = Path(pleat.__file__).parent
STUBS = ("__init__.pyi", "plot.pyi", "saxs.pyi")
# A use of the module pleat.saxs as a function and as a module, which a checker of types must accept.
USE = """import pleat
from pleat.saxs import ProfileSession

found = pleat.saxs("protein.pdb", data="curve.dat", max_members=3)
chi2: float | None = found.fit.chi2 if found.fit is not None else None
made = pleat.saxs.scatterers("protein.pdb", q_max=0.3)
session: ProfileSession = pleat.saxs.ProfileSession(made.model, made.xyz, scales=made.scales)
partial = session.propose(made.xyz[0])
axes = pleat.plot.fit(found)
page: pleat.Page = pleat.report([found, "run"], "page.html")
"""


def parsed(name):
    """{name: class, function or annotated name} of a stub."""
    tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
    found = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    found.update({node.target.id: node for node in tree.body if isinstance(node, ast.AnnAssign)})
    found.update({name.asname: node for node in tree.body if isinstance(node, ast.ImportFrom)
                  for name in node.names if name.asname == name.name})  # from . import plot as plot
    return {key: node for key, node in found.items() if not key.startswith("_")}


@pytest.mark.parametrize("name, module, own", [
    ("__init__.pyi", pleat, {"Alignment", "Topology", "Couplings", "MutualInformation", "Rmsd", "Clusters",
                             "Ensemble", "JobTable", "Page", "Profile", "Refinement", "Reweighting", "Saxs", "Selection"}),
    ("plot.pyi", pleat.plot, set()),
    ("saxs.pyi", pleat.saxs, {"Fit", "Weights", "Model", "Scatterers", "ProfileSession"}),
])
def test_the_stubs_name_what_the_modules_have(name, module, own):
    defined = parsed(name)
    assert set(defined) == set(module.__all__)
    for kind in own:
        stated = {part.name for part in defined[kind].body if isinstance(part, ast.FunctionDef)}
        members = vars(getattr(module, kind))
        real = {part for part in {**members, **members.get("__annotations__", {})} if not part.startswith("_")}
        assert {part for part in stated if not part.startswith("_")} == real, kind


def test_the_stub_of_run_jobs_has_every_command():
    commands = ast.get_docstring(ast.parse(inspect.getsource(pleat.run_jobs)).body[0])
    commands = re.search(r"command : (.*)", commands)[1]
    stated = parsed("__init__.pyi")["run_jobs"].args.args[0].annotation.slice
    assert [word.value for word in stated.elts] == re.findall(r"'(\w+)'", commands)


def test_mypy_accepts_the_stubs_and_their_use(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not there")
    package = tmp_path / "pleat"
    package.mkdir()
    for name in STUBS:
        (package / name).write_text((PACKAGE / name).read_text(encoding="utf-8"))
    (tmp_path / "use.py").write_text(USE)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", "use.py",
                           *(f"pleat/{name}" for name in STUBS)], capture_output=True, text=True,
                          check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
