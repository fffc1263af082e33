# Workflow results: the classes of what pleat.refine and pleat.select return.
"""Refinement and Selection."""
import numpy as np

from .result import Attribute, Result, counted, records_table


class Refinement(Result):
    """What pleat.refine returns. to_dataframe() is `table`."""

    frames = Attribute("pleat.Ensemble, float32 [frame, atom, 3], angstrom; the largest domain rests")
    table = Attribute("dict of arrays [frame], the columns of frames.tsv: chain, step (int64, the Monte Carlo "
                      "chain and its moves so far); in mode average replica (int64); rg, distance_1_2, ... (float64, "
                      "angstrom); with a likelihood ln_likelihood, chi2 (per point) and c2; dmax (angstrom); prior (ln of "
                      "the density, up to a constant); clash (kT); close_atoms (int64, pairs of heavy atoms closer than 2.5 angstrom)")
    convergence = Attribute("dict of rg, each distance and ln_likelihood: dict of r_hat, effective_size, converged")
    converged = Attribute("whether R-hat is at most 1.01 and the effective size at least 400 for all of them")
    warning = Attribute("which of them have not converged, else ''. It is also raised as a Python warning")
    misfit = Attribute("dict of the test whether residuals of the frames are noise: squares and runs (probabilities), "
                       "passed, remark (also a Python warning); None without a likelihood")
    moves = Attribute("dict of each kind of move: (proposed, accepted), burn-in left out")
    powers = Attribute("float64 [rung], powers of the likelihood; None without a likelihood")
    swap_probabilities = Attribute("float64 [rung - 1], mean probabilities of swaps; None without a likelihood")
    arrivals = Attribute("int, conformations that came from power 0 to power 1; None without powers between which to swap")
    domains = Attribute("list of str, such as 'A:1-288'; domains are numbered from 1 in names of columns")
    linkers = Attribute("list of str, the flexible residues")
    built = Attribute("list of str, segments of missing residues that `sequence` added, such as 'A:285-301'")
    found_options = Attribute("'--linkers ... --group ...', what `pae` found; '' without it")
    angles = Attribute("how many angles change")
    notes = Attribute("list of str, what was decided")
    saxs = Attribute("pleat.Saxs, the profiles of these frames by pleat.saxs, with `data` fitted to it; None without "
                     "data and profiles")
    _tables = ("frames",)

    def _headline(self):
        return (f"{len(self.frames)} frames, {len(self.domains)} domains, {self.angles} angles, "
                f"{'converged' if self.converged else 'not converged'}")

    def _frames_table(self):
        return {"frame": np.arange(len(self.frames)), **self.table}


class Selection(Result):
    """What pleat.select returns.

    numpy.asarray(result) is `scores`; to_dataframe() is a table of frames, to_dataframe('clusters') of
    clusters and to_dataframe('contacts') of contacts.
    """

    scores = Attribute("records [frame] (position, cluster, joint, contacts, unexplained, density, chi2, rmsd, "
                       "contact_rank, cluster_rank, curve_rank, score_rank). Position 1 has the highest joint score, the "
                       "weighted mean of the ranks, which go from 0 (worst) to 1 (best); rmsd is from the medoid "
                       "of the first selected cluster, in angstrom; NaN: not known")
    clusters = Attribute("records (cluster, size, selected, best_frame, joint, when_selected, contacts, "
                         "unexplained, density, chi2, min_chi2, added), medians over the cluster's frames. The "
                         "selected clusters come first, in their order: selected = 1, 2, ...; it is 0 for the others")
    medoids = Attribute("int64 [cluster], frames")
    contacts = Attribute("records (i, j, strength, explained_by): residues of the sequence, from 0, and which "
                         "selected cluster explains the contact, 0 for none")
    residues = Attribute("[(name, name)] of the structure, one pair per contact")
    formed = Attribute("uint8 [frame, contact], 1 if the frame forms the contact")
    chain = Attribute("the chain that the sequence was aligned to, or None")
    identity = Attribute("the share of identical letters")
    cutoff = Attribute("RMSD below which frames are neighbours, angstrom")
    _array_of, _tables = "scores", ("frames", "clusters", "contacts")

    def _headline(self):
        return (f"{counted(len(self.scores), 'frame')}, {counted(len(self.clusters), 'cluster')}, "
                f"{np.count_nonzero(self.clusters['selected'])} selected, {len(self.contacts)} contacts")

    def _frames_table(self):
        return {"frame": np.arange(len(self.scores)), **records_table(self.scores)}

    def _clusters_table(self):
        return records_table(self.clusters)

    def _contacts_table(self):
        names = list(zip(*self.residues)) or [(), ()]
        return {**records_table(self.contacts), "residue_i": list(names[0]), "residue_j": list(names[1])}


for _kind in (Refinement, Selection):
    _kind.__module__ = "pleat"
