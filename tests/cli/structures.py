# Small structures as the tests of pleat rmsd write them: PDB models and NumPy arrays.
import math
import struct

ATOM = "ATOM  {:5d} {:<4s} {:3s} {}{:4d}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00          {:>2s}\n"


def pdb(atoms=3, models=1, name=" CA ", element="C", chain="A"):
    text = ""
    for model in range(1, models + 1):
        text += f"MODEL     {model:4d}\n"
        for n in range(1, atoms + 1):
            text += ATOM.format(n, name, "ALA", chain, n, 3.8 * n, model * n % 3, 0.5 * model, element)
        text += "ENDMDL\n"
    return text + "END\n"


def npy(shape, values, kind="f", descr=None):
    head = str({"descr": descr or {"f": "<f4", "d": "<f8"}[kind], "fortran_order": False,
                "shape": shape})
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack(f"<{len(values)}{kind}", *values)


def numbers(count):
    """As many different coordinates."""
    return [math.sin(1.7 * n) * 5 for n in range(count)]


def turned(frame, angle):
    """The points turned about z and moved."""
    c, s = math.cos(angle), math.sin(angle)
    return [(c * x - s * y + 5, s * x + c * y, z - 3) for x, y, z in frame]
