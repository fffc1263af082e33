# Writes the seeds of a fuzzer, a small file for each format and packing: make_seeds.py FOLDER [alignment|contacts|ensemble|profile]
import gzip
import struct
import sys
from pathlib import Path

FASTA = b">a one\nACDEFGHIKL\nMNPQ\n>b\nACDEF-HIKL\nMN.Q\n>c\nACD--GHIKL\nMNPW\n"
ALIGNMENTS = {
    "fasta": FASTA,
    "a2m": b">a\nACdeF.G\n>b\nAC..FgG\n>c\nACd.W.-\n",
    "a3m": b"#A3M#\n>ss_pred\nCCHH\n>a\nACDE\n>b\nACklDE\n>c\n-CD-\n",
    "stockholm": b"# STOCKHOLM 1.0\n#=GF ID x\n\na ACDE\n#=GR a SS <<>>\nb AC.E\n#=GC RF xxxx\n\n"
                 b"a FG\nb -G\n//\n",
    "clustal": b"CLUSTAL W (1.83) multiple sequence alignment\n\nseq1 ACDEF 5\nseq2 AC-EF 4\n"
               b"     ** **\n\nseq1 GH 7\nseq2 GW 6\n     *.\n",
    "muscle": b"MUSCLE (3.8) multiple sequence alignment\n\n\na ACDEF\nb ACDEW\n",
    "psicov": b"ACDEFGHIKL\nACDEF-HIKX\n-CDEFGHIK*\n",
    "rna": b">a\nACGUACGU\n>b\nACG-NCGU\n",
    "dna": b"acgtacgt\nacg-ncgt\n",
    "mark": b"\xef\xbb\xbf" + FASTA,
    "carriage": FASTA.replace(b"\n", b"\r\n"),
    "mac": FASTA.replace(b"\n", b"\r"),
    "ragged": b"ACDEF\nACDE\nACDEFG\n",
}


def zstandard(text):
    """A Zstandard frame of one raw block: magic, one-byte content size, block header, content."""
    assert len(text) < 256
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(text)]) + struct.pack("<I", len(text) << 3 | 1)[:3] + text


def record(data):
    """A record of a DCD file."""
    return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))


def dcd():
    control = struct.pack("<20i", *[2 if i == 0 else 24 if i == 19 else 0 for i in range(20)])
    axis = record(struct.pack("<3f", 1, 2, 3))
    return (record(b"CORD" + control) + record(struct.pack("<i", 1) + b" " * 80)
            + record(struct.pack("<i", 3)) + 6 * axis)


def xtc():
    """A frame of three atoms, and a packed one of ten atoms at one place."""
    start = struct.pack(">4i", 1995, 3, 0, 0) + bytes(36) + struct.pack(">i9f", 3, *range(9))
    packed = struct.pack(">4i", 1995, 10, 0, 0) + bytes(36) + struct.pack(">if", 10, 1000)
    packed += struct.pack(">8i", 0, 0, 0, 3, 3, 3, 9, 10) + bytes(12)
    return {"xtc": start + start, "xtc_packed": packed + packed}


def trr():
    sizes = [0, 0, 36, 0, 0, 0, 0, 36, 0, 0]
    return (struct.pack(">3i", 1993, 13, 12) + b"GMX_trn_file" + struct.pack(">10i", *sizes)
            + struct.pack(">3i2f", 3, 0, 0, 0, 0) + bytes(72))


def netcdf():
    def name(text):
        return struct.pack(">i", len(text)) + text + bytes(-len(text) % 4)
    head = b"CDF\x01" + struct.pack(">3i", 2, 10, 3)
    head += name(b"frame") + struct.pack(">i", 0) + name(b"atom") + struct.pack(">i", 3)
    head += name(b"spatial") + struct.pack(">3i", 3, 12, 1) + name(b"Conventions")
    head += struct.pack(">i", 2) + name(b"AMBER") + struct.pack(">2i", 11, 1) + name(b"coordinates")
    head += struct.pack(">8i", 3, 0, 1, 2, 0, 0, 5, 36)
    return head + struct.pack(">i", len(head) + 4) + bytes(72)


def ensembles():
    atom = "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00 20.00           C\n"
    cif = ("data_x\nloop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n"
           "_atom_site.label_atom_id\n_atom_site.pdbx_PDB_model_num\n1 2 3 CA 1\n4 5 6 CA 2\n")
    shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), }".ljust(117) + "\n"
    files = {
        "pdb": f"MODEL 1\n{atom}ENDMDL\nMODEL 2\n{atom}ENDMDL\n".encode(),
        "mmcif": cif.encode(),
        "npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + shape.encode() + bytes(24),
        "dcd": dcd(),
        "trr": trr(),
        "netcdf": netcdf(),
        **xtc(),
    }
    files["gzip"] = gzip.compress(files["dcd"], mtime=0)
    return files


def alignments():
    files = dict(ALIGNMENTS)
    files["gzip"] = gzip.compress(FASTA, mtime=0)
    files["gzip_members"] = gzip.compress(FASTA[:20], mtime=0) + gzip.compress(FASTA[20:], mtime=0)
    files["zstd"] = zstandard(FASTA)
    files["zstd_frames"] = zstandard(FASTA[:20]) + zstandard(FASTA[20:])
    return files


def profiles():
    table = b"0.01 10 1\n0.02 9 1\n0.03 8 0.5\n0.04 7 0.5\n"
    return {
        "plain": table,
        "title": b"# q I sigma\nlysozyme 46 mg/ml\n 4\n" + table,
        "footer": table + b"#{\n#}\ncreator: x\n 1 2\n",
        "two_columns": b"0.01 10\n0.02 9\n0.03 8\n",
        "nanometres": b"0.1,10,1\n0.2,9,1\n2.5,8,0\n",
        "fortran": b" 0.1D-01 0.1D+02 0.1D+01 1\r\n 0.2D-01 nan 1 1\r\n 0.3D-01 **** 1 1\r\n" * 2,
        "gzip": gzip.compress(table, mtime=0),
    }


def contacts():
    pairs = b"1 9 0 8 0.9\n2 10 0 8 0.5\n1 8 0 8 0.5\n"
    plain = b"PFRMAT RR\nTARGET T0\nAUTHOR x\nREMARK y\nMODEL 1\nACDEF\nGHIKL\n" + pairs + b"END\n"
    return {"plain": plain, "short": b"ACDEFGHIKL\n# c\n9 1 0.25\n", "gzip": gzip.compress(plain, mtime=0)}


KINDS = {"alignment": alignments, "contacts": contacts, "ensemble": ensembles, "profile": profiles}


def main():
    kind = sys.argv[2] if len(sys.argv) == 3 else "alignment"
    if len(sys.argv) not in (2, 3) or kind not in KINDS:
        sys.exit(f"make_seeds.py: expected a folder, and perhaps one of {', '.join(KINDS)}")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in KINDS[kind]().items():
        # The harnesses take their choices from the first byte; 0 leaves them to the content.
        (folder / name).write_bytes(b"\0" + content)


if __name__ == "__main__":
    main()
