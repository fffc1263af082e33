# Report from Python: the page of folders and of results in memory draws what the program's page draws.
import json
import re

import numpy as np
import pleat
import pytest
from helpers import DATA, program
from test_results import once

pytestmark = pytest.mark.filterwarnings("ignore:only .* effective sequences")
WITHOUT = {"Medoids"}  # results in memory lack structures of frames


def drawn(page):
    """[(name, headline's sentence, [title of a panel])] of the runs of a page."""
    text = page if isinstance(page, str) else page.html
    data = json.loads(re.search(r'id="pleat-data">(.*?)</script>', text, re.DOTALL).group(1))
    return [(run["name"], run["headline"]["sentence"], [one["title"] for one in run["sections"]])
            for run in data["runs"]]


def assert_drawn_as_the_program_does(result, run):
    (_, sentence, titles), (_, expected, sections) = drawn(pleat.report(result))[0], drawn(pleat.report(run))[0]
    assert sentence == expected
    assert sorted(title for title in titles if title not in WITHOUT) == sorted(
        title for title in sections if title not in WITHOUT)


def assert_has_tables_of_states(found, folder):
    """Those of the program's run in folder / 'states', but for times in picoseconds, which are not known."""
    found.save(folder / "own")
    for file in ("transition_probabilities.tsv", "dwell_distribution.tsv", "dwell_times.tsv"):
        own, theirs = ([line.split("\t") for line in (folder / name / file).read_text().splitlines()]
                       for name in ("own", "states"))
        assert own[0] == theirs[0] and len(own) == len(theirs)
        for one, other in zip(own[1:], theirs[1:]):
            for name, value, expected in zip(own[0], one, other):
                if name.endswith("_ps"):
                    assert value == "NA"
                else:
                    assert value == expected or float(value) == pytest.approx(float(expected), rel=1e-5)
    assert pleat.load(folder / "own").is_trajectory and pleat.load(folder / "states").is_trajectory
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames="::4")
    assert frames.is_trajectory and frames[2:].is_trajectory and frames.select("chain A").is_trajectory
    models = pleat.Ensemble(frames.xyz, frames.topology)
    assert not models.is_trajectory and not pleat.cluster(models, cutoff=2).is_trajectory
    assert "Dwell times" not in drawn(pleat.report(pleat.cluster(models, cutoff=2)))[0][2]


def test_results_are_drawn_as_the_runs_of_the_program(tmp_path):
    curve = (DATA / "1hel.pdb.gz", "--data", DATA / "1hel_made.dat.gz")
    program("saxs", *curve, "-o", tmp_path / "saxs", "--device", "cpu")
    assert_drawn_as_the_program_does(once("saxs"), tmp_path / "saxs")
    frames = (DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--device", "cpu")
    program("cluster", *frames, "-o", tmp_path / "states", "--method", "average", "--k", "2:5")
    hivp = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
    states = pleat.cluster(hivp, method="average", k=range(2, 6))
    assert_drawn_as_the_program_does(states, tmp_path / "states")
    assert_has_tables_of_states(states, tmp_path)
    program("rmsd", *frames, "-o", tmp_path / "pairs", "--metric", "drmsd")
    assert_drawn_as_the_program_does(pleat.rmsd(hivp, metric="drmsd"), tmp_path / "pairs")
    program("mi", DATA / "trna.sto.gz", "-o", tmp_path / "mi", "--max-gaps", 0.2, "--null", "exact", "--order", 3,
            "--no-triple-variance", "--device", "cpu")
    found = pleat.mutual_information(DATA / "trna.sto.gz", max_gaps=0.2, null="exact", order=3,
                                     triple_variance=False, device="cpu")
    assert_drawn_as_the_program_does(found, tmp_path / "mi")


def test_tables_of_results_are_those_of_the_program(tmp_path):
    program("couplings", DATA / "trypsin.a2m.gz", "-o", tmp_path / "run", "--device", "cpu", "--max-gaps", 0.5,
            "--tolerance", 0.01)
    pleat.couplings(DATA / "trypsin.a2m.gz", max_gaps=0.5, tolerance=0.01, models=False, device="cpu").save(
        tmp_path / "saved")
    rows, expected = ([line.split("\t") for line in (tmp_path / name / "contacts.tsv").read_text().splitlines()]
                      for name in ("saved", "run"))
    assert rows[0] == expected[0] and len(rows) == len(expected)
    columns, same = (list(zip(*table[1:])) for table in (rows, expected))
    for n, name in enumerate(rows[0]):
        if name.startswith("letter"):
            assert columns[n] == same[n]
        else:
            np.testing.assert_allclose(np.array(columns[n], float), np.array(same[n], float), rtol=1e-5, atol=6e-5,
                                       err_msg=name)


def test_folders_and_results_on_one_page(tmp_path):
    once("clusters").save(tmp_path / "states")
    page = pleat.report([tmp_path / "states", once("saxs"), once("saxs")], tmp_path / "page.html", title="A <title>")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert [name for name, *_ in drawn(page)] == ["states", "saxs", "saxs 2"]
    assert page.runs == 3 and page.panels == sum(len(titles) for *_, titles in drawn(page)) and page.notes == []
    assert repr(page) == f"<pleat.Page: {page.panels} panels of 3 runs, {len(page.html) / 2**20:.1f} MiB>"
    named = pleat.report({"mine": once("rmsd"), "yours": once("couplings")})
    assert [name for name, *_ in drawn(named)] == ["mine", "yours"]
    page.save(tmp_path / "page.html")  # a page of pleat's is replaced
    assert "srcdoc=" in page._repr_html_() and "<script" not in page._repr_html_()


@pytest.mark.parametrize("name", ["neutrons", "density peaks", "selection", "rmsd to a reference", "refinement",
                                  "mutual information", "couplings without models", "saxs of an ensemble"])
def test_every_result_has_a_headline(name):
    (_, sentence, titles), *_ = drawn(pleat.report(once(name)))
    assert sentence and titles and "nan" not in sentence


def test_refusals(tmp_path):
    (tmp_path / "mine.txt").write_text("text", encoding="ascii")
    for error, text, arguments in (
            (pleat.UsageError, "expected at least 1 run", ([],)),
            (pleat.UsageError, "found a folder, which has a name", ({"a": tmp_path},)),
            (pleat.UsageError, "expected a name without '/'", ({"a/b": once("rmsd")},)),
            (pleat.InputError, "expected folders of runs or results, found int", ([3],)),
            (pleat.InputError, "with a manifest.json, found none", (tmp_path,)),
            (pleat.UsageError, "not a page made by pleat; force replaces it", (once("rmsd"), tmp_path / "mine.txt"))):
        with pytest.raises(error, match=text):
            pleat.report(*arguments)
    with pytest.raises(pleat.UsageError, match="rows: expected"):
        pleat.report(once("rmsd"), rows=0)
    assert (tmp_path / "mine.txt").read_text() == "text"
