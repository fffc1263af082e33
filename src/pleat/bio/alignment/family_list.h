// Family list: many alignment files with a unique name for each.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// One alignment file among several.
struct Family {
    std::string path;  ///< as given
    std::string name;  ///< family_name() of the path, unique
};

/// The file's name without its folder, the ending of a packed file (.gz, .zst, .zstd) and one of an
/// alignment (.fasta, .fa, .fas, .afa, .a2m, .a3m, .sto, .stk, .stockholm, .aln, .clustal, .clu,
/// .psicov, .msa, .txt), in any case of letters. Other endings stay.
std::string family_name(const std::filesystem::path& file);

/// The paths that a text lists, one per line. Blank lines, lines that begin with #, and white space
/// around a path are ignored. Throws InputError, which calls the text `name`, if it lists no path.
std::vector<std::string> parse_path_list(std::string_view name, std::string_view text);

/// Names all files, in the order given. Throws UsageError if two have the same name, or if a name
/// cannot be the name of a folder.
std::vector<Family> name_families(const std::vector<std::string>& paths);

}  // namespace pleat
