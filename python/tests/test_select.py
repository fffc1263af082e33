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
           "contact_rank": "contact_part", "cluster_rank": "cluster_part", "curve_rank": "curve_part", "score_rank": "score_part"}


@pytest.fixture(scope="module")
def trypsin(tmp_path_factory):
    """Eight models of trypsin, contacts of its family, and a curve of the first model."""
    folder = tmp_path_factory.mktemp("trypsin")
    models = subprocess.run([sys.executable, str(DATA / "make_models.py")], cwd=DATA.parent,
                            capture_output=True, text=True, check=True).stdout
    (folder / "models.pdb").write_text(models, encoding="ascii")
    program("couplings", DATA / "trypsin.a2m.gz", "-o", folder / "couplings", "--max-gaps", 0.5, "--tolerance", 0.01)
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


def test_curves_are_read_as_told(tmp_path, trypsin):
    rows = np.loadtxt(trypsin / "curve.dat")
    np.savetxt(tmp_path / "swapped.dat", rows[:, [0, 2, 1]], fmt="%.17g")
    found = pleat.select(trypsin / "models.pdb", data=tmp_path / "swapped.dat", columns="1,3,2", q_min=0.05, device="cpu")
    expected = pleat.select(trypsin / "models.pdb", data=rows[rows[:, 0] >= 0.05], device="cpu")
    np.testing.assert_array_equal(found.scores["chi2"], expected.scores["chi2"])


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


def test_a_score_ranks_as_that_of_the_program(tmp_path, trypsin):
    values = np.array([3.0, 1, 4, 1, 5, 9, np.nan, 6])
    (tmp_path / "energy.tsv").write_text("frame\tenergy\n" + "".join(f"{n}\t{x}\n" for n, x in enumerate(values)))
    options = {"contacts": trypsin / "couplings", "cutoff": 2, "weight_score": 0.5}
    program("select", "--ensemble", trypsin / "models.pdb", "--contacts", trypsin / "couplings", "--cutoff", 2, "-o",
            tmp_path / "run", "--scores", tmp_path / "energy.tsv", "--score", "energy", "--least", "--weight-score", 0.5)
    read = pleat.load(tmp_path / "run")
    frames = pleat.read_ensemble(trypsin / "models.pdb", scores=tmp_path / "energy.tsv")
    for score in ("energy", values):
        found = pleat.select(frames, score=score, least=True, **options)
        np.testing.assert_array_equal(found.scores["position"], read.scores["position"])
        np.testing.assert_allclose(found.scores["score_rank"], read.scores["score_rank"], rtol=1e-5)
    assert found.scores["score_rank"].argmin() == 6 and found.scores["score_rank"].argmax() in (1, 3)
    alone = pleat.select(frames, score=-values, cutoff=2, weight_clusters=0)
    assert (np.argsort(alone.scores["position"]) == np.argsort(np.nan_to_num(values, nan=np.inf), kind="stable")).all()


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
            (pleat.UsageError, "give alignment, contacts, data or score", {}),
            (pleat.InputError, r"one of the ensemble's scores \(none\), found 'ptm'", {"score": "ptm"}),
            (pleat.InputError, r"a number for each of 8 frames, found shape \(3,\)", {"score": [1, 2, 3]}),
            (pleat.UsageError, "not both", {"alignment": ["ACD", "ACE"], "contacts": ("ACD", [(0, 2, 0.5)])}),
            (pleat.InputError, "expected contacts as a path, pleat.Couplings or", {"contacts": 3}),
            (pleat.InputError, "contacts:2: expected two residues from 1 to 3", {"contacts": ("ACD", [(0, 3, 0.5)])}),
            (pleat.InputError, "expected a structure of the family", {"contacts": ("W" * 40, [(0, 30, 0.5)])}),
            (pleat.UsageError, "weight_contacts", {"contacts": trypsin / "couplings", "weight_contacts": -1})):
        with pytest.raises(error, match=text):
            pleat.select(models, **keywords)
    with pytest.raises(pleat.InputError, match="atoms with names"):
        pleat.select(np.zeros((2, 3, 3), np.float32), data=(trypsin / "curve.dat"))
