# Refine from Python: the numbers of the program, profiles of frames, cancelling, refusals.
import gzip
import json

import numpy as np
import pleat
import pytest
from helpers import DATA, program

STRUCTURE = DATA / "1a8o.pdb.gz"
LINKER = "A:174-179"
FEW = {"linkers": LINKER, "frames": 60, "chains": 4, "moves": 20}
ARGUMENTS = ("--linkers", LINKER, "--frames", 60, "--chains", 4, "--moves", 20)


@pytest.fixture(scope="module")
def curve():
    """The curve of the structure, errors 2 %."""
    profile = pleat.saxs(STRUCTURE, q_max=0.3)
    return pleat.profile((profile.q[1:], profile.mean[1:], 0.02 * profile.mean[1:]))


def refine(*arguments, **keywords):
    with pytest.warns(UserWarning, match="not converged: "):
        return pleat.refine(*arguments, **keywords)


def table(path):
    rows = [line.split("\t") for line in path.read_text(encoding="ascii").splitlines()]
    return {name: np.array([float(row[n]) for row in rows[1:]]) for n, name in enumerate(rows[0])}


def test_the_program_finds_the_same(tmp_path):
    program("refine", STRUCTURE, *ARGUMENTS, "-o", tmp_path / "run")
    found = refine(STRUCTURE, **FEW)
    columns = table(tmp_path / "run" / "frames.tsv")
    assert ["frame", *found.table] == list(columns)
    for name, values in found.table.items():
        np.testing.assert_allclose(values, columns[name], atol=6e-5, err_msg=name)
    frames = pleat.read_ensemble(tmp_path / "run" / "frames.dcd", topology=tmp_path / "run" / "topology.pdb")
    np.testing.assert_array_equal(found.frames.xyz, frames.xyz)
    assert found.frames.topology.names == frames.topology.names
    told = json.loads((tmp_path / "run" / "convergence.json").read_text(encoding="utf-8"))
    assert (found.converged, found.warning) == (False, told["remark"])
    assert (found.domains, found.linkers) == (told["domains"], told["linkers"])
    for one in told["quantities"]:
        assert found.convergence[one["name"]] == {
            "r_hat": pytest.approx(one["r_hat"]), "effective_size": pytest.approx(one["effective_size"]),
            "converged": one["converged"]}
    assert found.moves == {one["kind"]: (one["proposed"], one["accepted"]) for one in told["moves"]}
    assert found.angles == 18 and found.saxs is None and found.powers is None


def test_arrays_stay_when_the_result_is_gone():
    found = refine(pleat.read_ensemble(STRUCTURE), **FEW, threads=1)
    again = refine(STRUCTURE, **FEW, threads=2)
    rg, xyz = found.table["rg"], found.frames.xyz
    del found
    np.testing.assert_array_equal(rg, again.table["rg"])
    np.testing.assert_array_equal(xyz, again.frames.xyz)
    assert (refine(STRUCTURE, **FEW, seed=2).frames.xyz != xyz).any()


def test_frames_are_fitted_to_a_curve(curve):
    found = refine(STRUCTURE, data=curve, model="two-bead", mode="pool", **FEW)
    same = pleat.saxs(found.frames, data=curve, model="two-bead")
    np.testing.assert_array_equal(found.saxs.intensity, same.intensity)
    assert found.saxs.fit.chi2 == same.fit.chi2 and found.saxs.frames == 60
    assert "chi2" not in found.table


def test_frames_have_profiles_without_a_curve():
    found = refine(STRUCTURE, profiles=True, model="two-bead", q_max=0.3, **FEW)
    np.testing.assert_array_equal(found.saxs.intensity, pleat.saxs(found.frames, model="two-bead", q_max=0.3).intensity)
    assert found.saxs.intensity.shape == (60, found.saxs.q.size) and found.saxs.fit is None


def test_frames_are_drawn_by_the_likelihood_of_a_curve(curve):
    found = refine(STRUCTURE, data=curve, model="two-bead", reweight=False, **FEW | {"frames": 256, "chains": 4, "moves": 10},
                   mode="fit", doublings=0)
    assert found.powers[0] == 0 and found.powers[-1] == 1
    assert 1 <= found.ancestors < 256 and found.log_evidence < 0 < found.log_evidence_error
    assert np.median(found.table["chi2"]) < 5 and set(found.convergence) == {"rg", "distance_1_2", "ln_likelihood"}
    assert np.ptp(found.table["rg"]) < np.ptp(refine(STRUCTURE, **FEW).table["rg"])


def test_files_of_domains_are_joined(tmp_path):
    with gzip.open(STRUCTURE, "rt", encoding="ascii") as file:
        atoms = [(int(line[22:26]), line) for line in file if line.startswith(("ATOM", "HETATM"))]
    paths = [tmp_path / "one.pdb", tmp_path / "two.pdb"]
    for path, kept in zip(paths, (range(174), range(180, 1000))):
        path.write_text("".join(line for number, line in atoms if number in kept), encoding="ascii")
    fasta = tmp_path / "protein.fasta"
    fasta.write_text(">p\nMDIRQGPKEPFRDYVDRFYKTLRAEQASQEVKNWMTETLLVQNANPDCKTILKALGPGATLEEMMTACQG\n", encoding="ascii")
    few = {name: value for name, value in FEW.items() if name != "linkers"}
    found = refine(paths, sequence=fasta, **few)
    assert found.built == ["A:174-179"] and len(found.domains) == 2
    with pytest.raises(pleat.InputError, match="missing residues link the domains"):
        pleat.refine(paths, linkers="A:160-165")


def test_missing_residues_are_built(tmp_path):
    whole = pleat.read_ensemble(STRUCTURE)
    gap = whole.select("not resid 174-179")
    fasta = tmp_path / "protein.fasta"
    fasta.write_text(">p\nMDIRQGPKEPFRDYVDRFYKTLRAEQASQEVKNWMTETLLVQNANPDCKTILKALGPGATLEEMMTACQG\n", encoding="ascii")
    found = refine(gap, sequence=fasta, **{name: value for name, value in FEW.items() if name != "linkers"})
    assert found.built == ["A:174-179"] and found.linkers == ["A:174-180"]
    assert len(set(found.frames.topology.residue_numbers)) == 70


def test_a_sequence_needs_no_structure(tmp_path):
    fasta = tmp_path / "protein.fasta"
    fasta.write_text(">histatin_5\nDSHAKRHHGYKRKFHEKHHSHRGY\n", encoding="ascii")
    found = refine(sequence=fasta, frames=60, chains=4, moves=20)
    assert (found.domains, found.linkers, found.frames.xyz.shape) == ([], ["A:1-24"], (60, 216, 3))
    assert "end_to_end" in found.table and "end_to_end" in found.convergence
    with pytest.raises(pleat.UsageError, match="a sequence alone"):
        pleat.refine(frames=60)


def test_copies_of_an_oligomer_move_alike(tmp_path):
    dimer = pleat.read_ensemble(DATA / "1a8o.cif.gz", assembly="1")
    found = refine(dimer, group="A:180-220", symmetry="c2", **FEW)
    assert (found.symmetry, found.angles, len(found.linkers)) == ("c2", 18, 2)
    np.testing.assert_allclose(found.table["distance_1_2"], found.table["distance_1_3"], atol=1e-3)
    program("refine", DATA / "1a8o.cif.gz", "--assembly", 1, "--group", "A:180-220", "--symmetry", "p2", *ARGUMENTS,
            "-o", tmp_path / "run")
    read = pleat.load(tmp_path / "run")
    assert read.symmetry == "c2" and refine(STRUCTURE, **FEW).symmetry is None
    np.testing.assert_array_equal(read.frames.xyz, found.frames.xyz)
    with pytest.raises(pleat.UsageError, match="symmetry: expected one axis, c2 to c12"):
        pleat.refine(dimer, group="A:180-220", symmetry="d2", **FEW)


def test_progress_stops_a_call():
    class Enough(Exception):
        pass

    def stop(stage, done, total, note):
        if stage == "sample" and done > 3:
            raise Enough

    with pytest.raises(Enough):
        pleat.refine(STRUCTURE, linkers=LINKER, frames=100000, progress=stop)


def test_refusals(curve):
    for error, text, keywords in (
            (pleat.UsageError, "give one of linkers, rigid and pae", {}),
            (pleat.UsageError, "frames: expected a whole number", {"linkers": LINKER, "frames": 0}),
            (pleat.InputError, "expected residue 300 of A:300-310", {"linkers": "A:300-310"}),
            (pleat.UsageError, "give a curve by data for mode", {"linkers": LINKER, "mode": "fit"}),
            (pleat.UsageError, "no background", {"linkers": LINKER, "mode": "fit", "data": curve, "background": True}),
            (pleat.UsageError, "q_unit with data", {"linkers": LINKER, "q_unit": "1/nm"}),
            (TypeError, "nearest is 'linkers'", {"linker": LINKER})):
        with pytest.raises(error, match=text):
            pleat.refine(STRUCTURE, **keywords)
    start = pleat.read_ensemble(STRUCTURE)
    with pytest.raises(pleat.InputError, match="structure of 1 frame, found 2"):
        pleat.refine(pleat.Ensemble(np.repeat(start.xyz, 2, axis=0), start.topology), linkers=LINKER)
    with pytest.raises(pleat.InputError, match="atoms with names"):
        pleat.refine(np.zeros((1, 5, 3), np.float32), linkers=LINKER)
    smeared = pleat.profile((curve.q, curve.intensity, curve.sigma, 0.01 * curve.q), smear=True)
    with pytest.raises(pleat.UsageError, match="without dq"):
        pleat.refine(STRUCTURE, linkers=LINKER, data=smeared)
