# Small inputs that claim or unpack to gigabytes, and endless ones, are refused in little memory.
import gzip
import os
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib

from program import DATA, PROGRAM, ProgramTest, clean_environment
from structures import npy, numbers, pdb

MIB = 1 << 20
LIMIT = 256 * MIB
ZEROS = gzip.compress(bytes(16 * MIB), 9, mtime=0)


def zeros(head, mebibytes=640):
    """A gzip file of a head and so many zero bytes."""
    return gzip.compress(head, mtime=0) + ZEROS * (mebibytes // 16)


def repeated(head, line, mebibytes=640):
    """A gzip file of a head and a line again and again."""
    block = gzip.compress(line * (16 * MIB // len(line)), 9, mtime=0)
    return gzip.compress(head, mtime=0) + block * (mebibytes // 16)


def npy_head(shape, descr="<f4", fortran=False):
    head = str({"descr": descr, "fortran_order": fortran, "shape": shape})
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()


def dcd_head(atoms, titles, fixed=0, titles_claim=None):
    control = [0] * 20
    control[8], control[19] = fixed, 24
    head = struct.pack("<i4s20ii", 84, b"CORD", *control, 84)
    claim = len(titles) if titles_claim is None else titles_claim
    head += struct.pack("<I", claim) + titles
    if titles_claim is None:
        head += struct.pack("<I", claim) + struct.pack("<iii", 4, atoms, 4)
    return head


def npz(members):
    """A zip of deflated members, each (name, head, zero bytes behind it), made without the memory."""
    body, directory = b"", b""
    for name, head, count in members:
        pack = zlib.compressobj(9, zlib.DEFLATED, -15)
        data, crc = pack.compress(head), zlib.crc32(head)
        block = bytes(16 * MIB)
        for start in range(0, count, len(block)):
            piece = block[:min(len(block), count - start)]
            data, crc = data + pack.compress(piece), zlib.crc32(piece, crc)
        data += pack.flush()
        size = len(head) + count
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, crc, len(data), size, len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack(
            "<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + fields + name.encode() + data
    count = len(members)
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory),
                                                          len(body), 0)


def files():
    """{name: bytes} of small ensembles that would be gigabytes."""
    return {
        "atoms.npy.gz": zeros(npy_head((1, 500_000_000, 3))),
        "frames.npy.gz": zeros(npy_head((900_000_000, 3, 3))),
        "fortran.npy.gz": zeros(npy_head((1000, 500_000, 3), fortran=True)),
        "header.npy.gz": zeros(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2_000_000_000)),
        "claim.npy": npy_head((1, 500_000_000, 3)) + bytes(100),
        "titles.dcd.gz": zeros(dcd_head(3, b"", titles_claim=2_000_000_000)),
        "fixed.dcd.gz": zeros(dcd_head(500_000_000, bytes(4), fixed=1) +
                              struct.pack("<I", 4 * 499_999_999)),
        "atoms.dcd.gz": zeros(dcd_head(500_000_000, bytes(4)) + struct.pack("<I", 2_000_000_000)),
        "atoms.xtc.gz": zeros(struct.pack(">iiif9fi", 1995, 500_000_000, 0, 0.0, *[0.0] * 9, 500_000_000)),
        "names.nc.gz": zeros(b"CDF\x02" + struct.pack(">iiii", 0, 0, 0, 12) +
                             struct.pack(">i", 65536)),
        "text.nc.gz": zeros(b"CDF\x05" + struct.pack(">qiq", 0, 0, 0) + struct.pack(">iq", 12, 60000) +
                            (struct.pack(">q4siq", 1, b"a\0\0\0", 2, 16 * MIB))),
        "lines.pdb.gz": repeated(b"MODEL        1\n", pdb().splitlines(True)[1].encode()),
        "comments.cif.gz": repeated(b"data_x\n", b"# nothing\n"),
        "values.cif.gz": repeated(b"data_x\nloop_\n_atom_site.Cartn_x\n", b"1 2 3 4 5 6 7 8 9\n"),
        "line.pdb.gz": repeated(b"", b"x"),
        "zeros.gz": zeros(b""),
    }


class Endless:
    """A pipe that gives a head and then a block for ever."""

    def __init__(self, head, block):
        self.end, self.input = os.pipe()
        self.path = f"/dev/fd/{self.end}"
        self.thread = threading.Thread(target=self.write, args=(head, block * (65536 // len(block) + 1)))

    def write(self, head, block):
        try:
            os.write(self.input, head)
            while True:
                os.write(self.input, block)
        except BrokenPipeError:
            os.close(self.input)


# Starts the program and says its largest resident size. A child's size counts from that of the process
# that starts it, which therefore must be small.
LAUNCHER = """
import os, sys
child = os.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


@unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take memory of their own")
class Bombs(ProgramTest):
    def peak(self, *arguments, endless=None):
        """(exit code, stderr, largest resident size in bytes) of a run."""
        ends = [endless.end] if endless else []
        with tempfile.TemporaryFile() as errors:
            with subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", LAUNCHER, PROGRAM, *map(str, arguments), "-o",
                     self.folder / "run", "-q", "-t", "1"], pass_fds=ends, env=clean_environment(),
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as running:
                if endless:
                    os.close(endless.end)
                    endless.thread.start()
                told = running.communicate()[0].decode().split()
            if endless:
                endless.thread.join()
            errors.seek(0)
            return int(told[0]), errors.read().decode(), int(told[1])

    def setUp(self):
        super().setUp()
        self.topology = self.folder / "topology.pdb"
        self.topology.write_text(pdb(), encoding="ascii")
        self.array = self.folder / "array.npy"
        self.array.write_bytes(npy((3, 3, 3), numbers(27)))
        code, _, self.start = self.peak("rmsd", self.folder / "absent")
        self.assertEqual(code, 3)

    def refuse(self, name, *arguments, endless=None, lines=1):
        with self.subTest(name):
            code, errors, peak = self.peak(*arguments, endless=endless)
            self.assertEqual(code, 3, errors)
            self.assertEqual(errors.count("\n"), lines, errors)
            self.assertLess(peak - self.start, LIMIT, f"{(peak - self.start) / MIB:.0f} MiB: {errors}")
            if os.environ.get("PLEAT_SHOW_PEAKS"):
                print(f"{(peak - self.start) / MIB:6.0f} MiB  {name}: {errors[:150]}", flush=True)

    def test_packed_and_lying_ensembles(self):
        for name, data in files().items():
            self.assertLess(len(data), 8 * MIB, name)
            path = self.folder / name
            path.write_bytes(data)
            more = () if ".npy" in name or ".pdb" in name or ".cif" in name else ("--topology", self.topology)
            self.refuse(name, "rmsd", path, *more)
            path.unlink()

    def test_devices_without_an_end(self):
        zero = "/dev/zero"
        for arguments in (("rmsd", zero), ("rmsd", f"@{zero}"), ("cluster", zero, "--cutoff", "1"), ("saxs", zero),
                          ("rmsd", self.array, "--topology", zero), ("rmsd", self.array, "--atom-weights", zero),
                          ("rmsd", self.array, "--reference", zero), ("rmsd", self.array, "--against", f"@{zero}"),
                          ("saxs", self.topology, "--data", zero), ("couplings", zero), ("mi", zero),
                          ("saxs", self.topology, "--model", "one-bead", "--form-factors", zero),
                          ("couplings", "--list", zero), ("couplings", DATA / "cheY.aln.gz", "--structure", zero),
                          ("couplings", DATA / "cheY.aln.gz", "--initial", zero)):
            self.refuse(" ".join(map(str, arguments)), *arguments)

    def test_pipes_without_an_end(self):
        line = pdb().splitlines(True)[1].encode()
        for name, head, block, before, form in (
                ("atoms", b"", line, ("rmsd",), "{}"),
                ("models", b"MODEL        1\n", line, ("saxs",), "{}"),
                ("mmCIF", b"data_x\n", b"# nothing\n", ("rmsd",), "{}"),
                ("one line", b"ATOM", b"x", ("rmsd",), "{}"),
                ("array", npy_head((1, 500_000_000, 3)), bytes(1000), ("rmsd",), "{}"),
                ("rows", npy_head((1, 10_000_000, 3)), bytes(1000), ("rmsd",), "{}"),
                ("list", b"", b"abcdefgh\n", ("rmsd",), "@{}"),
                ("families", b"", b"abcdefgh\n", ("couplings", "--list"), "{}"),
                ("curve", b"", b"0.1 1 1\n", ("saxs", self.topology, "--data"), "{}"),
                ("words", b"", b"no numbers\n", ("saxs", self.topology, "--data"), "{}"),
                ("structure", b"", line, ("couplings", DATA / "cheY.aln.gz", "--structure"), "{}")):
            endless = Endless(head, block)
            self.refuse(f"endless {name}", *before, form.format(endless.path), endless=endless)

    def test_alignments_without_an_end(self):
        row = b"ACDEFGHIKLMNPQRSTVWY"
        for name, head, block in (("letters", b">a\n", row + b"\n"), ("records", b"", b">a\n" + row + b"\n"),
                                  ("rows", b"", row + b"\n"), ("short rows", b"", b"A\n"),
                                  ("Stockholm", b"# STOCKHOLM 1.0\n", b"a " + row + b"\n")):
            endless = Endless(head, block)
            self.refuse(f"endless {name}", "couplings", endless.path, endless=endless)

    def test_large_files_with_a_fault_at_the_end(self):
        row = b"ACDEFGHIKLMNPQRSTVWY" * 10
        path = self.folder / "large"
        for name, head, block, end in (
                ("FASTA", b"", b">name\n" + row + b"\n", b">last\nACDEF\n"),
                ("one long row", b">name\n", row + b"\n", b">last\nACDEF\n"),
                ("short rows", b"", b"AC\n", b"A\n"),
                ("Stockholm", b"# STOCKHOLM 1.0\na " + row + b"\n\n", b"a " + row + b"\n\n", b"")):
            size = (20 if name == "short rows" else 180) * MIB
            with path.open("wb") as file:
                file.write(head)
                for _ in range(size // MIB):
                    file.write(block * (MIB // len(block)))
                file.write(end)
            self.refuse(f"{name} of {size // MIB} MiB", "couplings", path)
        path.write_bytes(b"ACDEF\n" + b"1 2 0.5\n" * 10_000_000)
        self.refuse("10 million contacts", "select", "-e", self.topology, "--contacts", path, lines=10)

    def test_archives(self):
        for name, members in (
                ("letters", [("letters.npy", npy_head((2_000_000_000,), "|u1"), 2_000_000_000)]),
                ("lies", [("letters.npy", npy_head((21,), "|u1"), 2_000_000_000)]),
                ("pairs", [("letters.npy", npy_head((21,), "|u1") + b"ARNDCQEGHILKMFPSTWYV-", 0),
                           ("fields.npy", npy_head((500_000_000,)), 2_000_000_000)])):
            path = self.folder / f"{name}.npz"
            path.write_bytes(npz(members))
            self.assertLess(path.stat().st_size, 8 * MIB)
            self.refuse(f"{name}.npz", "couplings", DATA / "cheY.aln.gz", "--initial", path)


if __name__ == "__main__":
    unittest.main()
