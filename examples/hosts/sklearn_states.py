# scikit-learn: an estimator that clusters frames by their RMSD, for pipelines, clones and searches of parameters.
"""Put this file where Python finds it:

    from sklearn_states import RmsdClusters
    states = RmsdClusters(n_clusters=4).fit(trajectory.xyz)      # mdtraj: nanometres
    states.labels_, states.medoid_indices_, states.transform(trajectory.xyz)
"""
import numpy as np
import pleat
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted


class RmsdClusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Clusters frames by their RMSD after superposition, which Euclidean distances of coordinates do not know.

    n_clusters : number of clusters; None: as `cutoff` says, or 2 without it
    cutoff : in the unit of X
    method : as pleat.cluster takes it: 'average', 'complete', 'single', 'ward', 'kmedoids' with n_clusters or (but the
        last) cutoff; 'gromos', 'dbscan', ... with cutoff
    random_state : seed, RandomState or None, as of scikit-learn's own

    There is no `score`: give searches a `scoring` of yours, which takes (estimator, X, y).
    X is [frame, 3 atom] (x, y and z of the first atom, then of the next), [frame, atom, 3], or an mdtraj.Trajectory,
    whose unit is the nanometre. Distances have the unit of X.

    labels_ : int32 [frame], from 0, the largest cluster first; -1: noise
    medoid_indices_ : int64 [cluster], rows of X
    cluster_centers_ : float32 [cluster, 3 atom], the medoids
    clusters_ : pleat.Clusters; its transitions and dwell times mean something if the rows of X follow each other in time
    """

    def __init__(self, n_clusters=None, *, cutoff=None, method="average", random_state=1):
        self.n_clusters = n_clusters
        self.cutoff = cutoff
        self.method = method
        self.random_state = random_state

    def _frames(self, X):
        X = check_array(getattr(X, "xyz", X), dtype=np.float32, order="C", allow_nd=True)
        if X.ndim > 3 or (X.shape[2] if X.ndim == 3 else X.shape[1] % 3 + 3) != 3:
            raise ValueError(f"expected X of shape [frame, 3 atom] or [frame, atom, 3], found {X.shape}")
        return X.reshape(len(X), -1, 3)

    def fit(self, X, y=None):
        """Clusters the frames of X; y is not used."""
        frames = self._frames(X)
        options = {"k": 2 if self.n_clusters is None and self.cutoff is None else self.n_clusters, "cutoff": self.cutoff}
        seed = self.random_state
        if seed is None or not np.isscalar(seed):
            seed = check_random_state(seed).randint(2**31 - 1)
        self.clusters_ = pleat.cluster(frames, method=self.method, seed=seed,
                                       **{name: value for name, value in options.items() if value is not None})
        self.labels_ = self.clusters_.assignment
        self.medoid_indices_ = self.clusters_.clusters["medoid"]
        self.cluster_centers_ = frames[self.medoid_indices_].reshape(len(self.medoid_indices_), -1)
        self._n_features_out, self.n_features_in_ = self.cluster_centers_.shape
        return self

    def transform(self, X):
        """float32 [frame, cluster]: the RMSD of each frame to each medoid."""
        check_is_fitted(self)
        frames = self._frames(X)
        if 3 * frames.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {3 * frames.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return pleat.rmsd(frames, against=self._frames(self.cluster_centers_)).matrix

    def predict(self, X):
        """int64 [frame]: the cluster of the nearest medoid."""
        return self.transform(X).argmin(axis=1)
