# The effects of all single mutants on a GPU: from the alignment of PDZ3 to the file of effects.
import json

ALIGNMENT = "data/mutants/PF00595_DLG4_RAT_313-391.fasta.gz"
ROWS = 75 * 19


def mutants(session):
    """Runs the program as often as other times are taken, and counts the effects that it wrote."""
    alignment = session.folder / ALIGNMENT
    if not alignment.exists():
        print(f"mutants: {ALIGNMENT} was not packed", flush=True)
        return
    with session.scratch() as folder:
        runs = iter(range(1000))
        times = session.medians_of(lambda: session.call(
            [session.program("pleat"), "mutants", alignment, "-o", folder / f"run{next(runs)}", "--device",
             session.device], 60.0))
        if "failed" not in times:
            table = (folder / "run0/singles.tsv").read_text(encoding="utf-8").splitlines()
            times["rows"] = len(table) - 1
            times["stages"] = json.loads((folder / "run0/manifest.json").read_text(encoding="utf-8"))["timings"]
    session.record.add("mutants", pdz3=times)
    print(f"mutants: {json.dumps(times)}", flush=True)
    if times.get("rows") == ROWS:
        session.record.bar("mutants: seconds of all singles of PDZ3, 36690x82", times["median"])
