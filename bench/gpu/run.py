# Runs the parts of a GPU test one after the other; a part that fails does not stop the others.
import contextlib
import datetime
import json
import os
import time
import traceback

from record import describe_machine

from .bars import BARS, DIVERSE
from .correctness import sanitizers, tests
from .families import families, large
from .lanes import lanes
from .lists import cpu_list, lists
from .measures import measures
from .mutants import mutants
from .mutual_information import mutual_information
from .optimum import optimum, start_cpu_fits, wait_for_cpu_fits
from .pack import unpack_programs
from .record import Record
from .refine import refine
from .refine_trials import refine_trials
from .rmsd import million, rmsd
from .saxs import saxs
from .session import OutOfTime, Session
from .speed import ceilings, evaluations, times

# In this order: what does not depend on a quiet machine runs beside the fits on the CPU and the making
# of alignments; the long family takes what is left of the time.
PARTS = {"tests": tests, "sanitizers": sanitizers, "ceilings": ceilings, "times": times,
         "evaluations": evaluations, "optimum": optimum, "families": families, "mutants": mutants,
         "mutual_information": mutual_information, "lanes": lanes, "lists": lists,
         "cpu_list": cpu_list, "rmsd": rmsd, "measures": measures, "saxs": saxs, "refine": refine,
         "refine_trials": refine_trials, "million": million, "large": large}
BESIDE_THE_CPU = ("tests", "sanitizers")


def describe_gpu(session):
    """Name, driver and clocks as nvidia-smi tells them."""
    asked = ("name", "driver_version", "clocks.max.sm", "power.limit", "memory.total")
    try:
        done = session.call(["nvidia-smi", f"--query-gpu={','.join(asked)}",
                             "--format=csv,noheader"], 30)
    except OSError:
        return None
    if done.status != 0:
        return None
    return [dict(zip(asked, map(str.strip, line.split(",")))) for line in done.output.splitlines()]


def is_possible(part, gpus):
    """Whether there are GPUs enough for any bar of the part, or it has none."""
    needed = [bar.gpus for bar in BARS if bar.part == part]
    return not needed or min(needed) <= gpus


def run_part(session, name):
    """Runs one part; what it threw goes into the record."""
    print(f"---- {name}, {session.left():.0f} s left", flush=True)
    start = time.monotonic()
    try:
        PARTS[name](session)
    except OutOfTime as error:
        session.record.add(name, failed=str(error))
        print(f"{name}: {error}", flush=True)
    except Exception as error:  # whatever it is, the other parts go on
        session.record.add(name, failed=f"{type(error).__name__}: {error}")
        traceback.print_exc()
    session.record.add(name, part_seconds=time.monotonic() - start)


def run(folder, path, parts, device, limit, cases=()):
    """Runs the parts, of lanes the cases (all where empty), within `limit` seconds and writes the record;
    the exit status."""
    packed = json.loads((folder / "pack.json").read_text(encoding="utf-8"))
    unpack_programs(folder)
    for program in folder.glob("bin/*"):
        if not os.access(program, os.X_OK):
            program.chmod(0o755)
    record = Record(path, {"date": datetime.date.today().isoformat(), "commit": packed["commit"],
                           "machine": describe_machine(), "device": device}, parts)
    session = Session(folder, record, device, time.monotonic() + limit, cases=tuple(cases))
    record.cases = session.cases
    gpus = record.data["machine"]["gpus"] = describe_gpu(session)
    # Two lanes of the CPU stand in for two GPUs.
    record.gpus = session.gpus = max(1, len(gpus or ())) if device == "cuda" else 2
    parts = record.parts = [name for name in parts if is_possible(name, session.gpus)]
    info = session.call([session.program("pleat"), "info"], 30)
    record.data["info"] = info.text.splitlines()
    print(info.text, flush=True)
    with contextlib.ExitStack() as at_end:
        at_end.callback(session.end)
        if {"times", "evaluations", "large"} & set(parts):
            session.generate("large" in parts)
        if {"mutual_information", "lanes"} & set(parts):
            session.make(DIVERSE)
        if "optimum" in parts:
            start_cpu_fits(session)
        for name in (name for name in PARTS if name in parts):
            if name not in BESIDE_THE_CPU:
                wait_for_cpu_fits(session)
                session.finish_generating()
            run_part(session, name)
    print(record.table(), flush=True)
    print(f"{path}: {'all bars met' if record.all_met() else 'not all bars met'}")
    return 0 if record.all_met() else 1
