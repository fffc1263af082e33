# Lists of jobs: made families as many as fit, ensembles and real families, on one GPU and on two; and the CPU.
import filecmp
import json
import os
import shutil
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .bars import CPU_THREADS, ENSEMBLE, MADE_FAMILIES
from .families import finished
from .lanes import ABOUT_THE_RUN
from .watch import watched_gpus

PFAM = 14831          # families that the made ones stand for
NEEDED_SECONDS = 120  # for the made families; with less, a share of them
MAKE_LIMIT, MADE_LIMIT, SHORT_LIMIT, CPU_LIMIT = 40.0, 90.0, 25.0, 150.0
ENSEMBLES, CUTOFF = 200, 2
REPEATS = 3           # of the real families, which take a second or two
WITHOUT_GPU = {"families": 12, "ensembles": 3, "frames": 300, "real": 3}  # to try this script
TINY = "ACDEFGHIKL\nACDEFGHIKM\nACDEFGHIRL\n"


@dataclass(frozen=True)
class JobList:
    """A command with a list of inputs, in a file."""
    name: str
    words: tuple
    path: object
    count: int


def write_list(path, inputs):
    path.write_text("".join(f"{item}\n" for item in inputs), encoding="utf-8")
    return path


# ---- one call

def device_words(session, gpus):
    names = [f"{session.device}:{n}" if session.device == "cuda" else session.device for n in range(gpus)]
    return ("--device", ",".join(names))


def call(session, jobs, folder, *options, limit=SHORT_LIMIT):
    """Runs a list into a new folder: seconds, CPU seconds, jobs that finished."""
    done = session.call([session.program("pleat"), jobs.words[0], "--list", jobs.path, "-o", folder,
                         *jobs.words[1:], *options, "--quiet"], limit)
    count = len(finished(folder))
    found = {"seconds": done.seconds, "cpu_seconds": done.cpu_seconds, "finished": count}
    if done.status != 0 or count < jobs.count:
        found["failed"] = f"{count} of {jobs.count} jobs finished; {done.complaint()}"
    return found


def differing_files(one, other):
    """Result files of two folders of jobs that are not the same, or are in one of them alone."""
    def files(folder):
        return {path.relative_to(folder) for path in folder.rglob("*")
                if path.is_file() and path.name not in (*ABOUT_THE_RUN, "jobs.tsv")}
    first, second = files(one), files(other)
    return len(first ^ second) + sum(not filecmp.cmp(one / name, other / name, shallow=False)
                                     for name in first & second)


def on_one_and_two(session, jobs, scratch, repeats=1, limit=SHORT_LIMIT):
    """Seconds and CPU seconds on one GPU and, where there are two, on two, and whether these gave the
    same files."""
    found, folders = {}, {}
    for gpus in (1, 2)[:session.gpus]:
        times = []
        for repeat in range(repeats):
            folders[gpus] = scratch / f"{gpus}-{repeat}"
            with watched_gpus(one := {}):
                one.update(call(session, jobs, folders[gpus], *device_words(session, gpus), limit=limit))
            times.append(one)
            if "failed" in one:
                break
            if repeat + 1 < repeats:
                shutil.rmtree(folders[gpus])
        found[str(gpus)] = {**times[-1], "seconds": statistics.median(each["seconds"] for each in times)}
        found[str(gpus)]["all_seconds"] = [each["seconds"] for each in times]
    if session.gpus > 1:
        found["different"] = differing_files(folders[1], folders[2])
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
    print(f"lists: {jobs.name}: {json.dumps(found)}", flush=True)
    return found


def seconds_of(found, gpus):
    """Of a call in which all jobs finished, or None."""
    one = found.get(str(gpus), {"failed": ""})
    return None if "failed" in one else one["seconds"]


# ---- what the lists are of

def made_families(session, scratch):
    """A call for made families on one GPU and on two, with what it projects for all of Pfam."""
    count = int(MADE_FAMILIES * min(1.0, session.left() / NEEDED_SECONDS))
    if session.device == "cpu":
        count = WITHOUT_GPU["families"]
    made = session.call([session.program("bench_make_families"), scratch / "pfam", count], MAKE_LIMIT)
    if made.status != 0:
        raise OSError(made.complaint())
    jobs = JobList("made families", ("couplings",), scratch / "pfam/list.txt", count)
    found = on_one_and_two(session, jobs, scratch, limit=MADE_LIMIT)
    for gpus in range(1, session.gpus + 1)[:2]:
        one = found[str(gpus)]
        one["cpu_seconds_per_family"] = one["cpu_seconds"] / count
        one["projected_seconds_of_pfam"] = one["seconds"] * PFAM / count
        seconds = seconds_of(found, gpus)
        session.record.bar(f"lists: seconds of {MADE_FAMILIES} made families on {('one GPU', 'two GPUs')[gpus - 1]}",
                           None if seconds is None else seconds * MADE_FAMILIES / count)
    return {**found, "families": count, "seconds_to_make": made.seconds, "sizes": json.loads(made.output)}


def ensembles(session, scratch):
    """Seconds of an ensemble in a list of them, reading included."""
    count, (frames, atoms) = ENSEMBLES, ENSEMBLE
    if session.device == "cpu":
        count, frames = WITHOUT_GPU["ensembles"], WITHOUT_GPU["frames"]
    paths = [scratch / f"e{k}.npy" for k in range(count)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda k: session.call(
            [session.program("bench_make_ensemble"), frames, atoms, paths[k], 20, k], MAKE_LIMIT,
            OMP_NUM_THREADS="1"), range(count)))
    if any(done.status != 0 for done in made):
        raise OSError(next(done.complaint() for done in made if done.status != 0))
    path = write_list(scratch / "ensembles.txt", paths)
    found = {}
    for name, words in (("superposition", ("rmsd", "--matrix", "none")),
                        ("clustering", ("cluster", "--cutoff", CUTOFF)),
                        ("superposition with the matrix", ("rmsd",))):
        jobs = JobList(f"{name} of {count} ensembles", words, path, count)
        if name.endswith("matrix"):
            found[name] = {"1": call(session, jobs, scratch / "matrices", *device_words(session, 1))}
            shutil.rmtree(scratch / "matrices", ignore_errors=True)
        else:
            found[name] = on_one_and_two(session, jobs, scratch)
        seconds = seconds_of(found[name], 1)
        session.record.bar(f"lists: {name}: seconds of an ensemble on one GPU",
                           None if seconds is None else seconds / count)
    return found


def real_families(session, scratch):
    """The packed families on one GPU and on two, beside lists of two tiny ones, which only start."""
    alignments = session.families()
    if session.device == "cpu":
        alignments = sorted(alignments, key=lambda path: path.stat().st_size)[:WITHOUT_GPU["real"]]
    if not alignments:
        return {"absent": "no families in the pack"}
    tiny = [scratch / f"tiny{k}.aln" for k in range(2)]
    for path in tiny:
        path.write_text(TINY, encoding="ascii")
    found = {}
    for name, inputs in (("start", tiny), ("families", alignments)):
        path = write_list(scratch / f"{name}.txt", inputs)
        found[name] = on_one_and_two(session, JobList(name, ("couplings",), path, len(inputs)),
                                     scratch, REPEATS)
    beyond = {}
    for gpus in range(1, session.gpus + 1)[:2]:
        if None not in (seconds_of(found["families"], gpus), seconds_of(found["start"], gpus)):
            beyond[gpus] = seconds_of(found["families"], gpus) - seconds_of(found["start"], gpus)
    found["seconds_beyond_the_start"] = beyond
    if len(beyond) == 2:
        session.record.bar("lists: real families: times as fast on two GPUs, beyond the start",
                           beyond[1] / max(beyond[2], 1e-9))
    return {**found["families"], "start": found["start"], "seconds_beyond_the_start": beyond}


def lists(session):
    """Each kind of list; one that fails does not stop the others."""
    different, complete = 0, True
    for work in (real_families, ensembles, made_families):
        with session.scratch(in_memory=True) as scratch:
            try:
                found = work(session, scratch)
            except (OSError, ValueError, KeyError) as error:
                found = {"failed": f"{type(error).__name__}: {error}"}
                print(f"lists: {work.__name__.replace('_', ' ')}: {found['failed']}", flush=True)
        session.record.add("lists", **{work.__name__: found})
        counts = [each["different"] for each in (found, *found.values())
                  if isinstance(each, dict) and "different" in each]
        complete = complete and bool(counts)
        different += sum(counts)
    if session.gpus > 1:
        session.record.bar("lists: results of two GPUs that differ from those of one",
                           different if complete or different else None)


# ---- the CPU

def cpu_list(session):
    """The real families in one call with CPU_THREADS threads, beside what their CPU seconds and the
    longest of them allow."""
    alignments = {path.name.removesuffix(".aln.gz"): path for path in session.families()}
    threads = min(CPU_THREADS, len(os.sched_getaffinity(0)))
    if session.device == "cpu":
        small = sorted(alignments, key=lambda name: alignments[name].stat().st_size)[:WITHOUT_GPU["real"]]
        alignments = {name: alignments[name] for name in small}
    if not alignments:
        session.record.add("cpu_list", absent="no families in the pack")
        return
    options = ("--device", "cpu", "--threads", str(threads))
    with session.scratch(in_memory=True) as scratch:
        path = write_list(scratch / "families.txt", alignments.values())
        jobs = JobList("families", ("couplings",), path, len(alignments))
        found = {"threads": threads, **call(session, jobs, scratch / "all", *options, limit=CPU_LIMIT)}
        session.record.add("cpu_list", **found)
        if "failed" in found:
            print(f"cpu_list: {found['failed']}", flush=True)
            return
        seconds = {name: json.loads((scratch / "all" / name / "manifest.json").read_text(encoding="utf-8"))
                   ["seconds"] for name in alignments}
        longest = max(seconds, key=seconds.get)
        alone = call(session, JobList(longest, jobs.words, write_list(scratch / "longest.txt",
                                                                      [alignments[longest]]), 1),
                     scratch / "alone", *options, limit=CPU_LIMIT)
        different = differing_files(scratch / "alone" / longest, scratch / "all" / longest)
    shared = found["cpu_seconds"] / threads
    session.record.add("cpu_list", seconds_by_family=seconds, longest=longest, alone=alone,
                       seconds_if_shared_evenly=shared, different=different)
    if "failed" not in alone:
        session.record.bar("cpu list: seconds over what CPU seconds and the longest family allow",
                           found["seconds"] / max(shared, alone["seconds"]))
        session.record.bar("cpu list: results of the longest family that differ alone", different)
    print(f"cpu_list: {found['seconds']:.1f} s, {shared:.1f} s if shared evenly, {longest} alone "
          f"{alone['seconds']:.1f} s", flush=True)
