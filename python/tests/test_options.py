# Options from Python: keywords, defaults and texts are those of the library's fields.
import inspect
import sys
import types
from importlib.util import find_spec

import numpy as np
import pleat
import pytest
from helpers import DATA, made_ensemble, program
from pleat import _pleat
from pleat.progress import Bar

FUNCTIONS = {"couplings": pleat.couplings, "mutual_information": pleat.mutual_information,
             "rmsd": pleat.rmsd, "cluster": pleat.cluster, "saxs": pleat.saxs,
             "select": pleat.select, "refine": pleat.refine, "mutants": pleat.mutants}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_show_every_field(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    fields = getattr(_pleat, name + "_fields")()
    assert len(fields) > 4
    for field in fields:
        keyword = field["name"].replace("-", "_")
        assert parameters[keyword].default == field["default"]
        assert parameters[keyword].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"\n{keyword}:\n" in FUNCTIONS[name].__doc__
    for keyword in ("device", "threads", "seed", "progress"):
        assert keyword in parameters


def test_unknown_keywords_name_the_nearest():
    with pytest.raises(TypeError, match="found 'cutof'; the nearest is 'cutoff'"):
        pleat.rmsd(made_ensemble(3, 3), cutof=2)
    with pytest.raises(TypeError, match="positional"):
        pleat.rmsd(made_ensemble(3, 3), "full")


@pytest.mark.parametrize("options, kind, text", [
    ({"bin_width": "wide"}, TypeError, "bin_width: expected a number, found 'wide'"),
    ({"bin_width": float("nan")}, TypeError, "bin_width: expected a number, found nan"),
    ({"bin_width": None}, TypeError, "bin_width: expected a number, found None"),
    ({"nearest": 2.5}, TypeError, "nearest: expected a whole number, found 2.5"),
    ({"nearest": True}, TypeError, "nearest: expected a whole number, found True"),
    ({"nearest": 2**70}, OverflowError, "int"),
    ({"nearest": -3}, pleat.UsageError, "nearest: expected a whole number >= 0"),
    ({"matrix": "square"}, pleat.UsageError, "expected one of condensed, full, none, found 'square'"),
    ({"matrix": 3}, TypeError, "matrix: expected text, found 3"),
    ({"threads": 0}, pleat.UsageError, "threads: expected a whole number >= 1"),
    ({"seed": -1}, pleat.UsageError, "seed: expected a whole number >= 0"),
])
def test_values_of_another_kind_are_refused(options, kind, text):
    with pytest.raises(kind, match=text) as raised:
        pleat.rmsd(made_ensemble(3, 3), **options)
    assert "--" not in str(raised.value)


def test_numbers_of_numpy_are_numbers():
    xyz = made_ensemble(9, 5)
    plain = pleat.rmsd(xyz, cutoff=2.0, nearest=2, threads=1)
    same = pleat.rmsd(xyz, cutoff=np.float32(2), nearest=np.int16(2), threads=np.uint8(1))
    np.testing.assert_array_equal(plain.best_indices, same.best_indices)
    assert pleat.rmsd(xyz, cutoff=None).neighbour_starts is None


def test_errors_are_also_the_kinds_of_python():
    assert issubclass(pleat.UsageError, ValueError) and issubclass(pleat.InputError, ValueError)
    assert issubclass(pleat.DeviceError, RuntimeError) and issubclass(pleat.OutputError, OSError)
    for kind in (pleat.UsageError, pleat.InputError, pleat.DeviceError, pleat.OutputError):
        assert issubclass(kind, pleat.Error) and str(kind("text")) == "text"


def test_ranges_and_slices_of_python_are_values(tmp_path):
    xyz = made_ensemble(30, 8)
    for values, text in ((range(2, 7), "2:6"), (range(2, 8, 2), "2:6:2"), (range(3, 4), "3"), (range(2, 7, 3), "2:5:3")):
        found = pleat.cluster(xyz, method="average", k=values)
        same = pleat.cluster(xyz, method="average", k=text)
        np.testing.assert_array_equal(found.assignment, same.assignment)
        assert (found.sweep is None) == (same.sweep is None)
        assert found.sweep is None or found.sweep["value"].tolist() == list(values)
    for values in ([2, 3, 4], (2, 4), np.arange(2, 7, 2)):
        assert pleat.cluster(xyz, method="average", k=values).sweep["value"].tolist() == list(values)
    steps = np.arange(1.5, 2.5, 0.1)
    np.testing.assert_allclose(pleat.cluster(xyz, cutoff=steps).sweep["value"], steps)
    assert len(pleat.cluster(xyz, method="average", k=[3]).clusters) == 3
    for values in (steps.astype(np.float32), np.linspace(1, 2, 4, dtype=np.float32)):
        np.testing.assert_allclose(pleat.cluster(xyz, cutoff=values).sweep["value"], values, rtol=1e-5)
    np.testing.assert_array_equal(pleat.cluster(xyz, cutoff=np.float32(2.1)).assignment, pleat.cluster(xyz, cutoff=2.1).assignment)
    if find_spec("pandas"):
        import pandas
        assert pleat.cluster(xyz, method="average", k=pandas.Series([2, 4])).sweep["value"].tolist() == [2, 4]
    for wrong in ([2, 3, 7], [3, 2], [], [2, 2], [2, np.nan], np.float32([2, 3, 3.9])):
        with pytest.raises(pleat.UsageError, match="^k: expected rising numbers at equal steps"):
            pleat.cluster(xyz, method="average", k=wrong)
    for wrong in (range(5, 5), range(6, 2, -1)):
        with pytest.raises(pleat.UsageError, match="^k: expected a rising range that is not empty"):
            pleat.cluster(xyz, method="average", k=wrong)
    source = {"topology": DATA / "hivp.pdb.gz"}
    assert len(pleat.read_ensemble(DATA / "hivp.dcd.gz", frames=slice(0, None, 10), **source)) == 12
    table = pleat.run_jobs("cluster", DATA / "hivp.dcd.gz", output=tmp_path / "runs", method="average", k=range(2, 5),
                           frames=slice(None, 40), **source)
    assert table[0]["status"] == "done"
    program("cluster", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--method", "average", "--k", "2:4",
            "--frames", ":40", "-o", tmp_path / "run")
    np.testing.assert_array_equal(np.load(tmp_path / "run/assignment.npy"),
                                  np.load(next((tmp_path / "runs").glob("**/assignment.npy"))))


@pytest.mark.parametrize("call, text", [
    (lambda: pleat.cluster(np.ones(3)), "^method='gromos': give cutoff"),
    (lambda: pleat.rmsd(made_ensemble(3, 3), metric="distance"), "^metric: expected one of"),
    (lambda: pleat.rmsd(made_ensemble(3, 3), reference=0, matrix="full"), "leave matrix='full' out"),
    (lambda: pleat.profile([[1, 2, 3]] * 3, q_unit="pm"), "^q_unit: expected one of"),
    (lambda: pleat.read_profile(DATA / "1hel_made.dat.gz", assume_error=-1), "^assume_error: expected"),
    (lambda: pleat.run_jobs("mi", "x.aln", output="x", lambda_pair=1), "lambda_pair"),
])
def test_errors_name_keywords(call, text):
    with pytest.raises(pleat.Error, match=text) as raised:
        call()
    assert "--" not in str(raised.value)


def test_progress_draws_a_bar(capsys):
    xyz = made_ensemble(200, 30)
    pleat.rmsd(xyz, progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "[##############################] 100%" in shown.err and shown.err.endswith("\n")
    pleat.rmsd(xyz, progress=False)
    pleat.rmsd(xyz, progress=None)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(pleat.UsageError):
        pleat.rmsd(xyz, progress=True, bin_width=-1)
    assert capsys.readouterr().err == ""


def test_progress_in_a_notebook_updates_one_display(monkeypatch, capsys):
    heard = []

    class ZMQInteractiveShell:
        pass

    def display(data, raw, display_id):
        heard.append(("display", data["text/plain"], raw, display_id))
        return types.SimpleNamespace(update=lambda data, raw: heard.append(("update", data["text/plain"])))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(
        get_ipython=ZMQInteractiveShell, display=types.SimpleNamespace(display=display)))
    bar = Bar()
    bar("pairs", 0, 10, "")
    bar("pairs", 10, 10, "tiles")
    bar("clusters", 1, 4, "")
    bar.close()
    assert [one[0] for one in heard] == ["display", "update", "display"]
    assert heard[1][1].startswith("pairs [##############################] 100%") and "tiles" in heard[1][1]
    assert capsys.readouterr() == ("", "")
