# Mutual information from Python: float64 by its definition, the program's bits, triples.
import numpy as np
import pleat
import pytest
from helpers import DATA, family, program


def information(a, b):
    """MI in bits of two columns, by its definition."""
    joint = np.zeros((32, 32))
    np.add.at(joint, (a, b), 1 / len(a))
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return (joint[some] * np.log2(joint[some] / product[some])).sum()


def test_definition():
    alignment = pleat.alignment(family(columns=10))
    found = pleat.mutual_information(alignment, null="none")
    expected = [information(alignment.letters[:, i], alignment.letters[:, j])
                for i in range(10) for j in range(i + 1, 10)]
    np.testing.assert_allclose(found.mi, expected, atol=1e-12)
    assert pleat.square(found.mi).shape == (10, 10)
    assert found.z is None and found.sampled is None and found.triples is None
    assert found.column_count == 10 and len(found.entropy) == 10


def test_the_program_finds_the_same_bits(tmp_path):
    rows = family(columns=15)
    (tmp_path / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    program("mi", tmp_path / "family.aln", "-o", tmp_path / "run", "--shuffles", 100, "--device", "cpu")
    found = pleat.mutual_information(rows, shuffles=100, device="cpu")
    pairs = np.load(tmp_path / "run" / "pairs.npz")
    for name, stored in (("mi", "mi"), ("apc", "apc"), ("asc", "asc"), ("z", "z")):
        np.testing.assert_array_equal(getattr(found, name), pairs[stored])
    np.testing.assert_array_equal(found.sampled["z"], pairs["sampled_z"])
    assert found.shuffles == 100 and found.sampled["z"].shape == (105,)
    assert (found.less + found.equal <= 100).all()


def test_the_tree_null_is_that_of_the_program(tmp_path):
    rows = family(columns=15)
    path = tmp_path / "family.fa"
    path.write_text("".join(f">r{n}\n{row}\n" for n, row in enumerate(rows)), encoding="ascii")
    program("mi", path, "-o", tmp_path / "run", "--null", "tree", "--null-alignments", 100)
    found = pleat.mutual_information(path, null="tree", null_alignments=100)
    loaded = pleat.load(tmp_path / "run")
    for one in (found, loaded):
        pairs = np.load(tmp_path / "run" / "pairs.npz")
        for name in ("tree_score", "tree_mean", "tree_p", "tree_e", "extrapolated"):
            np.testing.assert_array_equal(getattr(one, name), pairs[name])
        assert one.tree.endswith(";\n") and len(one.substitutions) == 15
        assert "tree_e" in one._pairs_table()
    np.testing.assert_array_equal(loaded.substitutions, found.substitutions)
    assert loaded.tree == found.tree and loaded.substitution_tree == found.substitution_tree
    assert found.substitution_tree.endswith(";\n") and 0 <= found.tree_small_p == loaded.tree_small_p
    assert found.related_identity is None
    assert 0 < pleat.mutual_information(DATA / "cheY.aln.gz", max_gaps=0.2).related_identity < 1
    found.save(tmp_path / "saved")
    np.testing.assert_array_equal(pleat.load(tmp_path / "saved").tree_e, found.tree_e)


def test_triples():
    found = pleat.mutual_information(family(columns=8), order=3, null="exact", top=5, all_triples=True)
    assert found.triples_ranked_by == "z"
    best = found.triples
    assert best["columns"].shape == (5, 3) and (np.diff(best["columns"]) > 0).all()
    assert len(found.kept_triples["columns"]) == 56
    assert best["z"][0] == np.nanmax(found.kept_triples["z"])
    assert found.cliques is None and len(found.cliques_by_z) == 8


def test_refusals():
    for shape, options, text in (((0, 4), {}, "2 sequences, found 0"), ((4, 0), {}, "2 columns, found 0"),
                                 ((0, 0), {"null": "sampled"}, "2 sequences, found 0"),
                                 ((4, 2), {"order": 3}, "3 columns, found 2")):
        with pytest.raises(pleat.InputError, match=text):
            pleat.mutual_information(np.zeros(shape, np.uint8), **options)
