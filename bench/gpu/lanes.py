# All GPUs of the machine in one process, beside one: the same files, and how many times as fast.
import gzip
import json
import shutil
from dataclasses import dataclass

from .bars import DIVERSE, LANES, MI_SHUFFLES, size_name
from .mutual_information import alignment_of
from .watch import watched_gpus

RUN_LIMIT, LONG_LIMIT = 150.0, 300.0
CUTOFF = 2                # angstrom, of clusters
WITHOUT_GPU_SHARE = 200   # of the frames, to try this script on CPUs
# Files that tell of a run and not of its results.
ABOUT_THE_RUN = ("manifest.json", "log.txt")


@dataclass(frozen=True)
class Work:
    """A command that is run on 1, 2, 4, ... GPUs; its stages by the names of the manifest are what the
    GPUs share."""
    words: list
    stages: tuple
    limit: float = RUN_LIMIT


def made_frames(session, scratch, frames, atoms):
    if session.device == "cpu":
        frames = max(frames // WITHOUT_GPU_SHARE, 2)
    path = scratch / f"{frames}x{atoms}.npy"
    if not path.exists():
        done = session.call([session.program("bench_make_ensemble"), frames, atoms, path], 120)
        if done.status != 0:
            raise OSError(done.complaint())
    return path


def triples(name):
    def work(session, _):
        alignment = alignment_of(session, name)
        if alignment is None:
            return None
        return Work(["mi", alignment, "--order", "3", "--null", "sampled", "--shuffles", MI_SHUFFLES],
                    ("triples",))
    return work


def pairs(session, scratch):
    frames = made_frames(session, scratch, 400000, 100)
    return Work(["rmsd", frames, "--matrix", "none"], ("rmsd",))


def profiles(session, scratch):
    topology = session.folder / "data/1hel.pdb.gz"
    if not topology.exists():
        return None
    with gzip.open(topology, "rt", encoding="ascii") as file:
        atoms = sum(line.startswith(("ATOM", "HETATM")) for line in file)
    frames = made_frames(session, scratch, 16000, atoms)
    return Work(["saxs", frames, "--topology", topology, "--q-points", "501", "--method", "debye"], ("profiles",))


def clusters(frames):
    def work(session, scratch):
        path = made_frames(session, scratch, frames, 100)
        return Work(["cluster", path, "--cutoff", CUTOFF], ("distances", "clusters", "describe"), LONG_LIMIT)
    return work


MADE = {"triples of 753x264": triples("calm753x264"),
        f"triples of {size_name(DIVERSE)}": triples(size_name(DIVERSE)), "pairs of 400000x100": pairs, "profiles of 16000 frames": profiles,
        "clusters of 1000000x100": clusters(1000000),
        "clusters of 2000000x100": clusters(2000000)}
assert list(MADE) == list(LANES)


def named(words):
    """The names of the kinds of work that begin with one of the words, and the words that begin none."""
    return ([name for name in MADE if name.startswith(tuple(words))],
            [word for word in words if not word or not any(name.startswith(word) for name in MADE)])


def contents(run):
    """Every result file of a run."""
    return {path.name: path.read_bytes() for path in sorted(run.iterdir()) if path.name not in ABOUT_THE_RUN}


def timed(session, work, run, gpus):
    """Seconds of one run: of all of it, of what the GPUs share, and of each stage; and the results that
    its manifest tells."""
    device = ",".join(f"{session.device}:{n}" if session.device == "cuda" else session.device
                      for n in range(gpus))
    with watched_gpus(found := {}):
        done = session.call([session.program("pleat"), *work.words, "-o", run, "--device", device, "--seed",
                             "1", "--quiet"], work.limit)
    if done.status != 0:
        return {"failed": done.complaint()}
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    stages = {}
    for stage in manifest["timings"]:
        stages[stage["stage"]] = stages.get(stage["stage"], 0.0) + stage["seconds"]
    return {"seconds": done.seconds, "shared_seconds": sum(stages.get(name, 0.0) for name in work.stages),
            "stages": stages, "results": manifest.get("results", {}),
            "peak_memory_bytes": manifest.get("peak_memory_bytes"), **found}


def compare(session, name, scratch):
    """One kind of work on the numbers of GPUs that it takes; the bars are those of the largest."""
    work = MADE[name](session, scratch)
    if work is None:
        session.record.add("lanes", **{name: {"absent": "its data is not in the pack"}})
        return
    numbers = [1 << n for n in range(session.gpus.bit_length())]
    found, expected, different = {}, None, 0
    for gpus in numbers:
        run = scratch / f"{name.replace(' ', '-')}-{gpus}"
        found[str(gpus)] = timed(session, work, run, gpus)
        if "failed" in found[str(gpus)]:
            break
        if expected is None:
            expected = contents(run)
        different += contents(run) != expected
        shutil.rmtree(run)
    session.record.add("lanes", **{name: {**found, "shared": work.stages, "different": different}})
    print(f"lanes: {name}: {json.dumps(found)}", flush=True)
    last = found.get(str(numbers[-1]), {"failed": ""})
    if "failed" in last:
        return
    faster = found["1"]["shared_seconds"] / max(last["shared_seconds"], 1e-9)
    session.record.bar(f"lanes: {name}: times as fast as one GPU, by the share of each", faster / numbers[-1])
    session.record.bar(f"lanes: {name}: results that differ from one GPU's", different)
    print(f"lanes: {name}: {faster:.2f} times as fast on {numbers[-1]}", flush=True)


def lanes(session):
    """Each kind of work of MADE, or those of session.cases; one that fails does not stop the others."""
    with session.scratch() as scratch:
        for name in session.cases or MADE:
            try:
                compare(session, name, scratch)
            except (OSError, ValueError, KeyError) as error:
                told = f"{type(error).__name__}: {error}"
                session.record.add("lanes", **{name: {"failed": told}})
                print(f"lanes: {name}: {told}", flush=True)
