# Speed: the GPU's ceilings, whole programs from file to scores, and single evaluations.
import json

from .bars import SECONDS, SIZES, size_name

# Real families that are timed beside the generated ones, small to large.
REAL = ("cheY", "1atzA", "DYR_ECOLI_1rx2", "5ptpA", "5sakA", "S1A_3tgi")
ITERATIONS = 50   # of CCMpred, whose objective a fit must reach
FACTS = ("sequences", "columns", "effective_sequences", "objective", "relative_gap", "iterations",
         "evaluations", "stop_reason")


def manifest_of(run):
    """What a finished run says of itself: sizes, its end, and the seconds of its stages."""
    told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return {**{name: told["results"][name] for name in FACTS},
            "stages": {stage["stage"]: stage["seconds"] for stage in told["timings"]},
            "messages": told["messages"], "peak_memory_bytes": told["peak_memory_bytes"]}


# ---- ceilings

def ceilings(session):
    """Measures the ceilings once a run; None where there is no such measurement."""
    if "ceilings" not in session.kept:
        session.kept["ceilings"] = None
        done = session.call([session.program("bench_ceilings")], 60)
        if done.status != 0:
            session.record.add("ceilings", failed=done.complaint())
            print(f"bench_ceilings: {done.complaint()}", flush=True)
            return None
        found = json.loads(done.output)
        session.record.add("ceilings", **found)
        print(f"ceilings: {json.dumps(found)}", flush=True)
        session.kept["ceilings"] = None if "absent" in found else found
    return session.kept["ceilings"]


# ---- whole programs

def timed_alignments(session):
    """(name, path) of every alignment that is timed; those that were not packed are left out."""
    for size in SIZES:
        yield size_name(size), session.generated(size)
    for name in REAL:
        path = session.family(name)
        if path is not None:
            yield name, path


def time_program(session, name, alignment):
    """Whole runs from file to scores, each in a new folder; what the last one found."""
    with session.scratch() as scratch:
        runs = []
        seconds = session.medians_of(lambda: runs.append(scratch / f"{len(runs)}") or session.fit(
            alignment, runs[-1], "--quiet"))
        found = dict(seconds)
        if "failed" not in seconds:
            scores = {(run / "scores.npz").read_bytes() for run in runs}
            found.update(manifest_of(runs[-1]), different_scores=len(scores) - 1)
    print(f"{name}: {found.get('median', found.get('failed'))}", flush=True)
    return found


def compare_with_ccmpred(session, name, alignment, objective):
    """The objective beside that of CCMpred's optimiser after ITERATIONS iterations."""
    done = session.call([session.program("bench_ccmpred_iterations"), session.device, ITERATIONS,
                         alignment], 60)
    if done.status != 0:
        return {"ccmpred_failed": done.complaint()}
    peer = json.loads(done.output)
    print(f"{name}: objective {objective:.8g}, CCMpred's {peer['objective']:.8g} after "
          f"{peer['iterations']} iterations", flush=True)
    return {"ccmpred_objective": peer["objective"], "ccmpred_iterations": peer["iterations"],
            "is_above_ccmpred": objective > peer["objective"]}


def times(session):
    """Seconds from file to scores of generated and real alignments, and the least of any program."""
    start = session.medians([session.program("bench_ceilings"), "--empty"])
    session.record.add("times", empty_cuda_program=start,
                       program_without_work=session.medians([session.program("pleat"), "--version"]))
    print(f"a CUDA program that does nothing: {start.get('median', start.get('failed'))}", flush=True)
    bars = {size_name(size): f"{size_name(size)}: seconds, file to scores" for size in SECONDS}
    reached = {}
    alignments = list(timed_alignments(session))
    for name, alignment in alignments:
        found = time_program(session, name, alignment)
        session.record.add("times", **{name: found})
        reached[name] = found
        if name in bars:
            session.record.bar(bars[name], found.get("median"))
    session.record.bar("timed fits with other bits in another run",
                       sum(found.get("different_scores", 1) > 0 for found in reached.values()))
    above = 0
    for name, alignment in alignments:
        if "objective" in reached[name]:
            reached[name].update(
                compare_with_ccmpred(session, name, alignment, reached[name]["objective"]))
            session.record.add("times", **{name: reached[name]})
        above += reached[name].get("is_above_ccmpred", True)
    session.record.bar("fits above CCMpred's 50 iterations", above)


# ---- evaluations

def limits(sequences, columns, letters, parts, found):
    """Seconds that one evaluation takes at the least, by operations and by bytes.

    Operations: two products, of N x (q - 1) L one-hot letters with the couplings and back, each once
    for every fp16 part that a number is split into; the gap's letter needs none, since couplings may
    be shifted. Bytes: couplings read and gradient written once, 4 bytes a number."""
    operations = 2 * parts * 2 * sequences * ((letters - 1) * columns) ** 2
    moved = 2 * 4 * letters**2 * columns * (columns - 1) // 2
    rates = {kind: found[f"fp16_{kind}_operations_per_s"] for kind in ("random", "one_hot")}
    return {"operations": operations, "bytes": moved,
            "seconds_by_operations": operations / max(rates.values()),
            "seconds_by_operations_on_random_numbers": operations / rates["random"],
            "seconds_by_bytes": moved / found["memory_copy_bytes_per_s"]}


def benchmark(session, alignment):
    """{kind: benchmark} of one alignment: evaluation, evaluation after a small move, and, where the
    kernel has it, evaluation at its finer rounding."""
    where = "cuda:0" if session.device == "cuda" else "threads:2"
    done = session.call([session.program("bench_couplings"), "--benchmark_format=json",
                         f"--benchmark_filter=^(moved_|fine_)?evaluation/.*/{where}/", alignment], 60)
    if done.status != 0:
        raise OSError(f"bench_couplings: {done.complaint()}")
    told = json.loads(done.output[done.output.index("{"):])["benchmarks"]
    broken = [entry["error_message"] for entry in told if entry.get("error_occurred")]
    if broken or not told:
        raise OSError(f"bench_couplings: {'; '.join(broken) or 'no benchmark ran'}")
    return {entry["name"].split("/")[0]: entry for entry in told}


def describe(entry, found):
    """Milliseconds of one benchmark, its limits, and the fraction of the binding one."""
    row = {"milliseconds": entry["real_time"]}
    if found is not None:
        parts = int(entry.get("fp16_parts", 1))
        limit = limits(int(entry["sequences"]), int(entry["columns"]), int(entry["letters"]), parts,
                       found)
        seconds = 1e-3 * entry["real_time"]
        least = max(limit["seconds_by_operations"], limit["seconds_by_bytes"])
        row.update(limit, fp16_parts=parts, fraction_of_limit=least / seconds,
                   operations_per_s=limit["operations"] / seconds)
    return row


def evaluations(session):
    """Milliseconds of one evaluation and the fraction of its binding limit that it reaches."""
    found = ceilings(session)
    for name, alignment in timed_alignments(session):
        try:
            told = benchmark(session, alignment)
        except (OSError, ValueError) as error:
            session.record.add("evaluations", **{name: {"failed": str(error)}})
            print(f"{name}: {error}", flush=True)
            continue
        rows = {kind: describe(entry, found) for kind, entry in told.items()}
        session.record.add("evaluations", **{name: rows})
        if name in map(size_name, SIZES):
            session.record.bar(f"{name}: evaluation amid a fit, fraction of its limit",
                               rows["moved_evaluation"].get("fraction_of_limit"))
        print(f"{name}: " + ", ".join(
            f"{kind} {row['milliseconds']:.3f} ms" +
            (f" ({row['fraction_of_limit']:.3f} of its limit)" if found else "")
            for kind, row in rows.items()), flush=True)
