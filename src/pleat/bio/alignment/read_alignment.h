// Reading alignments: any supported format, told apart by content, into codes of an alphabet.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"

#pragma GCC visibility push(default)

namespace pleat {

struct ReadOptions {
    std::string format;         ///< one of `alignment_formats()`; empty = told by content
    std::string alphabet;       ///< protein, rna, dna; empty = told by the letters
    bool keep_unknown = false;  ///< letters that name no single residue get a code of their own
    /// Where not null, filled for each sequence with its row as A3M writes it, when `letters`
    /// leaves out some of its residues (insertions of A2M and A3M, letters that name no single
    /// residue): upper case or '-' for each column, lower case for an inserted residue. Else with
    /// an empty text; empty when no row leaves out a residue.
    std::vector<std::string>* full_rows = nullptr;
    /// Maximum bytes of text (after decompression), and of memory for its rows.
    Index max_bytes = Index{4} << 30;
    /// Rows that take more memory are first checked to the end of the file, and then read again;
    /// from a pipe, a device or standard input they are refused.
    Index max_kept_bytes = Index{128} << 20;
};

/// "fasta", "a2m", "a3m", "stockholm", "clustal", "psicov".
const std::vector<std::string>& alignment_formats();

/// Reads an alignment of at least 2 sequences and 2 columns, plain, gzip or Zstandard; "-" reads
/// standard input. The rules (formats, letters, alphabets) stand in README.md of this folder.
/// Throws InputError (`file:line: expected X, found Y`, up to ten such lines) when the content is
/// not such an alignment, UsageError when an option names an unknown format or alphabet.
Alignment read_alignment(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory; `name` stands for the file in errors and becomes `source`.
Alignment read_alignment_from_memory(const std::string& name, std::string_view bytes,
                                     const ReadOptions& options = {});

}  // namespace pleat

#pragma GCC visibility pop
