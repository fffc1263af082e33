# Run folders: what is saved is loaded again bit by bit, and runs of the program are what Python computes.
import json

import numpy as np
import pleat
import pytest
from helpers import DATA, family, program
from test_results import LETTERS, MADE, assert_same, once

SAVED = [name for name in MADE if name not in ("alignment", "rna", "topology", "unnamed topology", "ensemble", "profile",
                                               "smeared profile", "fit", "weights", "scatterers", "model")]
pytestmark = pytest.mark.filterwarnings("ignore:only .* effective sequences")


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_is_loaded(tmp_path, name):
    made = once(name)
    made.save(tmp_path / "run")
    found = pleat.load(tmp_path / "run")
    assert_same(found, made)
    assert repr(found) == repr(made)
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert {one["file"] for one in manifest["outputs"]} | {"manifest.json"} == {
        path.name for path in (tmp_path / "run").iterdir() if path.is_file()}
    with pytest.raises(pleat.OutputError, match="expected a new or empty folder"):
        made.save(tmp_path / "run")


def assert_near(value, expected, what):
    """The same as far as the digits of tables go; what they lack is not compared."""
    if isinstance(expected, pleat.Ensemble):
        np.testing.assert_array_equal(value.xyz, expected.xyz)
        assert value.topology.names == expected.topology.names
    elif type(expected).__module__.startswith("pleat") and not isinstance(expected, pleat.Profile):
        for name in expected._attributes():
            if hasattr(value, name):
                assert_near(getattr(value, name), getattr(expected, name), f"{what}.{name}")
    elif isinstance(expected, pleat.Profile):
        np.testing.assert_allclose(np.asarray(value), np.asarray(expected), rtol=1e-6, err_msg=what)
    elif isinstance(expected, np.ndarray) and expected.dtype.names:
        assert set(value.dtype.names) == set(expected.dtype.names)
        for name in expected.dtype.names:
            np.testing.assert_allclose(value[name], expected[name], rtol=1e-4, atol=1e-6, err_msg=f"{what}.{name}")
    elif isinstance(expected, np.ndarray):
        assert value.dtype.kind == expected.dtype.kind and value.shape == expected.shape, what
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=6e-5, err_msg=what)
    elif isinstance(expected, (list, tuple)):
        assert len(value) == len(expected), what
        for n, (one, other) in enumerate(zip(value, expected)):
            assert_near(one, other, f"{what}[{n}]")
    elif isinstance(expected, dict):
        assert list(value) == list(expected), what
        for name in expected:
            assert_near(value[name], expected[name], f"{what}[{name}]")
    elif isinstance(expected, float):
        assert value == pytest.approx(expected, rel=1e-5, nan_ok=True), what
    elif "files[" in what:  # frames in memory have no file
        assert expected == "array" or value == expected, what
    else:
        assert value == expected, what


# Arrays that are compared bit by bit are those that the program writes as arrays.
def assert_known_same(found, made, unknown):
    """All attributes but those in `unknown`, which the run does not hold."""
    missing = set()
    for name in made._attributes():
        try:
            value = getattr(found, name)
        except AttributeError as error:
            assert f"{name} is not known" in str(error)
            missing.add(name)
            continue
        expected = getattr(made, name)
        if not name.startswith("_") or name == "_is_calibrated":
            assert_near(value, expected, name)
    assert missing == unknown


def test_runs_of_couplings(tmp_path):
    rows = family(columns=24)
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", tmp_path / "family.aln", "-o", tmp_path / "run", "--device", "cpu", "--max-gaps", 0.02,
            "--tolerance", 0.01, "--models", "npz")
    made = pleat.couplings(rows, device="cpu", max_gaps=0.02, tolerance=0.01)
    assert len(made.columns) < 24
    found = pleat.load(tmp_path / "run")
    assert_known_same(found, made, {"warning"})
    assert_same(found.contacts(), made.contacts())


def test_runs_of_mutual_information(tmp_path):
    rows = family(60, columns=12)
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    for run, shuffles in (("exact", {}), ("both", {"shuffles": 20})):
        program("mi", tmp_path / "family.aln", "-o", tmp_path / run, "--device", "cpu", "--order", 3,
                "--max-gaps", 0.02, *(word for name, number in shuffles.items() for word in (f"--{name}", number)))
        found = pleat.load(tmp_path / run)
        made = pleat.mutual_information(rows, device="cpu", order=3, max_gaps=0.02, **shuffles)
        assert_known_same(found, made, set())
        assert found.shuffles == made.shuffles == shuffles.get("shuffles", 0)
        for name in ("pairs", "triples"):
            table, expected = getattr(found, f"_{name}_table")(), getattr(made, f"_{name}_table")()
            assert list(table) == list(expected)


def test_runs_of_mutual_information_by_other_counts(tmp_path):
    rows = family(60, columns=12)
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    for run, options, unknown in (("omit", {"gaps": "omit"}, set()), ("weighted", {"sequence_weights": True}, {"weights"})):
        flags = ["--gaps", "omit"] if "gaps" in options else ["--sequence-weights"]
        program("mi", tmp_path / "family.aln", "-o", tmp_path / run, "--null", "none", *flags)
        found = pleat.load(tmp_path / run)
        made = pleat.mutual_information(rows, null="none", **options)
        assert_known_same(found, made, unknown)
        assert list(found._pairs_table()) == list(made._pairs_table())
        assert ("pair_rows" in found._pairs_table()) == (run == "omit")


def test_runs_of_rmsd_and_cluster(tmp_path):
    source = ("--topology", DATA / "hivp.pdb.gz", "--device", "cpu")
    program("rmsd", DATA / "hivp.dcd.gz", "-o", tmp_path / "rmsd", "--cutoff", 1.5, "--nearest", 3, *source)
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
    pairs = pleat.rmsd(frames, cutoff=1.5, nearest=3, device="cpu", select="all")
    assert_known_same(pleat.load(tmp_path / "rmsd"), pairs, set())
    program("cluster", DATA / "hivp.dcd.gz", "-o", tmp_path / "groups", "--method", "average", "--k", "2:6", *source)
    groups = pleat.cluster(frames, method="average", k="2:6", device="cpu")
    assert_known_same(pleat.load(tmp_path / "groups"), groups, set())
    program("rmsd", DATA / "hivp.dcd.gz", "-o", tmp_path / "reference", "--reference", 0, "--metric", "drmsd", *source)
    moved = pleat.rmsd(frames, reference=0, metric="drmsd", device="cpu", select="all")
    assert_known_same(pleat.load(tmp_path / "reference"), moved, set())
    program("rmsd", DATA / "hivp.dcd.gz", "-o", tmp_path / "drmsd", "--metric", "drmsd", "--cutoff", 1.2, "--nearest",
            2, *source)
    pairs = pleat.rmsd(frames, metric="drmsd", cutoff=1.2, nearest=2, device="cpu", select="all")
    assert pairs.neighbour_values.size
    assert_known_same(pleat.load(tmp_path / "drmsd"), pairs, set())
    program("cluster", DATA / "hivp.dcd.gz", "-o", tmp_path / "peaks", "--method", "density-peaks", "--cutoff", 1.5,
            "--k", 3, *source)
    peaks = pleat.cluster(frames, method="density-peaks", cutoff=1.5, k=3, device="cpu")
    assert_known_same(pleat.load(tmp_path / "peaks"), peaks, {"cutoff"} if peaks.cutoff is None else set())
    program("cluster", DATA / "hivp.dcd.gz", "-o", tmp_path / "rounds", "--method", "iterated-density", "--keep", 9,
            *source)
    rounds = pleat.cluster(frames, method="iterated-density", keep=9, device="cpu")
    assert_known_same(pleat.load(tmp_path / "rounds"), rounds, set())


def test_runs_of_saxs(tmp_path):
    program("saxs", DATA / "1hel.pdb.gz", "--data", DATA / "1hel_made.dat.gz", "-o", tmp_path / "one", "--device", "cpu")
    made = pleat.saxs(DATA / "1hel.pdb.gz", data=DATA / "1hel_made.dat.gz", device="cpu")
    assert_known_same(pleat.load(tmp_path / "one"), made, {"notes", "warnings"})
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames="::30")
    curve = once("saxs of an ensemble").curve
    np.savetxt(tmp_path / "curve.dat", np.asarray(curve), fmt="%.17g")
    source = (DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--frames", "::30", "--models-are", "states")
    program("saxs", *source, "--data", tmp_path / "curve.dat", "-o", tmp_path / "many", "--device", "cpu")
    made = pleat.saxs(frames, data=tmp_path / "curve.dat", models_are="states", device="cpu")
    found = pleat.load(tmp_path / "many")
    assert_known_same(found, made, {"notes", "warnings"})
    assert found.intensity.shape == (4, len(found.q)) and len(found.reweighted) == len(made.reweighted)
    program("saxs", DATA / "1hel.pdb.gz", "-o", tmp_path / "bare", "--device", "cpu")
    assert_known_same(pleat.load(tmp_path / "bare"), pleat.saxs(DATA / "1hel.pdb.gz", device="cpu"),
                      {"notes", "warnings"})


def test_runs_of_refine(tmp_path):
    made = once("refinement")
    curve = made.saxs.curve
    np.savetxt(tmp_path / "curve.dat", np.asarray(curve), fmt="%.17g")
    program("refine", DATA / "1a8o.pdb.gz", "--linkers", "A:174-179", "--data", tmp_path / "curve.dat", "--mode", "fit",
            "--frames", 64, "--chains", 4, "--moves", 2, "--doublings", 0, "--no-reweight", "-o", tmp_path / "run")
    found = pleat.load(tmp_path / "run")
    assert_known_same(found, made, {"notes"})
    assert found.powers[-1] == 1 and found.misfit["remark"]


def test_a_refinement_of_too_few_frames_to_judge(tmp_path):
    program("refine", DATA / "1a8o.pdb.gz", "--linkers", "A:174-179", "--frames", 8, "--chains", 4, "--moves", 2, "-o",
            tmp_path / "run")
    found = pleat.load(tmp_path / "run")
    with pytest.warns(UserWarning, match="8 frames of 4 chains are too few to compare the chains"):
        made = pleat.refine(DATA / "1a8o.pdb.gz", linkers="A:174-179", frames=8, chains=4, moves=2)
    assert found.convergence == made.convergence and found.convergence["rg"]["r_hat"] == np.inf
    assert found.warning == made.warning


def test_match_points_of_neutrons(tmp_path):
    options = {"neutrons": True, "d2o": 0.42, "c1": 1, "c2": 0, "q_points": 11}
    program("saxs", DATA / "1hel.pdb.gz", "--neutrons", "--d2o", 0.42, "--c1", 1, "--c2", 0, "--q-points", 11, "-o",
            tmp_path / "run")
    made, = pleat.saxs(DATA / "1hel.pdb.gz", **options).match_points
    found, = pleat.load(tmp_path / "run").match_points
    assert found.pop("name") == made.pop("name")
    assert found == {name: pytest.approx(value, rel=1e-5) for name, value in made.items()}


def test_runs_of_select(tmp_path):
    made = once("selection")
    rows = "".join(f"{i + 1} {j + 1} {p}\n" for i, j, p in zip(*(made.contacts[name] for name in ("i", "j", "strength"))))
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames="0")
    sequence = "".join(LETTERS[name] for name in frames.topology.residue_names[:99])
    (tmp_path / "contacts.rr").write_text(f"{sequence}\n{rows}END\n", encoding="ascii")
    program("select", "--ensemble", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--frames", "::6",
            "--contacts", tmp_path / "contacts.rr", "--cutoff", 1.5, "--min-size", 1, "-o", tmp_path / "run")
    assert_known_same(pleat.load(tmp_path / "run"), made, {"formed"})


def test_tables_that_lack_a_column(tmp_path):
    once("selection").save(tmp_path / "run")
    for path in (tmp_path / "run").glob("*.npz"):
        path.unlink()
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(manifest.read_text().replace('"saved_from": "Python",', ""))
    found = pleat.load(tmp_path / "run")
    np.testing.assert_allclose(found.clusters["joint"], once("selection").clusters["joint"], atol=1e-5)
    clusters = tmp_path / "run/clusters.tsv"
    clusters.write_text(clusters.read_text().replace("\tdensity", "\tother"))
    with pytest.raises(pleat.InputError, match="clusters.tsv: expected a column 'density', found none; is the run"):
        pleat.load(tmp_path / "run")


def test_refusals(tmp_path):
    with pytest.raises(pleat.InputError, match="expected the folder of a finished run, found no manifest.json"):
        pleat.load(tmp_path)
    once("clusters").save(tmp_path / "run")
    manifest = tmp_path / "run/manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"finished"', '"running"'))
    with pytest.raises(pleat.InputError, match="found one that is running"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text.replace('"command": "cluster"', '"command": "report"'))
    with pytest.raises(pleat.InputError, match="found a run of report"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text[:100])
    with pytest.raises(pleat.InputError, match="cannot read the run"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text)
    (tmp_path / "run/python.npz").unlink()
    with pytest.raises(pleat.InputError, match="found no python.npz"):
        pleat.load(tmp_path / "run")
