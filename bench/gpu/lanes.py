# All GPUs of the machine in one process, beside one: the same files, and how many times as fast.
import gzip
import json
import shutil
from dataclasses import dataclass

from .bars import LANES, MI_SHUFFLES
from .mutual_information import alignment_of

RUN_LIMIT = 150.0
# Files that tell of a run and not of its results.
ABOUT_THE_RUN = ("manifest.json", "log.txt")


@dataclass(frozen=True)
class Work:
    """A command that is run on 1, 2, 4, ... GPUs; its stages by the names of the manifest are what the
    GPUs share."""
    words: list
    stages: tuple


def made_frames(session, scratch, frames, atoms):
    path = scratch / f"{frames}x{atoms}.npy"
    if not path.exists():
        done = session.call([session.program("bench_make_ensemble"), frames, atoms, path], 120)
        if done.status != 0:
            raise OSError(done.complaint())
    return path


def triples(session, _):
    alignment = alignment_of(session, "calm753x264")
    if alignment is None:
        return None
    return Work(["mi", alignment, "--order", "3", "--null", "sampled", "--shuffles", MI_SHUFFLES],
                ("triples",))


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
    return Work(["saxs", frames, "--topology", topology, "--q-points", "501"], ("profiles",))


MADE = {"triples of 753x264": triples, "pairs of 400000x100": pairs, "profiles of 16000 frames": profiles}
assert list(MADE) == list(LANES)


def contents(run):
    """Every result file of a run."""
    return {path.name: path.read_bytes() for path in sorted(run.iterdir()) if path.name not in ABOUT_THE_RUN}


def timed(session, work, run, gpus):
    """Seconds of one run: of all of it, of what the GPUs share, and of each stage."""
    device = ",".join(f"{session.device}:{n}" if session.device == "cuda" else session.device
                      for n in range(gpus))
    done = session.call([session.program("pleat"), *work.words, "-o", run, "--device", device, "--seed", "1",
                         "--quiet"], RUN_LIMIT)
    if done.status != 0:
        return {"failed": done.complaint()}
    stages = {}
    for stage in json.loads((run / "manifest.json").read_text(encoding="utf-8"))["timings"]:
        stages[stage["stage"]] = stages.get(stage["stage"], 0.0) + stage["seconds"]
    return {"seconds": done.seconds, "shared_seconds": sum(stages.get(name, 0.0) for name in work.stages),
            "stages": stages}


def compare(session, name, scratch, most):
    """One kind of work on 1, 2, 4, ... GPUs; the bars are those of the largest number."""
    work = MADE[name](session, scratch)
    if work is None:
        session.record.add("lanes", **{name: {"absent": "its data is not in the pack"}})
        return
    found, expected, different, gpus = {}, None, 0, 1
    while gpus <= most:
        run = scratch / f"{name.replace(' ', '-')}-{gpus}"
        found[str(gpus)] = timed(session, work, run, gpus)
        if "failed" in found[str(gpus)]:
            break
        if expected is None:
            expected = contents(run)
        different += contents(run) != expected
        shutil.rmtree(run)
        gpus *= 2
    session.record.add("lanes", **{name: {**found, "different": different}})
    print(f"lanes: {name}: {json.dumps(found)}", flush=True)
    last = str(most)
    if last not in found or "failed" in found[last]:
        return
    faster = found["1"]["shared_seconds"] / max(found[last]["shared_seconds"], 1e-9)
    session.record.bar(f"lanes: {name}: times as fast as one GPU, by the share of each", faster / most)
    session.record.bar(f"lanes: {name}: results that differ from one GPU's", different)
    print(f"lanes: {name}: {faster:.2f} times as fast on {most}", flush=True)


def lanes(session):
    """Each kind of work of MADE; one that fails does not stop the others."""
    most = 1 << (session.gpus.bit_length() - 1)
    with session.scratch() as scratch:
        for name in MADE:
            try:
                compare(session, name, scratch, most)
            except (OSError, ValueError, KeyError) as error:
                told = f"{type(error).__name__}: {error}"
                session.record.add("lanes", **{name: {"failed": told}})
                print(f"lanes: {name}: {told}", flush=True)
