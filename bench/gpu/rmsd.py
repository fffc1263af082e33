# Superposition on a GPU: its kernels on made ensembles beside their limits, and a million clustered.
import json

# Parts of bench_rmsd_gpu, and seconds that each may take.
PARTS = (("matrix", 60.0), ("check", 90.0), ("tally", 120.0))
MILLION_LIMIT = 300.0
# The format that a plain run takes.
OF_VALUES, OF_TALLIES, OF_CLUSTERS = "floats", "halves", "half"


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
        bar("rmsd: error of values of 5000x140, angstrom",
            max(matrix[name]["worst_error"] for name in (OF_VALUES, OF_TALLIES)))
    if check is not None:
        bar("rmsd: clusterings of 20000x100 other than the definition's", int(check["differ"]))
    if tally is not None:
        bar("rmsd: kernel seconds, histogram and neighbours of 100000x100",
            tally[OF_TALLIES]["median"])
        bar("rmsd: tallies that differ between formats",
            int(tally["histograms_differ"]) + int(tally["near_pairs_differ"]))


def million(session):
    """Daura's clustering of a million made frames."""
    found = call(session, "daura", MILLION_LIMIT)
    if found is None:
        return
    session.record.add("million", **found)
    print(f"million: {json.dumps(found)}", flush=True)
    session.record.bar("million: seconds of the clustering", found[OF_CLUSTERS]["seconds"])
    session.record.bar("million: bytes of GPU memory", found["gpu_bytes"])
    session.record.bar("million: clusterings that differ between formats",
                       int(found["differ"]) + int(not found[OF_CLUSTERS]["sizes_descend"]))
