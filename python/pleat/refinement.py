# Refinement: conformations of rigid domains on flexible linkers.
"""pleat.refine and what it returns."""
import os
import warnings

from . import _pleat, saxs
from .ensemble import Ensemble, ensemble as as_ensemble
from .errors import InputError, UsageError
from .options import engine, keyword
from .profile import curve_of
from .results import Refinement

_OF_PROFILES = {field["name"] for field in _pleat.refine_profile_fields()}


@engine(_pleat.refine_fields(), Refinement)
def refine(structure, *, data=None, q_unit="auto", assume_error=None, columns="", curve="", q_min=0.0,
           profiles=False, options, how):
    """Samples conformations of rigid domains on flexible linkers, by Markov chain Monte Carlo.

    structure : what pleat.ensemble takes, of one frame; of a path the first frame, or all models if these
        hold different domains; a list of paths is one of domains, too, which `sequence` links. Its atoms
        must have names; water and hydrogens are left out
    data : what pleat.profile takes: a measured curve
    q_unit, assume_error, columns, curve, q_min : as pleat.read_profile takes them
    profiles : whether to compute profiles of the frames without data, too

    Returns pleat.Refinement.

    UsageError for options, InputError for linkers that the structure does not have or cannot turn.
    Formulas and papers: the library's README of refine (Betancourt, J. Chem. Phys. 123:174905, 2005;
    Vehtari et al., Bayesian Analysis 16:667, 2021).
    """
    paths = [structure] if isinstance(structure, (str, os.PathLike)) else structure
    if isinstance(paths, (list, tuple)) and paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        xyz, topology, files, origins, notes = _pleat.read_refined([os.fspath(path) for path in paths], options)
        start = Ensemble(xyz, topology, files=files, origins=origins, notes=notes)
    else:
        start = as_ensemble(structure)
    if start.topology is None:
        raise InputError("expected atoms with names, found coordinates alone; "
                         "pleat.Ensemble(xyz, topology) names them")
    if len(start) != 1:
        raise InputError(f"expected a structure of 1 frame, found {len(start)}")
    measured = curve_of(data, start, q_unit=q_unit, assume_error=assume_error, columns=columns, curve=curve, q_min=q_min)
    if measured is not None and measured.dq is not None:
        raise UsageError("expected a curve without dq, found one: refine does not smear profiles")
    found, xyz, topology = _pleat.refine(
        _pleat.Structures(start.xyz, start.topology, start.files, start.origins, []), measured, options, how)
    fitted = None
    frames = Ensemble(xyz, topology)
    for text in (found.warning, "" if found.misfit is None else found.misfit["remark"]):
        if text:
            warnings.warn(text, stacklevel=3)
    if measured is not None or profiles:
        of_profiles = {keyword({"name": name}): value for name, value in options.items() if name in _OF_PROFILES}
        fitted = saxs.saxs(frames, data=measured, **of_profiles, **how)
    return Refinement(found, frames=frames, saxs=fitted)
