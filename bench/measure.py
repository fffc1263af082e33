# Measures CPU time, wall time and peak memory of one command; medians and ratios of samples.
import os
import statistics
import subprocess
import threading
import time

MEASURES = ("user_s", "system_s", "wall_s", "peak_mb")


class CommandFailed(Exception):
    """A measured command that ended with another status than 0, or ran out of time."""


def _last_line(path):
    with open(path, "r", encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1] if lines else "nothing on stderr"


def measure(command, directory, threads=1, time_limit=3600.0):
    """Runs `command` (a list) in `directory` and returns one sample, a dictionary of MEASURES.

    user_s and system_s are the CPU seconds of the process and the children it waited for, wall_s
    the elapsed seconds, peak_mb the largest resident set in MiB, all as the kernel counts them
    (wait4). Linux counts the runner's own resident set, some 25 MiB, before it becomes the program,
    so peak_mb is never below that. stdout goes nowhere; stderr is kept for CommandFailed.
    """
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    complaints = os.path.join(directory, "stderr.txt")
    with open(complaints, "wb") as stderr:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=stderr)
        timer = threading.Timer(time_limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        if wall >= time_limit:
            raise CommandFailed(f"stopped after {time_limit:g} s")
        raise CommandFailed(f"exit status {process.returncode}: {_last_line(complaints)}")
    return {"user_s": usage.ru_utime, "system_s": usage.ru_stime, "wall_s": wall,
            "peak_mb": usage.ru_maxrss / 1024.0}


def medians(samples):
    """The median of each measure over a list of samples (at least one)."""
    return {name: statistics.median(sample[name] for sample in samples) for name in MEASURES}


def ratios(peer, own):
    """How many times the peer's medians are pleat's: above 1 where pleat needs less."""
    return {name: peer[name] / own[name] if own[name] > 0 else None for name in MEASURES}
