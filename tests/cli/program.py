# Runs the built program on small families and reads the files of its runs, with the standard library.
import ast
import gzip
import json
import os
import pty
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PROGRAM = os.environ.get("PLEAT_PROGRAM", "pleat")
TYPES = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "<u4": "I", "|u1": "B"}


def clean_environment(**more):
    """The environment without settings that steer pleat."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("PLEAT_", "OMP_", "OMPI_", "PMI", "SLURM_"))}
    return {**kept, **more}


def pleat(*arguments, environment=None, **options):
    """Runs the program to its end; stdout and stderr come back as bytes."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 300)
    return subprocess.run([PROGRAM, *map(str, arguments)], check=False,
                          env=clean_environment(**(environment or {})), **options)


def read_rows(name="cheY.aln.gz"):
    with gzip.open(DATA / name, "rt", encoding="ascii") as file:
        return file.read().split()


def small_rows(sequences=200, first=4, columns=40):
    """A block of the CheY family: few enough letters to fit in a moment."""
    return [row[first:first + columns] for row in read_rows()[:sequences]]


def parse_npy(data):
    """(shape, values) of the bytes of one .npy file, values flat in C order."""
    assert data[:6] == b"\x93NUMPY"
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else \
        (struct.unpack("<I", data[8:12])[0], 12)
    header = ast.literal_eval(data[start:start + length].decode("latin1"))
    assert not header["fortran_order"]
    count = 1
    for extent in header["shape"]:
        count *= extent
    values = struct.unpack(f"<{count}{TYPES[header['descr']]}", data[start + length:])
    return header["shape"], values


def read_npz(path):
    """{name: (shape, values)}"""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name.removesuffix(".npy"): parse_npy(archive.read(name))
                for name in archive.namelist()}


def matrix(shape, values):
    rows, columns = shape
    return [list(values[row * columns:(row + 1) * columns]) for row in range(rows)]


def written(path):
    """Which writing of a file this is: its texts may be equal, its place on the disk and its time are not."""
    status = Path(path).stat()
    return status.st_ino, status.st_mtime_ns


def read_table(path):
    """Rows of a table with a header line, as dictionaries of texts. Lines with # are skipped."""
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines()
             if not line.startswith("#")]
    names = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:]]
    assert all(len(row) == len(names) for row in rows)
    return [dict(zip(names, row)) for row in rows]


def manifest(run):
    return json.loads((Path(run) / "manifest.json").read_text(encoding="utf-8"))


def remarks(run):
    """What a run said: messages, and notes with their options, as the screen shows them."""
    found = manifest(run)
    return found["messages"] + [
        "warning: " * note.get("warning", False) + note["text"] +
        (f" (otherwise: {note['option']})" if "option" in note else "") for note in found["notes"]]


def results(run):
    """The bytes of every file of a run that must not depend on when and how fast it was made."""
    return {path.name: path.read_bytes() for path in Path(run).iterdir()
            if path.name not in ("manifest.json", "log.txt") and not path.name.startswith(".pleat-")}


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pleat-cli-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def open_terminal(self):
        """A pseudo-terminal's two ends, (what the screen shows, what a program writes to). Skips the
        test where none can be opened: in containers without /dev/pts."""
        try:
            shown, terminal = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal can be opened ({error})")
        self.addCleanup(os.close, shown)
        return shown, terminal

    def write_alignment(self, rows, name="family.aln"):
        path = self.folder / name
        path.write_text("\n".join(rows) + "\n", encoding="ascii")
        return path

    def fit(self, *arguments, run="run", code=0, **options):
        """Runs `pleat couplings` quietly into self.folder / run; its folder comes back."""
        done = pleat("couplings", *arguments, "-o", self.folder / run, "-q", **options)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr.decode())
        if code == 0:
            self.assertEqual(done.stderr, b"")
        return self.folder / run

    def assert_refused(self, done, code, *texts):
        """One line on stderr that holds the texts, nothing on stdout."""
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (code, b""), message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertTrue(message.startswith("pleat: "), message)
        for text in texts:
            self.assertIn(text, message)
