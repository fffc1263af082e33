# The benchmark record: commit, machine, programs, inputs, all samples, medians and ratios.
import json
import os
import platform
import subprocess

from measure import MEASURES, medians, ratios

FORMAT = "pleat-bench-1"
_INSTRUCTION_SETS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse4_2", "SSE4.2"),
                     ("asimd", "NEON"))


def describe_machine(cpuinfo="/proc/cpuinfo"):
    """CPU model, cores this process may use, and instruction set; nothing that names a host."""
    model, flags = platform.machine(), []
    with open(cpuinfo, encoding="ascii", errors="replace") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                model = value.strip()
            elif key.strip() in ("flags", "Features"):
                flags = value.split()
    found = [name for flag, name in _INSTRUCTION_SETS if flag in flags]
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)),
            "instruction_set": found[0] if found else "baseline"}


def describe_commit(directory):
    """The work tree's commit, with "+changes" where some are uncommitted; None outside git."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True,
                              text=True, check=False)
    head = git("rev-parse", "HEAD")
    if head.returncode != 0:
        return None
    changed = git("status", "--porcelain", "--untracked-files=no").stdout.strip()
    return head.stdout.strip() + ("+changes" if changed else "")


def summarise(case, samples, failures):
    """One case of a record: its size, each program's samples and medians, ratios to pleat's."""
    programs = {}
    for name, runs in samples.items():
        programs[name] = {"samples": runs, "median": medians(runs) if runs else None}
        if name in failures:
            programs[name]["failure"] = failures[name]
    own = programs.get("pleat", {}).get("median")
    return {**case, "programs": programs,
            "ratios": {name: ratios(entry["median"], own) for name, entry in programs.items()
                       if own and name != "pleat" and entry["median"]}}


def check(record):
    """Raises ValueError unless the record has this format and the medians of its samples."""
    if record.get("format") != FORMAT:
        raise ValueError(f"expected format {FORMAT}, found {record.get('format')}")
    for key in ("date", "commit", "machine", "threads", "repeats", "versions", "absent", "cases"):
        if key not in record:
            raise ValueError(f"expected the key '{key}' in the record, found none")
    for case in record["cases"]:
        for name, entry in case["programs"].items():
            for sample in entry["samples"]:
                if set(sample) != set(MEASURES):
                    raise ValueError(f"{case['name']}, {name}: expected samples of "
                                     f"{', '.join(MEASURES)}, found {', '.join(sorted(sample))}")
            expected = medians(entry["samples"]) if entry["samples"] else None
            if entry["median"] != expected:
                raise ValueError(f"{case['name']}, {name}: expected the medians of the samples, "
                                 "found others")


def write(path, record):
    """Checks the record and writes it beside `path`, then renames."""
    check(record)
    beside = f"{path}.part"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    os.replace(beside, path)


def read(path):
    """The record at `path`, checked."""
    with open(path, encoding="utf-8") as file:
        try:
            record = json.load(file)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{error.lineno}: expected a JSON record, "
                             f"found otherwise ({error.msg})") from error
    try:
        check(record)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return record
