# A session on the GPU machine: where things lie, running programs with limits, made alignments.
from __future__ import annotations

import contextlib
import gzip
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .bars import LARGE, SIZES, size_name

REPEATS = 5
IN_MEMORY, MEMORY_BYTES = "/dev/shm", 16 << 30


class OutOfTime(Exception):
    """The whole run's limit is reached."""


@dataclass
class Done:
    """How a program ended. `status` is None where it was stopped at its limit; `cpu_seconds` holds
    where no other program ended meanwhile."""
    status: int | None
    output: str
    errors: str
    seconds: float
    cpu_seconds: float

    @property
    def text(self):
        return (self.output + self.errors).strip()

    def complaint(self):
        """The last line of what it said, with its status."""
        told = self.text.splitlines()[-1:] or ["nothing said"]
        how = f"status {self.status}" if self.status is not None else f"stopped at {self.seconds:.0f} s"
        return f"{how}: {told[0]}"


def cpu_seconds_of_children():
    """Of all programs that this process started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Session:
    """`folder`: what was packed; `record`: where findings go; `device`: for --device; `deadline`:
    when all must have ended, by time.monotonic(); `gpus`: how many there are; `cases`: the kinds of
    work of the part lanes, all where empty."""
    folder: Path
    record: object
    device: str
    deadline: float
    gpus: int = 1
    cases: tuple = ()
    generating: dict = field(default_factory=dict)
    kept: dict = field(default_factory=dict)   # findings of one part that another needs

    def left(self):
        return self.deadline - time.monotonic()

    def program(self, name):
        return self.folder / "bin" / name

    def environment(self, **more):
        return {**os.environ, "LD_LIBRARY_PATH": str(self.folder / "lib"),
                "PLEAT_TEST_DATA": str(self.folder / "data"),
                "PLEAT_TEST_SHARED": str(self.folder / "data/shared"), **more}

    def call(self, command, limit=120.0, **environment):
        """Runs a program to its end, or ends it and its children at `limit` or the run's own."""
        limit = min(limit, self.left())
        if limit <= 0:
            raise OutOfTime("no time was left")
        start, cpu_start = time.perf_counter(), cpu_seconds_of_children()
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment(**environment), start_new_session=True)
        try:
            output, errors = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            status = None
        seconds = time.perf_counter() - start
        return Done(status, output.decode(errors="replace"), errors.decode(errors="replace"), seconds,
                    cpu_seconds_of_children() - cpu_start)

    def medians_of(self, call):
        """{seconds, median} of REPEATS results of `call`; the complaint of the first that failed."""
        seconds = []
        for _ in range(REPEATS):
            done = call()
            if done.status != 0:
                return {"failed": done.complaint()}
            seconds.append(done.seconds)
        return {"seconds": seconds, "median": statistics.median(seconds)}

    def medians(self, command, limit=60.0):
        return self.medians_of(lambda: self.call(command, limit))

    def fit(self, alignment, run, *options, limit=120.0, **environment):
        """Fits one alignment into the folder `run`."""
        return self.call([self.program("pleat"), "couplings", alignment, "-o", run, "--device",
                          self.device, *options], limit, **environment)

    @contextlib.contextmanager
    def scratch(self, in_memory=False):
        """A folder for a while; `in_memory`: in memory, if that has room."""
        place = None
        with contextlib.suppress(OSError):
            if in_memory and shutil.disk_usage(IN_MEMORY).free >= MEMORY_BYTES:
                place = IN_MEMORY
        with tempfile.TemporaryDirectory(prefix="pleat-gpu-", dir=place) as folder:
            yield Path(folder)

    # ---- alignments

    def generate(self, large):
        """Starts making the alignments that were not packed, all at once, plain as CCMpred reads
        them."""
        for size in (*SIZES, *((LARGE,) if large else ())):
            self.make(size)

    def make(self, size):
        """Starts making the alignment of that size, unless it was packed."""
        path = self.folder / "data/generated" / f"{size_name(size)}.aln"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return
        part = path.with_suffix(".part")
        maker = self.folder / "bench/make_alignment.py"
        self.generating[path] = part, subprocess.Popen(
            [sys.executable, "-B", maker, str(size[0]), str(size[1]), "-o", part],
            stdin=subprocess.DEVNULL)

    def generated(self, size):
        """The made alignment of that size, waited for."""
        path = self.folder / "data/generated" / f"{size_name(size)}.aln"
        if path in self.generating:
            part, process = self.generating.pop(path)
            if process.wait() != 0:
                raise OSError(f"{path.name}: expected make_alignment.py to end well, found status "
                              f"{process.returncode}")
            part.rename(path)
        return path

    def finish_generating(self):
        """Waits for all that is being made; who needs one that failed hears of it."""
        for _, process in self.generating.values():
            process.wait()

    def end(self):
        """Ends what is still being made."""
        for _, process in self.generating.values():
            process.kill()
            process.wait()

    def families(self):
        """The real protein families that were packed; none where the data was not there."""
        return sorted((self.folder / "data/families").glob("*.aln.gz"))

    def family(self, name):
        """One real family, or None."""
        for folder in ("data", "data/families", "data/oracle"):
            path = self.folder / folder / f"{name}.aln.gz"
            if path.exists():
                return path
        return None


def read_matrix(path):
    """Rows of numbers of a text file, plain or .gz; lines that begin with # are left out."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        return [[float(word) for word in line.split()] for line in file
                if line.strip() and not line.startswith("#")]
