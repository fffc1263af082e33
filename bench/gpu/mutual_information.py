# Mutual information on GPUs: whole programs and their kernels' seconds, the CPU's bits.
import json
import shutil
import statistics

from .bars import DIVERSE, MI_SHUFFLES, MI_TIMES, size_name

# Files of a run that hold nothing but what the shuffles gave, and are the same on every device.
RESULTS = {2: ("pairs.npz",), 3: ("pairs.npz", "triples.npz")}
# What the manifest calls the counting: the stage, by the clock on the wall, and a fact of the same
# name with the seconds of kernels in it, by the GPU's clock.
STAGES = {2: "pairs", 3: "triples"}
KERNEL_FACT = "gpu_seconds_{}"
FACTS = ("sequences", "columns", "pairs", "triples")
# Shuffles that are also counted by the CPU kernel, whose bits the GPU's must be.
COMPARED = (("calm753x264", 2, 500), ("ribo140x71", 3, 200), ("ribo140x71", 2, 1000))
RUN_LIMIT, COMPARE_LIMIT = 120.0, 60.0


def alignment_of(session, name):
    """The alignment of a case, packed or made; None where it was not packed."""
    if name == size_name(DIVERSE):
        return session.generated(DIVERSE)
    for path in sorted((session.folder / "data/mutual_information").glob(f"{name}.fasta*")):
        return path
    return None


def call(session, alignment, run, order, shuffles, device, limit=RUN_LIMIT):
    """pleat mi with the sampled null alone: the rest is the CPU's."""
    return session.call([session.program("pleat"), "mi", alignment, "-o", run, "--order",
                         str(order), "--null", "sampled", "--shuffles", str(shuffles), "--seed", "1",
                         "--device", device, "--quiet"], limit)


def told_by(run, order):
    """Sizes, the seconds of each stage, and by itself the counting: of its kernels and its stage."""
    told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    stages = {}
    for stage in told["timings"]:
        stages[stage["stage"]] = stages.get(stage["stage"], 0.0) + stage["seconds"]
    return {**{name: told["results"][name] for name in FACTS if name in told["results"]},
            "stages": stages, "stage_seconds": stages.get(STAGES[order]),
            "kernel_seconds": told["results"].get(KERNEL_FACT.format(STAGES[order])),
            "run_seconds": told["seconds"], "messages": told["messages"]}


def bytes_of(run, order):
    return [(run / name).read_bytes() for name in RESULTS[order]]


def time_case(session, case, scratch):
    """Runs of one case, each in a new folder: medians, and whether all gave the same bytes."""
    alignment = alignment_of(session, case.alignment)
    if alignment is None:
        return {"absent": "the alignment is not in the pack"}
    seconds, kernels, counting, contents, found = [], [], [], [], {}
    for repeat in range(case.repeats):
        run = scratch / f"{case.name.replace(' ', '-')}-{repeat}"
        done = call(session, alignment, run, case.order, MI_SHUFFLES, session.device)
        if done.status != 0:
            return {"failed": done.complaint()}
        found = told_by(run, case.order)
        seconds.append(done.seconds)
        kernels.append(found.pop("kernel_seconds"))
        counting.append(found.pop("stage_seconds"))
        contents.append(bytes_of(run, case.order))
        shutil.rmtree(run)
    found.update(seconds=seconds, median=statistics.median(seconds),
                 different_results=sum(content != contents[0] for content in contents))
    if None not in kernels:
        found.update(kernel_seconds=kernels, kernel_median=statistics.median(kernels))
    if None not in counting:
        found.update(stage_seconds=counting, stage_median=statistics.median(counting))
    return found


def times(session, scratch):
    """Every case of MI_TIMES with its bars."""
    different = compared = 0
    for case in MI_TIMES:
        found = time_case(session, case, scratch)
        session.record.add("mutual_information", **{case.name: found})
        if case.program:
            session.record.bar(f"{case.name}: seconds of the program", found.get("median"))
        if case.kernel:
            session.record.bar(f"{case.name}: seconds of the kernel", found.get("kernel_median"))
        compared += len(found.get("seconds", ())[1:])
        different += found.get("different_results", 0)
        print(f"{case.name}: program {found.get('median', found.get('failed', 'absent'))}, kernel "
              f"{found.get('kernel_median')}, its stage {found.get('stage_median')}", flush=True)
    session.record.add("mutual_information", runs_compared={"compared": compared,
                                                            "different": different})
    session.record.bar("mutual information: runs of other bits than the first",
                       different if compared else None)


def compare_with_the_cpu(session, scratch):
    """The same files from the GPU and from the CPU."""
    different = compared = 0
    for name, order, shuffles in COMPARED:
        alignment = alignment_of(session, name)
        if alignment is None:
            continue
        runs = {}
        for device in (session.device, "cpu"):
            run = scratch / f"{name}-{order}-{device}-compared"
            done = call(session, alignment, run, order, shuffles, device, limit=COMPARE_LIMIT)
            if done.status == 0:
                runs[device] = bytes_of(run, order)
            else:
                print(f"{name} on {device}: {done.complaint()}", flush=True)
            shutil.rmtree(run, ignore_errors=True)
        compared += 1
        different += len(runs) < len({session.device, "cpu"}) or runs[session.device] != runs["cpu"]
    session.record.add("mutual_information", beside_the_cpu={"compared": compared,
                                                             "different": different})
    session.record.bar("mutual information: results that differ from the CPU's",
                       different if compared else None)
    print(f"mutual information: {compared} compared with the CPU, {different} different", flush=True)


def trees(session, scratch):
    """--null tree: seconds of 10,000 null alignments, and the CPU's E for fewer."""
    def tree_run(name, nulls, device, limit=RUN_LIMIT):
        run, alignment = scratch / f"{name}-tree-{device}", alignment_of(session, name)
        if alignment is None:
            return None, "the alignment is not in the pack"
        done = session.call([session.program("pleat"), "mi", alignment, "-o", run, "--null", "tree",
                             "--null-alignments", str(nulls), "--top", "1000000", "--device", device, "--quiet"],
                            limit)
        if done.status != 0:
            return None, done.complaint()
        with open(run / "pairs.tsv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        columns = [rows[0].index(name) for name in ("i", "j", "tree_e")]
        found = {tuple(row[n] for n in columns[:2]): float(row[columns[2]]) for row in rows[1:]}
        shutil.rmtree(run)
        return done.seconds, found

    seconds, found = tree_run("calm753x264", MI_SHUFFLES, session.device)
    session.record.add("mutual_information", tree={"seconds": seconds, **({} if seconds else {"failed": found})})
    session.record.bar("mutual information: seconds of 10000 null alignments of 753x264 along a tree", seconds)
    (_, on_gpu), (_, on_cpu) = (tree_run("ribo140x71", 1000, device) for device in (session.device, "cpu"))
    difference = None
    if isinstance(on_gpu, dict) and isinstance(on_cpu, dict):
        difference = max(abs(on_gpu[pair] - e) / e for pair, e in on_cpu.items() if e < 1)
    session.record.bar("mutual information: relative difference of E below 1 along a tree to the CPU's", difference)
    print(f"tree: {seconds} s, E differs by {difference}", flush=True)


def mutual_information(session):
    """Times of pairs, triples and null alignments on one GPU, and the CPU's bits."""
    with session.scratch() as scratch:
        for step in (compare_with_the_cpu, times, trees):
            try:
                step(session, scratch)
            except (OSError, ValueError, KeyError) as error:
                told = f"{type(error).__name__}: {error}"
                session.record.add("mutual_information", **{step.__name__: {"failed": told}})
                print(f"mutual information: {step.__name__}: {told}", flush=True)
