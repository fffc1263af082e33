# Alignments: from files, sequences, arrays and the objects of other packages.
import os

import numpy as np

from . import _pleat
from .errors import InputError
from .options import in_python_words
from .other_packages import rows_of
from .result import as_array, describe_properties, repr_html

Alignment = _pleat.Alignment
Alignment.__module__ = "pleat"
Alignment.__doc__ = """A multiple sequence alignment, made by `read_alignment` or `alignment`.

letters : uint8 [sequence, column], codes of `alphabet_letters`; shows memory of the alignment
shape : (sequences, columns)
columns : int64 [column], place of each column among those of the source, from 0
names, sequences : list of str, one per sequence
alphabet : 'protein', 'rna' or 'dna'
alphabet_letters : the letters in the order of their codes; X or N (unknown) and the gap come last
source, format : the file and what it was read as
notes : list of `Note`, what the reader decided

numpy.asarray(alignment) is `letters`.

pleat.couplings takes unknown letters as gaps, pleat.mutual_information as a letter of their own.
"""
_FILTER = Alignment.filter


def _filter(self, max_gaps=1.0, min_coverage=0.0):
    """A copy without the columns whose fraction of gaps is above `max_gaps`, and then without the
    sequences whose fraction of letters in the columns left is below `min_coverage`."""
    return _FILTER(self, max_gaps, min_coverage)


Alignment.filter = _filter
Alignment.__len__ = lambda self: self.letters.shape[0]
Alignment.shape = property(lambda self: self.letters.shape)
Alignment.__repr__ = lambda self: (
    f"<pleat.Alignment: {self.shape[0]} sequences, {self.shape[1]} columns, {self.alphabet}>")
Alignment._repr_html_ = repr_html
describe_properties(Alignment)
Alignment.__array__ = lambda self, dtype=None, copy=None: as_array(self.letters, dtype, copy)


@in_python_words
def read_alignment(path, *, format="", alphabet="", insertions="auto", record=None):
    """Reads FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV; plain, gzip or Zstandard.

    format : 'fasta', 'a2m', 'a3m', 'stockholm', 'clustal', 'psicov', 'phylip'; '': detected from the content
    alphabet : 'protein', 'rna', 'dna'; '': detected from the letters
    insertions : columns of insertions, 'drop' or 'keep'; 'auto' drops them if the file marks them
    record : which alignment to read from a file with several, counted from 1; None: the first, with a note

    The result's `notes` say what was decided. InputError names file, line, what was expected and
    what was found.
    """
    return _pleat.read_alignment(os.fspath(path), dict(format=format, alphabet=alphabet, insertions=insertions,
                                                       record=record))


def alignment(source, *, names=None, alphabet=""):
    """An alignment from whatever holds one.

    source : an Alignment; a path; sequences as str, all of one length; codes, uint8
        [sequence, column], with `alphabet` ('protein' if ''), in the order of
        ARNDCQEGHILKMFPSTWYVX-, ACGUN- or ACGTN-; letters, 'S1' or 'U1' [sequence, column];
        Biopython's MultipleSeqAlignment, Alignment or a list of its SeqRecord; ProDy's MSA; a Series of
        pandas
    names : one per sequence

    Codes are copied once.
    """
    if isinstance(source, Alignment):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_alignment(source, alphabet=alphabet)
    if isinstance(source, np.ndarray) and source.dtype == np.uint8:
        return _pleat.alignment_from_codes(source, list(names or []), alphabet or "protein")
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in "SU":
        rows = ["".join(row) for row in source.astype("U1")]
    else:
        rows, found = (None if isinstance(source, np.ndarray) else rows_of(source)) or (list(source), None)
        names = names or found
    if not rows or not all(isinstance(row, str) for row in rows):
        raise InputError("expected an alignment (a path, sequences, codes as uint8 [sequence, column], "
                         f"an alignment of Biopython or ProDy), found {type(source).__name__}")
    if names is not None and len(names) != len(rows):
        raise InputError(f"expected {len(rows)} names, one per sequence, found {len(names)}")
    names = list(names or [f"sequence {n}" for n in range(1, len(rows) + 1)])
    for row in rows:
        if "\n" in row or "\r" in row:
            raise InputError(f"expected sequences of one line, found {row!r}")
    text = "".join(f">{n}\n{row}\n" for n, row in enumerate(rows, 1))
    return _pleat.alignment_from_text("sequences", text, names, alphabet)
