# Refinement: conformations of rigid domains on flexible linkers.
"""pleat.refine and what it returns."""
import os
import warnings

from . import _pleat, saxs
from .ensemble import Ensemble, ensemble as as_ensemble, read_ensemble
from .errors import InputError, UsageError
from .options import engine, keyword
from .profile import profile as as_profile

Refinement = _pleat.Refinement
Refinement.__module__ = "pleat"
Refinement.__doc__ = "What pleat.refine returns; its docstring says what each attribute is."

_OF_PROFILES = {field["name"] for field in _pleat.refine_profile_fields()}


@engine(_pleat.refine_fields())
def refine(structure, *, data=None, q_unit="auto", assume_error=None, options, how):
    """Samples conformations of rigid domains on flexible linkers, by Markov chain Monte Carlo.

    structure : what pleat.ensemble takes, of one frame; of a path the first frame. Its atoms must
        have names; water and hydrogens are left out
    data : what pleat.profile takes: a measured curve
    q_unit, assume_error : as pleat.profile takes them

    Returns pleat.Refinement:
    frames : pleat.Ensemble, float32 [frame, atom, 3], angstrom; the largest domain rests
    table : dict of arrays [frame], the columns of frames.tsv: chain, step (int64, the Monte Carlo chain
        and its moves so far); rg, distance_1_2, ... (float64, angstrom); with a likelihood ln_likelihood, chi2
        (per point) and c2; dmax (angstrom); prior (ln of the density, up to a constant); clash (kT);
        close_atoms (int64, pairs of heavy atoms closer than 2.5 angstrom)
    convergence : dict of rg, each distance and ln_likelihood: dict of r_hat, effective_size, converged
    converged : whether R-hat is at most 1.01 and the effective size at least 400 for all of them
    warning : which of them have not converged, else "". It is also raised as a Python warning
    moves : dict of each kind of move: (proposed, accepted), burn-in left out
    powers, swap_probabilities : float64 [rung], [rung - 1], powers of the likelihood and mean
        probabilities of swaps; None without a likelihood
    domains, linkers : list of str, such as 'A:1-288'; domains are numbered from 1 in names of columns
    found_options : '--linkers ... --group ...', what `pae` found; '' without it
    angles : how many angles change
    notes : list of str, what was decided
    saxs : pleat.Saxs, the fit of these frames to `data` by pleat.saxs; None without data

    UsageError for options, InputError for linkers that the structure does not have or cannot turn.
    Formulas and papers: the library's README of refine (Betancourt, J. Chem. Phys. 123:174905, 2005;
    Vehtari et al., Bayesian Analysis 16:667, 2021).
    """
    if data is None and (q_unit != "auto" or assume_error is not None):
        raise UsageError("expected q_unit and assume_error with data, found none")
    is_path = isinstance(structure, (str, os.PathLike))
    start = read_ensemble(structure, frames="0") if is_path else as_ensemble(structure)
    if start.topology is None:
        raise InputError("expected atoms with names, found coordinates alone; "
                         "pleat.Ensemble(xyz, topology) names them")
    if len(start) != 1:
        raise InputError(f"expected a structure of 1 frame, found {len(start)}")
    curve = None if data is None else as_profile(data, q_unit=q_unit, assume_error=assume_error)
    if curve is not None and curve.dq is not None:
        raise UsageError("expected a curve without dq, found one: refine does not smear profiles")
    found, xyz, topology = _pleat.refine(
        _pleat.Structures(start.xyz, start.topology, start.files, start.origins, []), curve, options, how)
    found.frames = Ensemble(xyz, topology)
    if found.warning:
        warnings.warn(found.warning, stacklevel=3)
    if curve is not None:
        of_profiles = {keyword({"name": name}): value for name, value in options.items() if name in _OF_PROFILES}
        found.saxs = saxs.saxs(found.frames, data=curve, **of_profiles, **how)
    return found
