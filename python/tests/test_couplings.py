# Couplings from Python: the program's bits, arrays of the right shapes, refusals.
import importlib.util
import sys
import types

import numpy as np
import pleat
import pytest
from helpers import family, program


@pytest.fixture(autouse=True)
def pandas(monkeypatch):
    """Arrays by column stand for a DataFrame where pandas is not installed."""
    if importlib.util.find_spec("pandas") is None:
        frame = types.SimpleNamespace(DataFrame=lambda columns: {n: np.asarray(v) for n, v in columns.items()})
        monkeypatch.setitem(sys.modules, "pandas", frame)


def test_the_program_finds_the_same_bits(tmp_path):
    rows = family()
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", tmp_path / "family.aln", "-o", tmp_path / "run", "--device", "cpu")
    fitted = pleat.couplings(rows, device="cpu")
    scores = np.load(tmp_path / "run" / "scores.npz")
    np.testing.assert_array_equal(fitted.scores, scores["corrected"])
    np.testing.assert_array_equal(fitted.raw_scores, scores["raw"])
    np.testing.assert_array_equal(fitted.weights, np.load(tmp_path / "run" / "weights.npy"))
    assert fitted.stop_reason == "converged" and fitted.relative_gap <= 1e-4
    assert fitted.effective_sequences == pytest.approx(fitted.weights.sum())


def test_shapes_and_contacts():
    fitted = pleat.couplings(family(columns=20), max_iterations=5, threads=1)
    assert fitted.fields.shape == (20, 21) and fitted.pairs.shape == (190, 21, 21)
    assert fitted.fields.dtype == fitted.pairs.dtype == np.float32
    assert fitted.iterations <= 5
    contacts = fitted.contacts(min_separation=8)
    assert len(contacts) == 12 * 13 // 2
    assert (np.diff(contacts["corrected"]) <= 0).all()
    assert (contacts["j"] - contacts["i"] >= 8).all()
    best = contacts[0]
    assert best["corrected"] == fitted.scores[best["i"], best["j"]]
    light = pleat.couplings(family(columns=20), max_iterations=5, models=False)
    assert light.fields is None and light.pairs is None


def test_nucleic_acids_have_classes(tmp_path):
    rows, marks = hairpins(), "((((((........))))))"
    fitted = pleat.couplings(rows, secondary=marks, models=False, device="cpu")
    assert fitted.base_pairs.tolist() == [[k, 19 - k] for k in range(6)]
    frame = fitted.to_dataframe()
    assert set(frame["class"]) == {"helix", "beside", "tertiary"}
    assert (frame["probability"][frame["class"] == "tertiary"] <= 0.8).all()
    (tmp_path / "rna.fasta").write_text("".join(f">{n}\n{row}\n" for n, row in enumerate(rows)), encoding="ascii")
    (tmp_path / "rna.db").write_text(marks + "\n", encoding="ascii")
    program("couplings", tmp_path / "rna.fasta", "-o", tmp_path / "run", "--device", "cpu", "--secondary",
            tmp_path / "rna.db")
    loaded = pleat.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.scores, fitted.scores)
    np.testing.assert_array_equal(loaded.base_pairs, fitted.base_pairs)
    np.testing.assert_array_equal(loaded.contacts(), fitted.contacts())
    from_file = pleat.couplings(rows, secondary=tmp_path / "rna.db", models=False, device="cpu")
    np.testing.assert_array_equal(from_file.contacts(), fitted.contacts())
    assert set(pleat.couplings(rows, models=False).to_dataframe()["class"]) <= {"helix", "beside", "NA"}
    with pytest.raises(pleat.UsageError, match="secondary is for nucleic acids"):
        pleat.couplings(family(), secondary="((..))")
    with pytest.raises(pleat.InputError, match="expected 20 marks"):
        pleat.couplings(rows, secondary="((..))")


def hairpins():
    partner = {"A": "U", "C": "G", "G": "C", "U": "A"}
    rows = []
    for n in range(60):
        stem = "".join("ACGU"[(n * n * (k + 3) + n * k + n // 4) % 4] for k in range(6))
        loop = "".join("ACGU"[(n * (k + 1) + k * k) % 4] for k in range(8))
        rows.append(stem + loop + "".join(partner[letter] for letter in reversed(stem)))
    return rows


@pytest.mark.filterwarnings("ignore:only")
def test_parts(tmp_path):
    rows = family(columns=20)
    fitted = pleat.couplings(rows, parts=[8, 12], shuffle_parts=2, models=False, device="cpu")
    named = pleat.couplings(rows, parts="B:1-8,A:9-20", models=False, device="cpu")
    assert fitted.parts == ["A"] * 8 + ["B"] * 12 and named.parts == ["B"] * 8 + ["A"] * 12
    inter = fitted.inter_contacts
    assert len(inter) == 96 and (np.diff(inter["block_corrected"]) <= 0).all()
    assert (inter["fdr"] > 0).all() and np.isnan(named.inter_contacts["fdr"]).all()
    assert fitted.contacts().tobytes() == named.contacts().tobytes()
    between = (fitted.contacts()["i"] < 8) & (fitted.contacts()["j"] >= 8)
    assert between.sum() == 96 and np.isnan(fitted.contacts()["probability"][between]).all()
    assert list(fitted.to_dataframe("inter_contacts")["gremlin"]) == list(inter["gremlin"])
    (tmp_path / "pair.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", tmp_path / "pair.aln", "-o", tmp_path / "run", "--device", "cpu", "--parts", "8,12",
            "--shuffle-parts", "2")
    loaded = pleat.load(tmp_path / "run")
    assert loaded.parts == fitted.parts
    np.testing.assert_array_equal(loaded.inter_contacts[["i", "j"]], inter[["i", "j"]])
    np.testing.assert_allclose(loaded.inter_contacts["fdr"], inter["fdr"], atol=1e-6)
    one = pleat.couplings(rows, parts=[20], models=False)
    assert one.parts is None and one.inter_contacts is None
    with pytest.raises(pleat.UsageError, match="found one without"):
        one.to_dataframe("inter_contacts")
    with pytest.raises(pleat.InputError, match="found 8 [+] 11 = 19"):
        pleat.couplings(rows, parts=[8, 11])
    for parts in ({"A": 8, "B": 12}, [8, "12"], [8.5, 11.5]):
        with pytest.raises(pleat.UsageError, match="parts: expected lengths such as"):
            pleat.couplings(rows, parts=parts)


def test_unknown_letters_are_gaps():
    rows = [row.replace("A", "X", 1) for row in family(columns=12)]
    as_gaps = [row.replace("X", "-") for row in rows]
    np.testing.assert_array_equal(pleat.couplings(rows, max_iterations=3).scores,
                                  pleat.couplings(as_gaps, max_iterations=3).scores)


def test_refusals():
    with pytest.raises(pleat.UsageError, match="tolerance: expected a number >= 1e-09"):
        pleat.couplings(family(), tolerance=0)
    with pytest.raises(pleat.InputError, match="expected at least 2 sequences"):
        pleat.couplings(np.zeros((1, 5), np.uint8))
    for shape, text in (((0, 4), "2 sequences, found 0"), ((0, 0), "2 sequences, found 0"),
                        ((4, 0), "2 columns, found 0"), ((4, 1), "2 columns, found 1")):
        with pytest.raises(pleat.InputError, match=text):
            pleat.couplings(np.zeros(shape, np.uint8))


def test_few_sequences_are_warned_of():
    with pytest.warns(UserWarning, match="effective sequences: probabilities are too high"):
        few = pleat.couplings(family(columns=20), max_iterations=5, models=False)
    assert few.warning
    with pytest.warns(UserWarning, match="probabilities of contacts need at least 20"):
        same = pleat.couplings(["ACDEFGHIKLMN"] * 20, models=False)
    assert np.isnan(same.contacts()["probability"]).all()
