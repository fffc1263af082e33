# The headlines of runs: every number on a run's tiles is one that the program's summary of that run prints.
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PROGRAM = os.environ.get("PLEAT_PROGRAM", "pleat")
TRNA = DATA / "oracles/mutual_information/trna60x20.fasta"
# Name of a run: its command, and how its title ends.
RUNS = {
    "tryp": (["couplings", DATA / "oracles/couplings/trypsin189x40.aln"], "direct coupling analysis"),
    "near": (["couplings", DATA / "trypsin.a2m.gz", "--structure", DATA / "1ql9_A.pdb.gz", "--max-gaps", "0.02"],
             "direct coupling analysis"),
    "mi": (["mi", TRNA, "--null", "exact"], "mutual information"),
    "sampled": (["mi", TRNA, "--null", "sampled", "--shuffles", "50"], "mutual information"),
    "tree": (["mi", TRNA, "--null", "tree", "--null-alignments", "100"], "mutual information"),
    "triples": (["mi", TRNA, "--order", "3", "--null", "exact"], "mutual information"),
    "mutants": (["mutants", DATA / "cheY.aln.gz", "--target", DATA / "cheY.fasta"], "effects of mutations"),
    "scan": (["mutants", "mutants/couplings", "--target", DATA / "cheY.fasta", "--mutants", DATA / "cheY_made_scan.csv"],
             "effects of mutations"),
    "rmsd": (["rmsd", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--matrix", "full"], "RMSD of frames"),
    "tm": (["rmsd", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--metric", "tm", "--frames", "::8"],
           "TM-score of frames"),
    "cluster": (["cluster", "rmsd", "--method", "average", "--k", "2:4"], "clusters"),
    "saxs": (["saxs", DATA / "1hel.pdb.gz", "--data", DATA / "1hel_made.dat.gz"], "small-angle scattering"),
    "refine": (["refine", DATA / "1a8o.pdb.gz", "--linkers", "A:174-179", "--frames", "40", "--moves", "2", "--chains", "4"],
               "conformations of linkers"),
    "select": (["select", "--ensemble", "models.pdb", "--contacts", "near", "--cutoff", "2"], "ranked conformations"),
}


def numbers(text):
    return re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?", text)


def complaints(folder):
    (folder / "models.pdb").write_bytes(
        subprocess.run([sys.executable, "-B", DATA / "make_models.py"], check=True, capture_output=True).stdout)
    summaries = {}
    for name, (command, _) in RUNS.items():
        done = subprocess.run([PROGRAM, *map(str, command), "-o", name], cwd=folder, check=True, capture_output=True, text=True)
        summaries[name] = done.stdout
    subprocess.run([PROGRAM, "report", *RUNS, "-o", "page.html", "-q"], cwd=folder, check=True)
    page = (folder / "page.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="pleat-data">', 1)[1].split("</script>", 1)[0])
    for run in data["runs"]:
        if run["name"] not in RUNS:
            continue
        if not run.get("title", "").endswith(": " + RUNS[run["name"]][1]):
            yield f"{run['name']}: expected a title that ends in '{RUNS[run['name']][1]}', found {run.get('title')}"
        printed = numbers(summaries[run["name"]])
        tiles = run["headline"]["tiles"]
        if len(tiles) != 3:
            yield f"{run['name']}: expected three tiles, found {len(tiles)}"
        for tile in tiles:
            for number in numbers(tile["value"]):
                if number not in printed:
                    yield f"{run['name']}: expected {number} ({tile['label']}) in the summary, found\n{summaries[run['name']]}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = list(complaints(Path(folder)))
    print("\n".join(found) or f"{len(RUNS)} headlines have the numbers of their summaries")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
