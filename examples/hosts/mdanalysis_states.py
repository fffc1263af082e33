# MDAnalysis: the states of an AtomGroup as an analysis class, with pleat's RMSD and clusters.
"""Put this file where Python finds it:

    from mdanalysis_states import RmsdClusters
    u = MDAnalysis.Universe("md.gro", "md.xtc")
    found = RmsdClusters(u.select_atoms("protein and name CA"), cutoff=2.0).run(step=10)
    found.results.labels, found.results.medoids, found.results.rmsd

Positions and cutoffs are in angstrom, MDAnalysis's unit. As with MDAnalysis's own RMSD, make molecules whole first if
they cross the periodic box, which takes a topology with bonds:

    from MDAnalysis.transformations import unwrap
    u = MDAnalysis.Universe("md.tpr", "md.xtc")
    u.trajectory.add_transformations(unwrap(u.select_atoms("protein")))

Several chains are made whole each by itself; also bring them into one box, as `gmx trjconv -pbc cluster` does.
"""
import inspect

import numpy as np
import pleat
from MDAnalysis.analysis.base import AnalysisBase


class RmsdClusters(AnalysisBase):
    """Clusters frames by the RMSD of an AtomGroup after superposition.

    atomgroup : AtomGroup or Universe of 3 or more atoms, the same in all frames: TypeError for a group that updates
    weights : None, 'mass', or a number for each atom
    matrix : whether to keep the RMSD of all pairs, which takes 4 bytes times frames^2; without it, a cutoff clusters
        any number of frames
    verbose : a progress bar
    options : as pleat.cluster takes them: cutoff=2.0 (gromos; angstrom), method='gmx', method='average' with k=3 or
        k=range(2, 10), ...; of several values the best by silhouette is taken

    run(start, stop, step) fills `results`:

    labels : int32 [frame], from 0, the largest cluster first; -1: noise
    medoids : int64 [cluster], frames of the trajectory: `u.trajectory[medoids[0]]` shows the first
    sizes : int64 [cluster]
    rmsd : float32 [frame, frame], angstrom; None without `matrix`
    clusters : pleat.Clusters: transitions(), dwell_times(), to_dataframe(), ...
    """

    def __init__(self, atomgroup, *, weights=None, matrix=False, verbose=False, **options):
        super().__init__(atomgroup.universe.trajectory, verbose=verbose)
        if type(atomgroup).__name__ == "UpdatingAtomGroup":
            raise TypeError("expected an AtomGroup of the same atoms in all frames, found one that updates")
        if len(atomgroup.atoms) < 3:
            raise ValueError(f"expected 3 or more atoms, found {len(atomgroup.atoms)}")
        inspect.signature(pleat.cluster).bind(None, **options)
        self._atoms, self._weights, self._matrix, self._options = atomgroup.atoms, weights, matrix, options

    def _prepare(self):
        self._xyz = np.empty((self.n_frames, len(self._atoms), 3), dtype=np.float32)

    def _single_frame(self):
        self._xyz[self._frame_index] = self._atoms.positions

    def _conclude(self):
        weights = self._atoms.masses if isinstance(self._weights, str) and self._weights == "mass" else self._weights
        frames = pleat.Ensemble(self._xyz, is_trajectory=True)
        pairs = pleat.rmsd(frames, atom_weights=weights, matrix="full") if self._matrix else None
        clusters = (pleat.cluster(frames, atom_weights=weights, **self._options) if pairs is None else
                    pleat.cluster(pairs, **self._options))
        self.results.labels = clusters.assignment
        self.results.medoids = np.asarray(self.frames)[clusters.clusters["medoid"]]
        self.results.sizes = clusters.clusters["size"]
        self.results.rmsd = None if pairs is None else pairs.matrix
        self.results.clusters = clusters
        del self._xyz
