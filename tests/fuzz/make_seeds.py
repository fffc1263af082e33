# Writes the seeds of the alignment fuzzer, a small file for each format and packing: make_seeds.py FOLDER
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


def main():
    if len(sys.argv) != 2:
        sys.exit("make_seeds.py: expected one folder")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    files = dict(ALIGNMENTS)
    files["gzip"] = gzip.compress(FASTA, mtime=0)
    files["gzip_members"] = gzip.compress(FASTA[:20], mtime=0) + gzip.compress(FASTA[20:], mtime=0)
    files["zstd"] = zstandard(FASTA)
    files["zstd_frames"] = zstandard(FASTA[:20]) + zstandard(FASTA[20:])
    for name, content in files.items():
        # The harness takes format and alphabet from the first byte; 0 leaves both to the content.
        (folder / name).write_bytes(b"\0" + content)


main()
