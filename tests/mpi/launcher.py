# Starts programs under mpirun and looks at their ranks, with the standard library.
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

MPIRUN = os.environ.get("PLEAT_MPIRUN", "mpirun")
PROGRAM = os.environ.get("PLEAT_PROGRAM", "pleat")
CHECK_COMM = os.environ.get("PLEAT_CHECK_COMM", "check_comm")
RANK_SUMS = os.environ.get("PLEAT_RANK_SUMS", "rank_sums")
SECONDS = 60


def environment(**more):
    """The environment without settings that steer pleat or come from a launcher."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("PLEAT_", "OMP_", "OMPI_", "PMI", "SLURM_"))}
    # Where pocl is installed, hwloc loads it into mpirun, and its LLVM takes SIGUSR1.
    return {**kept, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "HWLOC_COMPONENTS": "-opencl", **more}


def start(ranks, *command, options=(), **more):
    """mpirun in a process group of its own; its own remarks are left out."""
    line = [MPIRUN, "--quiet", "--oversubscribe", "--bind-to", "none", *options,
            "-n", str(ranks), *map(str, command)]
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True, **more)


def finish(process):
    """(exit code, stdout, stderr, seconds it took)"""
    begin = time.monotonic()
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        kill_all(process)
        raise
    return process.returncode, out, err, time.monotonic() - begin


def mpirun(ranks, *command, **more):
    return finish(start(ranks, *command, **more))


def rank_processes(process):
    """Process ids of the ranks: the children of mpirun that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process.pid and fields[0] != "Z":
            found.append(int(entry.name))
    return sorted(found)


def kill_all(process):
    """SIGKILL to mpirun and its ranks, as a machine that fails would."""
    for pid in [process.pid, *rank_processes(process)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate(timeout=SECONDS)


def kill_rank_alone(process, rank):
    """SIGKILL to one rank, under a mpirun that does not end the others; returns once they ended by
    themselves. A stopped mpirun neither kills its ranks nor passes on what they write, until it
    continues."""
    ranks = rank_processes(process)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(ranks[rank], signal.SIGKILL)
    limit = time.monotonic() + SECONDS
    while rank_processes(process) and time.monotonic() < limit:
        time.sleep(0.1)
    left = rank_processes(process)
    os.kill(process.pid, signal.SIGCONT)
    if left:
        kill_all(process)
        raise AssertionError(f"processes {left} still ran {SECONDS} s after another rank was killed")


class RanksTest(unittest.TestCase):
    """A test with a folder of its own, and the totals that one rank gives."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pleat-mpi-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.run_folder = self.folder / "run"

    def totals(self, tiles):
        """What a single process without mpirun computes."""
        with tempfile.TemporaryDirectory(prefix="pleat-mpi-") as folder:
            done = subprocess.run([RANK_SUMS, folder, str(tiles), "0"], check=True, text=True,
                                  capture_output=True, env=environment(), timeout=SECONDS)
        return done.stdout.split()[0]

    def start_sums(self, ranks, tiles, milliseconds, *names):
        """Starts a run and waits until its folder holds these files."""
        process = start(ranks, RANK_SUMS, self.run_folder, tiles, milliseconds)
        limit = time.monotonic() + SECONDS
        while not all((self.run_folder / name).exists() for name in names):
            if process.poll() is not None or time.monotonic() > limit:
                kill_all(process)
                self.fail(f"no files {names}")
            time.sleep(0.01)
        return process

    def assert_finishes(self, tiles, ranks=3):
        """The run goes on to the totals of one rank; the number of tiles that were missing."""
        code, out, err, _ = mpirun(ranks, RANK_SUMS, self.run_folder, tiles, 0)
        self.assertEqual((code, err), (0, ""))
        found, computed = out.split()
        self.assertEqual(found, self.totals(tiles))
        self.assertEqual(sorted(path.name for path in self.run_folder.iterdir()),
                         ["hash.txt", "log.txt", "manifest.json"])
        return int(computed)

    def assert_told_once(self, done, code, text):
        found, out, err, _ = done
        self.assertEqual((found, out), (code, ""), err)
        told = [line for line in err.splitlines() if line.startswith("told: ")]
        self.assertEqual(len(told), 1, err)
        self.assertIn(text, told[0])
