# Engines: the functions that compute, each a call of the library.
"""pleat.couplings, mutual_information, rmsd, mean_structure and cluster."""
import numpy as np

from . import _pleat
from .alignment import alignment as as_alignment
from .ensemble import Ensemble, ensemble as as_ensemble
from .errors import InputError, UsageError
from .options import engine

_NO_INDICES, _NO_WEIGHTS = np.empty(0, np.int64), np.empty(0)


@engine(_pleat.couplings_fields())
def couplings(alignment, *, options, how):
    """Fits a Markov random field to an alignment and scores every pair of its columns.

    alignment : what pleat.alignment takes: a path, an Alignment, sequences, codes

    Returns pleat.Couplings:
    scores : float64 [L, L], after APC; raw_scores the same before it
    fields : float32 [L, q], e_i(a); None with models=False
    pairs : float32 [L (L - 1) / 2, q, q], e_ij(a, b), i < j in row order; None with models=False
    weights : float64 [sequence]; effective_sequences is their sum
    contacts(least_separation=6) : records (i, j, raw, corrected, z, probability), best first
    objective, relative_gap, iterations, evaluations, ending, device

    Unknown letters are gaps. The library's README of couplings has formulas and papers.
    """
    return _pleat.couplings(as_alignment(alignment), options, how)


@engine(_pleat.mutual_information_fields())
def mutual_information(alignment, *, options, how):
    """Measures what columns of an alignment tell of each other, against permuted columns.

    alignment : what pleat.alignment takes: a path, an Alignment, sequences, codes

    Returns pleat.MutualInformation. Of all pairs i < j in row order (see pleat.square), bits:
    mi, joint_entropy, normalised, mip, mia : float64 [pair]
    mean, variance, z, exact_p : of the exact null; tail_p, fdr, family_p as the library says
    sampled : records (mean, variance, skewness, z, percentile, p, p_strict) of the shuffles
    less, equal : uint32 [pair], shuffles below and as high as the observed MI
    Of columns: entropy float64 [L], bits; low_entropy int64.
    Of triples with order=3: triples, kept_triples, dictionaries of arrays with `columns` int64 [n, 3];
    triples_ranked_by; cliques, cliques_by_z int64 [L], sets that each column is in.
    What was not asked for is None.
    """
    return _pleat.mutual_information(as_alignment(alignment), options, how)


def _weights(weights):
    if weights is None:
        return _NO_WEIGHTS
    found = np.asarray(weights, dtype=np.float64)
    if found.ndim != 1 or found.size == 0:
        raise InputError(f"expected a weight for each atom, [atom], found shape {found.shape}")
    return np.ascontiguousarray(found)


def _sets(frames, fit, measure, weights):
    indices = [_NO_INDICES if atoms is None else frames.indices(atoms) for atoms in (fit, measure)]
    if measure is not None and fit is None:
        indices[0] = np.arange(frames.shape[1])
    if fit is not None and measure is None:
        indices[1] = np.arange(frames.shape[1])
    return _pleat.AtomSets(*indices, _weights(weights))


@engine(_pleat.rmsd_fields())
def rmsd(ensemble, *, against=None, reference=None, fit=None, measure=None, weights=None, options, how):
    """Compares the frames of an ensemble with each other, another set or one structure.

    ensemble : what pleat.ensemble takes: an array [frame, atom, 3] in angstrom (contiguous float32
        without a copy), an Ensemble, a path
    against : frames of the same atoms; each frame is compared with each of them
    reference : one structure: [atom, 3], a frame's index, or 'mean' (see pleat.mean_structure)
    fit, measure : atoms to superpose and to measure, as text, indices or a mask; None: all
    weights : float64 [atom], none negative; Ensemble.topology.masses for masses

    Returns pleat.Rmsd, in angstrom or as the metric counts:
    matrix : float32, condensed as SciPy's ([frame (frame - 1) / 2]), or [frame, frame] with
        matrix='full', or [frame, other] with `against`; None with 'none' or `reference`
    values : float32 [frame], with `reference`
    frames, atoms, pairs, least, mean, most, metric, device
    histogram : int64 [bin], of width `bin`
    neighbour_starts, neighbour_indices, neighbour_values : with cutoff, compressed rows: those of
        frame i from starts[i] on up to starts[i + 1]
    best_indices, best_values : [frame, best], nearest first
    """
    frames = as_ensemble(ensemble)
    sets = _sets(frames, fit, measure, weights)
    if against is not None and reference is not None:
        raise UsageError("expected one of against and reference, found both")
    if against is not None:
        return _pleat.rmsd_against(frames.xyz, as_ensemble(against).xyz, sets, options, how)
    if reference is not None:
        structure = _structure(frames, reference, sets, how)
        return _pleat.rmsd_to_reference(frames.xyz, structure, sets, options, how)
    return _pleat.rmsd(frames.xyz, sets, options, how)


def _structure(frames, reference, sets, how):
    if isinstance(reference, str) and reference == "mean":
        return _pleat.mean_structure(frames.xyz, sets, how)
    if isinstance(reference, (int, np.integer)):
        return frames[reference].xyz[0]
    if isinstance(reference, np.ndarray) and reference.ndim == 2:
        return reference
    others = as_ensemble(reference)
    if len(others) != 1:
        raise InputError(f"expected a reference of 1 frame, found {len(others)}")
    return others.xyz[0]


@engine([])
def mean_structure(ensemble, *, fit=None, weights=None, options, how):
    """The mean of the superposed frames, onto which they were superposed: float64 [atom, 3], angstrom.

    ensemble : what pleat.ensemble takes
    fit : atoms to superpose, as text, indices or a mask; None: all
    weights : float64 [atom]
    """
    frames = as_ensemble(ensemble)
    return _pleat.mean_structure(frames.xyz, _sets(frames, fit, None, weights), how)


@engine(_pleat.cluster_fields())
def cluster(items, *, weights=None, precision="mixed", options, how):
    """Groups the frames of an ensemble by their RMSD, or items by a matrix of distances.

    items : distances, condensed as SciPy's or square, float32 or float64 (contiguous without a
        copy); a pleat.Rmsd with such a matrix; or what pleat.ensemble takes, whose pairs are then
        superposed without keeping a matrix
    weights, precision : of frames, as pleat.rmsd takes them

    Returns pleat.Clusters:
    assignment : int32 [item]; 0 is the largest cluster, -1 noise
    clusters : records (size, medoid, mean, radius, silhouette)
    centres : int64 [cluster], None for methods without them
    tree : float64 [item - 1, 4], as SciPy's linkage; sweep, peaks : records; None where there is none
    silhouette, cutoff, least, mean, most, histogram, device
    """
    if isinstance(items, _pleat.Rmsd):
        if items.matrix is None:
            raise InputError("expected an Rmsd with a matrix, found none; take matrix='condensed'")
        _pleat.require_distances(items.metric)
        items = items.matrix
    if not isinstance(items, Ensemble) and isinstance(items, np.ndarray) and items.ndim < 3:
        if weights is not None:
            raise UsageError("expected weights with frames alone, found some with a matrix")
        return _pleat.cluster_matrix(items, options, how)
    frames = as_ensemble(items)
    return _pleat.cluster_frames(frames.xyz, _weights(weights), precision, options, how)


def square(values, diagonal=0.0):
    """Values of all pairs i < j in row order, [n (n - 1) / 2], as a symmetric matrix [n, n]."""
    values = np.asarray(values)
    n = round((1 + (1 + 8 * values.size) ** 0.5) / 2)
    if values.ndim != 1 or n * (n - 1) // 2 != values.size:
        raise InputError(f"expected values of n (n - 1) / 2 pairs, found shape {values.shape}")
    matrix = np.full((n, n), diagonal, dtype=values.dtype)
    upper = np.triu_indices(n, 1)
    matrix[upper] = values
    matrix.T[upper] = values
    return matrix
