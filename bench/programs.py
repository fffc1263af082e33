# The programs that can be compared: how each is found, asked for its version, and run.
import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Program:
    """One way of running one program; `command(path, threads)` runs in a directory with input.aln
    and input.fasta, and may write there."""
    name: str
    executable: str
    command: Callable
    version_command: list = field(default_factory=list)


def pleat_command(path, threads):
    return [path, "couplings", "input.aln", "-o", "run", "--threads", str(threads)]


def pleat_compatible_command(path, threads):
    return pleat_command(path, threads) + ["--compatible", "ccmpred"]


def ccmpred_command(path, threads):
    return [path, "-t", str(threads), "input.aln", "scores.mat"]


def plmc_command(path, threads):
    # 100 iterations, as EVcouplings asks for: plmc's own default has no limit and stops late. Its
    # usual build has one thread, and refuses -n.
    del threads
    return [path, "-m", "100", "-o", "model.params", "input.fasta"]


def freecontact_command(profile):
    def command(path, threads):
        return [path, "--parprof", profile, "-a", str(threads), "-f", "input.aln"]
    return command


PROGRAMS = [
    Program("pleat", "pleat", pleat_command, ["--version"]),
    Program("pleat-compatible", "pleat", pleat_compatible_command, ["--version"]),
    Program("ccmpred", "ccmpred", ccmpred_command),
    Program("plmc", "plmc", plmc_command),
    Program("freecontact-evfold", "freecontact", freecontact_command("evfold"), ["--version"]),
    Program("freecontact-psicov", "freecontact", freecontact_command("psicov-sd"), ["--version"]),
]


def locate(program, pleat=None):
    """The program's path on PATH (or `pleat`, a path given by the user, for pleat), or None."""
    name = pleat if pleat and program.executable == "pleat" else program.executable
    path = shutil.which(name)
    return os.path.abspath(path) if path else None


def version(program, path):
    """What the program says of its version, if it has a flag, and the start of its sha256."""
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    said = None
    if program.version_command:
        answer = subprocess.run([path] + program.version_command, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60, check=False)
        lines = (answer.stdout + answer.stderr).strip().splitlines()
        said = lines[0] if lines else None
    return {"version": said, "sha256": digest}
