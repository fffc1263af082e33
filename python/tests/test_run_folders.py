# Run folders: what is saved is loaded again bit by bit, and runs of the program are what Python computes.
import json

import numpy as np
import pleat
import pytest
from helpers import DATA, family, program
from test_results import MADE, assert_same, once

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
        path.name for path in (tmp_path / "run").iterdir()}
    with pytest.raises(pleat.OutputError, match="expected a new or empty folder"):
        made.save(tmp_path / "run")


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
        if name == "clusters":  # the table has fewer digits
            for field in expected.dtype.names:
                np.testing.assert_allclose(value[field], expected[field], rtol=1e-5)
        elif not name.startswith("_") or name == "_is_calibrated":
            assert_same(value, expected, name)
    assert missing == unknown


def test_runs_of_couplings(tmp_path):
    rows = family(columns=24)
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", tmp_path / "family.aln", "-o", tmp_path / "run", "--device", "cpu", "--max-gaps", 0.02,
            "--tolerance", 0.01)
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
        assert_known_same(found, made, {"pair_rows", "entropy", "low_entropy", "weights", "effective_sequences",
                                        "kept_triples", "cliques", "cliques_by_z"})
        assert found.shuffles == made.shuffles == shuffles.get("shuffles", 0)


def test_runs_of_rmsd_and_cluster(tmp_path):
    source = ("--topology", DATA / "hivp.pdb.gz", "--device", "cpu")
    program("rmsd", DATA / "hivp.dcd.gz", "-o", tmp_path / "rmsd", "--cutoff", 1.5, "--nearest", 3, *source)
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
    pairs = pleat.rmsd(frames, cutoff=1.5, nearest=3, device="cpu", select="all")
    assert_known_same(pleat.load(tmp_path / "rmsd"), pairs, set())
    program("cluster", DATA / "hivp.dcd.gz", "-o", tmp_path / "groups", "--method", "average", "--k", "2:6", *source)
    groups = pleat.cluster(frames, method="average", k="2:6", device="cpu")
    assert_known_same(pleat.load(tmp_path / "groups"), groups, {"centres", "sweep", "peaks", "cutoff"})


def test_refusals(tmp_path):
    with pytest.raises(pleat.InputError, match="expected the folder of a finished run, found no manifest.json"):
        pleat.load(tmp_path)
    once("clusters").save(tmp_path / "run")
    manifest = tmp_path / "run/manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"finished"', '"running"'))
    with pytest.raises(pleat.InputError, match="found one that is running"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text.replace('"cluster"', '"refine"'))
    with pytest.raises(pleat.InputError, match="found a run of refine"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text[:100])
    with pytest.raises(pleat.InputError, match="cannot read the run"):
        pleat.load(tmp_path / "run")
    manifest.write_text(text)
    (tmp_path / "run/python.npz").unlink()
    with pytest.raises(pleat.InputError, match="found no python.npz"):
        pleat.load(tmp_path / "run")
