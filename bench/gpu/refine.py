# Moves of refine on a GPU: many conformations of a large and of a small protein, and a whole pool.
import json

# Scatterers and conformations of each case.
CASES = {"large": (1888, 1024), "small": (200, 1024)}
POOL = ("--linkers", "A:174-179", "--frames", "10000", "--mode", "pool")


def case(session, name):
    """What bench_refine tells of a case, or None."""
    scatterers, count = CASES[name]
    done = session.call([session.program("bench_refine"), session.device, str(scatterers), str(count)], 120)
    try:
        if done.status == 0:
            return json.loads(done.output)
    except ValueError:
        pass
    session.record.add("refine", **{name: {"failed": done.complaint()}})
    print(f"refine {name}: {done.complaint()}", flush=True)
    return None


def run(session, folder, *options, limit=120.0):
    return session.call([session.program("pleat"), "refine", session.folder / "data/1a8o.pdb.gz", "-o", folder,
                         "--device", session.device, *options], limit)


def stages(folder):
    """Seconds and CPU seconds of each stage of a run."""
    timings = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["timings"]
    return {one["stage"]: {"seconds": one["seconds"], "cpu_seconds": one["cpu_seconds"]} for one in timings}


def same_bits(session, folder, curve):
    """Whether the same seed gives the same frames for 1 and 16 threads; None if a run failed."""
    same = True
    for chains in (8, 16):
        frames = []
        for threads in (1, 16):
            name = f"chains{chains}threads{threads}"
            done = run(session, folder / name, "--linkers", "A:174-179", "--data", curve, "--mode", "fit",
                       "--frames", "128", "--chains", str(chains), "--moves", "20", "--doublings", "0", "--no-reweight",
                       "-t", str(threads))
            if done.status != 0:
                session.record.add("refine", **{name: {"failed": done.complaint()}})
                print(f"refine, {chains} chains, {threads} threads: {done.complaint()}", flush=True)
                return None
            frames.append((folder / name / "frames.dcd").read_bytes())
        same = same and frames[0] == frames[1]
    return same


def refine(session):
    """All cases, the pool and the bits; what fails leaves its bars open."""
    found = {}
    for name in CASES:
        found[name] = case(session, name)
        if found[name] is not None:
            session.record.add("refine", **{name: found[name]})
            print(f"refine {name}: {json.dumps(found[name])}", flush=True)
    bar = session.record.bar
    for name, (scatterers, count) in CASES.items():
        if found[name] is not None:
            bar(f"refine: moves a second, {count} conformations of {scatterers} bodies", found[name]["moves_a_second"])
    with session.scratch() as folder:
        native = session.call([session.program("pleat"), "saxs", session.folder / "data/1a8o.pdb.gz", "--q-max", "0.3",
                               "-o", folder / "native"])
        if native.status != 0:
            raise RuntimeError(native.complaint())
        curve = folder / "curve.dat"
        rows = [line.split("\t") for line in (folder / "native/profile.tsv").read_text().splitlines()[1:]]
        curve.write_text("".join(f"{q} {value} {0.02 * float(value)}\n" for q, value, *_ in rows))
        pool = run(session, folder / "pool", *POOL, "--data", curve, "--no-reweight")
        if pool.status == 0:
            session.record.add("refine", pool={"seconds": pool.seconds, "stages": stages(folder / "pool")})
            bar("refine: seconds of a pool of 10000 with profiles", pool.seconds)
        else:
            session.record.add("refine", pool={"failed": pool.complaint()})
            print(f"refine pool: {pool.complaint()}", flush=True)
        same = same_bits(session, folder, curve)
        if same is not None:
            bar("refine: runs of other bits with other threads", 0 if same else 1)
