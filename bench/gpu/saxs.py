# Scattering profiles on a GPU: one, a move, many frames, many atoms, many chains.
import json

# Parts of bench_saxs_gpu, and seconds that each may take.
PARTS = (("profile", 60.0), ("frames", 60.0), ("float64", 60.0), ("gradient", 60.0), ("atoms", 90.0),
         ("chains", 60.0))
# The largest relative error of a profile that the README promises.
ERROR = 1e-5
# What the part of gradients measures.
GRADIENTS = ("bodies", "bodies_float64", "atoms", "atoms_float64")


def call(session, part, limit):
    """What a part of the program tells, or None."""
    done = session.call([session.program("bench_saxs_gpu"), part], limit)
    try:
        if done.status == 0:
            return json.loads(done.output)
    except ValueError:
        pass
    session.record.add("saxs", **{part: {"failed": done.complaint()}})
    print(f"saxs {part}: {done.complaint()}", flush=True)
    return None


def saxs(session):
    """All parts; a part that fails leaves its bars open."""
    found = {}
    for part, limit in PARTS:
        found[part] = call(session, part, limit)
        if found[part] is not None:
            session.record.add("saxs", **{part: found[part]})
            print(f"saxs {part}: {json.dumps(found[part])}", flush=True)
    bar = session.record.bar
    if found["profile"] is not None:
        bar("saxs: seconds of a profile, 1888 bodies, 51 q",
            found["profile"]["full"]["median_seconds"])
        bar("saxs: seconds of a rigid move of 40 %", found["profile"]["session_move"]["median_seconds"])
    if found["frames"] is not None:
        bar("saxs: 1000 frames, fraction of multiply-adds", found["frames"]["fraction"])
    if found["atoms"] is not None:
        bar("saxs: seconds of 100000 scatterers, 501 q",
            found["atoms"]["with_transfers"]["median_seconds"])
    if found["frames"] is not None and found["float64"] is not None:
        bar("saxs: 1000 frames, float64 by float32",
            found["float64"]["device"]["median_seconds"] / found["frames"]["device"]["median_seconds"])
        bar("saxs: largest relative error in float64", found["float64"]["error"])
    if found["gradient"] is not None:
        bar("saxs: a gradient by a profile",
            max(found["gradient"][of]["gradient"]["median_seconds"] /
                found["gradient"][of]["profile"]["median_seconds"] for of in GRADIENTS))
        bar("saxs: largest error of a gradient", max(found["gradient"][of]["error"] for of in ("bodies", "atoms")))
        bar("saxs: largest error of a gradient in float64",
            max(found["gradient"][of]["error"] for of in ("bodies_float64", "atoms_float64")))
    if found["chains"] is not None:
        bar("saxs: moves a second, 64 chains of 200 bodies", found["chains"]["moves_a_second"])
    errors = [found[part]["error"] for part in ("profile", "frames", "atoms") if found[part]]
    if found["chains"] is not None:
        errors.append(found["chains"]["drift"])
    if errors:
        bar("saxs: largest relative error", max(errors))
