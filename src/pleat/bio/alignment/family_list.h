// Family list: many alignments at once, by their files, each under a name of its own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// One alignment file among several.
struct Family {
    std::string path;  ///< as given
    std::string name;  ///< family_name() of it, different for each
};

/// The file's name without its folder, the ending of a packed file (.gz, .zst, .zstd) and one of an
/// alignment (.fasta, .fa, .fas, .afa, .a2m, .a3m, .sto, .stk, .stockholm, .aln, .clustal, .clu,
/// .psicov, .msa, .txt), in any case of letters. Other endings stay.
std::string family_name(const std::filesystem::path& file);

/// The paths that a text lists, one a line; blank lines and lines that begin with # are passed
/// over, and so is white space around a path. InputError, with `name` for the text, where it lists
/// none.
std::vector<std::string> parse_path_list(std::string_view name, std::string_view text);

/// Names all files, in the order given. UsageError where two have the same name, or one has a name
/// that no folder can have.
std::vector<Family> name_families(const std::vector<std::string>& paths);

}  // namespace pleat
