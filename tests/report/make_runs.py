# Makes folders of runs as pleat writes them, small ones with every kind of file, hostile and large ones.
"""make_runs.py FOLDER: writes FOLDER/clusters, scattering, selection, hostile, wide (264 columns), large (1000)."""
import io
import json
import math
import random
import struct
import sys
import zipfile
from collections import Counter
from pathlib import Path

HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=alert(1)>",
           "\"><svg onload=alert(2)>", "<!--<script>", "&lt;b&gt;", "a\u2028b\u2029c", "__proto__", "${1}"]


def npy(values, shape, kind):
    """The bytes of an .npy file; kind is a struct letter."""
    names = {"d": "<f8", "f": "<f4", "i": "<i4", "q": "<i8"}
    text = f"{{'descr': '{names[kind]}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
            struct.pack(f"<{len(values)}{kind}", *values))


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)


def write_table(path, columns, rows):
    lines = ["\t".join(columns)] + ["\t".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def manifest(folder, command, **more):
    folder.mkdir(parents=True, exist_ok=True)
    content = {"program": "pleat", "version": "0.1.0", "command": command, "arguments": [command, "input file"],
               "status": "finished", "started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:01Z",
               "seconds": 1.0, "device": "cpu", "threads": 1, "parameters": {}, "results": {"frames": 10},
               "inputs": [], "outputs": [], "citations": [{"key": "A2000", "text": "Author: Title (2000)"}]}
    content.update(more)
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")


def columns_run(folder, size, command="couplings", letters="ACDEFGHIKLMNPQRSTVWY"):
    """A run over pairs of columns: scores, and the best pairs."""
    rng = random.Random(size)
    manifest(folder, command)
    scores = [0.0] * (size * size)
    pairs = []
    for i in range(size):
        for j in range(i + 1, size):
            near = abs((j - i) - 17) < 2 or abs(i + j - size) < 2
            value = rng.gauss(0, 0.1) + (rng.random() if near else 0)
            scores[i * size + j] = scores[j * size + i] = value
            if j - i >= 6:
                pairs.append((value, i, j))
    pairs.sort(reverse=True)
    write_npz(folder / "scores.npz", {"raw": npy(scores, (size, size), "d"), "corrected": npy(scores, (size, size), "d"),
                                      "columns": npy(list(range(size)), (size,), "q")})
    letter = [letters[i % len(letters)] for i in range(size)]
    write_table(folder / "contacts.tsv", ["rank", "i", "j", "letter_i", "letter_j", "raw", "corrected", "z", "probability"],
                ((n + 1, i + 1, j + 1, letter[i], letter[j], f"{v:.9g}", f"{v:.9g}", f"{v * 9:.4f}", "NA")
                 for n, (v, i, j) in enumerate(pairs)))


def parts_run(folder):
    """Two chains of 12 and 18 columns."""
    columns_run(folder, 30)
    write_table(folder / "contacts_inter.tsv", ["rank", "i", "j", "part_i", "position_i", "part_j", "position_j", "block_corrected"],
                [(12 * n + k + 1, k + 1, n + 13, "my chain", k + 1, "B", n + 1, 0) for n in range(18) for k in range(12)])


def atom_line(serial, name, residue, chain, number, x, y, z):
    return (f"ATOM  {serial:5d}  {name:<3} {residue:>3} {chain}{number:4d}    "
            f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {name[0]}")


def helix(turn):
    """CA atoms of a helix, radius 2.3, rise 1.5 angstrom."""
    return [atom_line(n + 1, "CA", "ALA", "A", n + 1, 2.3 * math.cos(1.745 * n + turn),
                      2.3 * math.sin(1.745 * n + turn), 1.5 * n + turn) for n in range(20)]


def clusters_run(folder, frames=240):
    rng = random.Random(5)
    manifest(folder, "cluster", results={"frames": 10, "ps_per_frame": 20})
    centre = [rng.choice([0, 0, 0, 1, 1, 2]) for _ in range(frames // 8)]
    cluster = [centre[n // 8] if rng.random() < 0.95 else -1 for n in range(frames)]
    place = [(5 * c + rng.gauss(0, 0.5), rng.gauss(0, 0.5)) for c in cluster]
    distances = [math.dist(place[i], place[j]) for i in range(frames) for j in range(i + 1, frames)]
    (folder / "rmsd.npy").write_bytes(npy(distances, (len(distances),), "f"))
    (folder / "assignment.npy").write_bytes(npy(cluster, (frames,), "i"))
    sizes = [cluster.count(c) for c in range(3)]
    write_table(folder / "clusters.tsv", ["cluster", "size", "share", "medoid", "mean", "radius", "silhouette"],
                [(c, sizes[c], f"{sizes[c] / frames:.6f}", cluster.index(c), "0.700000", "1.500000", "NA") for c in range(3)])
    write_table(folder / "sweep.tsv", ["cutoff", "clusters", "largest", "noise", "silhouette"],
                [(f"{n * 0.5:g}", 12 - n, 20 * n, 0, "NA" if n == 1 else f"{0.5 - abs(n - 5) / 20:.4f}") for n in range(1, 10)])
    steps = Counter(zip(cluster, cluster[1:]))
    leaving = Counter(cluster[:-1])
    write_table(folder / "transitions.tsv", ["from", "to", "count"], [(*step, steps[step]) for step in sorted(steps)])
    write_table(folder / "transition_probabilities.tsv", ["from", "to", "count", "from_count", "probability"],
                [(*step, steps[step], leaving[step[0]], f"{steps[step] / leaving[step[0]]:.6g}") for step in sorted(steps)])
    write_table(folder / "dwell_distribution.tsv", ["cluster", "dwell", "visits", "cut"],
                [(-1, 1, 9, 1), (0, 1, 4, 0), (0, 8, 5, 1), (0, 120, 1, 0), (1, 3, 2, 0), (2, 5, 0, 1)])
    write_table(folder / "dwell_times.tsv", ["cluster", "frames", "visits", "mean", "median"],
                [(-1, 10, 9, "1", "1"), (0, 172, 10, "16.4", "8"), (1, 6, 2, "3", "3"), (2, 5, 0, "NA", "NA")])
    write_table(folder / "distances.tsv", ["frame", "cluster", "nearest", "distance", "second", "second_distance"],
                [(n, cluster[n], 0, "0.500000", 1, "1.250000") for n in range(4)])
    write_table(folder / "lengths.tsv", ["frame", "rg", "distance_1_2"], [(0, 20.1, 33.25), (1, 19.5, 31.5)])
    bins = [sum(1 for d in distances if int(d / 0.25) == n) for n in range(80)]
    write_table(folder / "histogram.tsv", ["from", "to", "pairs"],
                [(f"{n * 0.25:g}", f"{(n + 1) * 0.25:g}" if n < 79 else "NA", count) for n, count in enumerate(bins)])
    (folder / "medoids.pdb").write_text("".join(
        f"MODEL     {n + 1:4d}\n" + "\n".join(helix(n)) + "\nENDMDL\n" for n in range(3)) + "END\n")
    tree, height = "0", 0.0  # leaves that join one after another, at twice the height of their branches
    for leaf in range(1, 30):
        above = height + 0.25 + rng.random() * 0.1
        tree = f"({tree}:{above - height:.6f},{leaf}:{above:.6f})"
        height = above
    (folder / "tree.nwk").write_text(tree + ";\n")


def sets_run(folder):
    """One set of frames against another, distances from one structure, and fluctuations."""
    manifest(folder, "rmsd", parameters={"metric": "tm"})
    (folder / "tm.npy").write_bytes(npy([(n % 50) / 100 + 0.3 for n in range(50 * 20)], (50, 20), "f"))
    write_table(folder / "histogram.tsv", ["from", "to", "pairs"], [(0.1 * n, 0.1 * (n + 1), 10 * n) for n in range(8)])
    write_table(folder / "reference.tsv", ["frame", "tm", "file", "frame_of_file"],
                [(n, f"{0.5 + 0.3 * math.sin(n / 9):.6g}", "a.pdb", n) for n in range(50)])
    write_table(folder / "rmsf_residues.tsv", ["chain", "residue", "residue_name", "atoms", "rmsf", "distance"],
                [("A", n + 1, "ALA", 1, f"{1 + abs(n - 10) / 10:.6g}", "NA") for n in range(20)])
    (folder / "superposed.pdb").write_text("".join(
        f"MODEL     {n + 1:4d}\n" + "\n".join(helix(n / 5)) + "\nENDMDL\n" for n in range(4)) + "END\n")


def scattering_run(folder):
    rng = random.Random(7)
    manifest(folder, "saxs")
    q = [0.01 + 0.003 * n for n in range(120)]
    model = [1000 * math.exp(-(x * 15) ** 2 / 3) + 0.5 * math.exp(-x * 3) for x in q]
    sigma = [0.02 * m + 0.02 for m in model]
    data = [m + rng.gauss(0, s) for m, s in zip(model, sigma)]
    rows = list(zip(q, data, sigma, model))
    write_table(folder / "fit.tsv", ["q", "intensity", "sigma", "model", "residual"],
                [(*row, f"{(row[1] - row[3]) / row[2]:.5f}") for row in rows])
    write_table(folder / "profile.tsv", ["q", "intensity"], zip(q, model))
    write_table(folder / "guinier.tsv", ["q2", "ln_intensity", "sigma", "ln_model", "used"],
                [(x * x, math.log(d), s / d, math.log(m), int(x < 0.08)) for x, d, s, m in rows[:40] if d > 0])
    write_table(folder / "kratky.tsv", ["q_rg", "kratky", "sigma", "model"],
                [(15 * x, (15 * x) ** 2 * d / 1000, (15 * x) ** 2 * s / 1000, (15 * x) ** 2 * m / 1000) for x, d, s, m in rows])
    write_table(folder / "pr.tsv", ["from", "to", "p"],
                [(n, n + 1, f"{max(0, math.sin(n / 50 * math.pi)) * n:.6g}") for n in range(50)])
    (folder / "fit.json").write_text(json.dumps({"model": "all-atom", "fit": {"chi2": 1.03, "c1": None}}))


def selection_run(folder):
    """Frames ranked by several scores, and a stage within."""
    rng = random.Random(9)
    manifest(folder, "select")
    rows = []
    for frame in range(200):
        cluster = (0, 0, 0, 1, 2, -1)[frame % 6]
        contacts = (0.6, 0.3, 0.4, 0.2)[cluster] + rng.gauss(0, 0.03)
        rows.append((cluster, f"{contacts:.6g}", f"{5 * abs(cluster) + rng.random():.6g}", f"{rng.random():.6g}"))
    order = sorted(range(200), key=lambda frame: -float(rows[frame][1]))
    write_table(folder / "scores.tsv",
                ["place", "frame", "file", "frame_of_file", "cluster", "joined", "contacts", "left", "density", "chi2",
                 "rmsd", "contact_part", "cluster_part", "curve_part"],
                [(n + 1, frame, "a.pdb", frame, rows[frame][0], rows[frame][3], rows[frame][1], "0.1", rows[frame][3],
                  "NA", rows[frame][2], "0.5", "0.5", "NA") for n, frame in enumerate(order)])
    write_table(folder / "clusters.tsv", ["selected", "cluster", "size", "medoid", "best"],
                [(1, 0, 100, 0, order[0]), (2, 2, 33, 4, 4), ("NA", 1, 33, 3, 3)])
    write_table(folder / "explained.tsv", ["i", "j", "strength", "explained_by"], [(1, 20, 0.9, 1), (2, 19, 0.8, "NA")])
    for name in ("best.pdb", "medoids.pdb"):
        (folder / name).write_text("".join(
            f"MODEL     {n + 1:4d}\n" + "\n".join(helix(n)) + "\nENDMDL\n" for n in range(2)) + "END\n")
    stage = folder / "clusters"
    manifest(stage, "cluster")
    write_table(stage / "clusters.tsv", ["cluster", "size"], [(0, 100), (1, 33), (2, 33)])


def hostile_run(folder):
    """Names that would do harm as markup, wherever a name can stand."""
    columns_run(folder, 12, HOSTILE[0], HOSTILE)
    manifest(folder, HOSTILE[0], arguments=HOSTILE, parameters={name: name for name in HOSTILE},
             results={name: name for name in HOSTILE}, inputs=[{"path": name, "sha256": name, "bytes": 1} for name in HOSTILE],
             citations=[{"key": name, "text": name} for name in HOSTILE], messages=HOSTILE)
    write_table(folder / "list.tsv", HOSTILE, [HOSTILE, HOSTILE])
    (folder / "more.json").write_text(json.dumps({name: {name: name} for name in HOSTILE}))
    effects = ["segment", "pos", "wt", "subs", "column", "prediction_epistatic"]
    write_table(folder / "singles.tsv", effects, [("A", name, name, name, 1, -1) for name in HOSTILE])
    write_table(folder / "positions.tsv", ["pos", "wt", "column", "mean_epistatic"], [(name, name, 1, -1) for name in HOSTILE])
    write_table(folder / "logo.tsv", ["column", "pos", "wt", "letter", "height"], [(1, name, name, name, 1) for name in HOSTILE])
    (folder / "listed.csv").write_text("\n".join(",".join(row) for row in [
        ["mutant", '"' + HOSTILE[1] + '"', "prediction_epistatic", "prediction_independent", "prediction_percentile",
         "prediction_z", "prediction_problem"], *(['"' + name.replace('"', '""') + '"', "1", "2", "3", "4", "5", ""]
                                                 for name in HOSTILE)]))
    write_table(folder / "correlations.tsv", ["column", "count", "spearman_epistatic", "spearman_independent"],
                [(HOSTILE[1], 3, 0.5, 0.4)])
    (folder / "tree.nwk").write_text("('<script>x</script>':1,'<img src=x onerror=alert(3)>':2);")
    (folder / "</script <b>.tsv".replace("/", "_")).write_text("a\n1\n")


def tiny_run(folder):
    """The least that files can hold: three columns, one frame, one point, no rows, no numbers."""
    columns_run(folder, 3)
    (folder / "assignment.npy").write_bytes(npy([0], (1,), "i"))
    (folder / "rmsd.npy").write_bytes(npy([2.0], (1,), "f"))
    write_table(folder / "clusters.tsv", ["cluster", "size"], [(0, 1)])
    write_table(folder / "histogram.tsv", ["from", "to", "pairs"], [(0, 1, 0), (1, "NA", 0)])
    write_table(folder / "sweep.tsv", ["k", "clusters", "silhouette"], [(2, 1, "NA")])
    (folder / "tree.nwk").write_text("(0:0,1:0);\n")
    (folder / "medoids.pdb").write_text(helix(0)[0] + "\n")
    write_table(folder / "fit.tsv", ["q", "intensity", "sigma", "model", "residual"], [(0.1, -1, 1, 1, -2)])
    write_table(folder / "guinier.tsv", ["q2", "ln_intensity", "sigma", "ln_model", "used"], [])
    write_table(folder / "profile.tsv", ["q", "intensity"], [(0, 5)])
    write_table(folder / "pr.tsv", ["from", "to", "p"], [(0, 1, "NA")])
    write_table(folder / "singles.tsv", ["pos", "wt", "subs", "column", "prediction_epistatic"], [(1, "A", "C", 1, "NA")])
    write_table(folder / "positions.tsv", ["pos", "wt", "mean_epistatic"], [(1, "A", "NA")])
    write_table(folder / "logo.tsv", ["column", "pos", "wt", "letter", "height"], [(1, "NA", "-", "A", 0)])
    write_table(folder / "empty.tsv", ["a", "b"], [])


def main():
    folder = Path(sys.argv[1])
    clusters_run(folder / "clusters")
    sets_run(folder / "sets")
    scattering_run(folder / "scattering")
    selection_run(folder / "selection")
    hostile_run(folder / "<img src=x onerror=alert(4)>")
    tiny_run(folder / "tiny")
    parts_run(folder / "parts")
    columns_run(folder / "wide", 264)
    columns_run(folder / "large", 1000)


if __name__ == "__main__":
    main()
