# pleat cluster: groups of small ensembles and matrices by every method, structures, and refusals.
import math
import os
import random
import shutil
import struct
import unittest
from pathlib import Path

from program import ROOT, ProgramTest, manifest, parse_npy, pleat, read_table, results

try:
    import numpy
    from scipy.cluster import hierarchy
except ImportError:
    hierarchy = None

SHARED = Path(os.environ.get("PLEAT_SHARED", ROOT.parent / "shared"))
METHODS = (("gromos", "--cutoff", "3"), ("gmx", "--cutoff", "3"), ("single", "--cutoff", "3"),
           ("complete", "--k", "3"), ("average", "--k", "3"), ("ward", "--k", "3"),
           ("kmedoids", "--k", "3"), ("dbscan", "--cutoff", "2.5"),
           ("density-peaks", "--k", "3"), ("jarvis-patrick", "--nearest", "12"))
BY_CENTRES = (("kcenters", "--k", "3"), ("kcenters", "--cutoff", "5"),
              ("kcenters", "--k", "3", "--medoid-sweeps", "2", "--silhouettes"))


def npy(shape, values, kind="f"):
    head = str({"descr": {"f": "<f4", "d": "<f8", "i": "<i4"}[kind], "fortran_order": False,
                "shape": shape})
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack(f"<{len(values)}{kind}", *values)


def three_shapes(frames=60, atoms=12, seed=5):
    """Frames of three shapes by turns, of which the first comes most often, as lists of atoms."""
    source = random.Random(seed)
    shapes = [[[source.gauss(0, 8) for _ in range(3)] for _ in range(atoms)] for _ in range(3)]
    kinds = [(0, 1, 0, 2, 0, 1)[n % 6] for n in range(frames)]
    made = [[[at + source.gauss(0, 0.8) for at in atom] for atom in shapes[kind]] for kind in kinds]
    return kinds, made


def pdb_text(frames):
    text = ""
    for model, frame in enumerate(frames, 1):
        text += f"MODEL     {model:4d}\n"
        for number, (x, y, z) in enumerate(frame, 1):
            name = "CA" if number % 2 else "CB"
            text += (f"ATOM  {number:5d}  {name}  ALA A{(number + 1) // 2:4d}    "
                     f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           C  \n")
        text += "ENDMDL\n"
    return (text + "END\n").encode()


def models_of(path):
    models = []
    for line in path.read_text().split("\n"):
        if line.startswith("MODEL"):
            models.append([])
        elif line.startswith(("ATOM", "HETATM")):
            models[-1].append(tuple(float(line[at:at + 8]) for at in (30, 38, 46)))
    return models


def same_groups(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


class Cluster(ProgramTest):
    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def ensemble(self, name="ensemble.npy", **options):
        kinds, frames = three_shapes(**options)
        values = [x for frame in frames for atom in frame for x in atom]
        return kinds, self.write(name, npy((len(frames), len(frames[0]), 3), values))

    def cluster(self, *arguments, run="run", command="cluster", error=b""):
        done = pleat(command, *arguments, "-o", self.folder / run, "-q")
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        if error is not None:
            self.assertEqual(done.stderr, error)
        return self.folder / run

    def assignment(self, run):
        return list(parse_npy((run / "assignment.npy").read_bytes())[1])

    def test_every_method_finds_the_shapes(self):
        kinds, path = self.ensemble()
        for method, *options in (*METHODS, *BY_CENTRES):
            with self.subTest((method, *options)):
                run = self.cluster(path, "--method", method, *options, run="-".join((method, *options)))
                found = self.assignment(run)
                self.assertTrue(same_groups(found, kinds), found)
                sizes = [found.count(c) for c in range(3)]
                self.assertEqual(sizes, [30, 20, 10])
                table = read_table(run / "clusters.tsv")
                self.assertEqual([int(row["size"]) for row in table], sizes)
                self.assertEqual([int(row["cluster"]) for row in table], [0, 1, 2])
                for row in table:
                    self.assertEqual(found[int(row["medoid"])], int(row["cluster"]))
                    self.assertLessEqual(float(row["mean"]), float(row["radius"]))
                    self.assertAlmostEqual(float(row["share"]), int(row["size"]) / 60, places=5)
                self.assertTrue((run / "cite.bib").exists())
                self.assertEqual(len(models_of(run / "medoids.pdb")), 3)

    def test_ensemble_run_and_matrices_give_the_same(self):
        _, path = self.ensemble()
        for shape in ("condensed", "full"):
            self.cluster(path, "--matrix", shape, run=shape, command="rmsd")
        self.cluster(path, "--matrix", "none", run="none", command="rmsd")
        for method, *options in METHODS:
            with self.subTest(method):
                expected = results(self.cluster(path, "-m", method, *options, run=f"{method}-e"))
                for name in ("condensed", "full", "none"):
                    run = self.cluster(self.folder / name, "-m", method, *options,
                                       run=f"{method}-{name}")
                    self.assertEqual(results(run), expected)
                    facts = manifest(run)["results"]
                    self.assertEqual((facts["items"], facts["clusters"]), (60, 3))
                run = self.cluster(self.folder / "full" / "rmsd.npy", "-m", method, *options,
                                   run=f"{method}-m")
                found = results(run)
                self.assertNotIn("medoids.pdb", found)
                for name in found.keys() - {"cite.bib", "series.tsv"}:  # a matrix has no files of frames
                    self.assertEqual(found[name], expected[name], name)

    def test_centres_are_the_frames_of_a_run_or_a_matrix(self):
        kinds, path = self.ensemble()
        for method, *options in BY_CENTRES:
            found = []
            for name, matrix in (("full", "full"), ("none", "none")):
                shutil.rmtree(self.folder / name, ignore_errors=True)
                self.cluster(path, "--matrix", matrix, run=name, command="rmsd")
                found.append(self.assignment(self.cluster(self.folder / name, "-m", method, *options, "--force")))
            found.append(self.assignment(self.cluster(path, "-m", method, *options, "--force")))
            self.assertTrue(same_groups(found[0], kinds))
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])

    def test_run_of_another_distance(self):
        kinds, path = self.ensemble()
        run = self.cluster(path, "--metric", "drmsd", run="drmsd", command="rmsd")
        found = self.cluster(run, "-m", "average", "--k", "3")
        self.assertTrue(same_groups(self.assignment(found), kinds))
        (run / "drmsd.npy").unlink()
        self.assert_refused(pleat("cluster", run, "--cutoff", "3", "-o", self.folder / "x"), 3,
                            "expected drmsd.npy, found none")

    def test_threads_change_nothing(self):
        _, path = self.ensemble(frames=300)
        for number, (method, *options) in enumerate((*METHODS, *BY_CENTRES)):
            one, two = (results(self.cluster(path, "-m", method, *options, "--threads", n,
                                             run=f"{method}{number}-{n}")) for n in (1, 3))
            self.assertEqual(one, two, method)

    def test_members_lie_on_their_medoid(self):
        _, frames = three_shapes()
        angle = 1.0
        turned = [[(math.cos(angle * n) * x - math.sin(angle * n) * y + n,
                    math.sin(angle * n) * x + math.cos(angle * n) * y, z) for x, y, z in frame]
                  for n, frame in enumerate(frames)]
        path = self.write("turned.pdb", pdb_text(turned))
        for atoms, count in ((), 12), (("--select", "ca"), 6), (("--select", "ca", "--write", "all"), 12):
            with self.subTest(atoms):
                run = self.cluster(path, "--cutoff", "3", *atoms, "--write-members", "all", "--force", error=None)
                found = self.assignment(run)
                table = read_table(run / "clusters.tsv")
                for c, row in enumerate(table):
                    members = models_of(run / f"members-{c}.pdb")
                    self.assertEqual(len(members), int(row["size"]))
                    self.assertEqual({len(member) for member in members}, {count})
                    place = [n for n, cluster in enumerate(found) if cluster == c].index(int(row["medoid"]))
                    medoid = members[place]
                    self.assertEqual(medoid, [tuple(round(x, 3) + 0.0 for x in atom) for n, atom in
                                              enumerate(turned[int(row["medoid"])])
                                              if count == 12 or n % 2 == 0])
                    if atoms[-1:] == ("all",):
                        continue  # the mean is over other atoms than those written
                    rmsd = [math.sqrt(sum((a - b) ** 2 for p, q in zip(member, medoid)
                                          for a, b in zip(p, q)) / count) for member in members]
                    self.assertAlmostEqual(sum(rmsd) / (len(members) - 1), float(row["mean"]), places=2)
                    self.assertAlmostEqual(max(rmsd), float(row["radius"]), places=2)
        run = self.cluster(path, "--cutoff", "3", "--structures", "cif", "--write-members", "1", "--force")
        self.assertEqual({p.name for p in run.iterdir() if p.suffix in (".cif", ".pdb")},
                         {"medoids.cif", "members-0.cif"})
        again = self.cluster(run / "members-0.cif", "--cutoff", "3", run="again")
        self.assertEqual(set(self.assignment(again)), {0})

    def test_transitions_stay_within_a_file(self):
        kinds, frames = three_shapes()
        one = self.write("1.pdb", pdb_text(frames[:25]))
        two = self.write("2.pdb", pdb_text(frames[25:]))
        run = self.cluster(one, two, "--cutoff", "3")
        found = self.assignment(run)
        expected = {}
        for n in range(1, 60):
            if n != 25:
                step = (found[n - 1], found[n])
                expected[step] = expected.get(step, 0) + 1
        table = read_table(run / "transitions.tsv")
        self.assertEqual({(int(r["from"]), int(r["to"])): int(r["count"]) for r in table}, expected)
        self.assertEqual(sum(int(r["pairs"]) for r in read_table(run / "histogram.tsv")), 60 * 59 // 2)

    def test_sweeps_take_the_best(self):
        kinds, path = self.ensemble()
        for method, option, values in (("average", "--k", "2:8"), ("gromos", "--cutoff", "1:7:0.5"),
                                       ("kmedoids", "--k", "2:6:1"), ("dbscan", "--cutoff", "1:4:1"),
                                       ("density-peaks", "--k", "2:5")):
            with self.subTest(method):
                run = self.cluster(path, "-m", method, option, values, run=method)
                table = read_table(run / "sweep.tsv")
                best = max(float(row["silhouette"]) for row in table if row["silhouette"] != "NA")
                facts = manifest(run)["results"]
                self.assertAlmostEqual(facts["silhouette"], best, places=5)
                chosen = [row for row in table if float(row[option[2:]]) == facts["chosen"]]
                self.assertEqual(float(chosen[0]["silhouette"]), best)
                self.assertTrue(same_groups(self.assignment(run), kinds))

    def test_noise_is_of_no_cluster(self):
        values = [abs(a - b) for n, a in enumerate((0, 1, 2, 50, 3, 100, 101, 102, 103))
                  for b in (0, 1, 2, 50, 3, 100, 101, 102, 103)[n + 1:]]
        path = self.write("line.npy", npy((36,), values))
        run = self.cluster(path, "-m", "dbscan", "--cutoff", "1.5", "--min-neighbours", "3")
        self.assertEqual(self.assignment(run), [0, 0, 0, -1, 0, 1, 1, 1, 1])
        self.assertEqual(manifest(run)["results"]["noise"], 1)
        self.assertIn("-1", [row["to"] for row in read_table(run / "transitions.tsv")])

    def test_peaks_and_trees_leave_their_files(self):
        _, path = self.ensemble()
        table = read_table(self.cluster(path, "-m", "density-peaks", "--k", "3") / "peaks.tsv")
        self.assertEqual([int(row["item"]) for row in table], list(range(60)))
        self.assertEqual(sum(row["denser"] == "NA" for row in table), 1)
        run = self.cluster(path, "-m", "average", "--k", "3", run="tree")
        shape, rows = parse_npy((run / "linkage.npy").read_bytes())
        self.assertEqual(shape, (59, 4))
        self.assertEqual(rows[-1], 60)
        text = (run / "tree.nwk").read_text()
        self.assertEqual((text.count("("), text.count(",")), (59, 59))

    @unittest.skipIf(hierarchy is None, "no scipy (Debian package python3-scipy)")
    def test_trees_are_scipys(self):
        source = random.Random(3)
        points = [[source.gauss(0, 1) for _ in range(3)] for _ in range(120)]
        values = [math.dist(a, b) for n, a in enumerate(points) for b in points[n + 1:]]
        for kind in "fd":
            path = self.write(f"{kind}.npy", npy((len(values),), values, kind))
            for method in ("single", "complete", "average", "ward"):
                with self.subTest((kind, method)):
                    run = self.cluster(path, "-m", method, "--k", "7", run=f"{kind}{method}")
                    shape, rows = parse_npy((run / "linkage.npy").read_bytes())
                    found = numpy.array(rows).reshape(shape)
                    expected = hierarchy.linkage(numpy.array(values), method)
                    numpy.testing.assert_array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
                    numpy.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-6)
                    for arguments, label in ((("--k", "7"), hierarchy.fcluster(expected, 7, "maxclust")),
                                             (("--cutoff", "1.5"),
                                              hierarchy.fcluster(expected, 1.5, "distance"))):
                        cut = self.cluster(path, "-m", method, *arguments, "--force",
                                           run=f"{kind}{method}")
                        self.assertTrue(same_groups(self.assignment(cut), list(label)))

    def test_published_decoys(self):
        folder = SHARED / "data" / "ensembles" / "durandal10"
        if not folder.is_dir():
            self.skipTest("no durandal10 in PLEAT_SHARED or beside the repository")
        run = self.cluster(folder / "decoys.pdb.gz", "--select", "ca", run="rmsd", command="rmsd",
                           error=None)
        first = parse_npy((run / "rmsd.npy").read_bytes())[1][:9]
        for found, line in zip(first, (folder / "very_few_pdbs_rmsd_reference").read_text().split()):
            self.assertAlmostEqual(found, float(line.split(":")[1]), delta=1e-4)
        expected = {tuple(map(int, line.split(":")[1].split()))
                    for line in (folder / "reference.out").read_text().split("\n")
                    if line.startswith("members")}
        for method in ("gromos", "gmx"):
            found = self.assignment(self.cluster(folder / "decoys.pdb.gz", "--select", "ca", "--cutoff",
                                                 "2", "-m", method, run=method, error=None))
            self.assertEqual({tuple(n for n in range(10) if found[n] == c) for c in set(found)},
                             expected)

    def test_run_without_its_ensemble(self):
        _, path = self.ensemble()
        kept = self.cluster(path, run="kept", command="rmsd")
        none = self.cluster(path, "--matrix", "none", run="none", command="rmsd")
        expected = self.assignment(self.cluster(kept, "--cutoff", "3", run="before"))
        path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0")
        for change, text in ((lambda: None, "unchanged, found other content"),
                             (path.unlink, "expected its input")):
            change()
            done = pleat("cluster", kept, "--cutoff", "3", "-o", self.folder / "after", "-q", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.assignment(self.folder / "after"), expected)
            self.assertFalse((self.folder / "after" / "medoids.pdb").exists())
            messages = manifest(self.folder / "after")["messages"]
            self.assertTrue(any("no structures are written" in m and text in m for m in messages),
                            messages)
            self.assert_refused(pleat("cluster", none, "--cutoff", "3", "-o", self.folder / "x"), 3,
                                text, "name the ensemble itself")

    def test_run_is_read_as_its_ensemble_was(self):
        _, frames = three_shapes()
        for name, first, last in (("a.pdb", 0, 20), ("b.pdb", 20, 60), ("ca", 40, 60)):
            self.write(name, pdb_text(frames[first:last]))
        a, b, ca = (self.folder / name for name in ("a.pdb", "b.pdb", "ca"))
        listed = self.write("list", f"{b}\n{a}\n".encode())
        for name, sources, count in (("topology", (a, b, "--topology", a), 60), ("twice", (a, a), 40),
                                     ("again", (b, a, b), 100), ("option", ("ca", a), 40),
                                     ("list", (f"@{listed}", "--topology", b), 60)):
            for matrix in ("none", "condensed"):
                with self.subTest((name, matrix)):
                    call = (*sources, "-s", "ca")
                    folder = self.folder / f"{name}-{matrix}"
                    done = pleat("rmsd", *call, "--matrix", matrix, "-o", folder, "-q", cwd=self.folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    expected, found = self.folder / f"{folder.name}-e", self.folder / f"{folder.name}-r"
                    for to, given in ((expected, call), (found, (folder,))):
                        done = pleat("cluster", *given, "--cutoff", "3", "-o", to, "-q", cwd=self.folder)
                        self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(len(self.assignment(found)), count)
                    self.assertEqual(results(found), results(expected))

    def test_run_of_another_size_is_refused(self):
        _, path = self.ensemble()
        for matrix in ("none", "condensed"):
            run = self.cluster(path, "--matrix", matrix, command="rmsd", run=matrix)
            text = (run / "manifest.json").read_text()
            for fact, number in (("frames", 60), ("atoms", 12)):
                with self.subTest((matrix, fact)):
                    changed = text.replace(f'"{fact}": {number},', f'"{fact}": {number + 1},')
                    self.assertNotEqual(changed, text)
                    (run / "manifest.json").write_text(changed)
                    self.assert_refused(
                        pleat("cluster", run, "--cutoff", "3", "-o", self.folder / "x"), 3,
                        f"{matrix}: expected the {number + 1} {fact} that it recorded, found {number}")

    def test_refusals(self):
        _, good = self.ensemble(frames=8)
        out = ("-o", self.folder / "run")
        cut = ("--cutoff", "2")
        flat = self.write("flat.npy", npy((4, 6), [1.0] * 24))
        count = self.write("count.npy", npy((5,), [1.0] * 5))
        nan = self.write("nan.npy", npy((3,), [1.0, math.nan, 1.0]))
        minus = self.write("minus.npy", npy((3,), [1.0, -1.0, 1.0]))
        skew = self.write("skew.npy", npy((2, 2), [0.0, 1.0, 2.0, 0.0]))
        far = self.write("far.npy", npy((2, 2), [1.0, 1.0, 1.0, 0.0]))
        whole = self.write("int.npy", npy((3,), [1, 2, 3], "i"))
        cut_off = self.write("cut.npy", npy((45,), [1.0] * 45)[:-5])
        minus_weights = self.write("minus_weights.npy", npy((12,), [1.0] * 11 + [-1.0]))
        four = self.write("four.npy", npy((1, 2, 3, 4), [1.0] * 24))
        fine = self.write("fine.npy", npy((3,), [1.0, 2.0, 3.0]))
        rmsd = self.cluster(good, command="rmsd", run="rmsd")
        own = self.cluster(fine, *cut, run="own")
        broken = self.cluster(good, command="rmsd", run="broken")
        (broken / "rmsd.npy").write_bytes(npy((3,), [1.0] * 3))
        scores = self.cluster(good, "--metric", "tm", command="rmsd", run="scores")
        sets = self.cluster(good, "--against", good, command="rmsd", run="sets")
        empty = self.folder / "empty"
        empty.mkdir()
        for arguments, code, *texts in (
                ((good, *out), 2, "--method gromos: give --cutoff"),
                ((good, *out, *cut, "--atom-weights", minus_weights), 3,
                 "minus_weights.npy: expected weights from 0 to 1e15, found -1"),
                ((good, *out, "-m", "kmedoids"), 2, "--method kmedoids: give --k"),
                ((good, *out, "-m", "average"), 2, "give --cutoff or --k"),
                ((good, *out, "-m", "kcenters"), 2, "--method kcenters: give --cutoff or --k"),
                ((good, *out, "-m", "kcenters", *cut, "--k", "2"), 2, "give either --cutoff or --k, not both"),
                ((good, *out, "-m", "kcenters", "--k", "9"), 2, "--k: 9 clusters are more than the 8 items"),
                ((good, *out, "-m", "kcenters", *cut, "--device", "cuda"), 2, "kcenters computes on CPUs"),
                ((good, *out, *cut, "--medoid-sweeps", "2"), 2, "leave --medoid-sweeps out: only kcenters"),
                ((good, *out, *cut, "--k", "2"), 2, "give --cutoff alone"),
                ((good, *out, "-m", "ward", "--k", "9"), 2, "--k: 9 clusters are more than the 8 items"),
                ((good, *out, "-m", "ward", "--k", "0"), 2, "--k: expected a whole number", "'0'"),
                ((good, *out, "-m", "ward", "--k", "3:2"), 2, "--k", "'3:2'"),
                ((good, *out, "-m", "nearest", *cut), 2, "nearest"),
                ((good, *out, "--cutoff", "0"), 2, "--cutoff: expected a number from 1e-30", "'0'"),
                ((good, *out, "--cutoff", "nan"), 2, "--cutoff", "'nan'"),
                ((good, *out, "--cutoff", "1:2"), 2, "first:last:step", "'1:2'"),
                ((good, *out, *cut, "--bin-width", "0"), 2, "bin-width"),
                ((good, *out, *cut, "--min-neighbours", "0"), 2, "min-neighbours"),
                ((good, *out, *cut, "--min-neighbours", "3"), 2, "gromos: leave --min-neighbours out"),
                ((good, *out, "--cutoff", "1e-50"), 2, "from 1e-30 to 1e30", "'1e-50'"),
                ((good, *out, *cut, "--structures", "none", "--write", "all"), 2,
                 "leave --write out: --structures none writes nothing"),
                ((good, *out, *cut, "--structures", "none", "--write-members", "2"), 2,
                 "leave --write-members out: --structures none"),
                ((good, *out, *cut, "--write-members", "-2"), 2, "write-members"),
                ((good, *out, *cut, "--structures", "xyz"), 2, "xyz"),
                ((good, *out, *cut, "--device", "cuda:77"), 4, "cuda:77"),
                ((good, *out, *cut, "--select", "ca"), 3, "ensemble.npy"),
                ((good, *out, *cut, "--write", "ca"), 3, "ensemble.npy"),
                ((good, *cut), 2, "--output"),
                ((*out, *cut), 2, "INPUT"),
                ((flat, *out, *cut), 3, "flat.npy: expected a square matrix"),
                ((count, *out, *cut), 3, "count.npy: expected M (M - 1) / 2 distances", "found 5"),
                ((nan, *out, *cut), 3, "nan.npy: element 1: expected a distance >= 0", "nan"),
                ((minus, *out, *cut), 3, "minus.npy: element 1", "-1"),
                ((skew, *out, *cut), 3, "skew.npy: expected a symmetric matrix"),
                ((far, *out, *cut), 3, "far.npy: element [0, 0]: expected 0 in the diagonal"),
                ((whole, *out, *cut), 3, "int.npy: expected float32 or float64", "<i4"),
                ((cut_off, *out, *cut), 3, "cut.npy: expected 180 bytes of values, found 175"),
                ((four, *out, *cut), 3, "four.npy"),
                ((fine, *out, *cut, "--select", "ca"), 2, "is a matrix"),
                ((fine, *out, *cut, "--precision", "float64"), 2, "is a matrix"),
                ((rmsd, *out, *cut, "--frames", "1:2"), 2, "is a finished run"),
                ((rmsd, *out, *cut, "--precision", "float64"), 2, "--precision out:", "is a finished run"),
                ((own, *out, *cut), 3, "own: expected a run of 'pleat rmsd', found one of 'pleat cluster'"),
                ((broken, *out, *cut), 3, "rmsd.npy: expected the distances of 8 frames, found those of 3"),
                ((scores, *out, *cut), 3, "expected a run of distances, found one of scores (tm)"),
                ((sets, *out, *cut), 3, "all pairs of one set, found one with 'against'"),
                ((empty, *out, *cut), 3, "empty"),
                ((fine, good, *out, *cut), 3, "fine.npy"),
                ((self.folder / "absent.npy", *out, *cut), 3, "absent.npy")):
            with self.subTest(arguments):
                self.assert_refused(pleat("cluster", *arguments), code, *texts)
        self.assertFalse((self.folder / "run").exists())

    def test_far_coordinates_go_to_mmcif(self):
        _, frames = three_shapes(frames=6)
        values = [x + 2e4 for frame in frames for atom in frame for x in atom]
        path = self.write("far.npy", npy((6, 12, 3), values))
        run = self.cluster(path, "--cutoff", "3")
        self.assertTrue((run / "medoids.cif").exists())
        self.assertFalse((run / "medoids.pdb").exists())
        self.assert_refused(pleat("cluster", path, "--cutoff", "3", "--structures", "pdb", "-o",
                                  self.folder / "pdb"), 3, "far.npy: expected names and coordinates that fit",
                            "--structures cif")

    def test_atoms_that_turn_beyond_pdb_go_to_mmcif(self):
        _, (shape,) = three_shapes(frames=1)
        far = [(5000.0, 0.0, 0.0) if n % 2 else atom for n, atom in enumerate(shape)]
        turned = [atom if n % 2 else (-atom[1], atom[0], atom[2]) for n, atom in enumerate(far)]
        path = self.write("far.pdb", pdb_text([far, turned]))
        call = (path, "--cutoff", "3", "--select", "ca", "--write", "all", "--write-members", "all")
        run = self.cluster(*call, error=None)
        self.assertEqual({p.name for p in run.iterdir() if p.suffix in (".cif", ".pdb")},
                         {"medoids.cif", "members-0.cif"})
        self.assert_refused(pleat("cluster", *call, "--structures", "pdb", "-o", self.folder / "pdb", "-q"),
                            3, "far.pdb: expected names and coordinates that fit", "--structures cif")
        self.assertFalse((self.folder / "pdb").exists())


if __name__ == "__main__":
    unittest.main()
