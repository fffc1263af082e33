# Alignments from Python: every source gives the same letters; refusals say where.
import pickle

import numpy as np
import pleat
import pytest
from helpers import DATA, family

ROWS = ["ACDE-", "ACDXY", "WCDE-"]
CODES = "ARNDCQEGHILKMFPSTWYVX-"


def codes(rows):
    return np.array([[CODES.index(letter) for letter in row] for row in rows], dtype=np.uint8)


@pytest.mark.parametrize("source", [
    ROWS, tuple(ROWS), codes(ROWS), np.array([list(row) for row in ROWS]),
    np.array([list(row) for row in ROWS], dtype="S1"), np.asfortranarray(codes(ROWS))])
def test_sources_agree(source):
    found = pleat.alignment(source)
    np.testing.assert_array_equal(found.letters, codes(ROWS))
    assert found.sequences == ROWS and found.alphabet == "protein" and found.shape == (3, 5)
    assert found.alphabet_letters == CODES and found.names[1] == "sequence 2"
    assert pleat.alignment(found) is found


def test_files_and_filters():
    found = pleat.read_alignment(DATA / "cheY.aln.gz")
    assert found.format == "psicov" and len(found.letters) == len(found) == 1000
    fewer = found.filter(max_gaps=0.1, min_coverage=0.9)
    assert fewer.shape[1] < found.shape[1] and len(fewer) < len(found)
    np.testing.assert_array_equal(
        fewer.columns, np.flatnonzero((found.letters >= 20).mean(axis=0) <= 0.1))


def test_biopython():
    align = pytest.importorskip("Bio.Align", reason="Biopython is not there")
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord
    records = [SeqRecord(Seq(row), id=f"id{n}") for n, row in enumerate(ROWS)]
    for source in (align.MultipleSeqAlignment(records), records):
        found = pleat.alignment(source)
        assert found.sequences == ROWS and found.names == ["id0", "id1", "id2"]


def test_letters_stay_when_the_alignment_goes():
    letters = pleat.alignment(family()).letters
    expected = letters.copy()
    pleat.alignment(family(100))
    np.testing.assert_array_equal(letters, expected)


@pytest.mark.parametrize("source, options, text", [
    (["ACD", "AC"], {}, "expected 3 aligned columns .*found 2"),
    (["A1D", "ACD"], {"alphabet": "protein"}, "found '1'"),
    ([], {}, "found list"),
    ([1, 2], {}, "found list"),
    (codes(ROWS) + 20, {}, r"letters\[0, 1\]: expected a code below 22"),
    (codes(ROWS)[0], {}, r"uint8 \[sequence, column\], found uint8 \(5,\)"),
    (ROWS, {"names": ["one"]}, "expected 3 names"),
    (codes(ROWS), {"names": ["one"]}, "expected 3 names"),
    (["AC\n>D", "ACDE"], {}, "one line"),
    ("absent.a3m", {}, "absent.a3m"),
])
def test_refusals(source, options, text):
    with pytest.raises(pleat.InputError, match=text):
        pleat.alignment(source, **options)
    with pytest.raises(pleat.UsageError, match="klingon"):
        pleat.alignment(ROWS, alphabet="klingon")


def test_notes_say_what_the_reader_decided(tmp_path):
    (tmp_path / "x.sto").write_text("# STOCKHOLM 1.0\na ACdEF\nb AC.EF\n//\n", encoding="ascii")
    rows = pleat.read_alignment(tmp_path / "x.sto")
    assert rows.sequences == ["ACEF", "ACEF"]
    note, = rows.notes
    assert (note.kind, note.option) == ("insertions", "--insertions keep")
    again = pickle.loads(pickle.dumps(rows))
    assert again.notes == rows.notes and again.notes[0].kind == "insertions"
    every = pleat.read_alignment(tmp_path / "x.sto", insertions="keep")
    assert every.sequences == ["ACDEF", "AC-EF"] and not every.notes
