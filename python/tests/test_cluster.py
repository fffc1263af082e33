# Clusters from Python: matrices, frames and results of rmsd give the same; refusals.
import numpy as np
import pleat
import pytest
from helpers import in_process, kabsch, made_ensemble, program


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
    assert repr(peaks) == "<pleat.Clusters: 32 items in 2 clusters>"
    assert repr(pleat.cluster(matrix, method="average", k=1)) == "<pleat.Clusters: 32 items in 1 cluster>"
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


def test_iterated_density_leaves_the_densest_items():
    matrix = pleat.rmsd(two_groups()).matrix
    found = pleat.cluster(matrix, method="iterated-density", keep=5, drop=0.5)
    assert (found.assignment == 0).sum() == 5 and (found.assignment == -1).sum() == 27
    assert (found.rounds["round"] == 0).tolist() == (found.assignment == 0).tolist()
    assert found.rounds["round"].max() == 3 and found.peaks is None
    with pytest.raises(pleat.UsageError, match="give keep"):
        pleat.cluster(matrix, method="iterated-density")


def centres_by_numpy(xyz, k, cutoff=0.0):
    """Gonzalez's centres in float64; (assignment, centres) before clusters are numbered by size."""
    centres, nearest, assignment = [], np.full(len(xyz), np.inf), np.zeros(len(xyz), int)
    while len(centres) < k and nearest.max() >= cutoff:
        centre = 0 if not centres else int(nearest.argmax())
        row = np.array([kabsch(frame, xyz[centre]) for frame in xyz])
        row[centre] = 0
        assignment[row < nearest] = len(centres)
        nearest = np.minimum(nearest, row)
        centres.append(centre)
    return assignment, centres, nearest


def by_size(assignment, centres):
    order = sorted(range(len(centres)), key=lambda c: (-(assignment == c).sum(), np.flatnonzero(assignment == c)[0]))
    return [order.index(c) for c in assignment], [centres[c] for c in order]


@pytest.mark.parametrize("options", [{"k": 1}, {"k": 9}, {"cutoff": 2.2}, {"cutoff": 50.0}, {"k": 48}])
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_centres_are_those_of_float64(options, device):
    xyz = np.concatenate([made_ensemble(15, 8, 1), made_ensemble(20, 8, 2), made_ensemble(13, 8, 3)])
    assignment, centres, nearest = centres_by_numpy(xyz, options.get("k", len(xyz)), options.get("cutoff", 0.0))
    found = pleat.cluster(xyz, method="kcenters", device=device, **options)
    assert (found.assignment.tolist(), found.centres.tolist()) == by_size(assignment, centres)
    assert found.clusters["medoid"].tolist() == found.centres.tolist()
    assert (0 if found.histogram is None else found.histogram.sum()) == len(xyz) - len(centres)
    assert found.clusters["radius"].max() == pytest.approx(nearest.max(), abs=1e-5)
    if "cutoff" in options:
        assert nearest.max() < options["cutoff"] and found.cutoff == options["cutoff"]


def test_centres_find_known_states_and_sweeps_better_medoids():
    states = np.random.default_rng(7).integers(0, 5, 400)
    groups = [iter(made_ensemble(400, 12, seed)) for seed in range(5)]
    xyz = np.array([next(groups[state]) for state in states])
    found = pleat.cluster(xyz, method="kcenters", k=5)
    assert len(set(zip(found.assignment, states))) == 5
    better = pleat.cluster(xyz, method="kcenters", k=5, medoid_sweeps=5)
    assert len(set(zip(better.assignment, states))) == 5
    totals = [(one.clusters["mean"] * (one.clusters["size"] - 1)).sum() for one in (found, better)]
    assert totals[1] < totals[0] and better.histogram.sum() == 395


def test_centres_of_identical_frames():
    xyz = np.repeat(made_ensemble(1, 6), 7, axis=0)
    assert len(pleat.cluster(xyz, method="kcenters", cutoff=0.001).clusters) == 1
    found = pleat.cluster(xyz, method="kcenters", k=3)
    assert found.centres.tolist() == [0, 1, 2] and found.clusters["radius"].max() < 1e-3


def states(text):
    """Distances of items that are in states of these numbers."""
    found = np.array([int(state) for state in text], dtype=np.float64)
    return np.abs(found[:, np.newaxis] - found)


def test_transitions_and_dwell_times():
    result = pleat.cluster(states("000110020001110000220"), cutoff=0.5)
    assert result.series is None
    steps = result.transitions()
    assert steps[["from", "to", "count", "from_count"]].tolist()[:3] == [(0, 0, 8, 12), (0, 1, 2, 12), (0, 2, 2, 12)]
    np.testing.assert_allclose(steps["probability"], steps["count"] / steps["from_count"])
    assert result.transitions(lag=20)["count"].tolist() == [1] and len(result.transitions(lag=21)) == 0
    first = result.dwell_times(timestep=2.0)[0]
    assert [first[name] for name in ("visits", "mean", "median", "longest", "cut", "longest_cut")] == [3, 6, 6, 8, 2, 6]
    assert result.dwells()[0].tolist() == (0, 1, 0, 1)
    never_whole = pleat.cluster(states("0001111"), cutoff=0.5).dwell_times()
    assert never_whole[["visits", "cut", "longest_cut"]].tolist() == [(0, 1, 4), (0, 1, 3)]
    assert all(np.isnan(never_whole[name]).all() for name in ("mean", "median", "longest"))
    assert np.isnan(pleat.cluster(states("0100"), cutoff=0.5).dwell_times()["longest_cut"]).tolist() == [False, True]
    with pytest.raises(pleat.UsageError, match="lag: expected at least 1, found 0"):
        result.transitions(lag=0)
    with pytest.raises(TypeError, match="lag: expected a whole number, found 2.5"):
        result.transitions(lag=2.5)
    for timestep in (0, -1, float("nan"), "2"):
        with pytest.raises(pleat.UsageError, match="timestep: expected a number above 0, found"):
            result.dwell_times(timestep=timestep)


def test_series_are_the_files_of_frames(tmp_path):
    np.save(tmp_path / "a.npy", two_groups())
    np.save(tmp_path / "b.npy", two_groups())
    frames = pleat.ensemble([tmp_path / "a.npy", tmp_path / "b.npy"])
    for chosen, lengths in ((frames, [32, 32]), (frames[::5], [7, 6]), (frames[np.r_[0:5, 7:20]], [5, 13])):
        result = pleat.cluster(chosen, cutoff=3.5)
        assert result.series.tolist() == pleat.cluster(pleat.rmsd(chosen), cutoff=3.5).series.tolist() == lengths
        assert result.transitions()["count"].sum() == sum(lengths) - 2
    result.save(tmp_path / "run")
    again = pleat.load(tmp_path / "run")
    assert again.series.tolist() == [5, 13]
    for name in result.dwell_times().dtype.names:
        np.testing.assert_array_equal(again.dwell_times()[name], result.dwell_times()[name])


def test_assign_gives_frames_to_medoids(tmp_path):
    xyz = two_groups()
    found = pleat.cluster(xyz, cutoff=3.5)
    medoids = xyz[found.clusters["medoid"]]
    again = pleat.cluster(xyz, assign=medoids)
    np.testing.assert_array_equal(again.assignment, found.assignment)
    assert again.method == "assign" and again.cutoff is None and again.clusters["medoid"].tolist() == found.clusters["medoid"].tolist()
    distances = pleat.rmsd(xyz, against=medoids, precision="float64").matrix
    np.testing.assert_array_equal(again.nearest, np.argsort(distances, axis=1, kind="stable"))
    np.testing.assert_allclose(again.distances, np.sort(distances, axis=1), atol=2e-6)
    some = pleat.cluster(xyz, assign=medoids[:1], cutoff=3.5, threads=1)
    assert some.nearest.shape == (32, 1) and some.assignment.tolist() == [-1] * 12 + [0] * 20
    pleat.cluster(xyz[12:], assign=medoids).save(tmp_path / "empty")
    empty = pleat.load(tmp_path / "empty").clusters[1]
    assert empty["size"] == 0 and empty["medoid"] == -1 and np.isnan(empty["mean"]) and np.isnan(empty["radius"])
    pleat.cluster(xyz, assign=medoids[:1], cutoff=3.5).save(tmp_path / "run")
    np.testing.assert_array_equal(pleat.load(tmp_path / "run").distances, some.distances)
    assert found.nearest is None
    with pytest.raises(pleat.UsageError, match="leave method out: with assign the clusters are given"):
        pleat.cluster(xyz, assign=medoids, method="average")
    with pytest.raises(pleat.InputError, match="expected 10 atoms as the frames have, found 9"):
        pleat.cluster(xyz, assign=medoids[:, :9])


def test_assign_takes_finished_runs(tmp_path):
    np.save(tmp_path / "frames.npy", two_groups())
    for name, *options in (("first", "--cutoff", "3.5"), ("second", "--assign", tmp_path / "first")):
        program("cluster", tmp_path / "frames.npy", *options, "-o", tmp_path / name)
    first, second = (pleat.load(tmp_path / name) for name in ("first", "second"))
    found = pleat.cluster(tmp_path / "frames.npy", assign=tmp_path / "first")
    np.testing.assert_array_equal(found.assignment, first.assignment)
    np.testing.assert_array_equal(second.assignment, first.assignment)
    np.testing.assert_array_equal(second.nearest, found.nearest)
    np.testing.assert_allclose(second.distances, found.distances, rtol=1e-5)
    assert second.method == "assign" and second.series.tolist() == [32]
