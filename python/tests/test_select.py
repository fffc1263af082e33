# Selection from Python: the numbers of the program on data/, each kind of evidence, refusals.
import json
import subprocess
import sys

import numpy as np
import pleat
import pytest
from helpers import DATA, program

COLUMNS = {"position": "place", "cluster": "cluster", "joint": "joined", "contacts": "contacts",
           "unexplained": "left", "density": "density", "chi2": "chi2", "rmsd": "rmsd",
           "contact_rank": "contact_part", "cluster_rank": "cluster_part", "curve_rank": "curve_part"}


@pytest.fixture(scope="module")
def trypsin(tmp_path_factory):
    """Eight models of trypsin, contacts of its family, and a curve of the first model."""
    folder = tmp_path_factory.mktemp("trypsin")
    models = subprocess.run([sys.executable, str(DATA / "make_models.py")], cwd=DATA.parent,
                            capture_output=True, text=True, check=True).stdout
    (folder / "models.pdb").write_text(models, encoding="ascii")
    program("couplings", DATA / "trypsin.a2m.gz", "-o", folder / "couplings", "--max-gaps", 0.5,
            "--no-models", "--tolerance", 0.01)
    profile = pleat.saxs(pleat.read_ensemble(folder / "models.pdb", frames="0"), c2=0)
    chosen = profile.q > 0.02
    np.savetxt(folder / "curve.dat", np.transpose(
        [profile.q[chosen], profile.mean[chosen], 0.02 * profile.mean[chosen]]))
    return folder


def table(path):
    """{column: values} of a table, NaN where it says NA."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: [row[n] for row in rows[1:]] for n, name in enumerate(rows[0])}


@pytest.mark.parametrize("has_curve", [False, True])
def test_the_program_finds_the_same(tmp_path, trypsin, has_curve):
    options = ("--data", trypsin / "curve.dat") if has_curve else ()
    program("select", "--ensemble", trypsin / "models.pdb", "--contacts", trypsin / "couplings", "--cutoff",
            2, "-o", tmp_path / "run", "--device", "cpu", *options)
    found = pleat.select(trypsin / "models.pdb", contacts=trypsin / "couplings", cutoff=2, device="cpu",
                         data=trypsin / "curve.dat" if has_curve else None)
    scores = table(tmp_path / "run" / "scores.tsv")
    order = np.array(scores["frame"], dtype=int)
    for name, column in COLUMNS.items():
        values = np.array([float(text) if text != "NA" else np.nan for text in scores[column]])
        np.testing.assert_allclose(found.scores[name][order], values, rtol=1e-5, atol=1e-9, err_msg=name)
    clusters = table(tmp_path / "run" / "clusters.tsv")
    assert found.clusters["cluster"].tolist() == [int(text) for text in clusters["cluster"]]
    assert [found.medoids[c] for c in found.clusters["cluster"]] == [int(m) for m in clusters["medoid"]]
    np.testing.assert_allclose(found.clusters["joint"], np.array(clusters["joined"], dtype=float), rtol=1e-5)
    explained = table(tmp_path / "run" / "explained.tsv")
    assert (found.contacts["i"] + 1).tolist() == [int(text) for text in explained["i"]]
    assert [b for _, b in found.residues] == explained["residue_j"]
    np.testing.assert_allclose(found.formed.mean(axis=0), np.array(explained["all"], dtype=float), atol=1e-4)
    results = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["results"]
    assert found.cutoff == 2 and found.identity == pytest.approx(results["identity"], rel=1e-6)


def test_contacts_may_be_given_as_numbers(trypsin):
    lines = (trypsin / "couplings" / "contacts.rr").read_text(encoding="ascii").splitlines()
    start = lines.index("MODEL 1") + 1
    sequence = "".join(line for line in lines[start:] if line.isalpha() and line != "END")
    pairs = [line.split() for line in lines if line[:1].isdigit()]
    pairs = [(int(i) - 1, int(j) - 1, float(p)) for i, j, _, _, p in pairs]
    frames = pleat.read_ensemble(trypsin / "models.pdb")
    named = pleat.select(frames, contacts=trypsin / "couplings", cutoff=2)
    given = pleat.select(frames, contacts=(sequence, pairs), cutoff=2, structure=trypsin / "models.pdb")
    np.testing.assert_array_equal(given.contacts, named.contacts)
    for name in named.scores.dtype.names:
        np.testing.assert_array_equal(given.scores[name], named.scores[name], err_msg=name)


def test_contacts_may_be_a_result(trypsin):
    fitted = pleat.load(trypsin / "couplings")
    frames = pleat.read_ensemble(trypsin / "models.pdb")
    named = pleat.select(frames, contacts=trypsin / "couplings", cutoff=2)
    given = pleat.select(frames, contacts=fitted, cutoff=2, structure=trypsin / "models.pdb")
    count = len(given.contacts)  # fewer, as they are per residue, and of residues in columns that were kept
    assert 150 < count < len(named.contacts) and given.residues[:100] == named.residues[:100]
    np.testing.assert_allclose(given.contacts["strength"], named.contacts["strength"][:count], atol=1e-3)


def test_couplings_are_fitted_to_an_alignment(trypsin):
    # A piece of the sequence with random changes in each row is a family without couplings.
    rng = np.random.default_rng(5)
    lines = (trypsin / "couplings" / "contacts.rr").read_text(encoding="ascii").splitlines()
    start = lines.index("MODEL 1") + 1
    sequence = "".join(line for line in lines[start:] if line.isalpha() and line != "END")[:60]
    rows = [sequence] + ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY")) if rng.random() < 0.4 else letter
                                 for letter in sequence) for _ in range(60)]
    found = pleat.select(trypsin / "models.pdb", alignment=rows, cutoff=2, contacts_per_residue=0.5)
    assert len(found.contacts) <= 30 and found.contacts["j"].max() < 60
    assert np.isnan(found.scores["chi2"]).all() and np.isfinite(found.scores["contact_rank"]).all()


def test_refusals(trypsin):
    models = trypsin / "models.pdb"
    for error, text, keywords in (
            (pleat.UsageError, "give alignment, contacts or data", {}),
            (pleat.UsageError, "not both", {"alignment": ["ACD", "ACE"], "contacts": ("ACD", [(0, 2, 0.5)])}),
            (pleat.InputError, "expected contacts as a path, pleat.Couplings or", {"contacts": 3}),
            (pleat.InputError, "contacts:2: expected two residues from 1 to 3", {"contacts": ("ACD", [(0, 3, 0.5)])}),
            (pleat.InputError, "expected a structure of the family", {"contacts": ("W" * 40, [(0, 30, 0.5)])}),
            (pleat.UsageError, "weight_contacts", {"contacts": trypsin / "couplings", "weight_contacts": -1})):
        with pytest.raises(error, match=text):
            pleat.select(models, **keywords)
    with pytest.raises(pleat.InputError, match="atoms with names"):
        pleat.select(np.zeros((2, 3, 3), np.float32), data=(trypsin / "curve.dat"))
