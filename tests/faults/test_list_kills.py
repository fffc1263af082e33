# Kills of processes that work on one list of jobs, after which the same command must end with the same bits.
"""Kills processes with --share, and ranks of mpirun where PLEAT_MPIRUN and a build with MPI are there, at
random moments.

After each trial the same command is run once more. It must end at once with all results of an undisturbed
run, must not run again what had finished, and must leave no claim and no temporary file.

  test_list_kills.py [--kills N] [--seed N]
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "mpi")]
from job_inputs import results_below, write_inputs  # noqa: E402
from launcher import MPIRUN, rank_processes  # noqa: E402
from program import PROGRAM, clean_environment, manifest, read_table  # noqa: E402

# The jobs of each list: some fail, and each that does not writes checkpoints as often as it can.
CALLS = {
    "couplings": ("f0.aln", "bad.aln", "f1.aln", "--sweep", "lambda-pair=0.05:0.2:0.05", "--tolerance", "1e-6"),
    "mi": ("f0.aln", "bad.aln", "f1.aln", "--sweep", "shuffles=30,60", "--order", "3"),
}
PROCESSES = 3
LIMIT = 120  # seconds
EXIT_CODE = 3  # of the job that fails


class Failure(Exception):
    pass


def environment():
    return clean_environment(PLEAT_CHECKPOINT_SECONDS="0", OMPI_ALLOW_RUN_AS_ROOT="1",
                             OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


class Trials:
    def __init__(self, folder, command, has_ranks, source):
        self.folder, self.command, self.has_ranks, self.source = folder, command, has_ranks, source
        self.call = [PROGRAM, command, *CALLS[command], "-t", "1", "-j", "1", "-o", "runs", "-q"]
        if has_ranks:
            self.line = [[MPIRUN, "--quiet", "--oversubscribe", "--bind-to", "none", "-n", str(PROCESSES), *self.call]]
        else:
            self.line = [[*self.call, "--share"]] * PROCESSES
        self.runs = folder / "runs"
        begin = time.monotonic()
        processes = self.start(self.line)
        self.finish(processes, EXIT_CODE, *([] if has_ranks else [0]))
        # A process that ends while others run the jobs that are left does not know of their failures.
        if not any(process.returncode == EXIT_CODE for process in processes):
            raise Failure("no process tells of the job that fails")
        self.seconds = time.monotonic() - begin
        shutil.rmtree(self.runs)
        self.finish(self.start([self.call]), EXIT_CODE)
        self.expected = results_below(self.runs), self.table()
        shutil.rmtree(self.runs)
        self.kills = self.kept = self.resumed = 0
        self.slowest = 0.0

    def table(self):
        return [{key: value for key, value in row.items() if key != "seconds"}
                for row in read_table(self.runs / "jobs.tsv")]

    def start(self, lines):
        return [subprocess.Popen(line, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for line in lines]

    @staticmethod
    def finish(processes, *codes):
        for process in processes:
            message = process.communicate(timeout=LIMIT)[1]
            if codes and process.returncode not in codes:
                raise Failure(f"exit code {process.returncode}: {message}")

    def finished(self):
        """{folder: stamp} of the jobs that have finished."""
        found = {}
        for path in self.runs.rglob("manifest.json"):
            if manifest(path.parent)["status"] == "finished":
                found[path.parent] = path.stat().st_mtime_ns
        return found

    def victims(self, processes):
        """Processes that a kill may hit: those that share the jobs; ranks, or mpirun."""
        running = [process.pid for process in processes if process.poll() is None]
        return running + [pid for process in processes for pid in rank_processes(process)] \
            if self.has_ranks else running

    def trial(self):
        """Kills one process or all of them; the others go on to their end."""
        processes = self.start(self.line)
        kills_all = self.source.random() < 0.4
        time.sleep(self.source.random() * self.seconds)
        victims = self.victims(processes)
        for pid in victims if kills_all else victims and [self.source.choice(victims)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.kills += bool(victims)
        self.finish(processes)
        self.wait_for_ranks()
        before = self.finished()
        begin = time.monotonic()
        # By one process, which must not wait for what the others had claimed; or on as many ranks.
        on_one = self.has_ranks and self.source.random() < 0.5
        self.finish(self.start([self.call if on_one else self.line[0]]), EXIT_CODE)
        self.slowest = max(self.slowest, time.monotonic() - begin)
        self.check(before)
        self.kept += len(before)
        self.resumed += 1
        shutil.rmtree(self.runs)

    def wait_for_ranks(self):
        """Ranks whose mpirun was killed end by themselves."""
        limit = time.monotonic() + LIMIT
        while self.has_ranks and any(is_at_work(entry, self.folder) for entry in Path("/proc").iterdir()):
            if time.monotonic() > limit:
                raise Failure("ranks go on after mpirun was killed")
            time.sleep(0.05)

    def check(self, before):
        found = results_below(self.runs), self.table()
        if found[0] != self.expected[0]:
            different = [name for name in {**found[0], **self.expected[0]}
                         if found[0].get(name) != self.expected[0].get(name)]
            raise Failure(f"other results: {different}")
        if found[1] != self.expected[1]:
            raise Failure(f"another table: {found[1]}")
        again = [str(folder) for folder, stamp in before.items()
                 if (folder / "manifest.json").stat().st_mtime_ns != stamp]
        if again:
            raise Failure(f"finished jobs were run again: {again}")
        # Failures of jobs are kept for other processes.
        left = [str(path) for path in self.runs.rglob("*")
                if (".pleat-" in path.name and path.name != ".pleat-jobs") or path.suffix == ".claim"]
        if left:
            raise Failure(f"left over: {left}")


def is_at_work(entry, folder):
    """Whether this process of /proc runs in the folder."""
    try:
        return entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder)
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=5, help="of all lists together")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    kinds = [(command, has_ranks) for has_ranks in (False, True) if not has_ranks or os.environ.get("PLEAT_MPIRUN")
             for command in CALLS]
    failures = 0
    print("| list | processes | kills | finished before | slowest second call |\n|---|---|---|---|---|")
    for number, (command, has_ranks) in enumerate(kinds):
        source = random.Random(f"{options.seed} {command} {has_ranks}")
        with tempfile.TemporaryDirectory(prefix="pleat-kills-") as name:
            folder = Path(name).resolve()
            write_inputs(folder)
            trials = Trials(folder, command, has_ranks, source)
            try:
                while trials.kills < (options.kills + number) // len(kinds):
                    trials.trial()
            except Failure as failure:
                failures += 1
                print(f"FAILED: {command}, {'ranks' if has_ranks else '--share'}: {failure}", flush=True)
            jobs = trials.resumed * len(trials.expected[1])
            print(f"| {command} | {PROCESSES} {'ranks' if has_ranks else 'with --share'} | {trials.kills} | "
                  f"{trials.kept} of {jobs} jobs | {trials.slowest:.1f} s |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
