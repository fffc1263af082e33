# Mutants from Python: the numbers of the program, models of every kind, tables, files and refusals.
import copy
import json
import pickle
import re

import numpy as np
import pleat
import pytest
from helpers import DATA, family, program

ROWS = family(80, columns=20)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of the program on a small family with a table, and the family's file."""
    folder = tmp_path_factory.mktemp("mutants")
    fasta = "".join(f">{'target/11-30' if n == 0 else f'row{n}'}\n{row}\n" for n, row in enumerate(ROWS))
    (folder / "family.fasta").write_text(fasta, encoding="ascii")
    first, second = (f"{ROWS[0][n]}{n + 11}{'W' if ROWS[0][n] != 'W' else 'A'}" for n in (2, 9))
    (folder / "scan.csv").write_text(f"mutant,score\n{first},1\n{second},2\n{first}:{second},0\nwt,3\nA999G,1\n",
                                     encoding="ascii")
    program("mutants", folder / "family.fasta", "-o", folder / "run", "--mutants", folder / "scan.csv", "--doubles",
            "13,20", "-d", "cpu")
    return folder


def table(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: [row[n] for row in rows[1:]] for n, name in enumerate(rows[0])}


def assert_same_records(one, other):
    assert one.dtype == other.dtype
    for name in one.dtype.names or [...]:
        np.testing.assert_array_equal(one[name], other[name])


def test_the_program_finds_the_same(run):
    found = pleat.mutants(run / "family.fasta", mutants=run / "scan.csv", doubles="13,20", device="cpu")
    singles = table(run / "run/singles.tsv")
    frame = found._singles_table()
    assert frame["mutant"] == singles["mutant"]
    for name in ("pos", "frequency", "column_conservation", "prediction_epistatic", "prediction_independent",
                 "percentile", "z"):
        np.testing.assert_allclose(frame[name], np.array(singles[name], dtype=float), atol=6e-3 if name in
                                   ("percentile", "z") else 6e-6)
    assert list(frame)[:4] == ["mutant", "pos", "wt", "subs"]
    np.testing.assert_array_equal(frame["column"] + 1, np.array(singles["column"], dtype=int))
    epistasis = np.load(run / "run/epistasis.npz")
    np.testing.assert_array_equal(found.epistasis, epistasis["epistasis"])
    assert found.double_positions.tolist() == epistasis["positions"].tolist() == [13, 20]
    assert found.problems == ["", "", "", "", "outside the columns"]
    assert np.isnan(found.listed["epistatic"][4]) and found.listed["epistatic"][3] == 0
    assert found.correlations["score"][0] == 3
    assert (found.target, found.first_number, found.sequence) == ("target/11-30", 11, ROWS[0].replace("-", ""))


def test_a_structure_adds_weights(tmp_path):
    source = DATA / "trypsin.a2m.gz"
    options = dict(max_gaps=0.2, row="1QL9_A.pdb", tolerance=0.05, device="cpu")
    plain = pleat.mutants(source, **options, mutants=["I16A"], first_number=16)
    found = pleat.mutants(source, **options, mutants=["I16A"], first_number=16, structure=f"{DATA / '1ql9_A.pdb.gz'}:A")
    np.testing.assert_array_equal(found.singles["epistatic"], plain.singles["epistatic"])
    assert np.isnan(plain.singles["weighted"]).all() and np.isnan(plain.positions["accessibility"]).all()
    weight = 1.25 - np.minimum(found.positions["accessibility"], 1) + found.positions["conservation"]
    np.testing.assert_allclose(found.positions["burial_weight"], weight, atol=1e-9)
    surfaces = pleat.accessibility(DATA / "1ql9_A.pdb.gz", select="protein")
    assert surfaces.area.shape == surfaces.relative.shape == (1, len(surfaces.names))
    known = found.positions["accessibility"]
    known = np.sort(known[~np.isnan(known)])
    assert np.isin(known, surfaces.relative[0]).all()
    found.save(tmp_path / "run")
    back = pleat.load(tmp_path / "run")
    np.testing.assert_allclose(back.singles["weighted"], found.singles["weighted"], atol=1e-5)
    np.testing.assert_allclose(back.listed["weighted"], found.listed["weighted"], atol=1e-5)
    with pytest.raises(pleat.InputError, match="names"):
        pleat.accessibility(np.zeros((1, 3, 3), np.float32))
    with pytest.raises(pleat.UsageError, match="accessibility"):
        pleat.mutants(source, **options, accessibility="all")
    for given, message in ((dict(structure=3), "structure: expected a path or 'FILE:CHAIN', found 3"),
                           (dict(structure=""), "structure: expected a path or 'FILE:CHAIN', found ''"),
                           (dict(parts=171), "parts: expected lengths such as .*, found 171"),
                           (dict(parts=[400, 41], focus="1QL9_A.pdb"), "focus and parts do not go together")):
        with pytest.raises(pleat.UsageError, match=message):
            pleat.mutants(source, **given)
    broken = pleat.ensemble(DATA / "1ql9_A.pdb.gz", select="protein")
    xyz = np.repeat(np.asarray(broken.xyz), 2, axis=0)
    xyz[1, 4, 0] = np.nan
    with pytest.raises(pleat.InputError, match="frame 1: .*expected finite coordinates, found nan in atom 5"):
        pleat.accessibility(pleat.Ensemble(xyz, broken.topology))


def test_every_kind_of_model_gives_the_same(run):
    found = pleat.mutants(run / "family.fasta", device="cpu")
    for source in (run / "run", run / "run/couplings", run / "run/couplings/couplings.npz",
                   pleat.couplings(run / "family.fasta", device="cpu")):
        other = pleat.mutants(source)
        assert other.singles.dtype == found.singles.dtype
        assert_same_records(other.singles, found.singles)
    program("couplings", run / "family.fasta", "-o", run / "plmc_fit", "--models", "plmc", "--device", "cpu")
    plmc = pleat.mutants(run / "plmc_fit", first_number=11)
    np.testing.assert_allclose(plmc.singles["epistatic"], found.singles["epistatic"], atol=1e-6)
    by_row = pleat.mutants(ROWS, row="sequence 2", device="cpu")
    assert by_row.sequence == ROWS[1].replace("-", "")


def test_mutants_and_sequences_may_be_given_as_texts(run):
    names = ["wt", f"{ROWS[0][2]}13W", f"{ROWS[0][2]}13W,{ROWS[0][9]}20W"]
    found = pleat.mutants(run / "run", mutants=names, sequences={"own": ROWS[0], "other": ROWS[1]},
                          target=("target/11-30", ROWS[0]))
    assert found.listed["epistatic"][0] == 0 and found.problems == ["", "", ""]
    assert found._columns_of("listed")["mutant"] == names
    assert found.sequences["effect"][0] == 0 and found.sequence_names == ["own", "other"]
    assert found.sequences["energy"][0] == pytest.approx(found.energy[0])
    assert found.energy[0] == pytest.approx(found.energy[1] + found.energy[2])

    class Frame:
        def to_csv(self, index):
            assert index is False
            return "mutant,y\n" + names[1] + ",2\n"

    assert pleat.mutants(run / "run", mutants=Frame()).listed["epistatic"][0] == found.listed["epistatic"][1]


def test_it_is_pickled_saved_and_loaded(run, tmp_path):
    found = pleat.mutants(run / "run", mutants=run / "scan.csv", sequences=ROWS[:3], doubles="13,20")
    found.save(tmp_path / "saved")
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), pleat.load(tmp_path / "saved")):
        assert_same_records(other.singles, found.singles)
        np.testing.assert_array_equal(other.epistasis, found.epistasis)
        assert other.listed.tobytes() == found.listed.tobytes()  # NaN included
        assert other.problems == found.problems and other.energy == found.energy
        assert repr(other) == repr(found)
    assert np.asarray(found) is found.singles or np.array_equal(np.asarray(found), found.singles)
    for name in ("positions", "logo", "listed", "sequences"):
        assert len({len(values) for values in found._columns_of(name).values()}) == 1


@pytest.mark.parametrize("text", [
    "mutant,score\n{0},1\n{1},2\n{0}:{1},0\nwt,3\nA999G,1\n",
    "id;mutants;\"a;b\"\r\n1;{0};1\r\n\r\n2;\"{0},{1}\";NA\r\n3;{1};\"2\"\r\n",
    "mutants\n{0},{1}\nwt\n"])
def test_a_run_of_the_program_is_loaded(run, tmp_path, text):
    first, second = (f"{ROWS[0][n]}{n + 11}{'W' if ROWS[0][n] != 'W' else 'A'}" for n in (2, 9))
    (tmp_path / "scan.csv").write_bytes(text.format(first, second).encode())
    (tmp_path / "rows.fasta").write_text("".join(f">row {n}\n{row}\n" for n, row in enumerate(ROWS[:3])), encoding="ascii")
    program("mutants", run / "run", "-o", tmp_path / "run", "--mutants", tmp_path / "scan.csv", "--doubles", "13,20",
            "--sequences", tmp_path / "rows.fasta")
    made = pleat.mutants(run / "run", mutants=tmp_path / "scan.csv", sequences=tmp_path / "rows.fasta", doubles="13,20")
    found = pleat.load(tmp_path / "run")
    assert type(found) is pleat.Mutants and repr(found) == repr(made)
    for name in ("singles", "positions", "logo", "listed", "sequences"):
        one, other = getattr(found, name), getattr(made, name)
        assert one.dtype == other.dtype, name
        for field in one.dtype.names:
            if one.dtype[field].kind == "f":
                np.testing.assert_allclose(one[field], other[field], atol=6e-3 if "percentile" in field else 6e-4)
            else:
                np.testing.assert_array_equal(one[field], other[field])
    for name in ("epistasis", "double_positions", "double_singles"):
        assert_same_records(getattr(found, name), getattr(made, name))
    for name in ("problems", "sequence_names", "sequence_problems", "listed_text", "target", "first_number", "letters"):
        assert getattr(found, name) == getattr(made, name), name
    assert found.listed_text.encode() == (tmp_path / "run/listed.csv").read_bytes()
    assert list(found.correlations) == list(made.correlations)
    for name, values in made.correlations.items():
        assert found.correlations[name] == pytest.approx(values, abs=1e-5, nan_ok=True)
    assert found.energy == pytest.approx(made.energy) and found.effective_sequences == pytest.approx(made.effective_sequences)
    assert found.sequence == made.sequence
    assert drawn(pleat.report(made)) == drawn(pleat.report(tmp_path / "run"))


def drawn(page):
    """The headline and the titles of panels of the first run of a page, and the numbers of dots of its plots."""
    data = json.loads(re.search(r'id="pleat-data">(.*?)</script>', page.html, re.DOTALL).group(1))["runs"][0]
    return (data["headline"], [(one["title"], len(one.get("numbers", []))) for one in data["sections"]])


def test_a_run_without_tables_is_loaded(run):
    found = pleat.load(run / "run")
    assert found.sequence_names == [] and len(found.sequences) == 0
    program("mutants", run / "run", "-o", run / "plain")
    found = pleat.load(run / "plain")
    assert found.listed_text == "" and found.correlations == {} and found.epistasis.shape == (0, 0, 0)
    assert [title for title, _ in drawn(pleat.report(found))[1]][:2] == ["Effects of single mutants", "Sequence logo"]


def test_refuses_in_a_line(run):
    with pytest.raises(pleat.InputError, match="expected the wild-type letters of 'target/11-30'"):
        pleat.mutants(run / "run", mutants=["W900A"])
    with pytest.raises(pleat.UsageError, match="the model has been fitted"):
        pleat.mutants(run / "run", lambda_pair=0.1)
    with pytest.raises(pleat.InputError, match="found one of models=False"):
        pleat.mutants(pleat.couplings(ROWS, models=False, device="cpu"))
    with pytest.raises(pleat.InputError, match="expected mutants as a path"):
        pleat.mutants(run / "run", mutants=[1])
    with pytest.raises(pleat.InputError, match="expected at least 1 mutant, found an empty list"):
        pleat.mutants(run / "run", mutants=[])
    with pytest.raises(pleat.UsageError, match="expected a result with mutants"):
        pleat.mutants(run / "run").to_dataframe("listed")
    with pytest.raises(pleat.InputError, match="found no couplings.npz"):
        pleat.mutants(run)


@pytest.mark.parametrize("question", [
    {"mutants": ["W900A"]}, {"mutants": "absent.csv"}, {"sequences": ["ACD"]}, {"doubles": "900"}, {"first_number": 1.5},
    {"target": ("other", "ACDEFGHIKLMNPQRSTVWYACDEF")}])
def test_refuses_before_the_fit(run, question):
    """What the effects would refuse after a fit is refused before it, with the same words."""
    with pytest.raises((pleat.Error, TypeError)) as after:
        pleat.mutants(run / "run", **question)
    fits = []

    def progress(stage, *_):
        fits.append(stage)

    for source in (run / "family.fasta", pleat.read_alignment(run / "family.fasta")):
        with pytest.raises(type(after.value)) as before:
            pleat.mutants(source, device="cpu", progress=progress, **question)
        assert str(before.value).replace("'target'", "'target/11-30'") == str(after.value)
    assert not fits
