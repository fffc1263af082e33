# Broken inputs of pleat rmsd: files that are cut, lie or contradict, and options that make no sense.
import gzip
import math
import struct
import sys

from program import ROOT
from structures import npy, numbers, pdb

sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
from make_seeds import ensembles  # noqa: E402

GOOD = ensembles()
NAN = struct.pack("<f", math.nan)

def changed(data, at, new):
    """The bytes with others in one place; a text is replaced where it stands first."""
    if not isinstance(at, int):
        at = data.index(at)
    return data[:at] + new + data[at + len(new):]


# Trajectories of ten atoms; all others have three.
TEN = ("packed.xtc", "precision.xtc")


def files():
    """{name: (bytes, what the refusal says)}; trajectories go with a topology."""
    return {**arrays(), **models(), **trajectories(), **packings()}


def arrays():
    good = npy((3, 3, 3), numbers(27))
    return {
        "empty.npy": (b"", "found no bytes"),
        "magic.npy": (good[:6], "npy"),
        "header.npy": (good[:40], "npy"),
        "cut.npy": (good[:-5], "frame 2: expected"),
        "two_axes.npy": (npy((3, 9), numbers(27)), "expected an array [frame, atom, 3], found shape (3, 9)"),
        "two_numbers.npy": (npy((3, 4, 2), numbers(24)), "found shape (3, 4, 2)"),
        "no_frames.npy": (npy((0, 3, 3), []), "expected frames, found none"),
        "no_atoms.npy": (npy((3, 0, 3), []), "expected atoms"),
        "integers.npy": (npy((1, 3, 3), numbers(9), descr="<i4"), "<i4"),
        "complex.npy": (npy((1, 1, 3), numbers(6), descr="<c8"), "<c8"),
        "shape.npy": (changed(good, b"(3, 3, 3)", b"(3, -3,3)"), "shape.npy"),
        "huge.npy": (npy((4000000000, 4000000000, 3), numbers(3)), "huge.npy"),
        "nan.npy": (changed(good, len(good) - 8, NAN), "frame 2: expected finite coordinates, found nan"),
        "infinite.npy": (changed(good, len(good) - 4, struct.pack("<f", math.inf)), "found inf"),
        "far.npy": (changed(good, len(good) - 4, struct.pack("<f", 1e20)),
                    "frame 2: expected coordinates between -1e15 and 1e15"),
    }


def models():
    three = pdb()
    two = pdb(models=2).encode()
    cif = GOOD["mmcif"].decode()
    return {
        "none.pdb": (b"REMARK nothing\nEND\n", "expected a model with atoms (PDB, mmCIF, GRO, SDF, MOL2 or XYZ), found none"),
        "model.pdb": (b"MODEL        1\nENDMDL\n", "model.pdb: expected a model with atoms"),
        "cut.pdb": (two[:two.rindex(b"ATOM")], "cut.pdb"),
        "cut_line.pdb": (two[:two.rindex(b"ATOM") + 40], "at least 54 characters"),
        "fewer.pdb": (three.encode() + pdb(atoms=2).encode(), "frame 1"),
        "other.pdb": (three.encode() + pdb(name=" CB ").encode(), "frame 1"),
        "twice.pdb": (changed(two, two.rindex(b"ALA A   2"), b"ALA A   1"), "expected every atom once"),
        "letters.pdb": (two.replace(b"   3.800", b"   3.8x0", 1), "letters.pdb:2: expected a coordinate"),
        "nan.pdb": (two.replace(b"   3.800", b"     nan", 1), "nan.pdb:2: expected a coordinate"),
        "serial.pdb": (two.replace(b"ALA A   2", b"ALA A  xx", 1), "serial.pdb:3: expected"),
        "no_site.cif": (b"data_x\n_cell.length_a 1\n", "no_site.cif"),
        "values.cif": ((cif + "1 2\n").encode(), "values.cif"),
        "letters.cif": (cif.replace("4 5 6", "4 x 6").encode(), "letters.cif"),
        "fewer.cif": (cif.replace("4 5 6 CA 2", "4 5 6 CB 2").encode(), "frame 1"),
    }


def trajectories():
    dcd, xtc, packed, trr, netcdf = (GOOD[name] for name in
                                     ("dcd", "xtc", "xtc_packed", "trr", "netcdf"))
    return {
        "head.dcd": (dcd[:50], "head.dcd"),
        "cut.dcd": (dcd[:-7], "frame 1: expected"),
        "velocities.dcd": (changed(dcd, 4, b"VELD"), "found velocities"),
        "marker.dcd": (changed(dcd, 88, b"\x55"), "expected the header to end with its length 84"),
        "atoms.dcd": (changed(dcd, 188, b"\x04"), "expected 3 atoms as in"),
        "many_atoms.dcd": (changed(dcd, 188, b"\x03\x00\x01"), "expected 3 atoms as in"),
        "fixed.dcd": (changed(dcd, 8 + 4 * 8, b"\x07"), "fixed atoms, found 7"),
        "nan.dcd": (changed(dcd, len(dcd) - 8, NAN), "frame 1: expected finite coordinates, found nan"),
        "no_frames.dcd": (dcd[:196], "expected frames, found none"),
        "head.xtc": (xtc[:30], "frame 0"),
        "cut.xtc": (xtc[:-9], "frame 1"),
        "magic.xtc": (changed(xtc, len(xtc) // 2, struct.pack(">i", 1994)),
                      "frame 1: expected the magic number 1995 or 2023, found 1994"),
        "atoms.xtc": (changed(xtc, len(xtc) // 2 + 4, struct.pack(">i", 4)), "frame 1: expected 3 atoms"),
        "other_atoms.xtc": (packed, "expected 3 atoms as in"),
        "precision.xtc": (changed(packed, 56, struct.pack(">f", 0)), "precision"),
        "packed.xtc": (changed(packed, 88, struct.pack(">i", 1 << 30)), "packed bytes"),
        "nan.xtc": (changed(xtc, 56, struct.pack(">f", math.nan)), "frame 0: expected finite"),
        "head.trr": (trr[:20], "head.trr"),
        "cut.trr": (trr[:-9], "frame 0"),
        "atoms.trr": (trr + changed(trr, trr.index(struct.pack(">i", 3), 60), struct.pack(">i", 4)),
                      "frame 1"),
        "sizes.trr": (changed(trr, 24 + 4 * 7, struct.pack(">i", 100)), "100 bytes"),
        "head.nc": (netcdf[:30], "head.nc"),
        "cut.nc": (netcdf[:-5], "frame 1"),
        "version.nc": (changed(netcdf, 3, b"\x09"), "expected NetCDF-3"),
        "convention.nc": (changed(netcdf, b"AMBER", b"OTHER"), "AMBER"),
        "length.nc": (changed(netcdf, b"\x00\x00\x00\x05frame", b"\x7f"), "length.nc"),
        "atoms.nc": (changed(netcdf, b"\x00\x00\x00\x04atom\x00\x00\x00\x03",
                             b"\x00\x00\x00\x04atom\x00\x00\x00\x04"), "atoms.nc"),
    }


def packings():
    dcd, two = GOOD["dcd"], pdb(models=2).encode()
    return {
        "cut.pdb.gz": (gzip.compress(two, mtime=0)[:-30], "cut.pdb.gz"),
        "cut.dcd.gz": (gzip.compress(dcd, mtime=0)[:60], "cut short"),
        "damaged.dcd.gz": (changed(gzip.compress(dcd, mtime=0), 20, b"\x00\xff\x00\xff"), "damaged.dcd.gz"),
        "zeros.xtc": (bytes(64), "found other binary data"),
        "hdf5.nc": (b"\x89HDF\r\n\x1a\n" + bytes(64), "found HDF5"),
        "words.pdb": (b"no structure at all\n", "words.pdb"),
    }


def options(folder):
    """(name, arguments, exit code, what the refusal says)"""
    def put(name, data):
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path
    named = put("good.pdb", pdb(models=4))
    other = put("four.pdb", pdb(atoms=4))
    odd = put("odd.pdb", pdb(models=2, name=" QX ", element="  "))
    array = put("good.npy", npy((4, 3, 3), numbers(36)))
    wide = put("wide.npy", npy((2, 5, 3), numbers(30)))
    xtc = put("good.xtc", GOOD["xtc"])
    frames = put("frames.dcd", GOOD["dcd"])
    far = put("far_reference.npy", npy((1, 3, 3), [1e20] + numbers(8)))
    (folder / "hollow").mkdir()
    weights = {name: put(f"weights_{name}.npy", npy((len(values),), values, "d")) for name, values in
               {"few": [1.0, 2.0], "negative": [1.0, -2, 3], "nan": [1.0, math.nan, 3],
                "zero": [0.0] * 3}.items()}
    matrix = put("weights_matrix.npy", npy((3, 1), [1.0] * 3, "d"))
    return [
        ("absent file", (folder / "absent.xtc",), 3, "absent.xtc"),
        ("hollow folder", (folder / "hollow",), 3, "hollow"),
        ("absent list", (f"@{folder}/absent",), 3, "absent"),
        ("no topology", (xtc,), 3, "expected a topology (PDB, mmCIF, GRO, PSF or PRMTOP file) for the 3 atoms of the XTC file"),
        ("topology without names", (xtc, "--topology", array), 3, "expected a topology (PDB, mmCIF, GRO, PSF or PRMTOP file), found NPY"),
        ("topology of others", (xtc, "--topology", other), 3, "expected 4 atoms as in"),
        ("two sizes", (named, wide), 3, "expected 3 atoms as in"),
        ("unknown selection", (named, "--select", "cx:y:z"), 2, "cx:y:z"),
        ("open selection", (named, "--select", "ca and"), 2, "found the end of 'ca and'"),
        ("empty selection", (named, "--select", "B:1-9"), 3, "expected atoms for the selection 'B:1-9', found none"),
        ("selection without names", (array, "--select", "ca"), 3, "give a topology"),
        ("empty measure", (named, "--measure", "B:1-"), 3, "expected atoms for the selection 'B:1-', found none"),
        ("open measure", (named, "--measure", "ca or"), 2, "found the end of 'ca or'"),
        ("range past the end", (named, "--frames", "4:"), 3, "expected frames of the range 4:, counted from 0, found 4"),
        ("range before the start", (named, "--frames", "-5"), 3, "expected frames of the range -5:-4"),
        ("range backwards", (named, "--frames", "3:2"), 2, "3:2"),
        ("stride of 0", (named, "--frames", "1:3:0"), 2, "1:3:0"),
        ("range of words", (named, "--frames", "first"), 2, "first"),
        ("weights absent", (named, "--atom-weights", folder / "none.npy"), 3, "none.npy"),
        ("weights too few", (named, "--atom-weights", weights["few"]), 3, "expected an array [3], one weight per atom, found [2]"),
        ("weights of two axes", (named, "--atom-weights", matrix), 3, "found [3, 1]"),
        ("weights negative", (named, "--atom-weights", weights["negative"]), 3, "weights_negative.npy: expected weights from 0 to 1e15, found -2"),
        ("weights nan", (named, "--atom-weights", weights["nan"]), 3, "weights_nan.npy: expected weights from 0 to 1e15, found nan"),
        ("weights zero", (named, "--atom-weights", weights["zero"]), 3, "weights_zero.npy: expected a weight above 0, found none"),
        ("mass without names", (array, "--atom-weights", "mass"), 3, "give --topology"),
        ("mass of no element", (odd, "--atom-weights", "mass"), 3, "QX of ALA 1 in chain 'A'"),
        ("weights of scores", (named, "--metric", "tm", "--atom-weights", "mass"), 2, "leave weights of atoms out: --metric tm has none"),
        ("measure of scores", (named, "--metric", "gdt_ts", "--select", "A:1-2", "--measure", "A:2-3"), 2,
         "--measure needs --metric rmsd"),
        ("unknown metric", (named, "--metric", "rms"), 2, "--metric: expected one of"),
        ("unknown precision", (named, "--precision", "float16"), 2, "--precision: expected one of"),
        ("unknown matrix", (named, "--matrix", "upper"), 2, "--matrix: expected one of"),
        ("cutoff of 0", (named, "--cutoff", "0"), 2, "--cutoff: expected a number >= 1e-30"),
        ("cutoff below float32", (named, "--cutoff", "1e-50"), 2, "--cutoff: expected a number >= 1e-30"),
        ("cutoff nan", (named, "--cutoff", "nan"), 2, "--cutoff"),
        ("nearest below 0", (named, "--nearest", "-1"), 2, "--nearest"),
        ("bin of 0", (named, "--bin-width", "0"), 2, "--bin-width"),
        ("absent GPU", (named, "--device", "cuda:77"), 4, "cuda:77"),
        ("scores on a GPU", (named, "--metric", "tm", "--device", "cuda"), 4, "cuda"),
        ("against absent", (named, "--against", folder / "absent.pdb"), 3, "absent.pdb"),
        ("against others", (array, "--against", wide), 3, "wide.npy: expected 3 atoms as in"),
        ("against fewer atoms", (other, "--against", named), 3, "good.pdb"),
        ("against past the end", (named, "--against", named, "--against-frames", "5:"), 3, "expected frames of the range 5:"),
        ("against too far", (array, "--against", far), 3, "far_reference.npy: frame 0: expected coordinates"),
        ("second file too far", (array, far), 3, "far_reference.npy: frame 0: expected coordinates between -1e15 and 1e15"),
        ("frames of no other set", (named, "--against-frames", "2:"), 2, "--against-frames needs --against"),
        ("precision of scores", (named, "--metric", "tm", "--precision", "float64"), 2, "leave --precision out: --metric tm"),
        ("reference frame 4", (named, "--reference", "4"), 2, "expected a frame from 0 to 3, found 4"),
        ("reference frame -5", (named, "--reference", "-5"), 2, "expected a frame from 0 to 3, found -5"),
        ("reference absent", (named, "--reference", "native.pdb"), 3, "native.pdb"),
        ("reference of others", (other, "--reference", named), 3, "good.pdb"),
        ("reference too far", (array, "--reference", far), 3, "far_reference.npy: frame 0: expected coordinates"),
        ("reference and against", (named, "--reference", "1", "--against", named), 2, "give either --against"),
        ("reference and cutoff", (named, "--reference", "1", "--cutoff", "2"), 2, "leave --cutoff out"),
        ("reference and best", (named, "--rmsf", "--nearest", "2"), 2, "leave --nearest out"),
        ("reference and matrix", (named, "--rmsf", "--matrix", "full"), 2, "leave --matrix full out"),
        ("models without names", (array, "--superposed", "pdb"), 3, "expected atoms with names for --superposed pdb"),
        ("unknown format", (named, "--superposed", "xyz"), 2, "--superposed: expected one of"),
        ("dcd without topology", (frames, "--rmsf"), 3, "expected a topology"),
    ]
