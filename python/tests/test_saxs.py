# SAXS from Python: profiles and fits against the program and float64, curves, refusals.
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pleat
import pytest
from helpers import DATA, SHARED, in_process, program

STRUCTURE = DATA / "1a8o.pdb.gz"


def debye(xyz, factors, q):
    """As the formula says, in float64: factors [scatterer, q]."""
    apart = np.linalg.norm(xyz[:, None].astype(float) - xyz[None].astype(float), axis=-1)
    return np.array([f @ np.sinc(k * apart / np.pi) @ f for k, f in zip(q, factors.T)])


def made_curve(folder, noise=0.02, c1=1.01, c2=1.2):
    """A curve of the structure with errors, as a file; its columns."""
    made = pleat.saxs(STRUCTURE, q_points=301, q_max=0.3, c1=c1, c2=c2)
    random = np.random.default_rng(1)
    sigma = noise * made.mean[5:]
    columns = made.q[5:], made.mean[5:] + sigma * random.normal(size=sigma.size), sigma
    np.savetxt(folder / "curve.dat", np.transpose(columns), fmt="%.17g")
    return folder / "curve.dat", columns


def moved_ensemble(frames=6):
    """The structure with its second half farther and farther off, with its topology."""
    native = pleat.read_ensemble(STRUCTURE)
    xyz = np.repeat(native.xyz, frames, axis=0)
    half = xyz.shape[1] // 2
    apart = xyz[0, half:].mean(axis=0) - xyz[0, :half].mean(axis=0)
    steps = 4 * np.arange(frames, dtype=np.float32)
    xyz[:, half:] += (steps[:, None] * apart / np.linalg.norm(apart))[:, None]
    return pleat.Ensemble(xyz, native.topology)


def read_table(path):
    return np.genfromtxt(path, names=True, delimiter="\t", dtype=None, encoding="utf-8")


@pytest.mark.parametrize("model", ["all-atom", "one-bead", "two-bead"])
def test_profiles_are_those_of_the_program(tmp_path, model):
    program("saxs", STRUCTURE, "-o", tmp_path / "run", "--model", model, "--c2", 0.8, "--q-points", 61)
    found = pleat.saxs(STRUCTURE, model=model, c2=0.8, q_points=61)
    table = read_table(tmp_path / "run" / "profile.tsv")
    np.testing.assert_allclose(found.q, table["q"], rtol=1e-7)
    np.testing.assert_allclose(found.mean, table["intensity"], rtol=6e-9)
    np.testing.assert_array_equal(found.intensity[0], found.mean)
    pairs = read_table(tmp_path / "run" / "pr.tsv")
    np.testing.assert_allclose(found.pr, pairs["p"], rtol=6e-9)
    facts = json.loads((tmp_path / "run" / "manifest.json").read_text())["results"]
    assert found.model == facts["model"] == model and found.scatterers == facts["scatterers"]
    assert found.rg[0] == pytest.approx(facts["rg"], rel=1e-12)
    assert found.i0[0] == pytest.approx(facts["i0"], rel=1e-12)
    assert found.dmax[0] == pytest.approx(facts["dmax"], rel=1e-12)
    assert (found.frames, found.device, found.fit, found.curve) == (1, "cpu", None, None)


def test_fits_are_those_of_the_program(tmp_path):
    path, columns = made_curve(tmp_path)
    program("saxs", STRUCTURE, "-o", tmp_path / "run", "--data", path, "--background", "--q-max", 0.25)
    told = json.loads((tmp_path / "run" / "fit.json").read_text())
    fit_table = read_table(tmp_path / "run" / "fit.tsv")
    for data in (path, pleat.read_profile(path), columns, np.transpose(columns)):
        found = pleat.saxs(STRUCTURE, data=data, background=True, q_max=0.25)
        for name in ("scale", "background", "c1", "c2", "chi2", "chi2_reduced", "points", "parameters"):
            assert getattr(found.fit, name) == pytest.approx(told["fit"][name], rel=1e-9), name
        assert len(found.curve) == found.fit.points < len(columns[0])
        np.testing.assert_allclose(found.fit.model, fit_table["model"], rtol=2e-7)
        np.testing.assert_allclose(found.curve.q, fit_table["q"], rtol=1e-7)
        assert found.guinier["rg"] == pytest.approx(told["guinier"]["rg"], rel=1e-9)
        assert (found.c1, found.c2) == (found.fit.c1, found.fit.c2)
    residuals = (found.curve.intensity - found.fit.model) / found.curve.sigma
    assert np.mean(residuals**2) == pytest.approx(found.fit.chi2, rel=1e-9)
    assert found.fit.c1 == pytest.approx(1.01, abs=0.02) and 0.7 < found.fit.chi2 < 1.3


def test_ensembles_are_those_of_the_program(tmp_path):
    ensemble = moved_ensemble()
    profiles = pleat.saxs(ensemble, c1=1, c2=1, q_points=151, q_max=0.3)
    assert profiles.intensity.shape == (6, 151) and profiles.files == ["array"] * 6
    assert (np.diff(profiles.rg) > 0).all()
    mixed = 0.6 * profiles.intensity[0] + 0.4 * profiles.intensity[4]
    random = np.random.default_rng(2)
    sigma = 0.003 * mixed
    curve = profiles.q[3:], (mixed + sigma * random.normal(size=mixed.size))[3:], sigma[3:]
    found = pleat.saxs(ensemble, data=curve, max_members=3, c1=1, c2=1)
    chosen, pair = found.minimal[found.minimal_chosen], found.minimal[1]
    assert pair.frames.tolist() == [0, 4] and pair.fit.chi2 < 1.3 < found.fit.chi2
    np.testing.assert_allclose(pair.weights, [0.6, 0.4], atol=0.03)
    assert len(found.reweighted) == len(found.thetas) and (np.diff(found.thetas) < 0).all()
    weights = found.reweighted[found.reweighted_chosen]
    assert weights.weights.sum() == pytest.approx(1) and len(weights.frames) == 6
    assert 1 < weights.effective <= 6
    # The program reads the same frames from a file, to its three decimals.
    np.savetxt(tmp_path / "curve.dat", np.transpose(curve), fmt="%.17g")
    np.save(tmp_path / "e.npy", ensemble.xyz)
    program("saxs", tmp_path / "e.npy", "--topology", STRUCTURE, "-o", tmp_path / "run", "--data",
            tmp_path / "curve.dat", "--max-members", 3, "--c1", 1, "--c2", 1)
    table = read_table(tmp_path / "run" / "minimal_ensemble.tsv")
    mine = [(len(one.frames), frame, weight) for one in found.minimal
            for frame, weight in zip(one.frames, one.weights)]
    np.testing.assert_allclose([list(row) for row in mine],
                               np.transpose([table["members"], table["frame"], table["weight"]]), atol=2e-6)
    np.testing.assert_allclose(weights.weights, read_table(tmp_path / "run" / "weights.tsv")["weight"],
                               atol=1e-7)
    # A report of the result shows the same sizes as that of the run.
    found.save(tmp_path / "saved")
    sizes = read_table(tmp_path / "saved" / "ensemble_sizes.tsv")
    table = read_table(tmp_path / "run" / "ensemble_sizes.tsv")
    assert table.dtype.names == sizes.dtype.names
    for name in sizes.dtype.names:
        np.testing.assert_allclose(table[name], sizes[name], rtol=1e-3, err_msg=name)
    assert sizes["chosen"].sum() == 1 and sizes["near_best"][sizes["chosen"] == 1] == 1
    # Validations that are no numbers are null in JSON.
    told = json.loads((tmp_path / "run" / "fit.json").read_text())
    for one in (*told["ensemble"]["minimal"], *told["ensemble"]["maximum_entropy"]):
        one["validation_chi2"] = one["validation_error"] = None
    (tmp_path / "run" / "fit.json").write_text(json.dumps(told))
    loaded = pleat.load(tmp_path / "run")
    for one in (*loaded.minimal, *loaded.reweighted):
        assert np.isnan(one.validation) and np.isnan(one.validation_error)
    kept, expected = chosen.fit.model, chosen.fit.model.copy()
    del found, chosen, pair, weights
    pleat.saxs(ensemble, q_points=200)
    np.testing.assert_array_equal(kept, expected)


def test_mixtures_models_and_slices(tmp_path):
    whole = pleat.read_ensemble(STRUCTURE)
    part = whole.select("A:151-180")
    path, _ = made_curve(tmp_path)
    both = pleat.saxs([whole, part], mixture=True, data=path, max_members=2)
    assert both.intensity.shape[0] == 2 and len(both.minimal) >= 1
    assert both.minimal[0].frames.tolist() == [0]
    apart = whole.xyz + np.float32([[[60, 0, 0]]])
    dimer = pleat.Ensemble(np.concatenate([whole.xyz, apart]), whole.topology)
    assert (pleat.saxs(dimer).frames, pleat.saxs(dimer, models_are="states").frames) == (1, 2)
    assert any("treated as parts of one" in note for note in pleat.saxs(dimer).notes)
    assert any("biological assembly 1 (DIMERIC)" in note for note in pleat.saxs(STRUCTURE).notes)
    twice = pleat.read_ensemble([STRUCTURE, DATA / "1a8o.cif.gz"])
    assert pleat.saxs(twice[1:], models_are="parts").files == [str(DATA / "1a8o.cif.gz")]


def test_profiles_of_arrays_are_those_of_the_formula():
    random = np.random.default_rng(3)
    q = np.linspace(0, 0.5, 40)
    xyz = random.normal(0, 12, (3, 50, 3)).astype(np.float32)
    types = random.integers(0, 4, 50)
    factors, scales = random.random((2, 4, 40)) + 1, random.random((3, 1, 50)).astype(np.float32)
    model = pleat.saxs.Model(q, factors, types, scaled=[False, True])
    np.testing.assert_array_equal(model.factors, factors)
    np.testing.assert_array_equal(model.types, types)
    weights = [0.7, -1.3]
    for precision, tolerance in (("float32", 2e-6), ("float64", 1e-6)):
        partial = pleat.saxs.profiles(model, xyz, scales=scales, precision=precision)
        assert partial.shape == (3, 3, 40)
        for frame, found in enumerate(pleat.saxs.combine(partial, weights)):
            amplitudes = (weights[0] * factors[0, types]
                          + weights[1] * scales[frame, 0, :, None] * factors[1, types])
            expected = debye(xyz[frame], amplitudes, q)
            size = debye(xyz[frame], np.abs(weights[0]) * factors[0, types]
                         + np.abs(weights[1]) * scales[frame, 0, :, None] * factors[1, types], q)
            assert (np.abs(found - expected) < 3 * tolerance * size.max()).all()
    np.testing.assert_allclose(pleat.saxs.combine(partial), partial.sum(axis=1))


def test_scatterers_give_the_profile_of_the_structure():
    for model, c2 in (("all-atom", 0), ("all-atom", 1.5), ("two-bead", 0.8), ("one-bead", None)):
        c1 = 1 if model == "all-atom" else None
        whole = pleat.saxs(STRUCTURE, model=model, c1=c1, c2=c2, q_points=51)
        made = pleat.saxs.scatterers(STRUCTURE, model=model, c1=c1, c2=c2, q_points=51)
        partial = pleat.saxs.profiles(made.model, made.xyz, scales=made.scales)
        np.testing.assert_allclose(partial.sum(axis=1)[0], whole.mean, rtol=4e-6)
        assert (made.scales is None) == (not c2) and made.name == model
        assert len(made.atoms) == made.xyz.shape[1] == len(made.model.types)
        assert (made.sites > 0) == bool(c2)
    topology = pleat.read_ensemble(STRUCTURE).topology
    assert {topology.residue_names[atom] for atom in made.atoms} <= {*topology.residue_names}
    other = pleat.saxs.scatterers(STRUCTURE, q=[0.01, 0.1, 0.2])
    np.testing.assert_array_equal(other.model.q, [0.01, 0.1, 0.2])


@pytest.mark.parametrize("name", ["lysozyme", "trypsin_bodies"])
def test_profiles_of_known_structures(name):
    oracle = np.load(DATA / "oracles" / "saxs" / f"{name}.npz")
    factors = oracle["factors"] if "factors" in oracle else oracle["vacuum"] - oracle["excluded"]
    model = pleat.saxs.Model(oracle["q"], factors, oracle["types"])
    found = pleat.saxs.profiles(model, oracle["xyz"])[0, 0]
    np.testing.assert_allclose(found, oracle["intensity"], rtol=2e-6)


def test_the_oracle_of_1888_bodies():
    folder = SHARED / "oracle" / "saxs" / "paper_1888"
    if not folder.exists():
        pytest.skip("the shared data is not there")
    q, expected = np.loadtxt(folder / "oracle_float64_numpy.dat")[:, :2].T
    places = np.loadtxt(folder / "test1888.pos_matrix.txt")
    text = (folder / "test1888.ff_db.txt").read_text()
    factors = np.array("".join(c if c not in "[]," else " " for c in text).split(), float)
    factors = factors.reshape(len(q), -1).T
    model = pleat.saxs.Model(q, factors, places[:, 3].astype(int))
    found = pleat.saxs.profiles(model, places[:, :3])[0, 0]
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    session = pleat.saxs.ProfileSession(model, places[:, :3])
    np.testing.assert_allclose(session.profile()[0], expected, rtol=2e-6)


def test_curves(tmp_path):
    path, (q, intensity, sigma) = made_curve(tmp_path)
    curve = pleat.read_profile(path)
    assert len(curve) == len(q) and "1/angstrom" in curve.notes[0] and "296 points" in repr(curve)
    np.testing.assert_array_equal(curve.q, q)
    np.testing.assert_array_equal(curve.sigma, sigma)
    in_nm = pleat.profile((10 * q, intensity, sigma), q_unit="1/nm")
    np.testing.assert_allclose(in_nm.q, q)
    assumed = pleat.profile((q, intensity), assume_error=0.1)
    np.testing.assert_allclose(assumed.sigma, 0.1 * intensity)
    assert "296 of 296" in assumed.notes[0] and pleat.profile(curve) is curve
    held = curve.q
    del curve
    np.testing.assert_array_equal(held, q)


def test_a_wrong_unit_is_warned_of(tmp_path):
    _, (q, intensity, sigma) = made_curve(tmp_path)
    with pytest.warns(UserWarning, match="--q-unit 1/nm"):
        found = pleat.saxs(STRUCTURE, data=(10 * q, intensity, sigma), q_max=5)
    assert len(found.warnings) == 1


def test_columns_curve_and_q_min_choose_what_is_read(tmp_path):
    _, (q, intensity, sigma) = made_curve(tmp_path)
    rows = "".join(f"{a} {s} {i}\n" for a, i, s in zip(q, intensity, sigma))
    path = tmp_path / "two.dat"
    path.write_text("0.1 1 1\n" * 9 + "again\n" + rows)
    reading = {"columns": "1,3,2", "curve": 2, "q_min": 0.05}
    curve = pleat.read_profile(path, **reading)
    np.testing.assert_array_equal(curve.intensity, intensity[q >= 0.05])
    assert pleat.saxs(STRUCTURE, data=path, **reading).fit.chi2 == pleat.saxs(STRUCTURE, data=curve).fit.chi2
    with pytest.raises(pleat.UsageError, match="expected columns and q_min with data"):
        pleat.saxs(STRUCTURE, columns="1,2", q_min=0.1)
    with pytest.raises(pleat.UsageError, match="expected columns with a path"):
        pleat.saxs(STRUCTURE, data=curve, columns="1,2")


def test_the_structure_decides_the_unit_of_a_curve(tmp_path):
    made = pleat.saxs(STRUCTURE, q_points=171, q_max=1.7)
    rows = [(q, i, (0.01 + 0.001 * (n * n % 7)) * i) for n, (q, i) in enumerate(zip(made.q, made.mean)) if q > 0.03]
    np.savetxt(tmp_path / "wide.dat", rows)
    assert pleat.read_profile(tmp_path / "wide.dat").q[-1] == pytest.approx(0.17)
    found = pleat.saxs(STRUCTURE, data=tmp_path / "wide.dat", q_max=1.7)
    assert found.curve.q[-1] == pytest.approx(1.7)
    assert [note.kind for note in found.notes].count("unit") == [note.kind for note in found.curve.notes].count("unit") == 1


def test_curves_are_sorted_and_points_without_errors_left_out():
    curve = pleat.profile(([0.1, 0.3, 0.2, 0.4, 0.5], [5, 3, 4, 2, 1], [1, 1, 1, 1, 0]))
    assert curve.q.tolist() == [0.1, 0.2, 0.3, 0.4] and curve.intensity.tolist() == [5, 4, 3, 2]
    assert "1 of 5 points without a usable error" in curve.notes[0] and "sorted by q" in curve.notes[1]


@pytest.mark.parametrize("source, options, kind, text", [
    (([0.1, 0.2], [1, 1], [1, 1]), {}, pleat.InputError, "expected from 3 to 1000000 points, found 2"),
    (([0.1, 0.2, 0.3], [1, 1, 1], [1, 1]), {}, pleat.InputError, "one length, found 3, 3 and 2"),
    (([0.1, 0.2, 0.3], [1, 1, 1]), {}, pleat.InputError, "found no error"),
    (([0.1, 0.2, 0.3] * 2, [1] * 6, [1] * 6), {}, pleat.InputError, "curve:4: expected one curve"),
    (([0.1, 0.2, 0.3], [1, np.nan, 1], [1, 1, 1]), {}, pleat.InputError, "expected 3 or more points, found 2"),
    (([0.1, 0.2, 0.3], [1, 1, 1], [1, 0, 1]), {}, pleat.InputError, "curve:2: expected errors above 0"),
    (([10, 20, 30], [1, 1, 1], [1, 1, 1]), {}, pleat.InputError, "expected a curve that ends between"),
    (np.ones((3, 7)), {}, pleat.InputError, r"expected a curve .* of shape \(3, 7\)"),
    (([0.1, 0.2, 0.3], [1, 1, 1]), {"assume_error": 0}, pleat.UsageError, "assume_error: expected"),
    ("absent.dat", {}, pleat.InputError, "absent.dat"),
    (([0.1, 0.2, 0.3],) * 3, {"q_unit": "pm"}, pleat.UsageError, "q_unit: expected one of auto"),
])
def test_curves_that_are_refused(source, options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.profile(source, **options)


def damaged(value):
    ensemble = moved_ensemble(2)
    ensemble.xyz[1, 3, 1] = value
    return ensemble


def shrunk():
    ensemble = moved_ensemble(2)
    ensemble.xyz = ensemble.xyz[:, :-1]
    return ensemble


@pytest.mark.parametrize("make, options, kind, text", [
    (lambda: np.ones((2, 5, 3)), {}, pleat.InputError, "expected atoms of known elements, found coordinates"),
    (lambda: damaged(np.nan), {}, pleat.InputError, "frame 1: expected coordinates within 1e8 angstrom, found nan"),
    (lambda: damaged(np.inf), {"models_are": "parts"}, pleat.InputError, "1e8 angstrom, found inf"),
    (shrunk, {}, pleat.UsageError, "expected coordinates of .* atoms, found"),
    (lambda: STRUCTURE, {"q_max": 9}, pleat.UsageError, "q_max: expected"),
    (lambda: STRUCTURE, {"models_are": "many"}, pleat.UsageError, "models_are: expected one of auto"),
    (lambda: STRUCTURE, {"c1_min": 1.2}, pleat.UsageError, "c1_min of at most"),
    (lambda: STRUCTURE, {"form_factors": "x"}, pleat.UsageError, "model='one-bead' or two-bead"),
    (lambda: STRUCTURE, {"mixture": True}, pleat.UsageError, "a list of components"),
    (lambda: [], {"mixture": True}, pleat.UsageError, "at least 1 structure"),
    (lambda: STRUCTURE, {"device": "cuda:77"}, pleat.DeviceError, "cuda:77"),
    (lambda: STRUCTURE, {"q_unit": "1/nm"}, pleat.UsageError, "with data, found none"),
    (lambda: STRUCTURE, {"data": ([0.6, 0.7, 0.8],) * 3}, pleat.InputError, "8 or more points up to q_max"),
    (lambda: STRUCTURE, {"precission": "float64"}, TypeError, "the nearest is 'precision'"),
])
def test_refusals(make, options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.saxs(make(), **options)


@pytest.mark.parametrize("make, text", [
    (lambda: pleat.saxs.Model([0, 0.1], np.ones((1, 3)), [0]), "expected form factors"),
    (lambda: pleat.saxs.Model([0.1, 0.1], np.ones((1, 2)), [0]), "expected rising q"),
    (lambda: pleat.saxs.Model([0, 0.1], np.ones((1, 2)), [1]), "expected types from 0 to 0, found 1"),
    (lambda: pleat.saxs.Model([0, 0.1], np.ones((1, 2)), [0.5]), "whole numbers as types"),
    (lambda: pleat.saxs.Model([0, 0.1], np.full((1, 2), np.nan), [0]), "form factors within"),
    (lambda: pleat.saxs.Model([0, 0.1], np.ones((1, 2)), [0], scaled=[1, 0]), "1 marks of scaled"),
    (lambda: pleat.saxs.Model([0, 0.1], np.ones((1, 2))), "one of types and count"),
    (lambda: pleat.saxs.combine(np.ones((2, 5))[0]), "expected partial profiles"),
    (lambda: pleat.saxs.combine(np.ones((2, 5)), [1, 1]), "one weight per channel of 2 pairs"),
    (lambda: pleat.saxs.resample(np.ones((1, 3)), [0, 1, 2], [1.5, 2.5]), "from 0 to 2"),
    (lambda: pleat.saxs.resample(np.ones((1, 1)), [0], [0]), "2 or more rising q"),
    (lambda: pleat.saxs.fit_scale([1, 2], ([0.1, 0.2, 0.3],) * 3), r"at the curve's q, \[3\]"),
    (lambda: pleat.saxs.scatterers(STRUCTURE, q=[]), "at least 1 value of q"),
    (lambda: pleat.saxs.scatterers(STRUCTURE, q=[0.2, 0.1]), "rising q"),
])
def test_arrays_that_are_refused(make, text):
    with pytest.raises((pleat.InputError, pleat.UsageError), match=text):
        make()


def test_resampled_profiles_are_those_at_other_points():
    made = pleat.saxs.scatterers(STRUCTURE, q_points=101)
    at = np.linspace(0.013, 0.487, 33)
    direct = pleat.saxs.scatterers(STRUCTURE, q=at)
    found = pleat.saxs.resample(pleat.saxs.profiles(made.model, made.xyz)[0], made.model.q, at)
    np.testing.assert_allclose(found, pleat.saxs.profiles(direct.model, direct.xyz)[0], rtol=2e-4)


def test_the_module_is_a_function_and_a_module():
    import inspect
    from pleat.saxs import ProfileSession
    assert ProfileSession is pleat.saxs.ProfileSession
    assert inspect.ismodule(pleat.saxs) and callable(pleat.saxs)
    assert inspect.signature(pleat.saxs).parameters["data"].default is None
    assert ProfileSession.__module__ == "pleat.saxs"
    text = in_process("import pleat.saxs; help(pleat.saxs)")
    assert "The module is a function too" in text and "class ProfileSession" in text and "c2_max" in text


def test_progress_ctrl_c_and_threads():
    calls = []
    ensemble = moved_ensemble(200)
    pleat.saxs(ensemble, models_are="states", progress=lambda *call: calls.append(call))
    assert {"shape"} <= {call[0] for call in calls} and calls[-1][1] <= calls[-1][2]

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough("of it")

    with pytest.raises(Enough, match="of it"):
        pleat.saxs(ensemble, models_are="states", c2=1, progress=stop)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    pleat.saxs(STRUCTURE, device="reference", q_points=101)
    lasted = time.monotonic() - begin
    ended.set()
    counter.join()
    assert counted[0] > 20 * min(lasted, 1.0)


def test_ctrl_c_is_a_keyboard_interrupt():
    code = ("import os, numpy as np, pleat, sys\n"
            "e = pleat.read_ensemble(sys.argv[1])\n"
            "e = pleat.Ensemble(np.repeat(e.xyz, 4000, axis=0), e.topology)\n"
            "told = []\n"
            "def tell(*a):\n    told or print('began', flush=True); told.append(a)\n"
            "try:\n    pleat.saxs(e, models_are='states', c2=1, progress=tell)\n"
            "except KeyboardInterrupt:\n    print('interrupted'); sys.exit(7)\n")
    with subprocess.Popen([sys.executable, "-c", code, os.fspath(STRUCTURE)], stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert (process.wait(60), rest) == (7, "interrupted\n")


def test_neutrons_and_a_series_of_contrasts():
    kept = {"c1": 1.01, "c2": 1.2, "q_points": 201}
    xrays = pleat.saxs(STRUCTURE, **kept)
    heavy = pleat.saxs(STRUCTURE, neutrons=True, d2o=1.0, **kept)
    point, = heavy.match_points
    light, dense = ((2 * h + 5.8037) / 29.9 for h in (-3.7409, 6.6681))
    match = (point["length"] - light * point["volume"]) / ((dense - light) * point["volume"] - point["gain"])
    assert abs(point["d2o"] - match) < 1e-6 and xrays.match_points == []
    made = pleat.saxs.scatterers(STRUCTURE, neutrons=True, d2o=1.0, **kept)
    partial = pleat.saxs.profiles(made.model, made.xyz, scales=made.scales)
    np.testing.assert_allclose(partial.sum(axis=1)[0], heavy.mean, rtol=1e-5)

    def curve(result):
        scaled = result.mean / result.mean[0]
        return result.q[2:-2], scaled[2:-2], 0.01 * scaled[2:-2]

    fitted = pleat.saxs(STRUCTURE, data=curve(xrays), series=[(curve(heavy), 1.0)])
    assert abs(fitted.c1 - 1.01) < 0.01 and abs(fitted.c2 - 1.2) < 0.2
    assert fitted.series[0].c2 == fitted.c2 and fitted.joint["points"] == 2 * fitted.fit.points
    assert abs(fitted.series[0].background) < 1e-3 and fitted.joint["chi2"] < 0.05
    with pytest.raises(pleat.InputError, match="series of pairs"):
        pleat.saxs(STRUCTURE, data=curve(xrays), series=[curve(heavy)])


def test_curves_smear_by_the_spread_of_q():
    q = np.linspace(0.01, 0.3, 60)
    columns = (q, 1 / (1 + 100 * q), 0.01 + 0 * q, 0.002 + 0 * q)
    read = pleat.profile(columns, smear=True)
    np.testing.assert_array_equal(read.dq, columns[3])
    assert pleat.profile(columns[:3]).dq is None
    with pytest.raises(pleat.InputError, match="q, intensity, sigma and dq"):
        pleat.profile(columns[:3], smear=True)


def test_analyse_takes_numbers_as_concentrations_and_lists_of_arrays(tmp_path):
    _, columns = made_curve(tmp_path)
    random, curves = np.random.default_rng(2), []
    for n in range(2):
        q, intensity, sigma = columns
        curves.append(np.transpose([q, intensity + sigma * random.normal(size=q.size), sigma]))
        np.savetxt(tmp_path / f"{n}.dat", curves[n], fmt="%.17g")
    expected = pleat.analyse([tmp_path / "0.dat", tmp_path / "1.dat"], concentration="1,2.5")
    given = (curves, np.array(curves), [pleat.profile(one) for one in curves], [tuple(one.T) for one in curves],
             [[list(column) for column in one.T] for one in curves], [curves[0], tmp_path / "1.dat"])
    for one, concentration in zip(given, ([1, 2.5], np.array([1, 2.5]), (1.0, 2.5), "1,2.5", [1, 2.5], [1, 2.5])):
        found = pleat.analyse(one, concentration=concentration)
        assert found.curves["concentration"] == ["1", "2.5", "0"] and found.rg == expected.rg
    assert pleat.analyse(curves).curves["curve"] == ["curve 1", "curve 2", "average"]
    assert pleat.analyse(curves, concentration=2).curves["concentration"][:2] == ["2", "2"]
    for one in (tuple(curves[0].T), list(curves[0].T), curves[0]):
        assert pleat.analyse(one, concentration=2.5).curves["curve"] == ["curve"]
    for concentration in ([], ["x"], object(), None):
        with pytest.raises(pleat.UsageError, match="concentration"):
            pleat.analyse(curves, concentration=concentration)
    with pytest.raises(pleat.InputError, match="expected another measurement than curve 1"):
        pleat.analyse([curves[0], curves[0]])
