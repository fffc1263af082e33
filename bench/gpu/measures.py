# Measures other than RMSD on a GPU: seconds of all pairs of made frames.
import json

from .bars import MEASURES, measure_bar

# Metric, frames, atoms and the seconds that it may take, of what has no bar: half of the atoms fitted, the
# others measured.
OTHERS = {("measure", 5000, 300): 5.0}
# Of which each kernel is timed, too.
WATCHED = ("lddt", "drmsd")


def measures(session):
    """Each measure's seconds: of its fastest call, since the first one starts the GPU."""
    for (metric, frames, atoms), most in {**MEASURES, **OTHERS}.items():
        done = session.call([session.program("bench_measures"), metric, frames, atoms, session.device],
                            30 + 5 * most)
        try:
            found = json.loads(done.output) if done.status == 0 else None
        except ValueError:
            found = None
        session.record.add("measures", **{metric: found or {"failed": done.complaint()}})
        print(f"measures {metric}: {json.dumps(found) if found else done.complaint()}", flush=True)
        if metric in WATCHED and session.device == "cuda":
            done = session.call([session.program("bench_measure_launches"), metric, frames, atoms], 60)
            session.record.add("measures", **{f"{metric}_launches": done.text})
            print(f"measures {metric}: {done.text}", flush=True)
        if found is not None and (metric, frames, atoms) in MEASURES:
            session.record.bar(measure_bar(metric, frames, atoms), min(found["seconds"]))
