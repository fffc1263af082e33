# Writes pleat/__init__.pyi from the engines' fields: make_stubs.py FILE, or - for standard output.
"""Run it where the module can be imported; a test holds the committed file to what it writes."""
import inspect
import sys
from pathlib import Path

import pleat
from pleat import engines
from pleat.options import HOW, annotation, keyword

HEAD = Path(__file__).with_name("head.pyi")
ALIGNMENT, ENSEMBLE, ATOMS = "AlignmentLike", "EnsembleLike", "str | ArrayLike | None"
OWN = {"alignment": ALIGNMENT, "ensemble": ENSEMBLE, "items": f"Rmsd | {ENSEMBLE}",
       "against": f"{ENSEMBLE} | None", "reference": f"int | {ENSEMBLE} | None", "fit": ATOMS,
       "measure": ATOMS, "weights": "ArrayLike | None", "precision": "Literal['mixed', 'float64']"}
RETURNS = {"couplings": "Couplings", "mutual_information": "MutualInformation", "rmsd": "Rmsd",
           "mean_structure": "NDArray[np.float64]", "cluster": "Clusters"}


def stub(name):
    function = getattr(engines, name)
    fields = {keyword(field): field for field in function.fields}
    how = {option: kind for option, kind, *_ in HOW}
    lines = [f"def {name}("]
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
        lines.append(f"    {parameter.name}: {kind}"
                     + (f" = {parameter.default!r}" if has_default else "") + ",")
    return "\n".join(lines + [f") -> {RETURNS[name]}: ..."])


def text():
    stubs = "\n".join(stub(name) for name in RETURNS)
    return HEAD.read_text(encoding="utf-8") + stubs + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("make_stubs.py: expected a file or -, found another number of arguments")
    assert set(RETURNS) <= set(pleat.__all__)
    if sys.argv[1] == "-":
        sys.stdout.write(text())
    else:
        Path(sys.argv[1]).write_text(text(), encoding="utf-8")
