# Writes the seeds of all fuzzers, small files, each fuzzer's in a folder of its own: make_seeds.py FOLDER
import gzip
import io
import json
import struct
import sys
import zipfile
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
    "several": 2 * b"# STOCKHOLM 1.0\na ACdE\n\nb AC.E\n#=GC RF xx.x\n//\n",
    "nul": b">a\nACDE\n>b\nACDF\n\0>c\nAC\n>d\nAC\n\0",
    "phylip": b"2 10\nseq_one ACDEF\nb       ACD-F\n\nGHIKL\nGHIKW\n",
    "phylip_names": b" 2 6\nseq one   ACD\nEFG\nb         AC-\nEFG\n3 2\na AC\nb AC\nc AD\n",
    "colabfold": b"#3,2\t1,1\n>101\t102\nMKVLA\n>q_consensus\nMKVLA\n>\nMKVaL-\n",
    "modified": b">a\nACGUUUPDIYAUUG\n>b\nACGUUUPDIYAUUC\n",
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


def gro(box="5 5 5"):
    names = ("N", "CA", "C", "O")
    return "made, t= 0.0\n    6\n" + "".join(
        f"{(99999 + n // 4) % 100000:5d}{'ALA' if n < 4 else 'SOL':<5s}{names[n % 4]:>5s}{n:5d}"
        f"{n:8.3f}{n / 10:8.3f}{1.5:8.3f}\n" for n in range(6)) + box + "\n"


def psf(layout=""):
    wide = 4 if layout == " EXT" else 0
    atoms = "".join(f"{n + 1:{8 + wide // 2}d} {'A':<{4 + wide}s} {1 + n // 2:<{4 + wide}d} {'ALA':<{4 + wide}s} "
                    f"{name:<{4 + wide}s} CT1 -0.300000       {mass:.4f}           0\n"
                    for n, (name, mass) in enumerate((("N", 14.007), ("CA", 12.011), ("CA", 12.011), ("X1", 40.1))))
    return (f"PSF{layout}\n\n       1 !NTITLE\n REMARKS made\n\n       4 !NATOM\n{atoms}\n       3 !NBOND: bonds\n"
            "       1       2       2       3\n       3       4\n\n       0 !NTHETA: angles\n")


def prmtop(more=""):
    def section(flag, form, values):
        return f"%FLAG {flag}\n%FORMAT({form})\n{values}\n"

    def integers(flag, values):
        return section(flag, "10I8", "".join(f"{value:8d}" for value in values))
    return ("%VERSION  VERSION_STAMP = V0001.000\n" + section("TITLE", "20a4", "made")
            + integers("POINTERS", (4, 1, 1, 1, 0, 0, 0, 0, 0, 0)).rstrip("\n") + "\n" + f"{0:8d}{2:8d}{1:8d}\n"
            + section("ATOM_NAME", "20a4", "N   CA  HA  NA+ ") + section("MASS", "5E16.8", "".join(
                f"{mass:16.8E}" for mass in (14, 12.01, 3.024, 22.99)))
            + section("RESIDUE_LABEL", "20a4", "ALA NA+ ") + integers("RESIDUE_POINTER", (1, 4))
            + integers("BONDS_INC_HYDROGEN", (3, 6, 1)) + integers("BONDS_WITHOUT_HYDROGEN", (0, 3, 1)) + more)


def ensembles():
    atom = "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00 20.00           C\n"
    cif = ("data_x\nloop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n"
           "_atom_site.label_atom_id\n_atom_site.pdbx_PDB_model_num\n1 2 3 CA 1\n4 5 6 CA 2\n")
    shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), }".ljust(117) + "\n"
    files = {
        "pdb": f"MODEL 1\n{atom}ENDMDL\nMODEL 2\n{atom}ENDMDL\n".encode(),
        "gro": (gro() + gro("1 2 3 0 0 0.5 0 0.5 0.5") + "\n").encode(),
        "mmcif": cif.encode(),
        "sdf": b"x\n\n\n  2  1  0  0  0  0            999 V2000\n"
               b"    0.0000    0.0000    0.5000 C   0  0\n    1.5000    0.0000    0.0000 O   0  0\n"
               b"  1  2  1  0\nM  END\n$$$$\n",
        "sdf_v3000": b"x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\n"
                     b"M  V30 BEGIN ATOM\nM  V30 1 C 0 0 0.5 0\nM  V30 9 O 1.5 0 -\nM  V30 0 0\nM  V30 END ATOM\n"
                     b"M  V30 BEGIN BOND\nM  V30 1 1 1 9\nM  V30 END BOND\nM  V30 END CTAB\nM  END\n$$$$\n",
    }
    files["mol2"] = (b"@<TRIPOS>MOLECULE\nx\n 2 1 1\nSMALL\nNO_CHARGES\n@<TRIPOS>ATOM\n"
                     b" 1 C1 0 0 0.5 C.3 1 LIG1 0\n 2 O1 1.5 0 0 O.3 1 LIG1 0\n@<TRIPOS>BOND\n 1 1 2 1\n") * 2
    files["xyz"] = b'2\nLattice="5 0 0 0 5 0 0 0 5"\nC 0 0 0\n8 1.5 0 0\n2\n\nC 0 0 1\nO 1.5 0 0\n'
    files["pdb_dialects"] = "".join(
        atom.replace("1  CA ", serial + "  CA ").replace("ALA A   1 ", residue)[:72] + "SEGA C\n"
        for serial, residue in (("1", "LYSHA9999 "), ("2", "ALA A2710 "), ("3", "ALA A271a "),
                                ("4", "ALA A**** "), ("5", "ALAAA10000"))).encode()
    # The same molecule again, its atoms in another order.
    files["sdf_orders"] = files["sdf_v3000"] + files["sdf"].replace(b" C ", b" X ").replace(b" O ", b" C ").replace(
        b" X ", b" O ")
    files |= {
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
        "named": b"#  q  exp_intensity  model_intensity  error\n0.01 10 9 1\n0.02 9 9 1\n0.03 8 8 1\n",
        "dammif": b" sExp | iExp | Err | iFit | Chi^2= 1.2\n0.01 10 1 9\n0.02 9 1 9\n0.03 8 1 8\n",
        "unicode": b"q \xc3\x85-1\tI\tsig\n0.01\xc2\xa010 1\n0.02 9 1e\xe2\x88\x921\n0.03 8 nan\n0.04 7 1\n",
        "gnom": b"G N O M\n S  J EXP  ERROR  J REG  I REG\n 0 1\n 0.1 1\n 0.2 1\n 0.3 9 1 9 9\n 0.4 8 1 8 8\n"
                b" 0.5 7 1 7 7\nR P(R) ERROR\n0 0 0\n1 1 1\n2 1 1\n",
        "pdh": b"t\nSAXS BOX\n 3 0 0 0 0 0 0 0\n 0 1 0 1 1\n 0 0 0 0 0\n 1 9 1\n 2 8 1\n 3 7 1\n",
        "sascif": b"data_x\n_sas_scan.unit 1/nm\nloop_\n_sas_scan_intensity.scan_id\n"
                  b"_sas_scan_intensity.momentum_transfer\n_sas_scan_intensity.intensity\n"
                  b"_sas_scan_intensity.intensity_su_counting\n1 0.1 9 1\n1 0.2 8 1\n1 0.3 7 ?\n1 0.4 7 1\n",
        "cansas": b'<?xml version="1.0"?><SASroot><SASentry><Title>t</Title><SASdata name="a">'
                  + b"".join(b'<Idata><Q unit="1/A">0.%d</Q><I>9</I><Idev>1</Idev></Idata>' % n for n in range(1, 5))
                  + b"</SASdata></SASentry></SASroot>",
    }


def contacts():
    pairs = b"1 9 0 8 0.9\n2 10 0 8 0.5\n1 8 0 8 0.5\n"
    plain = b"PFRMAT RR\nTARGET T0\nAUTHOR x\nREMARK y\nMODEL 1\nACDEF\nGHIKL\n" + pairs + b"END\n"
    return {"plain": plain, "short": b"ACDEFGHIKL\n# c\n9 1 0.25\n", "gzip": gzip.compress(plain, mtime=0)}


def secondary_structures():
    return {"brackets": b">name\nGGGAAACCC\n(((...\n))) ( -1.20)\n", "pseudoknot": b"<<.[[>>aa]]AA{}\n",
            "stockholm": b"# STOCKHOLM 1.0\na ACGU\n#=GC SS_cons <..>\n//\n"}


def npy(shape="(2, 3), ", kind="<f8", data=bytes(48)):
    """A .npy file of format 1."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def npz(method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in (("corrected", npy()), ("count", npy("()", "<i8", bytes(8))),
                           ("text", npy("(3,)", "|u1", b"abc")), ("flags", npy("(2,)", "|b1", b"\1\0"))):
            with archive.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=name == "text") as file:
                file.write(data)
    return out.getvalue()


def archives():
    files = {"stored": npz(zipfile.ZIP_STORED), "deflated": npz(zipfile.ZIP_DEFLATED),
             "empty": b"PK\5\6" + bytes(18)}
    arrays = {"npy": npy(), "big_endian": npy(kind=">f4", data=bytes(24)),
              "fortran": npy().replace(b"False", b"True "),
              "version2": npy().replace(b"\x01\x00v\x00", b"\x02\x00v\x00\x00\x00")}
    return {**{name: b"\0" + data for name, data in files.items()},
            **{name: b"\1" + data for name, data in arrays.items()}}


def structures():
    atom = "ATOM  {:5}  {:<3} {} {}{:4}    {:8.3f}{:8.3f}{:8.3f}  1.00 20.00           {}\n"
    pdb = "".join(atom.format(n + 1, name, residue, "A", 50 + n // 4, n, n % 3, 1.5 * n, name[0])
                  for n, (name, residue) in enumerate(
                      (name, residue) for residue in ("ALA", "GLY", "MSE")
                      for name in ("N", "CA", "C", "O")))
    water = "HETATM   90  O   HOH A 101       1.000   2.000   3.000  1.00 20.00           O\n"
    disorder = pdb.replace(" CA  ALA", " CA AALA", 1) + pdb.replace(" CA  ALA", " CA BALA", 1)
    names = ("group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
             "label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy "
             "B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num").split()
    rows = "".join(f"ATOM {n} {atom[0]} {atom} . ALA A 1 {1 + n // 4} ? {n} 2.5 -3 1 20 {1 + n // 4} A 1\n"
                   for n, atom in enumerate(("N", "CA", "C", "O") * 2))
    cif = ("data_x\n_entry.id x\nloop_\n_entity_poly_seq.entity_id\n_entity_poly_seq.num\n"
           "_entity_poly_seq.mon_id\n1 1 ALA\n1 2 ALA\nloop_\n"
           + "".join(f"_atom_site.{name}\n" for name in names) + rows + "#\n")
    bonded = pdb + "CONECT    1    2    5\nCONECT    2    1    1   99\nCONECT   12\nCONECT   -1 x  3\nEND\n"
    connections = cif + ("loop_\n" + "".join(f"_struct_conn.{name}\n" for name in (
        "conn_type_id ptnr1_auth_asym_id ptnr1_auth_seq_id ptnr1_label_atom_id ptnr2_auth_asym_id "
        "ptnr2_auth_seq_id ptnr2_label_atom_id ptnr1_symmetry ptnr2_symmetry").split())
        + "covale A 1 N A 2 C 1_555 1_555\ndisulf A 1 CA A 2 CA 1_555 2_555\nmetalc A 1 O A x O ? .\n#\n")
    chains = ("%FLAG RESIDUE_CHAINID\n%FORMAT(20a4)\nX\n%FLAG RESIDUE_NUMBER\n%FORMAT(20I4)\n  -1   0\n"
              "%FLAG ATOMIC_NUMBER\n%FORMAT(10I8)\n       7       6       1      -1\n")
    files = {"conect": bonded, "struct_conn": connections, "gro": gro(), "psf": psf(), "psf_ext": psf(" EXT"),
             "psf_namd": psf(" NAMD"), "prmtop": prmtop(), "prmtop_chains": prmtop(chains),
             "tpr": "\0\0\0\x0c\0\0\0\x0bVERSION 4.0\0",
             "pdb": f"HEADER    x\n{pdb}TER\n{water}END\n", "models": f"MODEL 1\n{pdb}ENDMDL\nMODEL 2\n{pdb}ENDMDL\n",
             "alternate": disorder, "mmcif": cif}
    chosen = {f"{name}{choice}": bytes([choice]) + text.encode()
              for name, text in files.items() for choice in (0, 1)}
    return {**chosen, "gzip": b"\0" + gzip.compress(cif.encode(), mtime=0)}


def runs():
    """Files of a run behind one another, each behind the number of its name in fuzz_run.cpp."""
    manifest = (b'{"program": "pleat", "version": "0", "command": "couplings", "status": "finished", '
                b'"parameters": {"title": "<b>"}, "inputs": [{"path": "a", "sha256": "0", "bytes": 1}], '
                b'"outputs": [{"file": "contacts.tsv", "bytes": 3}], "results": {"a": 1e3}}')
    contacts = b"rank\ti\tj\tletter_i\tletter_j\tcorrected\n1\t3\t5\tC\tD\t6\n2\t1\t5\tA\tD\tNA\n"
    columns = b"column\tletter\tentropy\n1\tA\t0.5\n3\tC\t1\n5\tD\t0\n"
    clusters = b"cluster\tsize\tmedoid\n0\t2\t1\n1\t1\t2\n"
    profile = b"q\tintensity\tsigma\tmodel\n0.01\t5\t1\t5\n0.02\t4\t1\t4.5\n0.03\t3\t1\tNA\n"
    model = b"MODEL        1\nATOM      1  CA  ALA A   1       1.000   2.000   3.000\nENDMDL\n"
    rmsd = npy("(3,)", "<f4", struct.pack("<3f", 1, 2, 3))
    groups = npy("(3,)", "<i4", bytes(12))
    sets = {
        "contacts": {0: manifest, 1: contacts, 3: columns},
        "clusters": {8: clusters, 9: groups, 10: b"k\tsilhouette\n2\t0.5\n", 11: b"((0:1,1:1):2,2:3);",
                     12: model, 13: rmsd, 14: b"from\tto\tpairs\n0\t1\t3\n"},
        "reference": {15: b"frame\trmsd\n0\t1.5\n1\tNA\n", 16: b"chain\tresidue\tname\trmsf\nA\t1\tALA\t1\n"},
        "scattering": {17: profile, 18: b"q_rg\tkratky\n0.1\t1\n", 22: npy("(1, 3)", "<f8", bytes(24))},
        "selection": {7: b"frame\tscore\tchi2\n0\t1\t2\n1\t2\t1\n", 8: clusters, 21: columns, 23: model},
        "mutants": {0: manifest, 24: b"pos\twt\tsubs\tcolumn\tprediction_epistatic\tz\n1\tA\tC\t1\t-1\t0\n1\tA\tD\t1\tNA\t1\n",
                    25: b"pos\twt\tcolumn\tmean_epistatic\n1\tA\t1\t-1\n",
                    26: b"column\tpos\twt\tletter\theight\n1\t1\tA\tA\t2\n1\t1\tA\tC\t0\n",
                    27: b"mutant,y,prediction_epistatic,prediction_independent,prediction_percentile,prediction_z,"
                        b"prediction_problem\nA1C,2,-1,-2,5,0,\n",
                    28: b"column\tcount\tspearman_epistatic\tspearman_independent\ny\t3\t0.5\tNA\n"},
        "json": {19: b'{"a": [1, null, "</script>"], "b": {"c": true}}', 20: columns},
    }
    return {name: b"\x1e".join(bytes([number]) + content for number, content in files.items())
            for name, files in sets.items()}


def lists():
    return {"families": b"\0a.fasta\n# x\n b/c.a3m.gz \r\n", "same": b"\0a.fasta\nb/a.a3m",
            "ensemble": b"\1a.pdb\n/b/c d.dcd # x\n", "range": b"\x021:10:2", "open": b"\x02::10",
            "select": b"\3A:50-52A and not (ca or heavy)", "cid": b"\3//A/50-51/CA,CB[C]",
            "words": b"\3backbone or :51- and chain B", "structure": b"\4a.pdb:A",
            "molecule": b"\3same molecule as index 0 to 2", "index": b"\6[ a ]\n 1 2 ; x\n19\n",
            "numbers": b"\5frame\tenergy\tq\n2\t-1.5\t0\n0\tNA\t1\n1\t2e3\t1\n",
            "names": b"\5name,energy\nb.pdb,1\na,nan\nc,3\n"}


def plmc_models():
    """Models of two columns and an RNA's letters in plmc's layout: with the gap, without it (-g), in float64."""
    found = {}
    for name, letters, kind in (("gap", b"-ACGU", "f"), ("no_gap", b"ACGU", "f"), ("double", b"-ACGU", "d")):
        columns, count = 2, len(letters)
        numbers = {"f": "f", "d": "d"}[kind]

        def reals(total):
            return struct.pack(f"<{total}{numbers}", *[0.25 + n % 3 for n in range(total)])
        head = struct.pack("<5i", columns, count, 2, 1, 10) + reals(5) + letters + reals(3) + b"AC" + struct.pack("<2i", 5, 6)
        found[name] = head + reals(2 * columns * count) + 2 * reals(count * count)
    found["gzip"] = gzip.compress(found["gap"], mtime=0)
    return found


def mutant_tables():
    return {"proteingym": b"mutant,mutated_sequence,DMS_score,DMS_score_bin\nA24G,ACDE,-0.5,0\nA24G:K30R,ACDF,1.5,1\nwt,ACD,0,\n",
            "evcouplings": b"pos;mutants;effect\r\n24;\"A24G,K30R\";0.5\r\n\r\n30;wild;NA\r\n",
            "sequences": b"\xef\xbb\xbfmutated_sequence\tscore\nACDE\t1\nAC-E\tnan\n",
            "alone": b"mutant\nA24G,K30R\nA-1G\n", "quotes": b"\"mutant\",\"a \"\"b\"\"\nc\"\n\"A1G\",1e5\r\"A2G\",2\n",
            "comment": b"# two\n,mutations\n0,p.Ala1Gly\n1,p.[Ala1Gly;Lys2=]\n",
            "twice": b"mutant,x,x\nA1G,1,2\n"}


def scores():
    """Scores of predicted models: each behind the number of what wrote them."""
    return {"colabfold": b'\0{"plddt": [80, 70.5, 60], "ptm": 0.8, "max_pae": 30, "iptm": null, '
                         b'"pae": [[0, 1, 10], [2, 0, 20], [30, 40, 0]]}',
            "own_mean": b'\0{"mean_pae": 5, "inter_chain_pae": true, "pae": [[0, 1, 1], [2, 0, 2], [3, 4, 0]]}',
            "rows": b'\0{"ptm": 1e308, "pae": [[0, 1], [2, 0, 20], null]}',
            "alphafold2": b'\1{"plddts": {"model_1": 80.5, "model_2": 70}, "order": ["model_1", "model_2"]}',
            "alphafold3": b"\2seed,sample,ranking_score\n1,0,0.75\n1,1,x\n"}


def refine_inputs():
    """Predicted errors, sequences and ranges for a made chain of 30 residues, behind the number of the option."""
    def errors(*domains):
        return [[2 if row and row == column else 20 for column in domains] for row in domains]
    matrix = errors(*(12 * [1] + 5 * [0] + 13 * [2]))
    tokens = {"pae": matrix, "token_chain_ids": 30 * ["A"], "token_res_ids": list(range(1, 31))}
    files = {"alphafold_db": [{"predicted_aligned_error": matrix}], "colabfold": {"plddt": [1, 2], "pae": matrix},
             "alphafold3": tokens, "tokens_by_name": tokens | {"token_res_ids": {str(n): n for n in range(30)}},
             "few": {"pae": errors(1, 1, 0)}}
    sequence = b"AGPVCSAAAGPVCSAAAGPVCSAAAGPVCS"
    return {**{name: b"\0" + json.dumps(content).encode() for name, content in files.items()},
            "whole": b"\1>one\n" + sequence + b"\n", "tails": b"\1>x\nWW\n>one\nMK" + sequence + b"RHKD\n",
            "unknown": b"\1>one\n" + sequence.replace(b"AAAGP", b"XAAGP") + b"\n",
            "linkers": b"\2A:12-18", "several": b"\2A:5,9-12,A:20-22", "insertion": b"\2B:-5-52A", "huge": b"\2A:2147483647"}


def unchosen(files):
    """Harnesses that take choices from the first byte: 0 leaves them to the content."""
    return {name: b"\0" + content for name, content in files.items()}


def main():
    if len(sys.argv) != 2:
        sys.exit("make_seeds.py: give a folder for the seeds")
    kinds = {"alignment": unchosen(alignments()), "archive": archives(), "contacts": unchosen(contacts()),
             "ensemble": unchosen(ensembles()), "lists": lists(), "model": unchosen(plmc_models()),
             "mutants": unchosen(mutant_tables()), "profile": unchosen(profiles()),
             "refine": refine_inputs(), "run": runs(), "scores": scores(),
             "secondary": unchosen(secondary_structures()), "structure": structures()}
    for kind, files in kinds.items():
        folder = Path(sys.argv[1]) / kind
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
