// Sequence file: sequences in FASTA, A2M or A3M, and their letters in the columns of a model.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/notes.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

/// Records of a FASTA file, aligned or not.
struct SequenceFile {
    std::string source;
    std::vector<std::string> names;
    std::vector<std::string> rows;  ///< letters and gaps as written
    std::vector<Index> lines;       ///< of the names
    Notes notes = {};
};

/// Reads FASTA, A2M or A3M, plain or compressed; "-" reads standard input. Throws InputError.
SequenceFile read_sequences(const std::filesystem::path& path);
SequenceFile parse_sequences(const std::string& name, std::string_view bytes);

}  // namespace pleat::mutants

#pragma GCC visibility pop
