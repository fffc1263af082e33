# RMSD from Python: values against float64 and the program, copies, Ctrl-C, threads, refusals.
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pleat
import pytest
from helpers import in_process, kabsch, made_ensemble, program


def test_values_are_those_of_float64():
    xyz = made_ensemble()
    result = pleat.rmsd(xyz)
    expected = [kabsch(xyz[i], xyz[j]) for i in range(30) for j in range(i + 1, 30)]
    assert result.matrix.dtype == np.float32 and result.matrix.shape == (435,)
    np.testing.assert_allclose(result.matrix, expected, atol=2e-5)
    assert (result.frames, result.atoms, result.pairs) == (30, 20, 435)
    assert result.histogram.sum() == 435 and result.device == "cpu"
    assert result.mean == pytest.approx(np.mean(expected), abs=1e-5)


@pytest.mark.parametrize("metric", ["rmsd", "drmsd", "tm"])
def test_the_program_finds_the_same_bits(tmp_path, metric):
    xyz = made_ensemble(150, 33)
    np.save(tmp_path / "e.npy", xyz)
    program("rmsd", tmp_path / "e.npy", "-o", tmp_path / "run", "--metric", metric, "--nearest", 3,
            "--matrix", "full", "--device", "cpu")
    result = pleat.rmsd(xyz, metric=metric, nearest=3, matrix="full", device="cpu")
    np.testing.assert_array_equal(result.matrix, np.load(tmp_path / "run" / f"{metric}.npy"))
    best = np.load(tmp_path / "run" / "best.npz")
    np.testing.assert_array_equal(result.best_indices, best["indices"])
    np.testing.assert_array_equal(pleat.square(pleat.rmsd(xyz, metric=metric).matrix,
                                               result.matrix[0, 0]), result.matrix)


@pytest.mark.parametrize("frames", [1, 2, 63, 64, 65, 130])
def test_full_matrices_of_any_size_are_whole(frames):
    xyz = made_ensemble(frames, 4)
    full = pleat.rmsd(xyz, matrix="full").matrix
    assert full.shape == (frames, frames) and np.isfinite(full).all()
    assert not full.diagonal().any()
    np.testing.assert_array_equal(full, full.T)
    np.testing.assert_array_equal(full[np.triu_indices(frames, 1)], pleat.rmsd(xyz).matrix)


def test_sets_references_and_atoms():
    xyz = made_ensemble()
    rectangle = pleat.rmsd(xyz[:10], against=xyz[10:]).matrix
    full = pleat.rmsd(xyz, matrix="full").matrix
    np.testing.assert_allclose(rectangle, full[:10, 10:], atol=2e-5)
    values = pleat.rmsd(xyz, reference=3).values
    np.testing.assert_allclose(values, full[3], atol=2e-5)
    np.testing.assert_array_equal(values, pleat.rmsd(xyz, reference=xyz[3]).values)
    mean = pleat.mean_structure(xyz)
    assert mean.shape == (20, 3)
    np.testing.assert_array_equal(pleat.rmsd(xyz, reference="mean").values,
                                  pleat.rmsd(xyz, reference=mean).values)
    some = pleat.rmsd(xyz, select=range(10)).matrix
    np.testing.assert_allclose(some, pleat.rmsd(xyz[:, :10]).matrix, atol=2e-5)
    apart = pleat.rmsd(xyz, select=range(10), measure=range(20)).matrix
    assert (apart >= pleat.rmsd(xyz).matrix - 1e-4).all()
    heavy = pleat.rmsd(xyz, atom_weights=np.full(20, 2.0)).matrix
    np.testing.assert_allclose(heavy, pleat.rmsd(xyz).matrix, atol=2e-5)


def test_neighbours():
    xyz = made_ensemble()
    full = pleat.rmsd(xyz, matrix="full", cutoff=2.2)
    for i in range(30):
        row = slice(full.neighbour_starts[i], full.neighbour_starts[i + 1])
        near = [j for j in range(30) if j != i and full.matrix[i, j] < np.float32(2.2)]
        assert list(full.neighbour_indices[row]) == near
    assert pleat.rmsd(xyz, matrix="none").matrix is None
    assert pleat.rmsd(xyz).neighbour_indices is None


def test_no_neighbours_below_the_cutoff_are_empty_lists(tmp_path):
    found = pleat.rmsd(made_ensemble(), cutoff=1e-6)
    found.save(tmp_path / "run")
    for one in (found, pleat.load(tmp_path / "run")):
        assert one.neighbour_starts.tolist() == [0] * 31
        assert one.neighbour_indices.dtype == np.int32 and one.neighbour_indices.size == 0
        assert one.neighbour_values.dtype == np.float32 and one.neighbour_values.size == 0


@pytest.mark.parametrize("other", [np.float64, np.int32])
def test_other_types_and_orders_are_converted(other):
    xyz = np.round(made_ensemble(8, 6) * 4).astype(np.float32)
    expected = pleat.rmsd(xyz).matrix
    np.testing.assert_array_equal(pleat.rmsd(xyz.astype(other)).matrix, expected)
    np.testing.assert_array_equal(pleat.rmsd(np.asfortranarray(xyz)).matrix, expected)
    np.testing.assert_array_equal(pleat.rmsd(np.repeat(xyz, 2, axis=0)[::2]).matrix, expected)
    xyz.flags.writeable = False
    np.testing.assert_array_equal(pleat.rmsd(xyz).matrix, expected)
    np.testing.assert_array_equal(pleat.rmsd(xyz.astype(">f4")).matrix, expected)


def test_results_outlive_the_call_and_the_object():
    result = pleat.rmsd(made_ensemble(), nearest=2)
    best, expected = result.best_indices, result.best_indices.copy()
    del result
    made_ensemble(100, 100)
    np.testing.assert_array_equal(best, expected)


GROWTH = """
import numpy as np, pleat, resource
xyz = np.ones(({frames}, {atoms}, 3), {type})
xyz += np.random.default_rng(1).random({atoms})[:, None]
pleat.rmsd(xyz[:2, :5], reference=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def growth(call, frames=10, atoms=10, dtype="np.float32"):
    """MiB by which the peak of memory rises in the call."""
    code = GROWTH.format(frames=frames, atoms=atoms, type=dtype, call=call)
    return int(in_process(code)) / 1024


def mebibytes():
    """Size of large arrays here: PLEAT_COPY_TEST_MIB=1024 makes them 1 GiB."""
    return int(os.environ.get("PLEAT_COPY_TEST_MIB", "192"))


def test_coordinates_are_not_copied():
    size = mebibytes()
    frames = size * 2**20 // (1000 * 12)
    wrapped = growth("e = pleat.ensemble(xyz); assert np.shares_memory(e.xyz, xyz)\n"
                     "assert np.shares_memory(e[5:].xyz, xyz)", frames, 1000)
    assert wrapped < 0.05 * size
    # The engine prepares some frames at a time: 48 MiB, and pieces of 16 MiB that the allocator keeps when they are
    # freed, two to four by their order. What has to be converted is a copy.
    for options in ("reference=0", "against=xyz[:20], matrix='none'"):
        call = f"pleat.rmsd(xyz, {options}, threads=1)"
        plain, converted = growth(call, frames, 1000), growth(call, frames, 1000, "np.float64")
        assert plain < 0.05 * size + 130, (options, plain)
        assert converted - plain > 0.6 * size, (options, plain, converted)


def test_matrices_are_not_copied():
    size = 2 * mebibytes()
    frames = int((size * 2**20 / 2) ** 0.5)
    risen = growth("m = pleat.rmsd(xyz)\nassert m.matrix.nbytes > 0", frames, 3)
    assert 0.9 * size < risen < 1.15 * size + 60


def test_ctrl_c_is_a_keyboard_interrupt():
    code = ("import numpy as np, pleat, sys\n"
            "xyz = np.random.default_rng(1).random((4000, 300, 3), np.float32)\n"
            "told = []\n"
            "def tell(*a):\n    told or print('began', flush=True); told.append(a)\n"
            "try:\n    pleat.rmsd(xyz, device='reference', progress=tell)\n"
            "except KeyboardInterrupt:\n    print('interrupted'); sys.exit(7)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        rest = process.stdout.read()
        assert (process.wait(60), rest) == (7, "interrupted\n")
        assert time.monotonic() - begin < 30


def test_progress_is_told_and_may_raise():
    calls = []
    xyz = made_ensemble(3000, 4)
    pleat.rmsd(xyz, progress=lambda *call: calls.append(call), matrix="none")
    stage, done, total, note = calls[-1]
    assert stage == "rmsd" and done == total and isinstance(note, str)

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough("of it")

    with pytest.raises(Enough, match="of it"):
        pleat.rmsd(xyz, progress=stop, device="reference")


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_progress_raises_at_the_end_comes_out(kind):
    def stop(_, done, total, *__):
        if done == total:
            raise kind("at the end")

    xyz = made_ensemble(20, 4)
    for call in (lambda: pleat.rmsd(xyz, progress=stop),
                 lambda: pleat.rmsd(xyz, reference=0, progress=stop),
                 lambda: pleat.mean_structure(xyz, progress=stop),
                 lambda: pleat.cluster(xyz, cutoff=1, progress=stop)):
        with pytest.raises(kind, match="at the end"):
            call()


def test_progress_is_a_function():
    with pytest.raises(TypeError, match="progress: expected a function, found 3"):
        pleat.rmsd(made_ensemble(), progress=3)


def test_other_threads_run_meanwhile():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    pleat.rmsd(made_ensemble(300, 300), device="reference")
    lasted = time.monotonic() - begin
    stop.set()
    counter.join()
    assert counted[0] > 20 * min(lasted, 1.0)


@pytest.mark.parametrize("make, options, kind, text", [
    (lambda: np.ones((4, 6)), {}, pleat.InputError, r"coordinates \[frame, atom, 3\], found shape \(4, 6\)"),
    (lambda: np.full((2, 2, 3), np.nan), {}, pleat.InputError, "frame 0: expected .*found nan"),
    (lambda: made_ensemble(4, 5), {"cutoff": 0}, pleat.UsageError, "cutoff: expected a number >= 1e-30"),
    (lambda: made_ensemble(4, 5), {"device": "cuda:77"}, pleat.DeviceError, "cuda:77"),
    (lambda: made_ensemble(4, 5), {"device": "abacus"}, pleat.UsageError, "abacus"),
    (lambda: made_ensemble(4, 5), {"atom_weights": [1, 2]}, pleat.InputError, "expected .*5 .*found 2"),
    (lambda: made_ensemble(4, 5), {"fit": [9]}, pleat.InputError, "9"),
    (lambda: made_ensemble(4, 5), {"reference": 4}, IndexError, "from 0 to 3, found 4"),
    (lambda: made_ensemble(4, 5), {"reference": 0, "against": 1}, pleat.UsageError, "found both"),
    (lambda: np.ones((0, 5, 3)), {}, pleat.InputError, "at least 1 frame"),
    (lambda: np.ones((5, 0, 3)), {}, pleat.InputError, "1 atom"),
    (lambda: made_ensemble(4, 5), {"atom_weights": []}, pleat.InputError, r"each atom, .*shape \(0,\)"),
    (lambda: made_ensemble(4, 5), {"atom_weights": np.ones((1, 5))}, pleat.InputError, r"shape \(1, 5\)"),
    (lambda: made_ensemble(4, 5), {"reference": 0, "nearest": 2}, pleat.UsageError, "leave nearest out"),
    (lambda: made_ensemble(4, 5), {"reference": 0, "cutoff": 2}, pleat.UsageError, "leave cutoff out"),
    (lambda: made_ensemble(4, 5), {"reference": 0, "matrix": "full"}, pleat.UsageError, "leave matrix='full' out"),
])
def test_refusals(make, options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.rmsd(make(), **options)
