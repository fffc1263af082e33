// Reading alignments: any supported format, detected from the content, into codes of an alphabet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat {

/// How insertions are treated: columns that the RF line of Stockholm leaves out; without that line
/// lower case and '.', as A2M writes them. automatic: dropped if the format or the rows say so, see
/// README.md. keep: every column counts, which needs rows of one length.
enum class Insertions { automatic, drop, keep };
std::span<const std::string_view> names_of(Insertions);

struct ReadOptions {
    std::string format = {};    ///< one of `alignment_formats()`; empty: detected from the content
    std::string alphabet = {};  ///< protein, rna, dna; empty: detected from the letters
    bool keep_unknown = false;  ///< letters that name no single residue get a code of their own
    bool keep_full_rows = false;  ///< fills Alignment::full_rows
    Insertions insertions = Insertions::automatic;
    /// Which alignment of a file of several (Stockholm, PHYLIP, records of MMseqs2), from 1; not
    /// set: the first, with a note.
    std::optional<std::int64_t> record = {};
    /// Maximum bytes of text (after decompression), and of memory for its rows.
    Index max_bytes = Index{4} << 30;
    /// Rows that take more memory are first checked to the end of the file, and then read again;
    /// from a pipe, a device or standard input they are refused.
    Index max_kept_bytes = Index{128} << 20;
};

/// How a file is read, as options: format, alphabet, insertions, record.
std::vector<Field> fields(ReadOptions& options);

/// "fasta", "a2m", "a3m", "stockholm", "clustal", "psicov", "phylip".
const std::vector<std::string>& alignment_formats();

/// Reads an alignment of at least 2 sequences and 2 columns, plain, gzip or Zstandard; "-" reads
/// standard input. README.md of this folder has the rules (formats, letters, alphabets). Throws
/// InputError (`file:line: expected X, found Y`, up to ten such lines) when the content is not such
/// an alignment, UsageError when an option names an unknown format or alphabet.
Alignment read_alignment(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory; errors call the file `name`, which also becomes `source`.
Alignment read_alignment_from_memory(const std::string& name, std::string_view bytes,
                                     const ReadOptions& options = {});

}  // namespace pleat

#pragma GCC visibility pop
