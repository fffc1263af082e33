# The commands that the fault tests disturb, with small inputs, and what their folders must hold.
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PROGRAM = shutil.which(os.environ.get("PLEAT_PROGRAM", "pleat")) or "pleat"
PROGRAM = os.path.abspath(PROGRAM) if os.sep in PROGRAM else PROGRAM  # also from other working folders
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import test_select  # noqa: E402  (generators of a small ensemble, its contacts and its family)

KEPT = ("manifest.json", "log.txt")  # differ between two runs of one command
MINE = {"notes.txt": b"mine", "checkpoint-of-mine.npz": b"mine", "figures/one.svg": b"mine"}


class Failure(Exception):
    """A promise that was broken."""


def environment():
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("PLEAT_", "OMP_", "OMPI_", "PMI", "SLURM_"))}
    return {**kept, "PLEAT_CHECKPOINT_SECONDS": "0"}


def files(folder):
    """The bytes of every file of a folder and the folders in it, by path; hidden ones are left out."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(".pleat-" in part for part in name.parts):
            found[str(name)] = path.read_bytes()
    return found


def results(content):
    """What must not depend on when, where and how fast a run was made."""
    kept = {name: data for name, data in content.items() if Path(name).name not in KEPT}
    if "jobs.tsv" in kept:
        # A second call has another command line and other times.
        rows = [line.split(b"\t") for line in kept["jobs.tsv"].splitlines() if not line.startswith(b"#")]
        kept["jobs.tsv"] = b"\n".join(b"\t".join([row[0], row[1], *row[4:]]) for row in rows)
    return kept


def without_mine(content):
    return {name: data for name, data in content.items() if name not in MINE}


class Command:
    """One command: the options of an earlier run, and of the run that is disturbed."""
    is_page = False
    has_runs = False  # a folder of runs, each of which is replaced by itself

    def __init__(self, name, earlier, later, folder):
        self.name, self.earlier, self.later = name, [str(a) for a in earlier], [str(a) for a in later]
        self.old, self.new = folder / "old" / name, folder / "new" / name
        for options, run in ((self.earlier, self.old), (self.later, self.new)):
            run.parent.mkdir(exist_ok=True)
            done = subprocess.run(self.line(run, options), env=environment(), capture_output=True, check=False)
            if done.returncode != 0:
                raise Failure(f"{name}: the undisturbed run failed: {done.stderr.decode()}")
        if not self.is_page:
            for file, data in MINE.items():
                (self.old / file).parent.mkdir(exist_ok=True)
                (self.old / file).write_bytes(data)
        self.before, self.after = self.content(self.old), results(self.content(self.new))

    def line(self, run, options=None, force=False):
        return [PROGRAM, *(self.later if options is None else options), "-o", str(run), "-q",
                *(["--force"] if force else [])]

    def content(self, run):
        return {"page": run.read_bytes()} if run.is_file() else files(run)

    def copy_old(self, run):
        (shutil.copyfile if self.is_page else shutil.copytree)(self.old, run)

    def is_old(self, content):
        return without_mine(content) == without_mine(self.before)

    def is_new(self, content):
        """Whether these are the whole new results, and the manifest lists exactly them."""
        if results(without_mine(content)) != self.after:
            return False
        for name in [name for name in content if Path(name).name == "manifest.json"]:
            folder = name[:-len("manifest.json")]
            told = json.loads(content[name])
            listed = {output["file"]: output["bytes"] for output in told["outputs"]}
            there = {file[len(folder):]: len(data) for file, data in without_mine(content).items()
                     if file.startswith(folder) and "/" not in file[len(folder):]
                     and Path(file).name not in (*KEPT, "cite.bib")}
            if told["status"] != "finished" or listed != there:
                return False
        return True

    def check_old_or_new(self, run, is_over_old):
        """After a fault: the earlier run or the new one, whole. Without an earlier run: no manifest
        that says "finished" over other files."""
        content = self.content(run) if run.exists() else {}
        # A kill may come when the run has finished, before it has removed these.
        content = {name: data for name, data in content.items()
                   if name in MINE or not Path(name).name.startswith("checkpoint")}
        if self.has_runs:
            content.pop("jobs.tsv", None)
            return self.check_families(content, is_over_old)
        if is_over_old and not (self.is_old(content) or self.is_new(content)):
            raise Failure(f"neither the earlier run nor the new one: {sorted(content)}")
        told = content.get("manifest.json")
        if not is_over_old and told and json.loads(told)["status"] == "finished" and not self.is_new(content):
            raise Failure(f"a finished run that is not whole: {sorted(content)}")
        return None

    def check_families(self, content, is_over_old):
        for family in {name.split("/")[0] for name in without_mine(content)}:
            part = {name: data for name, data in content.items() if name.startswith(family + "/")}
            told = json.loads(part.get(f"{family}/manifest.json", b'{"status": "none"}'))
            whole = [{name: data for name, data in all_files.items() if name.startswith(family + "/")}
                     for all_files in (self.before, self.after)]
            is_whole = part == whole[0] or results(part) == whole[1] and told["status"] == "finished"
            if not is_whole and (is_over_old or told["status"] == "finished"):
                raise Failure(f"family {family}: neither the earlier run nor the new one: {sorted(part)}")

    def check_new(self, run, is_over_old):
        """After the run has finished: its results alone, the user's files, and nothing hidden."""
        content = self.content(run)
        if not self.is_new(content):
            raise Failure(f"not the results of an undisturbed run: {sorted(content)}")
        if is_over_old and not self.is_page and {name: content.get(name) for name in MINE} != MINE:
            raise Failure(f"a file of the user is gone: {sorted(content)}")
        hidden = [str(path) for path in run.parent.rglob("*")
                  if ".pleat-" in path.name or path.name == "checkpoint.npz"]
        if hidden:
            raise Failure(f"left behind: {hidden}")


class Page(Command):
    is_page = True

    def is_new(self, content):
        return content == self.after


class Families(Command):
    has_runs = True


def make_commands(folder):
    """Every command that writes results, on inputs that take it some tenths of a second."""
    def unpack(name, lines=None, columns=None):
        text = gzip.open(DATA / name, "rt").read()
        if lines is not None:
            text = "".join(row[:columns] + "\n" for row in text.split()[:lines])
        path = folder / name.removesuffix(".gz")
        path.write_text(text)
        return path

    family = unpack("cheY.aln.gz", 100, 30)
    others = []
    for number in range(3):
        others.append(folder / f"family{number}.aln")
        others[-1].write_text("".join(family.read_text().splitlines(True)[number::3]))
    kinds, frames = test_select.two_folds()
    ensemble, fasta = folder / "models.pdb", folder / "family.fasta"
    ensemble.write_text(test_select.pdb_text(frames))
    fasta.write_text(test_select.family_text())
    protein, curve = unpack("1hel.pdb.gz"), unpack("1hel_made.dat.gz")
    dcd = ["--topology", DATA / "hivp.pdb.gz", "--select", "ca"]
    one = ["-t", "1"]
    commands = [
        Command("couplings", ["couplings", family, "--models", "npz,plmc", *one], ["couplings", family, "-w", "0.7", *one],
                folder),
        Families("families", ["couplings", *others, "--models", "npz,plmc", "-t", "2"],
                 ["couplings", *others, "-w", "0.7", "-t", "2"], folder),
        Command("mutants", ["mutants", family, "--doubles", "1-9", *one],
                ["mutants", family, "--lambda-pair", "0.1", *one], folder),
        Command("mi", ["mi", family, "--order", "3", "--shuffles", "16", *one],
                ["mi", family, "--shuffles", "1000", *one], folder),
        Command("rmsd", ["rmsd", DATA / "hivp.dcd.gz", *dcd, "--cutoff", "1.5", *one],
                ["rmsd", DATA / "hivp.dcd.gz", *dcd, "--matrix", "full", *one], folder),
        Command("cluster", ["cluster", ensemble, "--method", "average", "-k", "3", *one],
                ["cluster", ensemble, "--method", "kmedoids", "-k", "3", *one], folder),
        Command("saxs", ["saxs", protein, "--data", curve, *one], ["saxs", protein, "--q-max", "0.3", *one], folder),
        Command("select", ["select", "--ensemble", ensemble, "--alignment", fasta, *one],
                ["select", "--ensemble", ensemble, "--alignment", fasta, "--cutoff", "5", *one], folder),
    ]
    made = {command.name: command for command in commands}
    return commands + [Page("report", ["report", made["mi"].old, "--title", "earlier"],
                            ["report", made["couplings"].new, made["rmsd"].new, "--title", "later"], folder)]
