# Python and the program: the same options, the same defaults and the same results.
import gzip
import inspect
import json

import numpy as np
import pleat
import pytest
from helpers import DATA, family, program
from pleat import _pleat

HIVP = (DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz")
# Options of a command that are no keyword of its function, and why.
FILES = {"format": pleat.read_alignment, "alphabet": pleat.read_alignment,
         "insertions": pleat.read_alignment, "record": pleat.read_alignment, "topology": pleat.read_ensemble,
         "assembly": pleat.read_ensemble, "frames": pleat.read_ensemble, "truncated": pleat.read_ensemble,
         "pbc": pleat.read_ensemble, "scores": pleat.read_ensemble, "score": pleat.read_ensemble,
         "best": pleat.read_ensemble, "least": pleat.read_ensemble, "worst-left-out": pleat.read_ensemble,
         "relaxed": pleat.read_ensemble}
ABSENT = {
    "couplings": {"models",  # files; Python keeps the model in memory
                  "structure", "row", "contact", "contact-cutoff"},  # residues of a structure beside the columns
    "mi": {"structure", "row", "contact", "secondary"},
    "rmsd": {"against-frames", "rmsf", "superposed"},  # `against` may be any ensemble; files
    "cluster": {"structures", "write", "write-members",  # files of structures
                "lag", "timestep"},  # of the methods of its result
    "saxs": {"observables", "observable-values"},  # pleat.reweight takes arrays
    "refine": {"join",  # a list of paths
               "observables"},
    "mutants": set()}
ELSEWHERE = {"couplings": {"min-separation": pleat.Couplings.contacts},
             "saxs": dict.fromkeys(("concentration", *(field["name"] for field in pleat.analyse.fields)), pleat.analyse)}  # of curves without a structure


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of each command on small data without options: {command: folder}."""
    folder = tmp_path_factory.mktemp("runs")
    rows = family(40, columns=24)
    (folder / "family.aln").write_text("\n".join(rows) + "\n", encoding="ascii")
    calls = {"couplings": (folder / "family.aln",), "mi": (folder / "family.aln",), "rmsd": HIVP,
             "cluster": (*HIVP, "--cutoff", "2"), "saxs": (DATA / "1hel.pdb.gz",),
             "refine": (DATA / "1a8o.pdb.gz", "--linkers", "A:174-179"), "mutants": (folder / "family.aln",)}
    for command, arguments in calls.items():
        program(command, *arguments, "-o", folder / command)
    return {command: folder / command for command in calls}


FUNCTIONS = {"couplings": pleat.couplings, "mi": pleat.mutual_information, "rmsd": pleat.rmsd,
             "cluster": pleat.cluster, "saxs": pleat.saxs, "refine": pleat.refine,
             "mutants": pleat.mutants}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_every_option_has_the_same_name_and_default(runs, command):
    function = FUNCTIONS[command]
    options = json.loads((runs[command] / "manifest.json").read_text(encoding="utf-8"))["parameters"]
    fields = {field["name"]: field for field in function.fields}
    assert len(options) > 8
    for name, value in options.items():
        if name in ABSENT[command]:
            continue
        home = ELSEWHERE.get(command, {}).get(name) or (function if name in fields else FILES.get(name, function))
        default = inspect.signature(home).parameters[name.replace("-", "_")].default
        if (command, name) in (("cluster", "cutoff"), ("refine", "linkers")) or (name == "topology" and value):
            continue  # given in runs()
        if (command, name) == ("refine", "mode"):
            assert (default, value) == ("auto", "pool")  # recorded as what it is without a curve
            continue
        if name == "best":
            assert (default, value) == (0, "all")
            continue
        if command == "rmsd" and name == "select":
            assert default is None and value == _pleat.default_selections["rmsd"]
        elif default is None:  # automatic, or nothing
            automatic = fields[name]["automatic"] if name in fields else ""
            assert value in ("", automatic) or (name in ("assume-error", "record") and isinstance(value, str)), name
        else:
            assert value == default or (value, default) == ("", ()), name
    missing = {name for name in ABSENT[command] if name not in options}
    assert not missing, "options that the program no longer has"


def test_sequences_and_columns_are_left_out_alike(tmp_path):
    rows = family(60)
    rng = np.random.default_rng(3)
    rows = ["".join("X" if rng.random() < 0.05 else "-" if rng.random() < 0.3 * (n % 3) else letter
                    for n, letter in enumerate(row)) for row in rows]
    path = tmp_path / "gappy.aln"
    path.write_text("\n".join(rows) + "\n", encoding="ascii")
    filters = {"max_gaps": 0.4, "min_coverage": 0.6}
    arguments = ("--max-gaps", 0.4, "--min-coverage", 0.6)
    program("couplings", path, "-o", tmp_path / "couplings", *arguments)
    scores = np.load(tmp_path / "couplings" / "scores.npz")
    fitted = pleat.couplings(path, **filters, device="cpu")
    np.testing.assert_array_equal(fitted.columns, scores["columns"])
    np.testing.assert_array_equal(fitted.scores, scores["corrected"])
    assert 2 < len(fitted.columns) < 40
    program("mi", path, "-o", tmp_path / "mi", *arguments, "--null", "exact")
    pairs = np.load(tmp_path / "mi" / "pairs.npz")
    measured = pleat.mutual_information(path, **filters, null="exact")
    np.testing.assert_array_equal(measured.columns, pairs["columns"])
    np.testing.assert_array_equal(measured.mi, pairs["mi"])


def test_contacts_name_columns_of_the_source_whatever_was_left_out(tmp_path):
    rows = [row[:10] + "-" + row[10:] for row in family(60)]  # column 10 is left out
    path = tmp_path / "family.aln"
    path.write_text("\n".join(rows) + "\n", encoding="ascii")
    program("couplings", path, "-o", tmp_path / "run", "--max-gaps", 0.5)
    table = np.genfromtxt(tmp_path / "run" / "contacts.tsv", names=True, dtype=None, encoding="ascii")
    contacts = pleat.couplings(pleat.read_alignment(path).filter(max_gaps=0.5), device="cpu").contacts()
    assert len(contacts) == len(table)
    np.testing.assert_array_equal(contacts["i"], table["i"] - 1)
    np.testing.assert_array_equal(contacts["j"], table["j"] - 1)
    assert 10 not in contacts["i"] and 10 not in contacts["j"] and contacts["j"].max() == 40
    triples = pleat.mutual_information(pleat.read_alignment(path).filter(max_gaps=0.5), order=3,
                                       null="none", rank_by="mi").triples["columns"]
    assert 10 not in triples and triples.max() == 40


RMSD = {
    "all": ({}, ()),
    "select": ({"select": "A"}, ("--select", "A")),
    "measure": ({"select": "A", "measure": "B"}, ("--select", "A", "--measure", "B")),
    "group": ({"select": "A and (resid 10-30 or last 5)"}, ("--select", "A and (resid 10-30 or last 5)")),
    "same": ({"select": "A", "measure": "A"}, ("--select", "A", "--measure", "A")),
    "mass": ({"select": "A", "atom_weights": "mass"}, ("--select", "A", "--atom-weights", "mass")),
    "drmsd": ({"select": "B", "metric": "drmsd"}, ("--select", "B", "--metric", "drmsd"))}


@pytest.mark.parametrize("name", RMSD)
def test_rmsd_finds_the_same_values(tmp_path, name):
    keywords, arguments = RMSD[name]
    program("rmsd", *HIVP, "-o", tmp_path / "run", *arguments, "--frames", "5:40:3", "--device", "cpu")
    frames = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames="5:40:3")
    found = pleat.rmsd(frames, **keywords, device="cpu")
    file = tmp_path / "run" / f"{keywords.get('metric', 'rmsd')}.npy"
    np.testing.assert_array_equal(found.matrix, np.load(file))
    results = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["results"]
    assert found.atoms == results["atoms"] and found.pairs == results["pairs"]
    if "select" in keywords and not {"measure", "metric"} & set(keywords):
        same = pleat.rmsd(frames, fit=keywords["select"], **{k: v for k, v in keywords.items() if k != "select"})
        np.testing.assert_array_equal(same.matrix, found.matrix)


@pytest.mark.parametrize("metric", ["tm", "gdt_ts", "lddt"])
def test_scores_compare_ca_by_default(tmp_path, metric):
    models = tmp_path / "models.pdb"
    text = gzip.open(DATA / "1a8o.pdb.gz", "rt", encoding="ascii").read()
    atoms = [line for line in text.splitlines() if line.startswith("ATOM")][:300]
    rng = np.random.default_rng(1)
    moved = "".join(f"MODEL     {n:4d}\n" + "".join(
        line[:30] + "".join(f"{float(line[at:at + 8]) + rng.normal(0, 1.5):8.3f}" for at in (30, 38, 46))
        + line[54:] + "\n" for line in atoms) + "ENDMDL\n" for n in range(1, 4))
    models.write_text(moved, encoding="ascii")
    program("rmsd", models, "-o", tmp_path / "run", "--metric", metric)
    found = pleat.rmsd(models, metric=metric)
    np.testing.assert_array_equal(found.matrix, np.load(tmp_path / "run" / f"{metric}.npy"))
    np.testing.assert_array_equal(found.matrix, pleat.rmsd(models, metric=metric, select="ca").matrix)
    assert found.selection == "ca" and found.atoms < 50
    assert pleat.rmsd(models, metric=metric, select="all").atoms == 300
    assert pleat.rmsd(models).selection == "all" and pleat.rmsd(models).atoms == 300
    array = pleat.rmsd(pleat.read_ensemble(models).xyz, metric=metric)
    assert array.atoms == 300, "atoms without names"


def test_lddt_of_residues_and_a_definition(tmp_path):
    program("rmsd", *HIVP, "-o", tmp_path / "run", "--metric", "lddt", "--select", "A:1-40 or B:90-",
            "--frames", "::40", "--reference", "1")
    frames = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames="::40")
    found = pleat.rmsd(frames, metric="lddt", select="A:1-40 or B:90-", reference=1)
    loaded = pleat.load(tmp_path / "run")
    for name in ("values", "residue_values", "residue_distances"):
        np.testing.assert_allclose(getattr(loaded, name), getattr(found, name), atol=1e-6)
    table = np.genfromtxt(tmp_path / "run" / "lddt_residues.tsv", names=True, dtype=None, encoding="ascii")
    assert table["residue"].tolist() == [*range(1, 41), *range(90, 100)]
    np.testing.assert_allclose(table["mean"], found.residue_values.mean(axis=0), atol=1e-5)
    xyz = frames.xyz[:, frames.indices("A:1-40 or B:90-")].astype(np.float64)
    distances = np.linalg.norm(xyz[:, :, None] - xyz[:, None], axis=-1)
    near = (distances[1] < 15) & ~np.eye(xyz.shape[1], dtype=bool)
    missed = np.abs(distances - distances[1])
    kept = np.mean([missed < threshold for threshold in (0.5, 1, 2, 4)], axis=0)
    np.testing.assert_allclose(found.values, [one[near].mean() for one in kept], atol=1e-6)
    np.testing.assert_array_equal(found.residue_distances, near.sum(axis=1))
    np.testing.assert_allclose(found.residue_values, (kept * near).sum(axis=2) / near.sum(axis=1), atol=1e-6)


@pytest.mark.parametrize("reference", [0, 3, -1, "mean"])
def test_references_are_counted_alike(tmp_path, reference):
    program("rmsd", *HIVP, "-o", tmp_path / "run", "--reference", reference, "--frames", "-9:")
    frames = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames=slice(-9, None))
    assert frames.origins == [(0, n) for n in range(108, 117)]
    table = np.genfromtxt(tmp_path / "run" / "reference.tsv", names=True, dtype=None, encoding="utf-8")
    np.testing.assert_array_equal(table["frame_of_file"], range(108, 117))
    found = pleat.rmsd(frames, reference=reference).values
    np.testing.assert_allclose(found, table["rmsd"], rtol=1e-5, atol=1e-6)
    if isinstance(reference, int):
        assert found[reference] == 0


def test_reference_files_are_matched_by_identity(tmp_path):
    """A file whose atoms stand in another order, and one of another protein."""
    frames = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames="0:4")
    lines = [line for line in gzip.open(HIVP[2], "rt", encoding="ascii").read().splitlines()
             if line.startswith("ATOM")]
    turned = tmp_path / "turned.pdb"
    turned.write_text("\n".join(reversed(lines)) + "\nEND\n", encoding="ascii")
    program("rmsd", *HIVP, "-o", tmp_path / "run", "--reference", turned, "--frames", "0:4")
    table = np.genfromtxt(tmp_path / "run" / "reference.tsv", names=True, dtype=None, encoding="utf-8")
    for given in (turned, pleat.read_ensemble(turned)):
        found = pleat.rmsd(frames, reference=given).values
        np.testing.assert_allclose(found, table["rmsd"], rtol=1e-5)
    rectangle = pleat.rmsd(frames, against=pleat.read_ensemble(turned)).matrix
    np.testing.assert_allclose(rectangle[:, 0], table["rmsd"], rtol=1e-5)
    other = tmp_path / "other.pdb"
    other.write_text("\n".join(line[:17] + "TRP" + line[20:] for line in lines) + "\nEND\n", encoding="ascii")
    for keyword in ("reference", "against"):
        with pytest.raises(pleat.InputError, match=f"{keyword}: expected residues .* in [0-9] of 198 residues"):
            pleat.rmsd(frames, **{keyword: other})
        pleat.rmsd(frames, **{keyword: other}, any_residues=True)


def test_clusters_and_profiles_take_selections_alike(tmp_path):
    program("cluster", *HIVP, "-o", tmp_path / "cluster", "--select", "A", "--cutoff", "1.5", "--frames", "::3")
    frames = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames="::3")
    found = pleat.cluster(frames, select="A", cutoff=1.5)
    np.testing.assert_array_equal(found.assignment, np.load(tmp_path / "cluster" / "assignment.npy"))
    program("saxs", *HIVP, "-o", tmp_path / "saxs", "--select", "A", "--frames", "::30")
    profiles = pleat.saxs(pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames="::30"), select="A").intensity
    np.testing.assert_allclose(profiles, np.load(tmp_path / "saxs" / "profiles.npy"), rtol=1e-12)


def test_curves_are_fitted_alike(tmp_path):
    structure, curve = DATA / "1hel.pdb.gz", DATA / "1hel_made.dat.gz"
    program("saxs", structure, "--data", curve, "-o", tmp_path / "run")
    fitted = json.loads((tmp_path / "run" / "fit.json").read_text(encoding="utf-8"))["fit"]
    found = pleat.saxs(structure, data=curve).fit
    for name in ("scale", "c1", "c2", "chi2"):
        assert getattr(found, name) == pytest.approx(fitted[name], rel=1e-5), name


@pytest.mark.parametrize("text", ["0:3", "-3:", ":2", "::50", "7", "-1", "110:300", "-5:-2"])
def test_frame_ranges_are_slices(text):
    parts = [int(part) if part else None for part in text.split(":")]
    expected = range(117)[slice(*parts)] if len(parts) > 1 else [range(117)[parts[0]]]
    found = pleat.read_ensemble(HIVP[0], topology=HIVP[2], frames=text)
    assert [frame for _, frame in found.origins] == list(expected)
