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

/// How insertions are treated. They are columns that the RF line of Stockholm leaves out; without
/// an RF line, lower case and '.' as in A2M. automatic: dropped if the format or the rows indicate
/// them, see README.md. keep: every column counts; all rows must have the same length.
enum class Insertions { automatic, drop, keep };
std::span<const std::string_view> names_of(Insertions);

struct ReadOptions {
    std::string format = {};    ///< one of `alignment_formats()`; empty: detected from the content
    std::string alphabet = {};  ///< protein, rna, dna; empty: detected from the letters
    bool keep_unknown = false;  ///< letters that name no single residue get a code of their own
    bool keep_full_rows = false;  ///< fills Alignment::full_rows
    Insertions insertions = Insertions::automatic;
    /// Number, from 1, of the alignment to read from a file with several (Stockholm, PHYLIP,
    /// records of MMseqs2); not set: the first, with a note.
    std::optional<std::int64_t> record = {};
    /// Maximum bytes of the decompressed text, and of memory for its rows.
    Index max_bytes = Index{4} << 30;
    /// If rows need more memory, the file is checked to its end and then read again; pipes, devices
    /// and standard input are refused.
    Index max_kept_bytes = Index{128} << 20;
};

/// The options for reading: format, alphabet, insertions, record.
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
