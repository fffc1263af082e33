# --estimate: what it prints of each command, and how that compares with runs.
import array
import os
import random
import re
import struct
import subprocess
import sys
import unittest

from program import DATA, PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_rows

UNITS = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40}
TIMES = {"s": 1, "min": 60, "h": 3600}
LINE = re.compile(r"^  (\S+(?: \(\d+ threads\))?): up to ([\d.]+) (\w+) of memory(?: and ([\d.]+) (\w+) of GPU memory"
                  r"(?: \(at least ([\d.]+) (\w+)\))?)?, (?:about ([\d.e+]+) (s|min|h)|time not known)", re.MULTILINE)
# The peak of a program in its own process: peaks of children are the maximum of all of them.
PEAK = "import os, subprocess, sys; print(os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)[2].ru_maxrss * 1024)"


def parse(text):
    """[(device, bytes of the host, bytes of the GPU, at least, seconds)] of each line with a device."""
    rows = []
    for device, host, unit, gpu, gpu_unit, smallest, min_unit, time, time_unit in LINE.findall(text):
        rows.append((device, float(host) * UNITS[unit], float(gpu) * UNITS[gpu_unit] if gpu else 0,
                     float(smallest) * UNITS[min_unit] if smallest else 0,
                     float(time) * TIMES[time_unit] if time else 0))
    return rows


class Estimate(ProgramTest):
    HINGE = (DATA / "1a8o.pdb.gz", "--linkers", "A:174-179")

    def estimate(self, *arguments, **options):
        before = sorted(self.folder.rglob("*"))
        done = pleat(*arguments, "--estimate", cwd=self.folder, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr.decode())
        self.assertEqual(sorted(self.folder.rglob("*")), before)  # nothing is written
        return done.stdout.decode()

    def write_ensemble(self, frames, atoms, name="frames.npy"):
        values = array.array("f", iter(random.Random(1).randbytes(frames * atoms * 3)))
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({frames}, {atoms}, 3), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path = self.folder / name
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())
        return path

    def write_curve(self):
        return DATA / "1hel_made.dat.gz"

    def test_prints_the_cpu_and_a_gpu_for_every_command(self):
        family = self.write_alignment(read_rows()[:300])
        hivp = [DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz"]
        calls = {"couplings": [family], "mutants": [family], "mi": [family, "--shuffles", "100"], "rmsd": hivp, "cluster": [*hivp, "--cutoff", "2"],
                 "saxs": [*hivp, "--data", self.write_curve()],
                 "select": ["--ensemble", *hivp, "--data", self.write_curve()],
                 "refine": [*self.HINGE, "--frames", 60, "--data", self.write_curve()]}
        for command, arguments in calls.items():
            with self.subTest(command):
                text = self.estimate(command, *arguments)
                rows = parse(text)
                self.assertEqual([row[0].split(" ")[0] for row in rows], ["cpu", "cuda"], text)
                for device, host, gpu, _, seconds in rows:
                    self.assertGreater(host, 0)
                    self.assertGreater(seconds, 0)
                    self.assertEqual(gpu > 0, device == "cuda")
                told = {"couplings": "300 sequences", "mutants": "300 sequences", "mi": "300 sequences", "refine": "18 angles of linkers, 60 frames"}
                self.assertIn(told.get(command, "117 frames"), text)
                self.assertIn("of memory is available here", text)

    def test_follows_the_options(self):
        family = self.write_alignment(read_rows()[:300])
        self.assertEqual(len(parse(self.estimate("mi", family))), 1)  # the exact null model needs no GPU
        whole, part = (parse(self.estimate("cluster", self.write_ensemble(500, 5), "--cutoff", "9", "-d", "cpu", *more))[0][1]
                     for more in ([], ["--frames", ":50"]))
        self.assertLess(part, whole)
        text = self.estimate("rmsd", self.folder / "frames.npy", "--against", self.folder / "frames.npy")
        self.assertIn("500 frames, 5 atoms, against 500 frames", text)
        device, _, gpu, smallest, _ = parse(self.estimate("couplings", family, "-d", "cuda:3"))[0]
        self.assertEqual(device, "cuda:3")  # a GPU need not be here
        few, many = (parse(self.estimate("refine", *self.HINGE, "--frames", frames)) for frames in (1000, 50000))
        self.assertEqual((len(few), len(many)), (1, 1))  # moves alone need no GPU
        self.assertGreater(many[0][1], 5 * few[0][1])
        self.assertGreater(many[0][4], 10 * few[0][4])
        self.assertTrue(0 <= smallest <= gpu)
        self.assertEqual(parse(self.estimate("couplings", family, "-d", "reference"))[0][4], 0)
        halves = [parse(self.estimate("rmsd", self.folder / "frames.npy", "-d", name))[0]
                  for name in ("cuda:0", "cuda:0,cuda:1")]
        self.assertGreater(halves[0][4], 0)
        self.assertEqual(halves[0][2], halves[1][2])

    def test_counts_parts_of_a_structure_as_one(self):
        with open(self.folder / "parts.pdb", "w", encoding="ascii") as file:
            for model in range(2):
                file.write(f"MODEL     {model + 1:4}\n")
                for n in range(20):
                    file.write(f"ATOM  {n + 1:5}  CA  ALA A{n + 1:4}    {model * 90.0 + n:8.3f}{n * n / 30:8.3f}"
                               f"{n % 7:8.3f}  1.00  0.00           C\n")
                file.write("ENDMDL\n")
        self.assertIn("1 frames, 40 atoms", self.estimate("saxs", self.folder / "parts.pdb"))
        self.assertIn("2 frames, 20 atoms",
                      self.estimate("saxs", self.folder / "parts.pdb", "--models-are", "states"))

    def test_a_matrix_and_a_run_of_rmsd_need_no_superposition(self):
        frames = self.write_ensemble(200, 5)
        self.assertEqual(pleat("rmsd", frames, "-o", self.folder / "run", "-q").returncode, 0)
        for source in (self.folder / "run", self.folder / "run/rmsd.npy"):
            text = self.estimate("cluster", source, "-m", "average", "--k", "3")
            self.assertIn("200 items in", text)
            self.assertEqual(len(parse(text)), 1)

    def test_lists_and_sweeps_print_each_job_and_all(self):
        self.write_alignment(read_rows()[:100], "a.aln")
        self.write_alignment(read_rows()[:300], "b.aln")
        text = self.estimate("couplings", "a.aln", "b.aln", "--sweep", "identity=0.7,0.8", "-d", "cpu")
        rows = parse(text)
        self.assertEqual(len(rows), 5, text)
        self.assertEqual(rows[4][1], max(row[1] for row in rows[:4]))
        self.assertAlmostEqual(rows[4][4], sum(row[4] for row in rows[:4]), delta=0.1 * rows[4][4])
        self.assertIn("a/identity=0.7: 100 sequences", text)

    def test_files_are_told(self):
        family = self.write_alignment(read_rows()[:100])
        text = self.estimate("couplings", family, "--models", "npz,plmc", "-d", "cpu")
        self.assertRegex(text, "files: about .* to be written")
        self.assertRegex(text, "of disk space is available for")

    def test_refuses_what_a_run_refuses(self):
        family = self.write_alignment(read_rows()[:50])
        self.assert_refused(pleat("couplings", self.folder / "none.aln", "--estimate"), 3, "none.aln")
        self.assert_refused(pleat("couplings", family), 2, "--output")
        self.assert_refused(pleat("cluster", self.write_ensemble(9, 5), "--estimate"), 2, "--cutoff")
        self.assert_refused(pleat("couplings", family, "--estimate", "-d", "cuda:0,1"), 2, "one device")
        self.assert_refused(pleat("saxs", DATA / "1hel.pdb.gz", "--method", "multipole", "--precision", "float64",
                                  "-d", "cuda", "--estimate"), 2, "GPU")

        self.assert_refused(pleat("refine", *self.HINGE, "-d", "cuda", "--estimate"), 2, "--data")
        self.assert_refused(pleat("refine", self.HINGE[0], "--linkers", "A:300-310", "--estimate"), 3, "A:300-310")
        self.assert_refused(pleat("refine", self.HINGE[0], "--estimate"), 2, "--linkers")

    def test_time_grows_with_the_work(self):
        frames = self.write_ensemble(3000, 100)
        few, many = (parse(self.estimate("rmsd", frames, "-d", "cpu", "-t", "1", "--frames", part))[0][4]
                     for part in (":1000", ":3000"))
        self.assertGreater(many, 4 * few)
        self.assertLess(many, 9.5 * few)

    def peak(self, *arguments):
        done = subprocess.run([sys.executable, "-c", PEAK, PROGRAM, *map(str, arguments)], capture_output=True,
                              text=True, check=True, timeout=300, env=clean_environment())
        return int(done.stdout)

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take memory of their own")
    def test_memory_is_at_least_that_of_the_run_and_not_much_more(self):
        family = self.write_alignment([row[:120] for row in read_rows()[:1000]])
        tall = self.write_ensemble(3000, 400, "tall.npy")
        many = self.write_ensemble(6000, 20, "many.npy")
        hivp = [DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz"]
        # The last is the largest factor between the estimate and the peak; none: a small run.
        cases = [(["couplings", family], 3),
                 (["couplings", family, "-t", "1"], 3),
                 (["couplings", family, "--compatible", "ccmpred"], 3),
                 (["mi", family, "--null", "sampled", "--shuffles", "200"], 3),
                 (["mi", family, "--null", "exact", "--max-gaps", "0.5"], None),
                 (["mi", family, "--order", "3", "--null", "none", "--all-triples"], None),
                 (["rmsd", tall, "--matrix", "none"], 3),
                 (["rmsd", tall, "--matrix", "none", "--precision", "float64"], 3),
                 (["rmsd", tall, "--matrix", "none", "--frames", ":300", "--metric", "drmsd"], None),
                 (["rmsd", tall, "--reference", "0"], 3),
                 (["cluster", many, "--cutoff", "300"], 3),
                 (["cluster", many, "--method", "average", "--k", "5"], 3),
                 (["cluster", many, "--method", "kmedoids", "--k", "5", "--frames", ":1000"], None),
                 (["cluster", many, "--method", "density-peaks", "--k", "5", "--frames", ":1000"], None),
                 (["saxs", *hivp], None),
                 (["saxs", *hivp, "--data", self.write_curve(), "--max-members", "2", "--frames", ":20"], None),
                 (["refine", *self.HINGE, "--frames", "4000", "--moves", "1"], None),
                 (["select", "--ensemble", *hivp, "--data", self.write_curve(), "--frames", ":20"], None)]
        start = self.peak("version")
        for number, (arguments, factor) in enumerate(cases):
            with self.subTest(" ".join(map(str, arguments))):
                estimated = parse(self.estimate(*arguments, "-d", "cpu"))[0][1]
                taken = self.peak(*arguments, "-d", "cpu", "-q", "-o", self.folder / f"run{number}") - start
                self.assertEqual(manifest(self.folder / f"run{number}")["status"], "finished")
                self.assertLessEqual(taken, 1.01 * estimated)
                if factor:
                    self.assertLessEqual(estimated, factor * taken)


if __name__ == "__main__":
    unittest.main()
