# Inputs that come from pipes give the results of the files, or are refused in one line.
import gzip
import hashlib
import os
import subprocess
import sys
import threading
import unittest

from program import DATA, PROGRAM, ROOT, ProgramTest, clean_environment, manifest, pleat, results
from structures import npy, numbers, pdb

sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
from make_seeds import ensembles  # noqa: E402

GOOD = ensembles()
FORMATS = {"pdb": pdb(models=40), "pdb.gz": gzip.compress(pdb(models=40).encode(), mtime=0),
           "cif": GOOD["mmcif"], "npy": npy((3, 3, 3), numbers(27)),
           **{name: GOOD[name] for name in ("dcd", "xtc", "trr", "netcdf")}}
TRAJECTORIES = ("dcd", "xtc", "trr", "netcdf")


class Pipe:
    """Bytes that a thread writes to a pipe; `path` names the end that is read."""

    def __init__(self, data):
        self.end, self.input = os.pipe()
        self.path = f"/dev/fd/{self.end}"
        self.thread = threading.Thread(target=self.write, args=(data,))
        self.thread.start()

    def write(self, data):
        with os.fdopen(self.input, "wb") as file:
            try:
                file.write(data)
                file.flush()
            except BrokenPipeError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        self.thread.join()


class Pipes(ProgramTest):
    def run_both_ways(self, command, data, *more, path=None, before=()):
        """Runs a command on a file and on a pipe with its bytes; the results must be the same."""
        path = path or self.folder / "input"
        path.write_bytes(data)
        runs = [self.folder / f"run{len(list(self.folder.iterdir()))}{k}" for k in "ab"]
        done = pleat(command, *before, path, *more, "-o", runs[0], "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        with Pipe(data) as pipe:
            done = pleat(command, *before, pipe.path, *more, "-o", runs[1], "-q", pass_fds=[pipe.end])
        self.assertEqual(done.returncode, 0, done.stderr)
        from_file, from_pipe = (results(run) for run in runs)
        self.assertEqual(sorted(from_file), sorted(from_pipe))
        for name, content in from_file.items():
            if name.endswith((".npy", ".npz", "histogram.tsv", "profile.tsv", "fit.tsv", "clusters.tsv",
                              "contacts.tsv", "pairs.tsv")):
                self.assertEqual(content, from_pipe[name], name)
        inputs = {entry["path"]: entry for entry in manifest(runs[1])["inputs"]}
        self.assertEqual(inputs[pipe.path]["sha256"], hashlib.sha256(data).hexdigest())
        self.assertEqual(inputs[pipe.path]["bytes"], len(data))

    def test_ensembles_of_every_format(self):
        topology = self.folder / "topology.pdb"
        topology.write_text(pdb(), encoding="ascii")
        for name, data in FORMATS.items():
            more = ("--topology", topology) if name in TRAJECTORIES else ()
            data = data if isinstance(data, bytes) else data.encode()
            for command, options in (("rmsd", ()), ("cluster", ("--cutoff", "1"))):
                with self.subTest(f"{command} {name}"):
                    self.run_both_ways(command, data, *more, *options)

    def test_structures_and_curves(self):
        structure = gzip.decompress((DATA / "1hel.pdb.gz").read_bytes())
        curve = gzip.decompress((DATA / "1hel_made.dat.gz").read_bytes())
        file = self.folder / "1hel.pdb"
        file.write_bytes(structure)
        self.run_both_ways("saxs", structure, "--model", "two-bead")
        self.run_both_ways("saxs", (DATA / "1a8o.cif.gz").read_bytes(), "--model", "two-bead")
        self.run_both_ways("saxs", curve, "--model", "two-bead", before=(file, "--data"))

    def test_other_inputs(self):
        models = pdb(models=5)
        file = self.folder / "models.pdb"
        file.write_text(models, encoding="ascii")
        weights = npy((3,), [1.0, 2.0, 3.0], "d")
        self.run_both_ways("rmsd", pdb(models=2).encode(), before=(file, "--reference"))
        self.run_both_ways("rmsd", pdb(models=2).encode(), before=(file, "--against"))
        self.run_both_ways("rmsd", weights, before=(file, "--atom-weights"))
        self.run_both_ways("rmsd", models.encode(), "--select", "A:1-2", "--measure", "A:2-3")
        (self.folder / "frames.dcd").write_bytes(GOOD["dcd"])
        self.run_both_ways("rmsd", pdb().encode(), before=(self.folder / "frames.dcd", "--topology"))

    def test_lists(self):
        file = self.folder / "models.pdb"
        file.write_text(pdb(models=5), encoding="ascii")
        with Pipe(f"{file}\n{file}\n".encode()) as pipe:
            done = pleat("rmsd", f"@{pipe.path}", "-o", self.folder / "run", "-q", pass_fds=[pipe.end])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(manifest(self.folder / "run")["results"]["frames"], 10)

    def test_alignments(self):
        rows = gzip.decompress((DATA / "cheY.aln.gz").read_bytes()).split(b"\n")[:150]
        family = b"\n".join(row[4:30] for row in rows) + b"\n"
        for data in (family, gzip.compress(family)):
            self.run_both_ways("couplings", data)
            self.run_both_ways("mi", data, "--shuffles", "2")

    def test_standard_input_and_named_pipes(self):
        data = pdb(models=40).encode()
        done = pleat("rmsd", "/dev/stdin", "-o", self.folder / "stdin", "-q", input=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(manifest(self.folder / "stdin")["results"]["frames"], 40)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([PROGRAM, "rmsd", pipe, "-o", self.folder / "named", "-q"],
                              env=clean_environment(), stdin=subprocess.DEVNULL) as running:
            pipe.write_bytes(data)
            self.assertEqual(running.wait(300), 0)
        self.assertEqual(results(self.folder / "named")["rmsd.npy"],
                         results(self.folder / "stdin")["rmsd.npy"])
        shas = [manifest(self.folder / name)["inputs"][0]["sha256"] for name in ("named", "stdin")]
        self.assertEqual(shas, 2 * [hashlib.sha256(data).hexdigest()])

    def test_a_pipe_of_which_a_part_is_read_is_hashed_alike_each_time(self):
        data = npy((30000, 3, 3), numbers(9) * 30000)
        entries = []
        for k in range(2):
            with Pipe(data) as pipe:
                done = pleat("rmsd", pipe.path, "--frames", ":10", "-o", self.folder / f"run{k}", "-q",
                             pass_fds=[pipe.end])
            self.assertEqual(done.returncode, 0, done.stderr)
            entries.append(manifest(self.folder / f"run{k}")["inputs"][0])
            entries[-1].pop("path")
        self.assertEqual(*entries)
        self.assertLess(entries[0]["bytes"], len(data))
        self.assertIn("not all", entries[0]["sha256_of"])

    def test_what_is_read_twice_is_refused(self):
        file = self.folder / "models.pdb"
        file.write_text(pdb(models=5), encoding="ascii")
        for arguments, texts in (
                (("cluster", "{}", "--select", "A:1-2", "--write", "all", "--cutoff", "1"), ("--write",)),
                (("rmsd", "{}", "{}"), ("cannot be read twice",)),
                (("rmsd", file, "--topology", "{}", "--against", "{}"), ("cannot be read twice",)),
                (("select", "--ensemble", "{}", "--data", file), ("stages",)),
                (("select", "--ensemble", file, "--data", "{}"), ("stages",)),
                (("couplings", "{}", file), ("save it to a file",))):
            with self.subTest(arguments), Pipe(pdb(models=5).encode()) as pipe:
                given = [str(argument).format(pipe.path) for argument in arguments]
                done = pleat(*given, "-o", self.folder / "run", "-q", pass_fds=[pipe.end])
                self.assert_refused(done, 3, *texts)
                self.assertFalse((self.folder / "run").exists())
        with Pipe(npy((4, 4), [0.0] * 16)) as pipe:
            self.assert_refused(pleat("cluster", pipe.path, "-m", "average", "--k", "2", "-o",
                                      self.folder / "run", pass_fds=[pipe.end]), 3, "shape (4, 4)")


class MissingInputs(ProgramTest):
    def test_are_named_before_anything_is_read(self):
        """The first input is a pipe that stays silent: only who opens it late can refuse at once."""
        file = self.folder / "models.pdb"
        file.write_text(pdb(models=5), encoding="ascii")
        silent = self.folder / "silent"
        os.mkfifo(silent)
        absent = self.folder / "absent"
        listed = self.folder / "list"
        listed.write_text(f"{silent}\n{absent}\n", encoding="utf-8")
        for arguments in (("rmsd", silent, "--reference", absent), ("rmsd", silent, "--against", absent),
                          ("rmsd", silent, "--against", f"@{absent}"), ("rmsd", silent, "--topology", absent),
                          ("rmsd", silent, "--atom-weights", absent), ("rmsd", silent, absent),
                          ("rmsd", f"@{listed}"), ("cluster", silent, absent, "--cutoff", "1"),
                          ("cluster", silent, "--topology", absent, "--cutoff", "1"), ("saxs", silent, "--data", absent),
                          ("saxs", silent, "--model", "two-bead", "--form-factors", absent),
                          ("couplings", silent, "--structure", absent),
                          ("couplings", silent, "--initial", absent), ("mi", silent, "--structure", absent)):
            with self.subTest(arguments):
                done = pleat(*arguments, "-o", self.folder / "run", "-q", timeout=60)
                self.assert_refused(done, 3, f"{absent}: expected a file, found nothing of that name")
                self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main()
