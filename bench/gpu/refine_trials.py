# Two proteins with flexible linkers on a GPU: DNA ligase III and its measured curve, RPA70 and a made one.
import csv
import json

from .refine import stages

LIGASE = ("A:1-19,A:225-242,A:446-448,A:594-603", "ligase_multifoxs/ligase.pdb.gz", "ligase_multifoxs/ligase_iq.dat")
RPA = ("A:289-301", "rpa_multifoxs/1fguA.pdb.gz", "rpa_multifoxs/1fguA_iq.dat")
# Angstrom between the centres of RPA70's domains in the closed form, whose curve was computed.
RPA_DISTANCE = 26.4


def run(session, folder, case, limit, *options):
    """Runs refine on a case with its curve; its seconds."""
    linkers, structure, curve = case
    data = session.folder / "data/refine"
    done = session.call([session.program("pleat"), "refine", data / structure, "--linkers", linkers, "--data", data / curve,
                         "-o", folder, "--device", session.device, *options], limit)
    if done.status != 0:
        raise RuntimeError(done.complaint())
    return done.seconds


def ligase(session, folder):
    """A pool of 10,000 conformations of 603 residues, and the fewest of them that explain the curve. Fits come after
    the profiles."""
    seconds = run(session, folder, LIGASE, 240, "--mode", "pool", "--frames", "10000")
    found = stages(folder)
    of_pool = list(found)[:list(found).index("profiles") + 1]
    session.record.bar("refine: seconds of a pool of 10000 frames of 603 residues with profiles",
                       sum(found[stage]["seconds"] for stage in of_pool))
    fits = json.loads((folder / "saxs/fit.json").read_text(encoding="utf-8"))
    chosen = fits["ensemble"]["minimal"][fits["ensemble"]["minimal_chosen"] - 1]
    session.record.bar("refine: chi^2 of the minimal ensemble of DNA ligase III", chosen["chi2"])
    return {"seconds": seconds, "stages": found, "members": chosen["members"], "chi2": chosen["chi2"],
            "reweighted_chi2": min(fit["chi2"] for fit in fits["ensemble"]["maximum_entropy"])}


def rpa(session, folder):
    """Conformations that explain the curve: the distance between domains, clusters and convergence."""
    seconds = run(session, folder, RPA, 560, "--mode", "fit", "--frames", "49152", "--moves", "400", "--doublings", "0",
                  "--no-reweight", "--cluster-cutoff", "6")
    with open(folder / "frames.tsv", encoding="utf-8", newline="") as file:
        distances = sorted(float(row["distance_1_2"]) for row in csv.DictReader(file, delimiter="\t"))
    low, high = distances[len(distances) // 20], distances[-1 - len(distances) // 20]
    with open(folder / "clusters/clusters.tsv", encoding="utf-8") as file:
        clusters = sum(1 for _ in file) - 1
    told = json.loads((folder / "convergence.json").read_text(encoding="utf-8"))
    bar = session.record.bar
    bar("refine: angstrom of the 90 % interval of RPA70's distance", high - low)
    bar("refine: angstrom of RPA70's true distance outside of it", max(low - RPA_DISTANCE, RPA_DISTANCE - high, 0.0))
    bar("refine: clusters of RPA70's conformations", clusters)
    bar("refine: largest R-hat of RPA70's lineages", max(one["r_hat"] for one in told["quantities"]))
    bar("refine: smallest effective size of RPA70's lineages", min(one["effective_size"] for one in told["quantities"]))
    return {"seconds": seconds, "interval": [low, high], "clusters": clusters, "converged": told["converged"],
            **{name: told[name] for name in ("quantities", "moves", "evidence")}}


def refine_trials(session):
    """Both; one that fails leaves its bars open."""
    for name, trial in (("ligase", ligase), ("rpa", rpa)):
        with session.scratch() as scratch:
            try:
                found = trial(session, scratch / name)
            except (OSError, RuntimeError, ValueError, KeyError) as error:
                found = {"failed": f"{type(error).__name__}: {error}"}
        session.record.add("refine_trials", **{name: found})
        print(f"refine_trials {name}: {json.dumps(found)}", flush=True)
