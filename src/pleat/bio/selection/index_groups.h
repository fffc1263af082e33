// Index groups: atoms by the groups of a GROMACS index file, as in index.ndx:Protein.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/view.h"

namespace pleat::selection {

/// FILE.ndx of a word of a selection that is FILE.ndx or FILE.ndx:GROUP; empty for others.
std::string index_file(std::string_view word);
/// The index files of all words of a selection.
std::vector<std::string> index_files(std::string_view text);

/// The atoms of the group, from 0, ascending and each once; of a file with one group its name may
/// be left out. Throws InputError if the file is no index file, has no such group or several of
/// its name with other atoms, or if the group is empty or has atoms from `atom_count` on.
std::vector<Index> read_index_group(std::string_view text, Index atom_count);
std::vector<Index> read_index_group(ByteSource& source, std::optional<std::string_view> name,
                                    Index atom_count);

}  // namespace pleat::selection
