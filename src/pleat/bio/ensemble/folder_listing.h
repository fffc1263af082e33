// Folder listing: the coordinate files of a folder by their names, in the order people expect.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pleat {

/// Whether a name comes before another one, with runs of digits compared as numbers: 2 before 10.
bool comes_before(const std::string& left, const std::string& right);

/// The file's name without its folder, its ending and that of its compression: "a" of "x/a.pdb.gz".
std::string name_without_endings(const std::filesystem::path& path);

/// What is in a folder. Throws InputError if it cannot be read.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder);

/// The coordinate files of a folder (see ensemble_files.h), sorted by their names.
std::vector<std::string> coordinate_files(const std::filesystem::path& folder);

}  // namespace pleat
