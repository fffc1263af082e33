# Couplings from Python: the program's bits, arrays of the right shapes, refusals.
import numpy as np
import pleat
import pytest
from helpers import family, program


def test_the_program_finds_the_same_bits(tmp_path):
    rows = family()
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", tmp_path / "family.aln", "-o", tmp_path / "run", "--device", "cpu")
    fitted = pleat.couplings(rows, device="cpu")
    scores = np.load(tmp_path / "run" / "scores.npz")
    np.testing.assert_array_equal(fitted.scores, scores["corrected"])
    np.testing.assert_array_equal(fitted.raw_scores, scores["raw"])
    np.testing.assert_array_equal(fitted.weights, np.load(tmp_path / "run" / "weights.npy"))
    assert fitted.stop_reason == fitted.ending == "converged" and fitted.relative_gap <= 1e-4
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
