# Options from Python: keywords, defaults and texts are those of the library's fields.
import inspect

import numpy as np
import pleat
import pytest
from helpers import made_ensemble
from pleat import _pleat

FUNCTIONS = {"couplings": pleat.couplings, "mutual_information": pleat.mutual_information,
             "rmsd": pleat.rmsd, "cluster": pleat.cluster, "saxs": pleat.saxs,
             "select": pleat.select, "refine": pleat.refine}


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
    ({"bin_width": "wide"}, TypeError, "--bin-width: expected a number, found 'wide'"),
    ({"bin_width": float("nan")}, TypeError, "--bin-width: expected a number, found nan"),
    ({"bin_width": None}, TypeError, "--bin-width: expected a number, found None"),
    ({"nearest": 2.5}, TypeError, "--nearest: expected a whole number, found 2.5"),
    ({"nearest": True}, TypeError, "--nearest: expected a whole number, found True"),
    ({"best": 2**70}, OverflowError, "int"),
    ({"nearest": -3}, pleat.UsageError, "--nearest: expected a whole number >= 0"),
    ({"matrix": "square"}, pleat.UsageError, "expected one of condensed, full, none, found 'square'"),
    ({"matrix": 3}, TypeError, "--matrix: expected text, found 3"),
    ({"threads": 0}, pleat.UsageError, "--threads: expected a whole number >= 1"),
    ({"seed": -1}, pleat.UsageError, "--seed: expected a whole number >= 0"),
])
def test_values_of_another_kind_are_refused(options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.rmsd(made_ensemble(3, 3), **options)


def test_numbers_of_numpy_are_numbers():
    xyz = made_ensemble(9, 5)
    plain = pleat.rmsd(xyz, cutoff=2.0, best=2, threads=1)
    same = pleat.rmsd(xyz, cutoff=np.float32(2), best=np.int16(2), threads=np.uint8(1))
    np.testing.assert_array_equal(plain.best_indices, same.best_indices)
    assert pleat.rmsd(xyz, cutoff=None).neighbour_starts is None


def test_errors_are_also_the_kinds_of_python():
    assert issubclass(pleat.UsageError, ValueError) and issubclass(pleat.InputError, ValueError)
    assert issubclass(pleat.DeviceError, RuntimeError) and issubclass(pleat.OutputError, OSError)
    for kind in (pleat.UsageError, pleat.InputError, pleat.DeviceError, pleat.OutputError):
        assert issubclass(kind, pleat.Error) and str(kind("text")) == "text"
