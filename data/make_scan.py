#!/usr/bin/env python3
# Makes the scan of cheY_made_scan.csv: effects that pleat predicts, through a curve and with noise.
#
# data/make_scan.py PROGRAM >data/cheY_made_scan.csv
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

folder = Path(__file__).resolve().parent
with tempfile.TemporaryDirectory() as run:
    subprocess.run([sys.argv[1], "mutants", folder / "cheY.aln.gz", "-o", f"{run}/made", "-q", "--target",
                    folder / "cheY.fasta", "--device", "cpu"], check=True)
    rows = [line.split("\t") for line in Path(run, "made/singles.tsv").read_text(encoding="ascii").splitlines()]
names = rows[0]
effects = {row[names.index("mutant")]: float(row[names.index("prediction_epistatic")]) for row in rows[1:]}
source = random.Random(1)
made = [[one] for one in source.sample(sorted(effects), 400)]
singles = [one for [one] in made]
for _ in range(60):
    pair = source.sample(singles, 2)
    if pair[0][1:-1] != pair[1][1:-1]:
        made.append(sorted(pair, key=lambda one: int(one[1:-1])))
print("mutant,DMS_score,DMS_score_bin")
for mutant in made:
    activity = 1 / (1 + math.exp(-(sum(effects[one] for one in mutant) + 5) / 2)) + source.gauss(0, 0.15)
    print(f"{':'.join(mutant)},{activity:.4f},{int(activity > 0.5)}")
