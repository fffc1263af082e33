# Writes __init__.pyi, saxs.pyi and plot.pyi from the engines' fields: make_stubs.py FOLDER.
"""The build runs it on the module that it has just made."""
import inspect
import re
import sys
import textwrap
from pathlib import Path

import pleat
from pleat import _pleat
from pleat.options import HOW, annotation, keyword

HERE = Path(__file__).parent
ALIGNMENT, ENSEMBLE, ATOMS = "AlignmentLike", "EnsembleLike", "str | ArrayLike | None"
OWN = {"alignment": ALIGNMENT, "family": f"{ALIGNMENT} | Couplings", "row": "str | None", "focus": "str",
       "mutants": "str | PathLike[str] | Sequence[str] | Any", "target": "str | PathLike[str] | tuple[str, str] | None",
       "sequences": "str | PathLike[str] | Alignment | dict[str, str] | Sequence[str] | None", "ensemble": ENSEMBLE, "items": f"Rmsd | {ENSEMBLE}",
       "against": f"{ENSEMBLE} | None", "assign": f"{ENSEMBLE} | None", "reference": f"int | {ENSEMBLE} | None", "fit": ATOMS, "relabel": "bool", "each_chain": "bool", "score": "str | ArrayLike | None", "least": "bool",
       "symmetry": "Literal['none', 'chains', 'atoms', 'ligand']",
       "select": ATOMS, "measure": ATOMS, "any_residues": "bool", "max_gaps": "float",
       "min_coverage": "float", "weights": "ArrayLike | str | None", "atom_weights": "ArrayLike | str | None", "precision": "Literal['mixed', 'float64']",
       "curves": "ProfileLike | Sequence[ProfileLike]", "concentration": "str | float | Sequence[float] | NDArray[np.float64]", "q_max": "float",
       "data": "ProfileLike | None", "q_unit": "Literal['auto', '1/angstrom', '1/nm']",
       "assume_error": "float | None", "smear": "bool", "columns": "str", "curve": "str | int", "q_min": "float", "mixture": "bool",
       "series": "Sequence[tuple[ProfileLike, float | None]] | None",
       "form_factors": "str | PathLike[str] | None", "q": "ArrayLike | None", "model": "Model",
       "xyz": "ArrayLike", "scales": "ArrayLike | None", "structure": "str | PathLike[str] | None",
       "secondary": "str | PathLike[str] | None", "profiles": "bool", "parts": "str | Sequence[int] | None", "shuffle_parts": "int",
       "values": "ArrayLike", "observables": "Sequence[Sequence[Any]] | NDArray[np.float64]", "theta": "float | Sequence[float] | NDArray[np.float64] | None",
       "contacts": "str | PathLike[str] | Couplings | tuple[str, Any] | None"}
RETURNS = {"analyse": "Analysis", "couplings": "Couplings", "mutants": "Mutants", "mutual_information": "MutualInformation", "rmsd": "Rmsd",
           "mean_structure": "NDArray[np.float64]", "cluster": "Clusters", "select": "Selection",
           "refine": "Refinement", "reweight": "Reweighting"}
SAXS_RETURNS = {"saxs": "Saxs", "scatterers": "Scatterers", "profiles": "NDArray[np.float64]"}
# The module pleat.saxs as an attribute, which is called; its classes are those of saxs.pyi.
CALLABLE = """class _SaxsModule:
    Fit = _Fit
    Model = _Model
    ProfileSession = _ProfileSession
    Scatterers = _Scatterers
    Session = _ProfileSession
    Weights = _Weights
    chi_square_weights = staticmethod(_chi_square_weights)
    combine = staticmethod(_combine)
    fit_scale = staticmethod(_fit_scale)
    profiles = staticmethod(_profiles)
    resample = staticmethod(_resample)
    scatterers = staticmethod(_scatterers)
"""


def stub(function, returned, name=None, bound=False):
    """One function; with `bound` as a method of this name."""
    fields = {keyword(field): field for field in function.fields}
    how = {option: kind for option, kind, *_ in HOW}
    lines = [f"def {name or function.__name__}("] + ["    self,"] * bound
    starred = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        kind = OWN.get(parameter.name)
        if parameter.name in fields:
            kind = annotation(fields[parameter.name])
        elif parameter.name in how:
            kind = how[parameter.name] + (" | None" if parameter.default is None else "")
        has_default = parameter.default is not parameter.empty
        if parameter.default is None and not kind.endswith("| None"):
            kind += " | None"
        lines.append(f"    {parameter.name}: {kind}"
                     + (f" = {parameter.default!r}" if has_default else "") + ",")
    return "\n".join(lines + [f") -> {returned}: ..."])


def with_columns(text):
    """A head with the attributes of results, after the line that opens each class of them."""
    def opened(match):
        columns = [one for one in _pleat.result_columns.get(match[1], ()) if re.match("[a-z]", one["name"]) and one["help"]]
        return "\n".join([match[0], *(f"    @property\n    def {one['name']}(self) -> {one['type']}: ..." for one in columns)])
    return re.sub(r"^class (\w+)\(_Result\):$", opened, text, flags=re.MULTILINE)


def texts():
    """{file's name: what it holds}."""
    head, saxs_head = (with_columns((HERE / name).read_text(encoding="utf-8")) for name in ("head.pyi", "saxs_head.pyi"))
    functions = "\n".join(stub(getattr(pleat, name), kind) for name, kind in RETURNS.items())
    call = textwrap.indent(stub(pleat.saxs.saxs, "Saxs", "__call__", True), "    ")
    in_saxs = "\n".join(stub(getattr(pleat.saxs, name), kind) for name, kind in SAXS_RETURNS.items())
    plot = (HERE / "plot.pyi").read_text(encoding="utf-8")
    return {"plot.pyi": plot, "__init__.pyi": f"{head}{functions}\n\n{CALLABLE}{call}\n\nsaxs: _SaxsModule\n",
            "saxs.pyi": f"{saxs_head}{in_saxs}\n"}


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("make_stubs.py: expected a folder, found another argument")
    assert set(RETURNS) <= set(pleat.__all__)
    for file, text in texts().items():
        Path(sys.argv[1], file).write_text(text, encoding="utf-8")
