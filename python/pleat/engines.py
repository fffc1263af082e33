# Engines: the functions that compute, each a call of the library.
import json
import os
import warnings
from pathlib import Path

import numpy as np

from . import _pleat
from .alignment import alignment as as_alignment
from .ensemble import Ensemble, all_in_common, ensemble as as_ensemble, has_names as _has_names, in_common, matched, read_ensemble
from .errors import InputError, UsageError
from .options import engine, numbers_text, parts_text
from .profile import Profile, profile as as_profile
from .results import Analysis, Clusters, Couplings, MutualInformation, Reweighting, Rmsd

_NO_INDICES, _NO_WEIGHTS = np.empty(0, np.int64), np.empty(0)


@engine(_pleat.couplings_fields(), Couplings)
def couplings(alignment, *, max_gaps=1.0, min_coverage=0.0, focus="", secondary=None, parts=None, shuffle_parts=0,
              options, how):
    """Fits a Markov random field to an alignment and scores every pair of its columns.

    alignment : what pleat.alignment takes: a path, an Alignment, sequences, codes
    max_gaps, min_coverage : leave out columns with a greater fraction of gaps, then sequences with a
        smaller fraction of residues; unknown letters count as gaps
    focus : keep the columns where the row of this name has a residue
    secondary : secondary structure of a nucleic acid: a file (Stockholm or dot-bracket) or its marks, one
        per column or per residue of the first sequence
    parts : chains side by side in the columns: their lengths, or a text as for --parts
    shuffle_parts : number of fits with shuffled pairing of the parts, for false discovery rates

    Unknown letters are gaps. The library's README of couplings has formulas and papers.
    """
    family = as_alignment(alignment)
    fitted = Couplings(_pleat.couplings(family, max_gaps, min_coverage, focus,
                                        "" if secondary is None else os.fspath(secondary), parts_text(parts),
                                        shuffle_parts, options, how))
    fitted._set_letters(family)
    if fitted.warning:
        warnings.warn(fitted.warning, stacklevel=3)
    return fitted


@engine(_pleat.mutual_information_fields(), MutualInformation)
def mutual_information(alignment, *, max_gaps=1.0, min_coverage=0.0, focus="", options, how):
    """Computes the mutual information of pairs and triples of columns, and compares it with permuted
    columns.

    alignment : what pleat.alignment takes: a path, an Alignment, sequences, codes
    max_gaps, min_coverage, focus : as pleat.couplings takes them; unknown letters count as letters
    """
    family = as_alignment(alignment)
    measured = MutualInformation(_pleat.mutual_information(family, max_gaps, min_coverage, focus, options, how))
    measured._set_letters(family)
    return measured


def _weights(frames, weights):
    """float64 [atom] as given, or masses; empty without weights."""
    if weights is None or (isinstance(weights, str) and weights == "none"):
        return _NO_WEIGHTS
    if isinstance(weights, str):
        if weights not in ("mass", "gmx"):
            raise UsageError(f"expected atom_weights as 'mass', 'gmx', 'none' or [atom], found '{weights}'")
        if not _has_names(frames):
            raise InputError(f"expected atoms with names for atom_weights={weights!r}, found coordinates only")
        masses = frames.topology.gmx_masses if weights == "gmx" else frames.topology.masses
        if not (masses > 0).all():
            raise InputError(f"expected elements for atom_weights={weights!r}, found "
                             f"{np.count_nonzero(~(masses > 0))} atoms of none")
        weights = masses
    found = np.asarray(weights, dtype=np.float64)
    if found.ndim != 1 or found.size == 0:
        raise InputError(f"expected a weight for each atom, [atom], found shape {found.shape}")
    return np.ascontiguousarray(found)


def _superposed(select, measure, fit, symmetry):
    """(atoms to superpose, atoms to measure, whether frames are measured in place)"""
    if fit is not None and select is not None and measure is not None:
        raise UsageError("give two of select, fit and measure, not all three")
    if symmetry == "ligand" and select is None:
        select = "heavy"
    if (isinstance(fit, str) and fit == "none") or (fit is None and symmetry == "ligand" and measure is None):
        return (select if measure is None else measure), None, True
    if fit is None:
        return select, measure, False
    return fit, (select if measure is None else measure), False


class _Atoms:
    """What is superposed and measured: the atoms of both, and their places among these."""

    def __init__(self, frames, select, measure, metric, in_place=False):
        self.in_place = in_place
        default = _pleat.default_selections.get(metric, "all") if isinstance(metric, str) else "all"
        if select is None and measure is not None:
            select = "all" if default == "all" else measure
        elif select is None:
            select = default if _has_names(frames) else "all"
        self.metric, count = metric, frames.shape[1]
        fitted = None if isinstance(select, str) and select == "all" else frames.indices(select)
        chosen = select if measure is None else measure
        measured = fitted if measure is None else frames.indices(measure)
        self.name = chosen if isinstance(chosen, str) else ""
        self.sets = (_NO_INDICES, _NO_INDICES)
        if measure is None:
            self.indices = fitted
        else:
            fitted = np.arange(count) if fitted is None else fitted
            self.indices = np.union1d(fitted, measured)
            if not np.array_equal(fitted, measured):
                self.sets = tuple(np.searchsorted(self.indices, atoms) for atoms in (fitted, measured))
        if self.indices is not None and np.array_equal(self.indices, np.arange(count)):
            self.indices = None  # all, in their order: no copy
        self.all_atoms = count

    def of(self, xyz):
        """[..., atom, 3] of all atoms, or of those used already."""
        if self.indices is None or xyz.shape[-2] != self.all_atoms:
            return xyz
        return np.ascontiguousarray(xyz[..., self.indices, :])

    def weights_of(self, frames, weights):
        """float64 [atom used] from weights of all atoms or of those used; empty without weights."""
        found = _weights(frames, weights)
        if self.indices is not None and found.size == self.all_atoms:
            found = np.ascontiguousarray(found[self.indices])
        return found

    def with_weights(self, frames, weights):
        topology = None
        if self.metric == "lddt" and _has_names(frames):
            topology = frames.topology if self.indices is None else frames.topology.subset(self.indices)
        return _pleat.AtomSets(*self.sets, self.weights_of(frames, weights), topology, self.in_place)

    def with_symmetry(self, sets, frames, symmetry):
        """`sets` with the chains or atoms that may change places."""
        if not _has_names(frames):
            raise InputError(f"expected atoms with names for symmetry={symmetry!r}, found coordinates only")
        return sets.with_symmetry(frames.topology, _NO_INDICES if self.indices is None else self.indices, symmetry)


@engine(_pleat.rmsd_fields(), Rmsd)
def rmsd(ensemble, *, select=None, measure=None, against=None, reference=None, atom_weights=None,
         any_residues=False, fit=None, symmetry="none", relabel=False, match="names", options, how):
    """Compares the frames of an ensemble with each other, another set or one structure.

    ensemble : what pleat.ensemble takes: an array [frame, atom, 3] in angstrom (contiguous float32
        without a copy), an Ensemble, a path
    select : atoms to superpose and measure, as text, indices or a mask; None: all, and for the metrics
        tm, gdt_ts and lddt CA if atoms have names
    measure : atoms to measure after superposing the selected ones; None: those of `select`
    against : frames of the same atoms; each frame is compared with each of them
    reference : one structure: a path, whose first frame it is, an Ensemble of one frame, [atom, 3], a
        frame's index, or 'mean' (see pleat.mean_structure)
    atom_weights : float64, none negative, of all atoms or of those used; 'mass': those of their
        elements; 'gmx': what GROMACS takes by names of atoms; 'none': equal ones
    any_residues : compare also if fewer than half of the residues of `against` or `reference` have the
        names in the ensemble
    fit : atoms to superpose if not those of `select`, which are then only measured; 'none': measure
        frames where they are; None: as `select` says, and with symmetry='ligand' 'none'
    symmetry : 'chains': chains of the same residues and atoms may take each other's places; the RMSD of
        two frames is the least over all permutations; 'atoms': the two sides of rings of PHE and TYR,
        the oxygens of ASP and GLU and the like may change places; 'ligand': so may atoms of a ligand
        that its bonds do not tell apart, and heavy atoms are compared unless others are selected; or
        'none'
    relabel : with symmetry='chains': relabel the chains of each frame once, so that it is closest to the
        first frame (or to `reference`), instead of trying all permutations for each pair
    match : how atoms of several files, of `against` and of `reference` are matched, as pleat.read_ensemble takes it

    Atoms of `against` and `reference` are matched by chain, residue and name if they have names;
    molecules of SDF files by their bonds.
    """
    _check_symmetry(symmetry, relabel)
    if against is not None and reference is not None:
        raise UsageError("expected one of against and reference, found both")
    frames = as_ensemble(ensemble, match=match)
    if match == "sequence":
        frames, against, reference = all_in_common(frames, against, reference)
    metric = options.get("metric", "rmsd")
    if metric != "rmsd" and (symmetry != "none" or fit is not None):
        raise UsageError(f"{'fit' if symmetry == 'none' else 'symmetry'} needs metric='rmsd'")
    superposed, measured, in_place = _superposed(select, measure, fit, symmetry)
    is_mean = isinstance(reference, str) and reference == "mean"
    if is_mean and in_place:
        raise UsageError("a mean superposes frames: leave fit='none' out, or name a file or a frame for reference")
    if is_mean and symmetry != "none" and not relabel:
        raise UsageError("a mean needs one labelling of each frame: take symmetry='chains' and relabel=True, or "
                         "leave symmetry out")
    atoms = _Atoms(frames, superposed, measured, metric, in_place)
    plain, xyz = atoms.with_weights(frames, atom_weights), atoms.of(frames.xyz)
    permuted = plain if symmetry == "none" else atoms.with_symmetry(plain, frames, symmetry)
    sets = plain if relabel else permuted
    if len(xyz) == 0:
        raise InputError("expected at least 1 frame, found none")

    def relabelled(frames, onto):
        return _pleat.relabelled(frames, onto, permuted, how)[0] if relabel else frames

    if against is not None:
        others = as_ensemble(against)
        _refuse_moved(in_place, frames, others)
        others = matched(frames, others, "against", any_residues)
        xyz = relabelled(xyz, xyz[0])
        result = _pleat.rmsd_against(xyz, relabelled(atoms.of(others.xyz), xyz[0]), sets, options, how)
    elif reference is not None:
        if is_mean:
            xyz = relabelled(xyz, xyz[0])
        structure = _structure(frames, reference, any_residues, atoms, xyz, sets, how)
        if not (is_mean or isinstance(reference, (int, np.integer))):
            _refuse_moved(in_place, frames)
        result = _pleat.rmsd_to_reference(xyz if is_mean else relabelled(xyz, structure), structure, sets, options, how)
    else:
        result = _pleat.rmsd(relabelled(xyz, xyz[0]), sets, options, how)
    found = Rmsd(result, selection=atoms.name, symmetry=symmetry)
    found._order = _order_of(frames)
    return found


def _refuse_moved(in_place, *ensembles):
    """Two sets in place must be where they were given."""
    if in_place and any(note.kind == "moved" for one in ensembles for note in one.notes):
        raise InputError("expected coordinates near the origin for fit='none' with other frames, found some of "
                         "float64 that were moved there: subtract one vector from both, or give float32")


def _check_symmetry(symmetry, relabel):
    if relabel and symmetry != "chains":
        raise UsageError("relabel=True needs symmetry='chains'")


def _structure(frames, reference, any_residues, atoms, xyz, sets, how):
    if isinstance(reference, str) and reference == "mean":
        return _pleat.mean_structure(xyz, sets, how)
    if isinstance(reference, (int, np.integer)):
        return atoms.of(frames[reference].xyz[0])
    if isinstance(reference, np.ndarray) and reference.ndim == 2:
        return atoms.of(Ensemble(reference[np.newaxis]).xyz[0])
    is_file = isinstance(reference, (str, os.PathLike))
    others = read_ensemble(reference, frames="0") if is_file else as_ensemble(reference)
    _refuse_moved(atoms.in_place, others)
    if len(others) != 1:
        raise InputError(f"expected a reference of 1 frame, found {len(others)}")
    return atoms.of(matched(frames, others, "reference", any_residues).xyz[0])


@engine([])
def mean_structure(ensemble, *, fit=None, atom_weights=None, options, how):
    """The mean of the superposed frames, onto which they were superposed: float64 [atom, 3], angstrom.

    ensemble : what pleat.ensemble takes
    fit : atoms to superpose, as text, indices or a mask; None: all
    atom_weights : float64 [atom]
    """
    frames = as_ensemble(ensemble)
    indices = _NO_INDICES if fit is None else frames.indices(fit)
    measured = _NO_INDICES if fit is None else np.arange(frames.shape[1])
    return _pleat.mean_structure(frames.xyz, _pleat.AtomSets(indices, measured, _weights(frames, atom_weights)), how)


_METHOD = next(field["default"] for field in _pleat.cluster_fields() if field["name"] == "method")


def _clusters(native, options, order):
    swept = None if native.sweep is None else "cutoff" if options.get("cutoff") is not None else "k"
    return Clusters(native, method=options.get("method", _METHOD), sweep_of=swept, **order)


def _order_of(frames, chains=None):
    """Attributes of Clusters about the order of items: frames, or chain by chain."""
    origins = [] if frames is None else list(frames.origins) * (1 if chains is None else len(chains))
    return {"series": _series(origins), "chains": chains, "is_trajectory": frames is not None and frames.is_trajectory}


def _of_each_chain(frames, atoms, weights, precision, options, how):
    """Clusters of the equal chains of all frames, chain by chain."""
    if not _has_names(frames):
        raise InputError("expected atoms with names for each_chain=True, found coordinates only")
    chains, places = _pleat.equal_chains(frames.topology if atoms.indices is None else frames.topology.subset(atoms.indices))
    if weights.size not in (0, places.shape[1]):
        weights = np.ascontiguousarray(weights[places[0]])
    xyz = atoms.of(frames.xyz)
    native = _pleat.cluster_frames(np.concatenate([xyz[:, of] for of in places]), weights, precision, options, how)
    return _clusters(native, options, _order_of(frames, chains))


def _series(origins):
    """Lengths of stretches of frames of one file at equal distances, from (file, frame) of each frame; None
    without these."""
    if len(origins) == 0:
        return None
    files, steps = np.diff(np.asarray(origins, dtype=np.int64), axis=0).T
    inside, counts = np.unique(steps[files == 0], return_counts=True)
    usual = inside[counts.argmax()] if inside.size else 1
    starts = np.flatnonzero((files != 0) | (steps != usual)) + 1
    return np.diff(np.concatenate([[0], starts, [len(origins)]]))


def _medoids(assign, select, weights):
    """Medoids from what `assign` of cluster is, and the atoms and weights to superpose them by."""
    is_path = isinstance(assign, (str, os.PathLike))
    manifest = Path(assign) / "manifest.json" if is_path else None
    if manifest is None or not manifest.is_file():
        return as_ensemble(assign), select, weights
    if weights is not None or not (isinstance(select, str) and select == "all"):
        raise UsageError(f"leave select and atom_weights out: '{assign}' is a run, whose atoms are superposed")
    run = json.loads(manifest.read_text(encoding="utf-8"))
    file = next((path for path in (Path(assign) / f"medoids.{kind}" for kind in ("pdb", "cif")) if path.is_file()), None)
    results = run.get("results", {})
    if (run.get("command"), run.get("status")) != ("cluster", "finished") or "select" not in results or file is None:
        raise InputError(f"{assign}: expected a finished run of 'pleat cluster' that superposed frames, without "
                         "--symmetry, --fit none and --each-chain, with medoids.pdb or medoids.cif, found another")
    weights = results.get("atom_weights")
    return read_ensemble(file), results["select"], weights if weights in (None, "mass", "gmx") else np.load(weights)


def _assigned(items, assign, select, weights, match, options, how):
    useless = [name for name in options if name not in ("cutoff", "bin-width")]
    if useless:
        raise UsageError(f"leave {', '.join('--' + name for name in useless)} out: with --assign the clusters are given")
    frames, (medoids, select, weights) = as_ensemble(items, match=match), _medoids(assign, select, weights)
    if match == "sequence":
        frames, medoids = in_common(frames, medoids)
    if isinstance(select, str) and select == "all":
        frames = matched(medoids, frames, "items", False)
    else:
        frames = frames.select(select)
        medoids = (matched(frames, medoids, "assign", False) if _has_names(frames) and _has_names(medoids)
                   else medoids if medoids.shape[1] == frames.shape[1] else medoids.select(select))
    if medoids.shape[1] != frames.shape[1]:
        raise InputError(f"assign: expected {frames.shape[1]} atoms as the frames have, found {medoids.shape[1]}")
    native = _pleat.assign_frames(frames.xyz, medoids.xyz, _weights(frames, weights), options, how)
    return Clusters(native, method="assign", sweep_of=None, **_order_of(frames))


@engine(_pleat.cluster_fields(), Clusters)
def cluster(items, *, assign=None, select="all", atom_weights=None, precision="mixed", fit=None, symmetry="none",
            relabel=False, each_chain=False, match="names", options, how):
    """Groups the frames of an ensemble by their RMSD, or items by a matrix of distances.

    items : distances, condensed as SciPy's or square, float32 or float64 (contiguous without a
        copy), or a DataFrame of pandas; a pleat.Rmsd with such a matrix, whose pairs near a cutoff are recomputed in float64
        from the frames that it refers to; or what pleat.ensemble takes, whose pairs are then
        superposed without keeping a matrix
    assign : give every frame to the nearest of these medoids instead of finding clusters: what pleat.ensemble
        takes, or the folder of a finished `pleat cluster`, whose atoms are superposed; frames that are not below
        `cutoff` of any are noise. Clusters keep the numbers of the medoids
    select : atoms of frames to superpose, as text, indices or a mask; with `assign` "all" means those of the medoids
    atom_weights, precision, symmetry, relabel : of frames, as pleat.rmsd takes them
    fit : 'none': compare frames where they are; None: superpose them by `select`, with symmetry='ligand'
        'none'; or the same atoms as `select`
    each_chain : cluster the equal chains of all frames, each as a structure of its own. Items are ordered by chain
        and then by frame; to_dataframe('chains') has the clusters of the chains of each frame. An array of
        `atom_weights` is then one of the selected atoms, or of those of one chain
    match : how atoms of several files and of `assign` are matched, as pleat.rmsd takes it

    method='gmx' weighs atoms as gmx cluster does with a PDB file as -s (atom_weights='gmx') unless `atom_weights`
    are given: 'mass' as with a TPR file, 'none' for equal ones.
    """
    _check_symmetry(symmetry, relabel)
    if each_chain and (assign is not None or symmetry != "none" or fit is not None):
        raise UsageError("leave assign, symmetry and fit out: each_chain=True superposes single chains")
    if assign is not None:
        if precision != "mixed":
            raise UsageError("leave precision out: with assign it is float64")
        if symmetry != "none" or fit is not None:
            raise UsageError("leave symmetry and fit out: with assign all atoms are superposed as they are called")
        return _assigned(items, assign, select, atom_weights, match, options, how)
    is_of_frames = not (isinstance(items, Rmsd) or hasattr(items, "to_numpy") or
                        (isinstance(items, np.ndarray) and items.ndim < 3))
    if not is_of_frames and (symmetry != "none" or fit is not None or each_chain):
        raise UsageError("leave symmetry, fit and each_chain out: a matrix has no atoms")
    order = _order_of(None)
    if isinstance(items, Rmsd):
        order = items._order or order
        if items.matrix is None:
            raise InputError("expected an Rmsd with a matrix, found none; take matrix='condensed'")
        _pleat.require_distances(items.metric)
        if items._coordinates is not None and select == "all" and atom_weights is None:
            return _clusters(_pleat.cluster_compared(items.matrix, items._coordinates, items._weights,
                                                     items._precision, options, how), options, order)
        items = items.matrix
    if hasattr(items, "to_numpy") and getattr(items, "ndim", 0) in (1, 2):  # of pandas
        items = items.to_numpy(dtype=np.float64)
    if isinstance(items, np.ndarray) and items.ndim < 3:
        if atom_weights is not None or not (isinstance(select, str) and select == "all"):
            raise UsageError("leave select and atom_weights out: a matrix has no atoms")
        return _clusters(_pleat.cluster_matrix(items, options, how), options, order)
    frames = as_ensemble(items, match=match)
    if atom_weights is None and options.get("method") == "gmx" and _has_names(frames):
        atom_weights = "gmx"
    if symmetry == "ligand" and isinstance(select, str) and select == "all":
        select = "heavy"
    in_place = (isinstance(fit, str) and fit == "none") or (fit is None and symmetry == "ligand")
    if fit is not None and not in_place and not np.array_equal(frames.indices(fit), frames.indices(select)):
        raise UsageError("fit takes 'none' or the atoms of select here: to measure other atoms give the result of "
                         "pleat.rmsd")
    atoms = _Atoms(frames, select, None, "rmsd", in_place)
    if each_chain:
        return _of_each_chain(frames, atoms, atoms.weights_of(frames, atom_weights), precision, options, how)
    xyz, sets = atoms.of(frames.xyz), atoms.with_weights(frames, atom_weights)
    if symmetry != "none":
        sets = atoms.with_symmetry(sets, frames, symmetry)
    if relabel:
        xyz = _pleat.relabelled(xyz, xyz[0], sets, how)[0]
    if relabel or (symmetry == "none" and not in_place):
        native = _pleat.cluster_frames(xyz, atoms.weights_of(frames, atom_weights), precision, options, how)
    else:
        native = _pleat.cluster_permuted(xyz, sets, precision, options, how)
    return _clusters(native, options, _order_of(frames))


def _observable(row, number):
    """(name, value, error, kind, average) of a row; without a name its number is its name."""
    row = [row] if isinstance(row, (str, bytes)) else list(row)
    if row and not isinstance(row[0], str):
        row.insert(0, str(number))
    if not 3 <= len(row) <= 5:
        raise InputError("expected observables (name, value, error), maybe with kind and average, found "
                         f"{len(row)} parts")
    try:
        return (row[0], float(row[1]), float(row[2]), *row[3:], *("gaussian", "mean")[len(row) - 3:])
    except (TypeError, ValueError):
        raise InputError(f"observable '{row[0]}': expected numbers as value and error, found {row[1]!r} and "
                         f"{row[2]!r}") from None


@engine((), Reweighting)
def reweight(values, observables, *, theta=None, options, how):
    """Weights of frames by maximum entropy, with which the means of any observables are as measured.

    values : float64 [frame, observable], computed in each frame: distances, J couplings, shifts, FRET
        efficiencies, radii of gyration, ...; NumPy arrays of float64 are not copied
    observables : per column (name, value, error), (name, value, error, kind) or (name, value, error, kind,
        average); or an array [observable, 2] of values and errors. Values and errors, above 0, are in the
        unit of the column. kind: 'gaussian'; 'upper', the mean may not exceed the value; 'lower'. average:
        'mean'; 'r^-6' for distances of NOEs and PREs, whose mean^-6 is compared (or 'r^-3'): bounds and
        errors stay those of distances
    theta : strength of the entropy term: a number; several, of which one is chosen; None: 10, 10^0.5, ...,
        10^-4 times the number of observables

    The weights w minimise chi^2 / 2 + theta sum w ln(M w) over M frames, chi^2 being the sum over observables
    (Bottaro, Bengtsen, Lindorff-Larsen, Methods Mol. Biol. 2112:219, 2020). Of several thetas the largest is
    chosen whose chi^2 on left-out observables is within a standard error of the best; with fewer than 10
    observables the largest with chi^2 of at most 1 per observable, as a note says. UsageError for shapes that
    do not agree and other kinds, InputError for errors of 0, values that are not finite and bounds that
    contradict each other; a Python warning if fewer than 20 frames are effective.
    """
    rows = [_observable(row, number) for number, row in enumerate(observables)]
    thetas = [] if theta is None else np.atleast_1d(np.asarray(theta, dtype=np.float64)).tolist()
    if theta is not None and not thetas:
        raise UsageError("theta: expected at least 1 number, found none")
    found = Reweighting(_pleat.reweight(np.asarray(values, dtype=np.float64), rows, thetas, how))
    for text in found.warnings:
        warnings.warn(text, stacklevel=3)
    return found


def _is_curve(one):
    """Whether it is a curve, and no column of one."""
    if isinstance(one, (list, tuple)):
        return len(one) > 0 and np.ndim(one[0]) == 1
    return isinstance(one, (Profile, str, os.PathLike)) or hasattr(one, "columns") or np.ndim(one) == 2


@engine([field for field in _pleat.analysis_fields() if field["name"] != "concentration"], Analysis)
def analyse(curves, *, concentration="", q_max=0.5, q_unit="auto", assume_error=None, columns="", curve="",
            q_min=0.0, options, how):
    """Analyses measured curves without a structure: Rg and I(0) by Guinier's law, P(r) with Dmax, masses.

    curves : what pleat.profile takes: a path, a Profile, (q, intensity, sigma), an array [point, 3]; or a list
        of these of one sample, which are compared, and averaged or extrapolated to no concentration
    concentration : mg/ml: a number, several (one per curve), or their text; '': not known
    q_max : points beyond are left out, 1/angstrom; 0: none
    q_unit, assume_error, columns, curve, q_min : as for pleat.read_profile, of paths

    P(r) is the mean over Dmax and smoothness by their evidence (Hansen, J. Appl. Cryst. 33:1415, 2000), and so
    errors of Rg, I(0) and Dmax contain that choice. Numbers that the curve does not determine are NaN; masses
    hold for compact proteins. InputError for fewer than 15 points and curves without positive intensities.
    """
    reading = {name: value for name, value in {"q_unit": q_unit, "assume_error": assume_error, "columns": columns,
                                               "curve": curve, "q_min": q_min}.items()
               if value not in ("auto", None, "", 0)}
    several = isinstance(curves, (list, tuple, np.ndarray)) and len(curves) > 0 and all(map(_is_curve, curves))
    options = {**options, "concentration": numbers_text("concentration", concentration)}
    return Analysis(_pleat.analyse([as_profile(one, **reading) for one in (curves if several else [curves])],
                                   float(q_max), options, how))
