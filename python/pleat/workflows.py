# Workflows: conformations ranked and sampled, and the effects of mutations.
import os
import warnings

import numpy as np

from . import _pleat, saxs
from .alignment import Alignment, alignment as as_alignment
from .ensemble import Ensemble, ensemble as as_ensemble, is_paths, with_topology
from .errors import InputError, UsageError
from .options import engine, keyword, named_text, parts_text, structure_text
from .other_packages import columns_of
from .profile import curve_of
from .results import Couplings, Mutants, Refinement, Selection

_OF_PROFILES = {field["name"] for field in _pleat.refine_profile_fields()}
_FIT = {field["name"] for field in _pleat.mutants_fit_fields()}


def _residues_in_contact(fitted):
    """(sequence, [(i, j, probability)]) of the residues that the first sequence has in the columns."""
    found = fitted.contacts()
    is_residue = np.array([letter != "-" for letter in fitted.letters])
    numbers = np.where(is_residue, np.cumsum(is_residue) - 1, -1)
    i, j = (numbers[np.searchsorted(fitted.columns, found[name])] for name in "ij")
    kept = (i >= 0) & (j >= 0)
    return fitted.letters.replace("-", ""), list(zip(i[kept], j[kept], np.nan_to_num(found["probability"][kept])))


def _contacts(source):
    """Contacts in CASP's RR format."""
    if isinstance(source, Couplings):
        source = _residues_in_contact(source)
    if not isinstance(source, (tuple, list)) or len(source) != 2 or not isinstance(source[0], str):
        raise InputError("expected contacts as a path, pleat.Couplings or (sequence, [(i, j, probability)]), found "
                         f"{type(source).__name__}")
    sequence, pairs = source
    columns = columns_of(pairs, ("i", "j", "probability"))
    pairs = pairs if columns is None else zip(*columns)
    rows = "".join(f"{int(i) + 1} {int(j) + 1} {float(p)!r}\n" for i, j, p in pairs)
    return f"{sequence}\n{rows}END\n"


def _score(frames, score):
    """float64 [frame] of a score or of its name; empty without one."""
    if score is None:
        return np.empty(0)
    if isinstance(score, str):
        if score not in frames.scores:
            raise InputError(f"score: expected one of the ensemble's scores ({', '.join(frames.scores) or 'none'}), "
                             f"found '{score}'")
        return frames.scores[score]
    values = np.ascontiguousarray(score, dtype=np.float64)
    if values.shape != (len(frames),):
        raise InputError(f"score: expected a number for each of {len(frames)} frames, found shape {values.shape}")
    return values


@engine(_pleat.select_fields(), Selection)
def select(ensemble, *, select="ca", alignment=None, contacts=None, data=None, q_unit="auto",
           assume_error=None, smear=False, columns="", curve="", q_min=0.0, score=None, least=False, structure=None, options, how):
    """Ranks the conformations of an ensemble by contacts, clusters, scattering and scores together.

    ensemble : what pleat.ensemble takes; its atoms must have names
    select : atoms to superpose, as text, indices or a mask
    alignment : what pleat.alignment takes: the protein's family. Couplings are fitted to it, and
        their contacts are expected
    contacts : expected contacts instead: the path of a file in CASP's RR format or of the folder of
        a `pleat couplings` run, pleat.Couplings, or (sequence, pairs) with pairs [(i, j, probability)]
        counted from 0 or a DataFrame of pandas with these columns
    data : what pleat.profile takes: a measured curve, to which each frame is fitted
    q_unit, assume_error, smear, columns, curve, q_min : as pleat.read_profile takes them
    score : a score of each frame: the name of one of the ensemble's `scores`, or an array [frame], NaN where it is
        not known, which is worse than any number
    least : lower scores are better, as for energies
    structure : PDB or mmCIF file that names the residues of contacts; None: the file that named the
        atoms of the ensemble

    At least one of alignment, contacts, data and score must be given.

    The library's README of select has the formulas.
    """
    if alignment is None and contacts is None and data is None and score is None:
        raise UsageError("give alignment, contacts, data or score besides the ensemble")
    frames = with_topology(as_ensemble(ensemble))
    values = _score(frames, score)
    measured = curve_of(data, frames, q_unit=q_unit, assume_error=assume_error, smear=smear, columns=columns,
                        curve=curve, q_min=q_min)
    atoms = frames.indices(select)
    frames = _pleat.Structures(frames.xyz, frames.topology, frames.files, frames.origins, [])
    family = None if alignment is None else as_alignment(alignment)
    return Selection(_pleat.select(frames, np.sort(atoms), family, *named_text("contacts", contacts, _contacts), measured, values, least,
                                   "" if structure is None else os.fspath(structure), options, how))


@engine(_pleat.refine_fields(), Refinement)
def refine(structure=None, *, data=None, q_unit="auto", assume_error=None, columns="", curve="", q_min=0.0,
           profiles=False, options, how):
    """Samples conformations of rigid domains on flexible linkers, by Markov chain Monte Carlo.

    structure : what pleat.ensemble takes, of one frame; of a path the first frame, or all models if these
        hold different domains; a list of paths is one of domains, too, which `sequence` links. Its atoms
        must have names; water and hydrogens are left out. None: all residues of `sequence` are flexible
    data : what pleat.profile takes: a measured curve
    q_unit, assume_error, columns, curve, q_min : as pleat.read_profile takes them
    profiles : whether to compute profiles of the frames without data, too

    Returns pleat.Refinement.

    UsageError for options, InputError for linkers that the structure does not have or cannot turn.
    Formulas and papers: the library's README of refine (Betancourt, J. Chem. Phys. 123:174905, 2005;
    Vehtari et al., Bayesian Analysis 16:667, 2021).
    """
    if structure is None:
        if not options.get("sequence"):
            raise UsageError("give a structure, or a sequence alone")
        structure = options["sequence"]
    paths = [structure] if isinstance(structure, (str, os.PathLike)) else structure
    if is_paths(paths):
        xyz, topology, files, origins, notes = _pleat.read_refined([os.fspath(path) for path in paths], options)
        start = Ensemble(xyz, topology, files=files, origins=origins, notes=notes)
    else:
        start = as_ensemble(structure)
    if len(with_topology(start)) != 1:
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


def _table(source):
    """The text of a table of mutants."""
    if hasattr(source, "to_csv"):
        return source.to_csv(index=False)
    names = list(source)
    if not names:
        raise InputError("expected at least 1 mutant, found an empty list")
    if not all(isinstance(name, str) for name in names):
        raise InputError("expected mutants as a path, a list of texts such as 'A24G:K30R', or a DataFrame, found "
                         f"{type(source).__name__}")
    return "mutant\n" + "".join(f"{name or 'wt'}\n" for name in names)


def _sequences(source):
    """FASTA of sequences."""
    if isinstance(source, Alignment):
        pairs = zip(source.names, source.sequences)
    elif isinstance(source, dict):
        pairs = source.items()
    else:
        pairs = ((f"sequence_{n}", row) for n, row in enumerate(source))
    text = "".join(f">{name}\n{row}\n" for name, row in pairs)
    if not text:
        raise InputError("expected sequences, found none")
    return text


def _target(source):
    """FASTA of one sequence."""
    if not isinstance(source, tuple) or len(source) != 2:
        raise InputError(f"expected target as a path or (name, letters), found {type(source).__name__}")
    return f">{source[0]}\n{source[1]}\n"


def _model_file(path):
    """The file of a model that a path names, or None for an alignment."""
    if os.path.isdir(path):
        for name in ("couplings.npz", os.path.join("couplings", "couplings.npz"), "model.plmc"):
            if os.path.isfile(os.path.join(path, name)):
                return os.path.join(path, name)
        raise InputError(f"{os.fspath(path)}: expected a finished run of 'pleat couplings', found no "
                         "couplings.npz; give the alignment, or the command --models npz")
    return path if _pleat.is_model_file(os.fspath(path)) else None


def _potts_model(source, row, focus, filters, questions, fit, how):
    """The model of a path, a result of pleat.couplings, or of a fit to an alignment, for which `questions` are
    checked first."""
    is_fitted = isinstance(source, Couplings)
    file = _model_file(source) if isinstance(source, (str, os.PathLike)) else None
    if is_fitted or file is not None:
        if fit or row is not None or focus or filters != (1.0, 0.0):
            raise UsageError("leave row, focus, max_gaps, min_coverage and the options of the fit out: the model has been "
                             "fitted")
        if file is not None:
            return _pleat.read_potts_model(os.fspath(file))
        if source._native is None:
            raise InputError("expected a result of pleat.couplings with its model, found one that was read from a "
                             "file or a pickle; give the folder of the run")
        return _pleat.potts_model_of(source._native)
    if focus and row not in (None, focus):
        raise UsageError("give either row or focus: they differ")
    family = os.fspath(source) if isinstance(source, (str, os.PathLike)) else as_alignment(source)
    return _pleat.fit_potts_model(family, focus or row or "", bool(focus), *filters, questions, fit, how)


@engine(_pleat.mutants_fields(), Mutants)
def mutants(family, *, mutants=None, sequences=None, target=None, structure=None, parts=None, row=None, focus="",
            max_gaps=1.0, min_coverage=0.0, options, how):
    """Predicts the effects of mutations of a sequence, by a Potts model of its family and by an independent one.

    family : its alignment, as pleat.alignment takes it, to which the model is fitted; or a model: the
        folder of a run of `pleat couplings`, its couplings.npz, a binary model of plmc, or what pleat.couplings
        returned
    mutants : mutants to predict beside all single ones: a table of ProteinGym or EVcouplings as a path or a
        DataFrame, or a list of texts such as 'A24G' and 'A24G:K30R'
    sequences : sequences whose energies are computed: a path, an Alignment, {name: letters} or a list of letters
    target : the target's sequence, which numbers its residues: the path of a FASTA file or (name, letters)
    structure : PDB or mmCIF file of the target, or 'FILE:CHAIN': effects are weighted by burial in it and by
        conservation, beside those without weights; of a complex 'FILE:A,B', a chain for each of its parts
    parts : chains of a complex side by side in the alignment's columns, as pleat.couplings takes them
    row : name of the row of the alignment that is the target; None: the first
    focus : name of the row that is the target, of which only the columns with a residue are kept
    max_gaps, min_coverage : as pleat.couplings takes them

    Insertions of an A2M or A3M row count as residues if the alignment is given as a path. The library's README of
    mutants has formulas and papers.
    """
    if focus and parts is not None:
        raise UsageError("focus and parts do not go together: parts count columns")
    fit = {name: value for name, value in options.items() if name in _FIT}
    rest = {name: value for name, value in options.items() if name not in _FIT}
    questions = _pleat.read_mutant_questions(
        *named_text("mutants", mutants, _table), *named_text("sequences", sequences, _sequences),
        *named_text("target", target, _target), structure_text(structure), parts_text(parts), rest)
    model = _potts_model(family, row, focus, (max_gaps, min_coverage), questions, fit, how)
    return Mutants(_pleat.mutants(model, questions, how))
