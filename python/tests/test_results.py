# Results: each can be copied, pickled, printed, taken as an array and as a table.
import copy
import importlib.util
import pickle
import sys
import types
import warnings

import numpy as np
import pleat
import pytest
from helpers import DATA, family, in_process


LETTERS = dict(zip("ALA ARG ASN ASP CYS GLU GLN GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL".split(),
                   "ARNDCEQGHILKMFPSTWYV"))


class Table(dict):
    """Stands for pandas.DataFrame where pandas is not installed."""

    def __init__(self, columns):
        super().__init__({name: list(values) for name, values in columns.items()})
        assert len({len(values) for values in self.values()}) == 1


@pytest.fixture(autouse=True)
def pandas(monkeypatch):
    if importlib.util.find_spec("pandas") is None:
        monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=Table))


def hivp(frames="::"):
    return pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames=frames)


def curve_of(profile):
    chosen = profile.q > 0.02
    return np.transpose([profile.q[chosen], profile.mean[chosen], 0.02 * profile.mean[chosen]])


def made_saxs():
    frames = pleat.Ensemble(hivp("::30").xyz, hivp().topology)
    return pleat.saxs(frames, data=curve_of(pleat.saxs(frames, c2=0)), models_are="states")


def made_selection():
    frames = hivp("::6")
    sequence = "".join(LETTERS[name] for name in frames.topology.residue_names[:99])
    return pleat.select(frames, contacts=(sequence, [(3, 90, 0.9), (10, 60, 0.5)]), min_size=1, cutoff=1.5,
                        structure=DATA / "hivp.pdb.gz")


def made_refinement():
    profile = pleat.saxs(DATA / "1a8o.pdb.gz", q_max=0.3, c2=0)
    return pleat.refine(DATA / "1a8o.pdb.gz", linkers="A:174-179", data=curve_of(profile), mode="fit", frames=64, chains=4,
                        moves=2, doublings=0, reweight=False)


MADE = {
    "alignment": lambda: pleat.read_alignment(DATA / "cheY.aln.gz").filter(max_gaps=0.5),
    "rna": lambda: pleat.read_alignment(DATA / "trna.sto.gz"),
    "topology": lambda: pleat.read_ensemble(DATA / "1hel.pdb.gz").topology,
    "unnamed topology": lambda: pleat.ensemble(hivp("0").xyz).select([3, 5]),
    "ensemble": lambda: hivp("::20"),
    "profile": lambda: pleat.read_profile(DATA / "1hel_made.dat.gz"),
    "smeared profile": lambda: pleat.profile(np.outer(np.arange(1, 5), [0.1, 9, 0.3, 0.01]), smear=True),
    "couplings": lambda: pleat.couplings(family(columns=20), max_iterations=5),
    "couplings without models": lambda: pleat.couplings(family(columns=20), max_iterations=5, models=False),
    "mutual information": lambda: pleat.mutual_information(family(60, columns=8), order=3, shuffles=20,
                                                           null="sampled"),
    "rmsd": lambda: pleat.rmsd(hivp("::10"), cutoff=1.5, nearest=3),
    "rmsd to a reference": lambda: pleat.rmsd(hivp("::10"), reference=0, select="ca"),
    "clusters": lambda: pleat.cluster(hivp("::4"), method="average", k="2:5"),
    "density peaks": lambda: pleat.cluster(hivp("::4"), cutoff=1.5),
    "saxs": lambda: pleat.saxs(DATA / "1hel.pdb.gz", data=DATA / "1hel_made.dat.gz"),
    "saxs of an ensemble": made_saxs,
    "neutrons": lambda: pleat.saxs(DATA / "1hel.pdb.gz", neutrons=True, d2o=0.5),
    "fit": lambda: once("saxs").fit,
    "weights": lambda: once("saxs of an ensemble").reweighted[0],
    "scatterers": lambda: pleat.saxs.scatterers(DATA / "1hel.pdb.gz", q_points=5),
    "model": lambda: once("scatterers").model,
    "selection": made_selection,
    "refinement": made_refinement,
}
MADE_ONCE = {}
pytestmark = pytest.mark.filterwarnings("ignore:only .* effective sequences")


def once(name):
    """What MADE makes, made once."""
    if name not in MADE_ONCE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MADE_ONCE[name] = MADE[name]()
    return MADE_ONCE[name]


@pytest.fixture(params=MADE)
def made(request):
    return once(request.param)


def attributes(value):
    return [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name))]


def assert_same(a, b, what="result"):
    """The same in all attributes, arrays bit by bit."""
    assert type(a) is type(b), what
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        for name in a.dtype.names or [()]:  # NaN of records is not equal to itself
            np.testing.assert_array_equal(a[name], b[name], err_msg=what)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), what
        for n, (one, other) in enumerate(zip(a, b)):
            assert_same(one, other, f"{what}[{n}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), what
        for name in a:
            assert_same(a[name], b[name], f"{what}[{name}]")
    elif type(a).__module__.startswith("pleat"):
        assert attributes(a)
        for name in attributes(a):
            assert_same(getattr(a, name), getattr(b, name), f"{what}.{name}")
    else:
        assert a == b or a != a and b != b, what


def test_pickles_and_copies_are_the_same(made):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert_same(pickle.loads(pickle.dumps(made, protocol)), made)
    assert_same(copy.copy(made), made)
    assert_same(copy.deepcopy(made), made)
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


def test_deep_copies_have_their_own_memory(made):
    shared, own = copy.copy(made), copy.deepcopy(made)
    arrays = [name for name in attributes(made) if isinstance(getattr(made, name), np.ndarray)]
    assert not any(np.shares_memory(getattr(own, name), getattr(made, name)) for name in arrays)
    del shared


def test_representations_say_what_and_how_large(made):
    text = repr(made)
    assert text.startswith("<pleat.") and any(letter.isdigit() for letter in text) and " at 0x" not in text
    assert "\n" not in text and len(text) < 160
    if hasattr(made, "_repr_html_"):
        shown = made._repr_html_()
        assert shown.startswith("<p><b>pleat.") and shown.count("<") == shown.count(">")
        picture = hasattr(made, "save") and importlib.util.find_spec("matplotlib") is not None
        assert ("<img" in shown) == (picture and getattr(made, "matrix", 0) is not None)


def test_pickles_are_read_in_another_process(tmp_path):
    fitted = pleat.couplings(family(columns=20), max_iterations=5)
    (tmp_path / "fitted.pickle").write_bytes(pickle.dumps(fitted))
    found = in_process(f"""
import pickle
fitted = pickle.load(open({str(tmp_path / 'fitted.pickle')!r}, "rb"))
print(repr(fitted), float(fitted.contacts()["corrected"].sum()))
""")
    assert found == f"{fitted!r} {float(fitted.contacts()['corrected'].sum())}\n"


def test_what_a_pickle_can_do_is_the_same():
    fitted = pleat.couplings(family(columns=20), max_iterations=5)
    again = pickle.loads(pickle.dumps(fitted))
    for separation in (1, 6, 12):
        assert_same(fitted.contacts(separation), again.contacts(separation))
    pairs = pleat.rmsd(hivp())
    found = pleat.cluster(pickle.loads(pickle.dumps(pairs)), cutoff=1.5)
    np.testing.assert_array_equal(found.assignment, pleat.cluster(pairs, cutoff=1.5).assignment)
    rows = pleat.read_alignment(DATA / "trna.sto.gz")
    again = pickle.loads(pickle.dumps(rows))
    assert again.sequences == rows.sequences and again.alphabet == "rna"
    atoms = pleat.read_ensemble(DATA / "1hel.pdb.gz").topology
    for text in ("backbone", "within 5 of resid 20", "bfactor < 10"):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(atoms)).select(text), atoms.select(text))
    scattered = pleat.saxs(DATA / "1hel.pdb.gz", data=pickle.loads(pickle.dumps(
        pleat.read_profile(DATA / "1hel_made.dat.gz"))), q_points=31)
    assert scattered.fit.chi2 == pytest.approx(0.86, abs=0.1)


def test_attributes_cannot_be_set_and_unknown_ones_say_so():
    fitted = pleat.couplings(family(columns=20), max_iterations=5)
    with pytest.raises(AttributeError):
        fitted.scores = None
    state = fitted.__getstate__()
    del state["objective"]
    part = pleat.Couplings.__new__(pleat.Couplings)
    part.__setstate__(state)
    with pytest.raises(AttributeError, match="Couplings.objective is not known"):
        _ = part.objective


ARRAYS = {"alignment": "letters", "ensemble": "xyz", "couplings": "scores", "mutual information": "mi",
          "rmsd": "matrix", "rmsd to a reference": "values", "clusters": "assignment", "saxs": "intensity",
          "fit": "model", "weights": "weights", "scatterers": "xyz", "selection": "scores"}


@pytest.mark.parametrize("made, name", ARRAYS.items(), indirect=["made"])
def test_one_array_is_the_result(made, name):
    found = np.asarray(made)
    assert found.dtype == getattr(made, name).dtype
    assert_same(found, getattr(made, name))
    if name not in ("scores", "letters"):
        assert np.asarray(made, dtype=np.float64).dtype == np.float64


def test_profiles_are_arrays_of_columns_and_no_array_is_an_error():
    curve = pleat.read_profile(DATA / "1hel_made.dat.gz")
    found = np.asarray(curve)
    assert found.shape == (len(curve), 3)
    np.testing.assert_array_equal(found[:, 1], curve.intensity)
    assert_same(pleat.profile(found).sigma, curve.sigma)
    with pytest.raises(TypeError, match="Rmsd.matrix was not computed"):
        np.asarray(pleat.rmsd(hivp("::10"), matrix="none"))


def test_contacts_as_a_table_name_residues():
    rows = family(columns=20)
    fitted = pleat.couplings(rows, max_iterations=5)
    table, contacts = fitted.to_dataframe(min_separation=4), fitted.contacts(4)
    assert list(table) == ["i", "j", "residue_i", "residue_j", "raw", "corrected", "z", "probability"]
    assert list(table["i"]) == contacts["i"].tolist()
    assert list(table["residue_j"]) == [rows[0][j] for j in contacts["j"]]


def test_letters_are_those_of_columns_that_were_kept():
    rows = ["A-CDEFGH", "AACDE-GH", "A-CDEFG-", "A-CDEYGH"]
    found = pleat.mutual_information(pleat.alignment(rows), max_gaps=0.4)
    assert found.columns.tolist() == [0, 2, 3, 4, 5, 6, 7] and found.letters == "ACDEFGH"
    table = found.to_dataframe()
    assert (table["i"][1], table["j"][1], table["residue_i"][1], table["residue_j"][1]) == (0, 3, "A", "D")
    assert list(table["mi"]) == found.mi.tolist()
    filtered = pleat.alignment(rows).filter(max_gaps=0.4)
    assert pleat.mutual_information(filtered).letters == "ACDEFGH"


TABLES = [("mutual information", "triples", ["i", "j", "k", "residue_i"], 20), ("rmsd", None, ["i", "j"], 66),
          ("rmsd", "best", ["i", "rank", "j", "value"], 36), ("rmsd", "neighbours", ["i", "j", "value"], None),
          ("rmsd to a reference", None, ["frame", "value"], 12), ("clusters", None, ["cluster", "size"], None),
          ("clusters", "items", ["item", "cluster"], 30), ("clusters", "sweep", ["value", "clusters"], None),
          ("saxs", None, ["q", "intensity"], None), ("saxs", "frames", ["frame", "file", "rg"], 1),
          ("saxs", "fit", ["q", "intensity", "sigma", "model"], None), ("weights", None, ["frame", "weight"], 4),
          ("selection", None, ["frame", "position"], 20), ("selection", "clusters", ["cluster"], None),
          ("selection", "contacts", ["i", "j"], 2), ("refinement", None, ["frame", "chain", "step"], 64), ("scatterers", None, ["atom", "type"], None)]


@pytest.mark.parametrize("made, table, names, rows", TABLES, indirect=["made"])
def test_tables(made, table, names, rows):
    found = made.to_dataframe(table)
    assert list(found)[:len(names)] == names
    assert rows is None or len(found[names[0]]) == rows
    with pytest.raises(pleat.UsageError, match="table: expected one of"):
        made.to_dataframe("nonsense")


def test_tables_of_inputs():
    assert list(pleat.read_profile(DATA / "1hel_made.dat.gz").to_dataframe()) == ["q", "intensity", "sigma"]
    atoms = pleat.read_ensemble(DATA / "1hel.pdb.gz").topology
    assert list(atoms.to_dataframe()["residue_name"])[:1] == ["LYS"]


def test_docstrings_describe_every_attribute():
    for kind in (pleat.Couplings, pleat.MutualInformation, pleat.Rmsd, pleat.Clusters, pleat.Saxs, pleat.Selection,
                 pleat.saxs.Fit, pleat.saxs.Weights, pleat.saxs.Scatterers, pleat.saxs.Model, pleat.Refinement,
                 pleat.Alignment, pleat.Topology, pleat.Ensemble, pleat.Profile, pleat.Page, pleat.JobTable):
        for name, value in vars(kind).items():
            if isinstance(value, property) and not name.startswith("_"):
                assert value.__doc__, (kind, name)
    assert "\nscores:\n    float64 [L, L], after APC\n" in pleat.couplings.__doc__
