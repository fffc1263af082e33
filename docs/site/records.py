# Pages of accuracy and speed, whose every figure is read from bench/records.
import json
import re
from pathlib import Path

SPEED_WORDS = ("seconds", "fraction", "moves a second", "times as fast", "bytes of")


def number(value):
    """Three digits; "-" where nothing was measured."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) and abs(value) < 1e6:
        return str(value)
    if 1000 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
                     for line in lines) + "\n"


def machine(record):
    told = record.get("machine", {})
    if isinstance(told, str):
        return told
    gpus = [gpu["name"] for gpu in told.get("gpus", [])]
    parts = [f"{len(gpus)} x {gpus[0]}" if gpus else "", told.get("cpu", ""),
             f"{told['cores']} cores" if "cores" in told else "", told.get("instruction_set", "")]
    return ", ".join(part for part in parts if part)


def source(name, record):
    """Where the figures come from: file, date, commit, machine."""
    told = machine(record)
    commit = re.sub(r"^([0-9a-f]{12})[0-9a-f]+", r"\1", record["commit"])
    return f"`bench/records/{name}`: {record['date']}, commit {commit}{', ' if told else ''}{told}.\n"


def couplings_section(name, record):
    rows = []
    for case in record["cases"]:
        for program, entry in case["programs"].items():
            median = entry["median"]
            if median:
                ratio = case["ratios"].get(program, {}).get("user_s")
                rows.append([f"{case['name']} {case['sequences']} x {case['columns']}", program,
                             number(median["user_s"]), number(median["wall_s"]),
                             number(median["peak_mb"]), number(ratio)])
    return (f"## Couplings, {record['threads']} thread\n\n{source(name, record)}\n"
            f"Whole programs from file to results; medians of {record['repeats']} runs, the programs in "
            "turns. They do not compute the same thing: only pleat and CCMpred minimise the same "
            "objective.\n\n"
            + table(["alignment", "program", "CPU seconds", "wall seconds", "peak MiB",
                     "times pleat's CPU seconds"], rows))


def mutual_information_section(name, record):
    case, findings = record["case"], record["findings"]
    rows = [[what, number(entry["cpu_s"]), number(entry["most_cpu_s"])]
            for what, entry in findings.items() if "cpu_s" in entry]
    beside = [[what, number(entry["ratio"]), number(entry.get("least"))]
              for what, entry in findings.items() if "ratio" in entry]
    return (f"## Mutual information, {case['sequences']} x {case['columns']}\n\n{source(name, record)}\n"
            + table(["what", "CPU seconds", "at most wanted"], rows) + "\n"
            + table(["ratio", "measured", "at least wanted"], beside))


def rmsd_section(name, record):
    rows = [[what, f"{entry['pleat_s'] * 1e9:.0f}", f"{entry['mdtraj_s'] * 1e9:.0f}",
             number(entry["ratio"]), number(entry["two_threads"])]
            for what, entry in record["findings"].items()]
    return (f"## RMSD of all pairs, one thread\n\n{source(name, record)}\n"
            + table(["frames x atoms", "pleat, ns a pair", "mdtraj, ns a pair", "ratio",
                     "two threads over one"], rows))


def bar_rows(record, wants_speed):
    return [[bar["name"], bar["bar"], number(bar["measured"]),
             {True: "yes", False: "no", None: "not measured"}[bar["met"]]]
            for bar in record["bars"]
            if any(word in bar["name"] for word in SPEED_WORDS) == wants_speed]


def bars_section(name, record, wants_speed):
    rows = bar_rows(record, wants_speed)
    if not rows:
        return ""
    parts = ", ".join(part.replace("_", " ") for part in record["parts"])
    return (f"## On a GPU: {Path(name).stem.partition('gpu-')[2].replace('-', ' ')}\n\n"
            f"{source(name, record)}\nParts: {parts}.\n\n"
            + table(["what", "wanted", "measured", "met"], rows))


def precision_section(name, record):
    rows = [[family["family"], f"{family['sequences']} x {family['columns']}", family["top"],
             number(family["pleat"]), number(family["freecontact"])] for family in record["families"]]
    rows += [[f"**{what}**", "", "", number(record[what]["pleat"]), number(record[what]["freecontact"])]
             for what in ("median", "mean")]
    return (f"## Precision of contacts, {len(record['families'])} families\n\n{source(name, record)}\n"
            "Share of true contacts (CB atoms nearer than 8 angstrom) among the best L/5 pairs at least 6 "
            "columns apart, beside FreeContact's mean field on the same files.\n\n"
            + table(["family", "sequences x columns", "pairs", "pleat", "FreeContact"], rows))


def selection_section(name, record):
    rows = [[case["name"], case["frames"], score, native, number(found["auc"]), number(found["top"])]
            for case in record["cases"] for score, natives in case["scores"].items()
            for native, found in natives.items()]
    return (f"## Selection of models near a native fold\n\n{source(name, record)}\n"
            "AUC: the chance that a frame near the fold is scored above another; 0.5 is chance. Top: the "
            f"share of near ones among the best {record['top']}.\n\n"
            + table(["case", "frames", "score", "near", "AUC", "top"], rows))


SPEED = {"pleat-bench-1": couplings_section, "pleat-mi-1": mutual_information_section,
         "pleat-rmsd-1": rmsd_section}
ACCURACY = {"pleat-precision-1": precision_section, "pleat-select-1": selection_section}
GPU = "pleat-gpu-2"


def other_section(name, record):
    """A record whose format has no table of its own: where it is, and its findings that are numbers."""
    found = record.get("findings", {})
    rows = [[what, number(value)] for what, value in found.items() if isinstance(value, (int, float))] \
        if isinstance(found, dict) else []
    return f"{source(name, record)}\n" + (table(["what", "measured"], rows) if rows else "")


def read_records(folder):
    """{file name: record}, sorted by name."""
    return {path.name: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(Path(folder).glob("*.json"))}


def page(title, opening, sections):
    return f"# {title}\n\n{opening}\n\n" + "\n".join(section for section in sections if section)


def speed_page(records):
    sections = [SPEED[record["format"]](name, record) for name, record in records.items()
                if record["format"] in SPEED]
    gpu = [bars_section(name, record, True) for name, record in records.items()
           if record["format"] == GPU]
    known = {*SPEED, *ACCURACY, GPU}
    others = [other_section(name, record) for name, record in records.items()
              if record["format"] not in known]
    if others:
        others.insert(0, "## Other records\n")
    return page("Speed", "Every figure here is read from the records of `bench/records` when this page is "
                "made. How they were measured and how to repeat them: [benchmarks]"
                "(development/benchmarks.md). What binds each engine is in its own page. On GPUs a time "
                "with everything around it depends on the machine's start of CUDA, so the same bar may be "
                "met on one machine and not on another.", [*sections, *gpu, *others])


def accuracy_page(records):
    sections = [ACCURACY[record["format"]](name, record) for name, record in records.items()
                if record["format"] in ACCURACY]
    gpu = [bars_section(name, record, False) for name, record in records.items()
           if record["format"] == GPU]
    return page("Accuracy", "Every figure here is read from the records of `bench/records` when this page "
                "is made. Each engine's page states the tolerances that its tests hold every device to: "
                "[couplings](engines/couplings.md), [mutual information](engines/mutual_information.md), "
                "[rmsd](engines/rmsd.md), [cluster](engines/cluster.md), [saxs](engines/saxs.md), "
                "[select](engines/workflows_select.md).",
                [*sections, *gpu])
