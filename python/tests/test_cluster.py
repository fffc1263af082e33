# Clusters from Python: matrices, frames and results of rmsd give the same; refusals.
import numpy as np
import pleat
import pytest
from helpers import in_process, made_ensemble


def two_groups():
    return np.concatenate([made_ensemble(12, 10, 1), made_ensemble(20, 10, 2)])


def test_sources_agree():
    xyz = two_groups()
    result = pleat.rmsd(xyz)
    expected = pleat.cluster(result, cutoff=3.5)
    assert [c["size"] for c in expected.clusters] == [20, 12]
    assert expected.assignment.tolist() == [1] * 12 + [0] * 20 and expected.cutoff == 3.5
    full = pleat.rmsd(xyz, matrix="full").matrix
    for source in (result.matrix, full, full.astype(np.float64), full.copy("F"), xyz,
                   pleat.ensemble(xyz)):
        found = pleat.cluster(source, cutoff="3.5")
        np.testing.assert_array_equal(found.assignment, expected.assignment)
        np.testing.assert_array_equal(found.clusters["medoid"], expected.clusters["medoid"])


def test_trees_and_sweeps():
    matrix = pleat.rmsd(two_groups()).matrix
    tree = pleat.cluster(matrix, method="average", k="2:4")
    assert tree.tree.shape == (31, 4) and tree.tree[-1, 3] == 32
    assert tree.sweep["value"].tolist() == [2, 3, 4] and len(tree.clusters) == 2
    assert tree.silhouette == pytest.approx(tree.sweep["silhouette"].max())
    peaks = pleat.cluster(matrix, method="density-peaks", cutoff=3.5, k=2)
    assert len(peaks.peaks) == 32 and peaks.tree is None
    linked = pleat.cluster(matrix, method="jarvis-patrick", nearest=11, common=4)
    assert [c["size"] for c in linked.clusters] == [20, 12] and linked.cutoff is None


@pytest.mark.parametrize("metric", ["tm", "gdt_ts", "lddt"])
@pytest.mark.parametrize("matrix", ["condensed", "full"])
def test_scores_are_no_distances(metric, matrix):
    scores = pleat.rmsd(two_groups(), metric=metric, matrix=matrix)
    assert scores.metric == metric
    with pytest.raises(pleat.InputError, match=rf"a run of distances, found one of scores \({metric}\)"):
        pleat.cluster(scores, cutoff=0.5)
    assert len(pleat.cluster(pleat.rmsd(two_groups(), metric="drmsd"), cutoff=3.5).clusters) == 2


def test_the_device_is_the_librarys_choice():
    with pytest.raises(pleat.DeviceError, match="cuda:77"):
        pleat.cluster(two_groups(), cutoff=3.5, device="cuda:77")
    assert pleat.cluster(two_groups(), cutoff=3.5, device="reference").device == "reference"


def test_a_large_matrix_is_not_copied():
    items = 5000
    risen = in_process(
        "import numpy as np, pleat, resource\n"
        f"d = np.ones(({items}, {items}), np.float32); np.fill_diagonal(d, 0)\n"
        "pleat.cluster(d[:3, :3].copy(), cutoff=0.5)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert len(pleat.cluster(d, cutoff=2).clusters) == 1\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n")
    # The library keeps half of it, the condensed pairs, for its further passes.
    assert int(risen) * 1024 < 0.8 * 4 * items * items


@pytest.mark.parametrize("items, options, kind, text", [
    (np.ones(4), {"cutoff": 1}, pleat.InputError, r"matrix: expected M \(M - 1\) / 2"),
    (np.array([1.0, -1, 1]), {"cutoff": 1}, pleat.InputError, "element 1: expected a distance >= 0"),
    (np.ones((2, 2)), {"cutoff": 1}, pleat.InputError, "expected 0 in the diagonal"),
    (np.ones((0, 5, 3)), {"cutoff": 1}, pleat.InputError, "at least 1 frame and 1 atom, found 0 and 5"),
    (np.ones((5, 0, 3)), {"cutoff": 1}, pleat.InputError, "at least 1 frame and 1 atom, found 5 and 0"),
    (np.ones(3), {}, pleat.UsageError, "method='gromos': give cutoff"),
    (np.ones(3), {"cutoff": 1, "atom_weights": [1]}, pleat.UsageError, "leave select and atom_weights out"),
    (made_ensemble(3, 3), {"cutoff": 1, "precision": "half"}, pleat.UsageError, "half"),
])
def test_refusals(items, options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.cluster(items, **options)
    with pytest.raises(pleat.InputError, match="found none"):
        pleat.cluster(pleat.rmsd(made_ensemble(3, 3), matrix="none"), cutoff=1)


def test_pairs_near_the_cutoff_are_recomputed_from_the_frames():
    """A cutoff that is the value of a pair: float64 decides, as for frames and as in the program."""
    xyz = np.random.default_rng(3).normal(0, 1, (60, 9, 3)).astype(np.float32)
    pairs = pleat.rmsd(xyz, device="cpu")
    truth = pleat.rmsd(xyz, device="reference").matrix
    differs = 0
    for value in truth[::97]:
        for cutoff in (value, np.nextafter(value, np.float32(9))):
            options = {"method": "dbscan", "cutoff": float(cutoff), "min_neighbours": 2, "device": "cpu"}
            of_pairs = pleat.cluster(pairs, **options)
            np.testing.assert_array_equal(of_pairs.assignment, pleat.cluster(xyz, **options).assignment)
            np.testing.assert_array_equal(of_pairs.assignment, pleat.cluster(truth, **options).assignment)
            differs += (pairs.matrix < cutoff).sum() != (truth < cutoff).sum()
    assert differs > 0, "the matrix itself decides all pairs"


def test_earlier_names():
    xyz = np.random.default_rng(4).normal(0, 1, (30, 9, 3)).astype(np.float32)
    weights = np.arange(1.0, 10.0)
    new = pleat.cluster(xyz, method="gromos", cutoff=1.5, bin_width=0.1, atom_weights=weights)
    old = pleat.cluster(xyz, method="daura", cutoff=1.5, bin=0.1, weights=weights)
    np.testing.assert_array_equal(new.assignment, old.assignment)
    np.testing.assert_array_equal(new.histogram, old.histogram)
    assert (new.least, new.most) == (new.min, new.max)
    pairs, same = pleat.rmsd(xyz, nearest=2, atom_weights=weights), pleat.rmsd(xyz, best=2, weights=weights)
    np.testing.assert_array_equal(pairs.best_indices, same.best_indices)
    assert (pairs.least, pairs.most) == (pairs.min, pairs.max)
    with pytest.raises(pleat.UsageError, match="not both"):
        pleat.rmsd(xyz, atom_weights=weights, weights=weights)
