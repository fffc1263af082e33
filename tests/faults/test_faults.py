# Faults: kills, signals, full disks and second processes, after which every run must be whole.
"""Disturbs every command, with and without --force, and prints a table of what was tried.

After each fault the folder must hold the earlier run or the new one, whole, and the same command
must end with the results of an undisturbed run; the user's own files must stay.

  test_faults.py [--trials N] [--seed N] [--command NAME ...]
"""
import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from commands import Failure, environment, make_commands

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
CALLS = "rename,renameat2,renameat,unlink,unlinkat,rmdir,link,linkat,ftruncate"
FLUSHES = "fsync,fdatasync"
FAULTS = ("kill -9", "kill -9 at a call", "signals", "file size limit", "full disk", "two processes")


class Trials:
    def __init__(self, command, folder, source):
        self.command, self.folder, self.source = command, folder, source
        self.counts = dict.fromkeys(FAULTS, 0)
        self.skipped = {}
        self.is_inside = False  # the working folder is the run's folder: files are moved one by one
        self.seconds = self.measure()

    def measure(self):
        run = self.folder / "measured"
        begin = time.monotonic()
        self.finish(run, False)
        seconds = time.monotonic() - begin
        self.clear()
        return seconds

    def clear(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def start(self, run, force, prefix=(), **options):
        if self.is_inside:
            options["cwd"] = run
            run = "."
        return subprocess.Popen([*prefix, *self.command.line(run, force=force)], env=environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **options)

    def finish(self, run, force):
        """The same command again, until its end."""
        process = self.start(run, force)
        message = process.communicate()[1].decode()
        if process.returncode not in (0, 2):
            raise Failure(f"exit code {process.returncode} in the end: {message}")
        if process.returncode == 2 and (force or "holds a finished run" not in message):
            raise Failure(f"refused in the end: {message}")

    def prepare(self, run, force=None):
        """Whether there is an earlier run, which --force replaces."""
        if force is None:
            force = self.command.is_page or self.source.random() < 0.67
        if force:
            self.command.copy_old(run)
        return force

    def end(self, run, force):
        """What must hold after a fault, and after the same command has been given again."""
        if not self.is_inside or (run / "manifest.json").exists():
            self.command.check_old_or_new(run, force)
        # Without --force a forced run is resumed too, but not one that has not begun.
        may_leave_out = (run / ".pleat-forced" / "manifest.json").exists()
        self.finish(run, force and not (may_leave_out and self.source.random() < 0.5))
        self.command.check_new(run, force)

    def stop(self, which):
        """Stops one run at random moments, once or a few times."""
        run = self.folder / "run"
        force = self.prepare(run)
        for _ in range(self.source.choice((1, 1, 2, 3))):
            process = self.start(run, force)
            time.sleep(self.source.random() ** 1.5 * 1.2 * self.seconds)
            process.send_signal(signal.SIGKILL if which is None else which)
            message = process.communicate()[1].decode()
            if which is None:
                self.counts["kill -9"] += 1
            elif process.returncode not in (0, 2, 130, -which):
                raise Failure(f"exit code {process.returncode} after {which.name}: {message}")
            else:
                self.counts["signals"] += 1
            self.command.check_old_or_new(run, force)
        self.end(run, force)

    def kill_at_call(self, number, force):
        """Kills the run at its nth call that renames, links or removes; False behind the last."""
        run = self.folder / "run"
        self.prepare(run, force)
        prefix = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={CALLS}", "-e",
                  f"inject={CALLS}:signal=SIGKILL:when={number}")
        process = self.start(run, force, prefix)
        process.communicate()
        is_killed = process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        if not is_killed and process.returncode != 0:
            raise Failure(f"exit code {process.returncode} where call {number} kills")
        self.counts["kill -9 at a call"] += is_killed
        self.end(run, force)
        return is_killed

    def fill_disk_at_call(self, number, force):
        """A disk that is full from the nth flush on, as no file can be flushed; False behind the last."""
        run = self.folder / "run"
        self.prepare(run, force)
        process = self.start(run, force, ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={FLUSHES}", "-e",
                                          f"inject={FLUSHES}:error=ENOSPC:when={number}+"))
        message = process.communicate()[1].decode()
        if process.returncode not in (0, 5):
            raise Failure(f"exit code {process.returncode} where the disk is full at flush {number}: {message}")
        self.counts["full disk"] += process.returncode == 5
        self.command.check_old_or_new(run, force)
        self.end(run, force)
        return process.returncode == 5

    def limit_file_size(self):
        run = self.folder / "run"
        force = self.prepare(run)
        most = int(10 ** self.source.uniform(2, 5.5))
        process = self.start(run, force,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        message = process.communicate()[1].decode()
        if process.returncode not in (0, 5):
            raise Failure(f"exit code {process.returncode} at {most} bytes a file: {message}")
        self.counts["file size limit"] += 1
        self.end(run, force)

    def fill_disk(self):
        """A disk of random size, which gets room afterwards."""
        disk = self.folder / "disk"
        disk.mkdir()
        old = sum(len(data) + 8192 for data in self.command.before.values())
        room = (old + int(10 ** self.source.uniform(4, 6))) // 4096 * 4096
        mount = ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipped["full disk"] = self.skipped.get("full disk", 0) + 1
            return
        try:
            run = disk / "run"
            force = self.prepare(run)
            process = self.start(run, force)
            message = process.communicate()[1].decode()
            if process.returncode not in (0, 5):
                raise Failure(f"exit code {process.returncode} on a disk of {room} bytes: {message}")
            self.counts["full disk"] += 1
            self.command.check_old_or_new(run, force)
            subprocess.run(["mount", "-o", "remount,size=1g", str(disk)], check=True)
            self.end(run, force)
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def start_two(self):
        run = self.folder / "run"
        force = self.prepare(run)
        first = self.start(run, force)
        time.sleep(self.source.random() * 0.3 * self.seconds)
        both = [first, self.start(run, force)]
        messages = [process.communicate()[1].decode() for process in both]
        codes = [process.returncode for process in both]
        refusals = ("another run is writing here", "holds a finished run")
        for code, message in zip(codes, messages):
            if code != 0 and not (code == 2 and any(text in message for text in refusals)):
                raise Failure(f"exit codes {codes} of two processes: {messages}")
        if 0 not in codes:
            raise Failure(f"neither of two processes finished: {messages}")
        self.counts["two processes"] += 1
        self.command.check_new(run, force)

    def run_all(self, trials):
        """`trials` kills at random moments, and the other faults in proportion."""
        for number in range(trials):
            self.tried(lambda: self.stop(None))
            if number % 3 == 0:
                self.tried(lambda: self.stop(self.source.choice(SIGNALS)))
            for work in (self.limit_file_size, self.fill_disk, self.start_two) if number % 5 == 0 else ():
                self.tried(work)
        has_strace = shutil.which("strace") and subprocess.run(
            ["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0
        if not has_strace:
            self.skipped["kill -9 at a call"] = trials
            return
        # The last calls are the exchange with the earlier run.
        step = max(1, 12 // trials)
        is_one_run = not self.command.is_page and not self.command.has_runs
        for force, is_inside in ((False, False), (True, False), (True, True)):
            if (self.command.is_page and not force) or (is_inside and not is_one_run):
                continue
            self.is_inside = is_inside
            for disturb in (self.kill_at_call,) if is_inside else (self.kill_at_call, self.fill_disk_at_call):
                number = self.source.randint(1, step)
                while self.tried(lambda: disturb(number, force)):
                    number += self.source.randint(1, 2 * step - 1)

    def tried(self, work):
        try:
            return work()
        finally:
            self.clear()


def table(rows):
    lines = ["| command | " + " | ".join(FAULTS) + " |", "|---|" + "---|" * len(FAULTS)]
    rows = [*rows, ("all", {fault: sum(counts[fault] for _, counts in rows) for fault in FAULTS})]
    return "\n".join(lines + ["| " + " | ".join([name, *(str(counts[fault]) for fault in FAULTS)]) + " |"
                              for name, counts in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=1, help="random kills of each command")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("--command", action="append", help="this command alone")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    rows, failures, skipped = [], 0, {}
    with tempfile.TemporaryDirectory(prefix="pleat-faults-") as name:
        for command in make_commands(Path(name)):
            if options.command and command.name not in options.command:
                continue
            folder = Path(name) / "trials"
            folder.mkdir()
            trials = Trials(command, folder, random.Random(f"{options.seed} {command.name}"))
            try:
                trials.run_all(options.trials)
            except Failure as failure:
                failures += 1
                print(f"FAILED: {command.name}: {failure}", flush=True)
            rows.append((command.name, trials.counts))
            for fault, count in trials.skipped.items():
                skipped[fault] = skipped.get(fault, 0) + count
            shutil.rmtree(folder)
    print(table(rows))
    for fault, count in skipped.items():
        reason = "mount is not allowed" if fault == "full disk" else "strace cannot trace here"
        print(f"skipped {count} of '{fault}': {reason}")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
