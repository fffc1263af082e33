# Superposition on a GPU: its kernels on made ensembles beside their limits, and a million clustered.
import json

# Parts of bench_rmsd_gpu, and seconds that each may take.
PARTS = (("matrix", 60.0), ("check", 90.0), ("tally", 120.0))
MILLION_LIMIT = 300.0
# Frames, atoms and states of the ensemble that the program clusters.
CLUSTERED = (50000, 100, 100)
# The format that a plain run takes.
OF_VALUES, OF_TALLIES, OF_CLUSTERS = "split", "split", "half"


def call(session, part, limit):
    """What a part of the program tells, or None."""
    done = session.call([session.program("bench_rmsd_gpu"), part], limit)
    try:
        if done.status == 0:
            return json.loads(done.output)
    except ValueError:
        pass
    session.record.add("rmsd", **{part: {"failed": done.complaint()}})
    print(f"rmsd {part}: {done.complaint()}\n{done.text[-4000:]}", flush=True)
    return None


def clustered(session):
    """What `pleat cluster` takes on the GPU and on the CPU, and whether both assign alike; None where one
    failed."""
    frames, atoms, states = CLUSTERED
    found, assignments = {}, []
    with session.scratch() as folder:
        ensemble = folder / "made.npy"
        done = session.call([session.program("bench_make_ensemble"), frames, atoms, ensemble, states], 60)
        for number, device in enumerate((session.device, "cpu")):
            run = folder / str(number)
            if done.status == 0:
                done = session.call([session.program("pleat"), "cluster", ensemble, "--cutoff", "2",
                                     "--device", device, "-o", run, "--quiet"], 120)
            if done.status != 0:
                session.record.add("rmsd", cluster={"failed": done.complaint()})
                return None
            manifest = json.loads((run / "manifest.json").read_text())
            found["gpu" if number == 0 else "cpu"] = {
                name: manifest[name] for name in ("seconds", "timings", "peak_memory_bytes", "results")}
            assignments.append((run / "assignment.npy").read_bytes())
    found["differ"] = assignments[0] != assignments[1]
    session.record.add("rmsd", cluster=found)
    return found


def rmsd(session):
    """Values, tallies and clusters."""
    found = {}
    for part, limit in PARTS:
        found[part] = call(session, part, limit)
        if found[part] is not None:
            session.record.add("rmsd", **{part: found[part]})
            print(f"rmsd {part}: {json.dumps(found[part])}", flush=True)
    bar = session.record.bar
    matrix, check, tally = (found[part] for part, _ in PARTS)
    if matrix is not None:
        bar("rmsd: kernel seconds, values of 5000x140", matrix[OF_VALUES]["median"])
        bar("rmsd: error of values of 5000x140, angstrom", matrix[OF_VALUES]["worst_error"])
    if check is not None:
        bar("rmsd: clusterings of 20000x100 other than the definition's", int(check["differ"]))
    if tally is not None:
        bar("rmsd: kernel seconds, histogram and neighbours of 100000x100",
            tally[OF_TALLIES]["median"])
    program = clustered(session)
    if program is not None:
        bar("rmsd: clusterings of 50000x100 by the program other than the CPU's", int(program["differ"]))


def million(session):
    """Daura's clustering of a million made frames."""
    found = call(session, "daura", MILLION_LIMIT)
    if found is None:
        return
    session.record.add("million", **found)
    print(f"million: {json.dumps(found)}", flush=True)
    session.record.bar("million: seconds of the clustering", found[OF_CLUSTERS]["seconds"])
    session.record.bar("million: bytes of GPU memory", found["gpu_bytes"])
    session.record.bar("million: clusters out of the order of their sizes",
                       int(not found[OF_CLUSTERS]["sizes_descend"]))
