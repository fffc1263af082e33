# Hosts: the classes of examples/hosts do in MDAnalysis, scikit-learn, EVcouplings and SasView what pleat does alone.
# Small stand-ins take the place of packages that are not installed.
import gzip
import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pleat
import pytest
from helpers import DATA, family, made_ensemble, program

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "hosts"))
pytestmark = [pytest.mark.filterwarnings("ignore:only .* effective sequences"),
              pytest.mark.filterwarnings("ignore::DeprecationWarning")]

HOSTS = {name: find_spec(name) is not None for name in ("MDAnalysis", "sklearn", "evcouplings", "sasmodels", "pandas")}


class AnalysisBase:
    """As MDAnalysis's: calls _prepare, _single_frame for each frame, and _conclude."""

    def __init__(self, trajectory, verbose=False):
        self._trajectory, self.verbose = trajectory, verbose

    def run(self, start=None, stop=None, step=None):
        self.frames = np.arange(len(self._trajectory))[start:stop:step]
        self.n_frames, self.results = len(self.frames), SimpleNamespace()
        self._prepare()
        for self._frame_index, frame in enumerate(self.frames):
            self._trajectory[frame]
            self._single_frame()
        self._conclude()
        return self


class Fitting:
    def fit_predict(self, X):
        return self.fit(X).labels_


def stand_in(monkeypatch, **modules):
    """Modules of these attributes, where the package of the first is not installed."""
    if not HOSTS[next(iter(modules))]:
        for name, attributes in modules.items():
            module = ModuleType(name)
            vars(module).update(attributes)
            monkeypatch.setitem(sys.modules, name.replace("__", "."), module)


def load(monkeypatch, name):
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture
def analysis(monkeypatch):
    stand_in(monkeypatch, MDAnalysis={}, MDAnalysis__analysis={}, MDAnalysis__analysis__base={"AnalysisBase": AnalysisBase})
    return load(monkeypatch, "mdanalysis_states").RmsdClusters


@pytest.fixture
def estimator(monkeypatch):
    mixins = {"BaseEstimator": object, "ClusterMixin": Fitting, "TransformerMixin": type("Transforming", (), {})}
    checks = {"check_array": lambda X, dtype, order, allow_nd: np.asarray(X, dtype, order), "check_is_fitted": lambda one: None}
    mixins["ClassNamePrefixFeaturesOutMixin"] = type("Named", (), {})
    seeds = {"check_random_state": lambda seed: seed or np.random.RandomState()}
    stand_in(monkeypatch, sklearn={}, sklearn__base=mixins, sklearn__utils=seeds, sklearn__utils__validation=checks)
    return load(monkeypatch, "sklearn_states").RmsdClusters


def test_mdanalysis_clusters_an_atom_group(analysis, tmp_path):
    frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
    if not HOSTS["MDAnalysis"]:
        atoms = SimpleNamespace(masses=np.full(198, 12.011), positions=None)
        trajectory = type("Trajectory", (), {"__len__": lambda one: len(frames), "__getitem__": lambda one, number: setattr(
            atoms, "positions", frames.xyz[number])})()
        group = type("Group", (), {"__len__": lambda one: 198, "masses": atoms.masses, "atoms": property(lambda one: one),
                                   "positions": property(lambda one: atoms.positions)})()
        group.universe = SimpleNamespace(trajectory=trajectory)
    else:
        import MDAnalysis
        for name in ("hivp.dcd", "hivp.pdb"):
            (tmp_path / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
        group = MDAnalysis.Universe(str(tmp_path / "hivp.pdb"), str(tmp_path / "hivp.dcd")).select_atoms("name CA")
    found = analysis(group, method="average", k=range(2, 7), matrix=True).run().results
    expected = pleat.cluster(frames, method="average", k=range(2, 7))
    assert np.array_equal(found.labels, expected.assignment)
    assert np.array_equal(found.medoids, expected.clusters["medoid"]) and found.sizes.sum() == 117
    assert np.allclose(found.rmsd, pleat.rmsd(frames, matrix="full").matrix, atol=2e-5)
    assert found.clusters.is_trajectory and len(found.clusters.dwell_times()) == len(found.sizes)
    some = analysis(group, weights="mass", cutoff=1.8).run(start=7, step=10).results
    assert some.rmsd is None and len(some.labels) == 11 and set(some.medoids) <= set(range(7, 117, 10))
    with pytest.raises(TypeError, match="cutof"):
        analysis(group, cutof=1.8)
    if HOSTS["MDAnalysis"]:
        every = group.universe
        with pytest.raises(TypeError, match="one that updates"):
            analysis(every.select_atoms("prop z > 0", updating=True), cutoff=1.8)
        with pytest.raises(ValueError, match="3 or more atoms, found 2"):
            analysis(every.atoms[:2], cutoff=1.8)
        from MDAnalysis.analysis.rms import rmsd
        assert found.rmsd[3, 60] == pytest.approx(rmsd(frames.xyz[3], frames.xyz[60], center=True, superposition=True), abs=1e-5)


def test_scikit_learn_estimator_clusters_and_transforms(estimator):
    xyz = made_ensemble(frames=40, atoms=10)
    states = estimator(n_clusters=3, method="kmedoids")
    labels = states.fit_predict(xyz.reshape(40, -1))
    assert np.array_equal(labels, pleat.cluster(xyz, method="kmedoids", k=3).assignment)
    assert states.cluster_centers_.shape == (3, 30) and states.n_features_in_ == 30
    distances = states.transform(xyz)
    assert np.allclose(distances[states.medoid_indices_, range(3)], 0, atol=1e-3)
    assert np.array_equal(states.predict(xyz), labels)  # each item of k-medoids is nearest to its own medoid
    in_nm = estimator(n_clusters=3, method="kmedoids").fit(SimpleNamespace(xyz=xyz / 10))
    assert np.array_equal(in_nm.labels_, labels) and np.allclose(in_nm.transform(xyz / 10), distances / 10, atol=1e-4)
    assert len(np.unique(estimator(cutoff=2.0, method="gromos").fit(xyz).labels_)) > 1
    for random_state in (None, np.random.RandomState(3), np.int64(3)):
        assert set(estimator(method="kmedoids", random_state=random_state).fit(xyz).labels_) == {0, 1}
    with pytest.raises(ValueError, match="expected X of shape"):
        states.fit(np.ones((4, 8)))
    with pytest.raises(ValueError, match="30 features"):
        states.transform(xyz[:, :9])


@pytest.mark.skipif(not HOSTS["sklearn"], reason="scikit-learn is not there")
def test_scikit_learn_knows_the_estimator(estimator):
    from sklearn import base, pipeline, preprocessing
    from sklearn.utils import estimator_checks as checks
    for name in ("check_parameters_default_constructible", "check_no_attributes_set_in_init", "check_get_params_invariance",
                 "check_set_params", "check_estimators_unfitted"):
        getattr(checks, name)("RmsdClusters", estimator())
    xyz = made_ensemble(frames=30, atoms=8).reshape(30, -1)
    first = estimator(n_clusters=4, random_state=7)
    assert base.clone(first).get_params() == first.get_params()
    steps = pipeline.make_pipeline(first, preprocessing.StandardScaler())
    assert steps.fit_transform(xyz).shape == (30, 4)
    assert list(first.fit(xyz).get_feature_names_out()) == [f"rmsdclusters{n}" for n in range(4)]


def test_evcouplings_model_has_the_numbers_of_pleat(monkeypatch, tmp_path):
    rows = family(sequences=150, columns=25)
    aligned = pleat.alignment([row.replace("-", "A") if n == 0 else row for n, row in enumerate(rows)],
                              names=["CHEY/5-29", *(f"s{n}" for n in range(1, 150))])
    fitted = pleat.couplings(aligned, focus="CHEY/5-29", norm="all", tolerance=1e-6)
    model = load(monkeypatch, "evcouplings_model").CouplingsModel(fitted, aligned)
    effects = pleat.mutants(fitted)
    assert model.L == 25 and "".join(model.alphabet) == "-ACDEFGHIKLMNPQRSTVWY" and list(model.index_list) == list(range(5, 30))
    for one in effects.singles[::37]:
        position, wild_type, letter = int(one["pos"]), one["wt"].decode(), one["subs"].decode()
        assert model.delta_hamiltonian([(position, wild_type, letter)])[0] == pytest.approx(one["epistatic"], abs=1e-5)
        assert model.smm(position, letter) == pytest.approx(one["epistatic"], abs=1e-5)
    both = [(6, model.seq(6), "W"), (20, model.seq(20), "P")]
    assert model.dmm(6, 20, "W", "P") == pytest.approx(model.delta_hamiltonian(both)[0], abs=1e-9)
    assert model.Jij(6, 20, "W", "P") == model.Jij(20, 6, "P", "W") and model.hi([6, 7]).shape == (2, 21)
    assert np.allclose(model.fn_scores, fitted.raw_scores, atol=1e-3)
    assert np.allclose(model.cn_scores, model.cn_scores.T) and (np.diag(model.cn_scores) == 0).all()
    assert np.allclose(model.f_ij.sum(axis=(2, 3)) + np.eye(25), 1) and np.allclose(model.fi().sum(axis=1), 1)
    for wrong in ([(6, "?", "A")], [(99, "A", "A")], [(6, model.seq(6), "J")]):
        with pytest.raises(ValueError, match="expected"):
            model.delta_hamiltonian(wrong)
    assert list(model.mn([5, 7])) == [0, 2] and list(model.sn([0, 2])) == [5, 7] and model.mi_apc(6, 20) == model.mi_apc(20, 6)
    model.target_seq = "A" * 25
    assert model.seq(7) == "A" and (model.target_seq_mapped == 1).all() and (model.smm(A_i="A") == 0).all()
    with pytest.raises(ValueError, match="25 of the letters"):
        model.target_seq = "A" * 24
    model.target_seq = aligned.sequences[0]
    if HOSTS["pandas"]:
        assert list(model.ecs)[:5] == ["i", "A_i", "j", "A_j", "seqdist"] and len(model.ecs) == 300
    if HOSTS["evcouplings"]:
        from evcouplings.couplings import CouplingsModel
        (tmp_path / "f.a2m").write_text("".join(f">{n}\n{s}\n" for n, s in zip(aligned.names, aligned.sequences)))
        program("couplings", tmp_path / "f.a2m", "--focus", "CHEY/5-29", "--models", "plmc", "--tolerance", "1e-6", "--norm", "all",
                "-o", tmp_path / "run")
        other = CouplingsModel(str(tmp_path / "run" / "model.plmc"))
        for name in ("h_i", "J_ij", "f_i", "f_ij", "cn_scores", "mi_scores_apc", "single_mut_mat_full"):
            assert np.allclose(getattr(model, name), getattr(other, name), atol=1e-5), name


def test_evcouplings_model_counts_insertions_of_the_target(monkeypatch, tmp_path):
    rows = [row.replace("-", "A") if n == 0 else row for n, row in enumerate(family(sequences=150, columns=30))]
    rows = [row[:5] + row[5:9].replace("-", ".").lower() + row[9:] for row in rows]
    names = ["T/11-40", *(f"s{n}" for n in range(1, 150))]
    (tmp_path / "f.a2m").write_text("".join(f">{name}\n{row}\n" for name, row in zip(names, rows)))
    aligned = pleat.read_alignment(tmp_path / "f.a2m")
    model = load(monkeypatch, "evcouplings_model").CouplingsModel(pleat.couplings(aligned, focus="T/11-40", tolerance=0.1), aligned)
    assert list(model.index_list) == [*range(11, 16), *range(20, 41)]
    other = load(monkeypatch, "evcouplings_model").CouplingsModel(pleat.couplings(aligned, focus="s3", tolerance=0.1), aligned)
    assert list(other.index_list) == [column + 1 for column, letter in enumerate(aligned.sequences[3]) if letter != "-"]


def test_sasview_plugin_gives_the_profile_of_pleat(monkeypatch):
    structure = DATA / "1hel.pdb.gz"
    monkeypatch.setenv("PLEAT_STRUCTURE", str(structure))
    plugin = load(monkeypatch, "sasview_structure")
    assert plugin.name == "sasview_structure" and [row[0] for row in plugin.parameters] == ["c1", "c2"]
    q = np.array([0.3, 0.0, 0.1, 0.02])
    exact = pleat.saxs(structure, c1=1.02, c2=1.5, q_max=0.3, q_points=301)
    expected = exact.mean[[300, 0, 100, 20]] / exact.mean[0]
    assert plugin.Iq.vectorized and np.allclose(plugin.Iq(q, np.array(1.02), np.array(1.5)), expected, rtol=1e-4)
    with pytest.raises(ValueError, match="expected q up to 4.99"):
        plugin.Iq(np.array([0.1, np.nan]))
    if HOSTS["sasmodels"]:
        from sasmodels.sasview_model import load_custom_model
        model = load_custom_model(plugin.__file__)()
        for name, value in (("scale", 2), ("background", 0.1), ("c1", 1.02), ("c2", 1.5)):
            model.setParam(name, value)
        assert np.allclose(model.evalDistribution(q[2:]), 2 * expected[2:] + 0.1, rtol=1e-4)


def test_sasview_plugin_takes_finer_steps_for_large_particles(monkeypatch, tmp_path):
    rows = [f"ATOM  {n % 99999 + 1:5d}  CB  ALA A{n % 9999 + 1:4d}    {5 * n:8.3f}   0.000   0.000  1.00  0.00           C\n" for n in range(181)]
    (tmp_path / "rod.pdb").write_text("".join(rows))
    monkeypatch.setenv("PLEAT_STRUCTURE", str(tmp_path / "rod.pdb"))
    q = np.linspace(0, 0.1, 101)
    exact = pleat.saxs(tmp_path / "rod.pdb", model="all-atom", c1=1, c2=1, q_max=0.1, q_points=1001).mean
    assert np.allclose(load(monkeypatch, "sasview_structure").Iq(q), exact[::10] / exact[0], rtol=3e-3)
