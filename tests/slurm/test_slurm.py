# The scripts of examples/slurm and examples/snakemake on a Slurm of one node, with the built program.
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.dont_write_bytecode = True

from program import PROGRAM, clean_environment, manifest, results, small_rows  # noqa: E402

STARTER = ROOT.parent / "shared/tools/slurm_one_node"
EXAMPLES = ROOT / "examples"
MPI_PROGRAM = os.environ.get("PLEAT_MPI_PROGRAM", "")
LIMIT = 90


def why_not():
    """Why no Slurm can be started here; empty if one can."""
    if not STARTER.exists():
        return f"{STARTER.name} is not beside the repository"
    if os.geteuid() != 0:
        return "needs root"
    paths = os.environ["PATH"] + ":/usr/sbin"
    absent = [name for name in ("sbatch", "srun", "munged", "slurmctld", "slurmd")
              if shutil.which(name, path=paths) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


@unittest.skipIf(why_not(), why_not())
class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="pleat-slurm-")
        cls.addClassCleanup(holder.cleanup)
        cls.home = Path(holder.name)
        node = cls.home / "node"
        cls.environment = clean_environment(PLEAT=PROGRAM, CPUS="4", GPUS="2",
                                            SLURM_CONF=str(node / "slurm.conf"))
        cls.addClassCleanup(lambda: subprocess.run([STARTER, "stop", node], check=False,
                                                   env=cls.environment, capture_output=True))
        subprocess.run([STARTER, "start", node], check=True, env=cls.environment, capture_output=True)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=self.home))
        names = []
        for n in range(5):
            path = self.folder / f"family{n}.aln"
            path.write_text("\n".join(small_rows(60 + 10 * n)) + "\n")
            names.append(f"{path}\n")
        self.list = self.folder / "list.txt"
        self.list.write_text("".join(names))

    def call(self, *words, **more):
        return subprocess.run([str(word) for word in words], env={**self.environment, **more}, cwd=self.folder,
                              capture_output=True, text=True, timeout=LIMIT, check=False)

    def submit(self, script, *arguments, **more):
        """Runs a script of the examples to its end; the text of its log files."""
        done = self.call("sbatch", "--wait", "--output", "log-%j-%a.txt", EXAMPLES / "slurm" / script, *arguments,
                         **more)
        logs = "".join(path.read_text() for path in sorted(self.folder.glob("log-*.txt")))
        self.assertEqual(done.returncode, 0, done.stderr + logs)
        return logs

    def expected(self):
        run = self.folder / "expected"
        done = self.call(PROGRAM, "couplings", "--list", self.list, "-o", run, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {path.name: results(path) for path in run.iterdir() if path.is_dir()}

    def assert_all(self, run):
        found = {path.name: results(path) for path in (self.folder / run).iterdir() if path.is_dir()}
        expected = self.expected()
        self.assertEqual(sorted(found), sorted(expected))
        for name, files in expected.items():
            self.assertEqual(found[name], files, name)

    def test_one_call_for_a_list(self):
        self.submit("one_machine.sh", self.list, "runs")
        self.assert_all("runs")

    def test_the_tasks_of_an_array_share_a_list(self):
        self.submit("array.sh", self.list, "runs")
        self.assert_all("runs")
        table = (self.folder / "runs" / "jobs.tsv").read_text()
        self.assertEqual(table.count("\tdone\t"), 5, table)

    def test_srun_without_ranks_is_refused_with_advice(self):
        alignment = self.folder / "family0.aln"
        done = self.call("srun", "-n", "2", PROGRAM, "mi", alignment, "-o", "run", "-q")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("srun --mpi=pmix"), 1, done.stderr)
        separate = self.call("srun", "-n", "1", PROGRAM, "mi", alignment, "-o", "run", "-q")
        self.assertEqual(separate.returncode, 0, separate.stderr)

    @unittest.skipUnless(MPI_PROGRAM, "PLEAT_MPI_PROGRAM names no program of a build with MPI")
    def test_ranks(self):
        alignment = self.folder / "family4.aln"
        self.submit("ranks.sh", alignment, "run", PLEAT=MPI_PROGRAM)
        self.assertEqual(manifest(self.folder / "run")["ranks"], 2)
        self.assertEqual(self.call(PROGRAM, "mi", alignment, "-o", "alone", "-q").returncode, 0)
        self.assertEqual(results(self.folder / "run"), results(self.folder / "alone"))

    @unittest.skipUnless(MPI_PROGRAM, "PLEAT_MPI_PROGRAM names no program of a build with MPI")
    def test_ranks_share_a_list(self):
        self.submit("ranks_list.sh", self.list, "runs", PLEAT=MPI_PROGRAM)
        self.assert_all("runs")
        table = (self.folder / "runs" / "jobs.tsv").read_text()
        self.assertEqual(table.count("\tdone\t"), 5, table)

    def test_a_cancelled_job_resumes(self):
        rows = small_rows(1500, first=0, columns=110)
        (self.folder / "family5.aln").write_text("\n".join(rows) + "\n")
        with open(self.list, "a", encoding="utf-8") as file:
            file.write(f"{self.folder / 'family5.aln'}\n")
        started = self.call("sbatch", "--parsable", "--output", "log.txt", EXAMPLES / "slurm/one_machine.sh",
                            self.list, "runs")
        number = started.stdout.strip()
        limit = time.monotonic() + LIMIT
        while not list((self.folder / "runs").glob("*/manifest.json")):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        self.call("scancel", "--full", "--signal=TERM", number)
        while self.call("squeue", "-h", "-j", number).stdout.strip():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.1)
        self.submit("one_machine.sh", self.list, "runs")
        self.assert_all("runs")

    def test_gpus_that_a_task_is_given(self):
        """What a task sees of the GPUs, which exist for Slurm alone: refused in one line."""
        done = self.call("srun", "-n", "1", "--gpus=2", PROGRAM, "mi", self.folder / "family0.aln", "-o", "run",
                         "-d", "cuda:all", "-q")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cuda:all", done.stderr)
        each = self.call("srun", "-n", "2", "--gpus-per-task=1", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
        self.assertEqual(sorted(each.stdout.split()), ["0", "1"], each.stderr)


@unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed")
class Snakemake(unittest.TestCase):
    def test_the_example(self):
        with tempfile.TemporaryDirectory(prefix="pleat-snakemake-") as holder:
            folder = Path(holder)
            (folder / "alignments").mkdir()
            for n in range(2):
                path = folder / "alignments" / f"family{n}.aln"
                path.write_text("\n".join(small_rows(60 + 10 * n)) + "\n")
                subprocess.run(["gzip", path], check=True)
            shutil.copy(EXAMPLES / "snakemake/Snakefile", folder)
            done = subprocess.run(["snakemake", "-j", "2", "--config", f"pleat={PROGRAM}"], cwd=folder, check=False,
                                  env=clean_environment(HOME=holder, USER="user"), capture_output=True, text=True,
                                  timeout=LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = (folder / "best.tsv").read_text().splitlines()
            self.assertEqual([line.split("\t")[0] for line in lines],
                             ["runs/family0/contacts.tsv", "runs/family1/contacts.tsv"])
            self.assertTrue(all(len(line.split("\t")) > 3 for line in lines), lines)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main()
