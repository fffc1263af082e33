# Other packages: every function takes the objects of mdtraj, MDAnalysis, Biopython, gemmi, ProDy and pandas.
import gzip
import types
import warnings

import numpy as np
import pleat
import pytest
from helpers import DATA, family
from test_results import LETTERS

PACKAGES = {"mdtraj": "mdtraj", "MDAnalysis": "MDAnalysis", "Biopython": "Bio.PDB", "gemmi": "gemmi",
            "ProDy": "prody", "pandas": "pandas"}
pytestmark = pytest.mark.filterwarnings("ignore")


def models_text(frames):
    """Frames as models of a PDB file."""
    atoms, text = frames.topology, ""
    for number, frame in enumerate(frames.xyz, 1):
        text += f"MODEL     {number:4d}\n"
        for n, (x, y, z) in enumerate(frame.tolist()):
            text += (f"ATOM  {n + 1:5d} {atoms.names[n]:^4s} {atoms.residue_names[n]:3s} {atoms.chains[n]:1s}"
                     f"{atoms.residue_numbers[n]:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          "
                     f"{atoms.elements[n]:>2s}\n")
        text += "ENDMDL\n"
    return text + "END\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths as every function takes them, which objects of packages replace."""
    folder = tmp_path_factory.mktemp("files")
    hivp = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames="::25")
    (folder / "models.pdb").write_text(models_text(hivp), encoding="ascii")
    (folder / "1a8o.pdb").write_bytes(gzip.decompress((DATA / "1a8o.pdb.gz").read_bytes()))
    profile = pleat.saxs(folder / "1a8o.pdb", q_max=0.3, q_points=31, c2=0)
    sequence = "".join(LETTERS[name] for name in hivp.topology.residue_names[:99])
    return types.SimpleNamespace(
        frames=str(folder / "models.pdb"), structure=str(folder / "1a8o.pdb"), rows=family(60, columns=12),
        curve=np.transpose([profile.q[1:], profile.mean[1:], 0.02 * profile.mean[1:]]), sequence=sequence,
        contacts=[(3, 90, 0.9), (10, 60, 0.5)],
        distances=pleat.square(pleat.rmsd(folder / "models.pdb").matrix).astype(np.float64))


def objects(package, files):
    """The objects that a package has for them."""
    if package == "mdtraj":
        import mdtraj
        return {"frames": mdtraj.load(files.frames), "structure": mdtraj.load(files.structure)}
    if package == "MDAnalysis":
        import MDAnalysis
        return {"frames": MDAnalysis.Universe(files.frames), "structure": MDAnalysis.Universe(files.structure).atoms}
    if package == "Biopython":
        import Bio.Align
        import Bio.PDB
        import Bio.SeqRecord
        parser = Bio.PDB.PDBParser(QUIET=True)
        rows = [Bio.SeqRecord.SeqRecord(Bio.Seq.Seq(row), id=f"row {n}") for n, row in enumerate(files.rows)]
        return {"frames": parser.get_structure("models", files.frames),
                "structure": parser.get_structure("1a8o", files.structure), "rows": Bio.Align.MultipleSeqAlignment(rows)}
    if package == "gemmi":
        import gemmi
        return {"frames": gemmi.read_structure(files.frames), "structure": gemmi.read_structure(files.structure)[0]}
    if package == "ProDy":
        import prody
        prody.confProDy(verbosity="none")
        rows = np.array([list(row) for row in files.rows], dtype="S1")
        return {"frames": prody.parsePDB(files.frames), "structure": prody.parsePDB(files.structure).select("all"),
                "rows": prody.MSA(rows, labels=[f"row {n}" for n in range(len(rows))])}
    import pandas
    return {"rows": pandas.Series(files.rows, index=[f"row {n}" for n in range(len(files.rows))]),
            "curve": pandas.DataFrame(files.curve, columns=["q", "intensity", "sigma"]),
            "contacts": pandas.DataFrame(files.contacts, columns=["i", "j", "probability"]),
            "distances": pandas.DataFrame(files.distances)}


# What each function computes of the objects.
CALLS = {
    "alignment": lambda o: pleat.alignment(o.rows).letters,
    "couplings": lambda o: pleat.couplings(o.rows, max_iterations=5).scores,
    "mutants": lambda o: pleat.mutants(o.rows, max_iterations=5).singles["epistatic"],
    "mutual_information": lambda o: pleat.mutual_information(o.rows, null="exact").mi,
    "ensemble": lambda o: pleat.ensemble(o.frames, select="A and name CA").xyz,
    "rmsd": lambda o: pleat.rmsd(o.frames, reference=pleat.ensemble(o.frames)[0], atom_weights="mass").values,
    "mean_structure": lambda o: pleat.mean_structure(o.frames),
    "cluster": lambda o: pleat.cluster(o.distances, cutoff=1.5).assignment,
    "profile": lambda o: np.asarray(pleat.profile(o.curve)),
    "saxs": lambda o: pleat.saxs(o.structure, select="protein", data=o.curve, q_points=31).fit.model,
    "analyse": lambda o: pleat.analyse(o.curve).p,
    "scatterers": lambda o: pleat.saxs.scatterers(o.structure, q_points=4).xyz,
    "profiles": lambda o: np.log(pleat.saxs.profiles(pleat.saxs.scatterers(o.frames, q_points=4).model,
                                                     pleat.saxs.scatterers(o.frames, q_points=4).xyz)),
    "select": lambda o: pleat.select(o.frames, contacts=(o.sequence, o.contacts), cutoff=1.5, min_size=1,
                                     structure=DATA / "hivp.pdb.gz").scores["contacts"],
    "refine": lambda o: pleat.refine(o.structure, linkers="A:174-179", frames=8, chains=2, moves=2).table["rg"],
    "report": lambda o: pleat.report([pleat.cluster(o.frames, cutoff=1.5),
                                      pleat.couplings(o.rows, max_iterations=5)]).panels,
    "accessibility": lambda o: pleat.accessibility(o.structure).relative,
    "square": lambda o: pleat.square(pleat.rmsd(o.frames).matrix),
}
# Of paths and of results alone; other tests call them.
OTHERS = {"load", "read_alignment", "read_ensemble", "read_profile", "run_jobs", "plot", "chi_square_weights", "combine",
          "fit_scale", "resample", "reweight"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_function_takes_objects(package, files):
    pytest.importorskip(PACKAGES[package], reason=f"{package} is not there")
    functions = {name for module in (pleat, pleat.saxs) for name in module.__all__
                 if not isinstance(getattr(module, name), type)}
    assert set(CALLS) | OTHERS == functions
    given = objects(package, files)
    taken = types.SimpleNamespace(**{**vars(files), **given})
    if "frames" in given:
        taken.distances = given["frames"]
    for name, call in CALLS.items():
        np.testing.assert_allclose(call(taken), call(files), rtol=2e-3, atol=3e-3, err_msg=name)
    found, expected = pleat.ensemble(taken.structure).topology, pleat.ensemble(files.structure).topology
    for name in ("names", "elements", "residue_names", "residue_numbers"):
        assert getattr(found, name) == getattr(expected, name)
    if "rows" in given:
        assert pleat.alignment(taken.rows).names[:2] == ["row 0", "row 1"]


ALTERNATIVES = """\
ATOM      1  N   SER A  52A      1.000   2.000   3.000  1.00  0.00           N
ATOM      2  CA ASER A  52A      2.000   2.000   3.000  0.40  0.00           C
ATOM      3  CA BSER A  52A      2.500   2.000   3.000  0.60  0.00           C
ATOM      4  CA ASER A  53      12.000   2.000   3.000  0.50  0.00           C
ATOM      5  CB ASER A  53      13.000   2.000   3.000  0.50  0.00           C
ATOM      6  CA BPRO A  53      12.500   2.000   3.000  0.50  0.00           C
END
"""


@pytest.mark.parametrize("package", ["MDAnalysis", "Biopython", "gemmi", "ProDy"])
def test_alternative_locations_and_insertion_codes_are_those_of_files(package, tmp_path):
    pytest.importorskip(PACKAGES[package], reason=f"{package} is not there")
    (tmp_path / "one.pdb").write_text(ALTERNATIVES, encoding="ascii")
    files = types.SimpleNamespace(frames=str(tmp_path / "one.pdb"), structure=str(tmp_path / "one.pdb"), rows=["AC"])
    found, expected = pleat.ensemble(objects(package, files)["frames"]), pleat.ensemble(files.frames)
    assert found.topology.select("A:52A").tolist()[:2] == expected.topology.select("A:52A").tolist() == [0, 1]
    if package == "gemmi":
        np.testing.assert_array_equal(found.xyz, expected.xyz)
        assert found.topology.residue_names == expected.topology.residue_names


def test_tables_lacking_columns_are_refused():
    pandas = pytest.importorskip("pandas", reason="pandas is not there")
    with pytest.raises(pleat.InputError, match="columns q, intensity, sigma, found none named intensity, sigma"):
        pleat.profile(pandas.DataFrame({"q": [0.1, 0.2], "I": [1.0, 2.0]}))
    with pytest.raises(pleat.InputError, match="none named probability"):
        pleat.select(DATA / "1a8o.pdb.gz", contacts=("ACD", pandas.DataFrame({"i": [0], "j": [2]})))
