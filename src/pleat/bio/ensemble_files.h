// Ensemble files: files, folders and lists of files to one sequence of files.
#pragma once

#include <string>
#include <vector>

namespace pleat {

/// Replaces each folder by its coordinate files (.pdb, .ent, .cif, .mmcif, .dcd, .xtc, .trr, .nc,
/// .ncdf, .npy, each also with .gz, .zst or .zstd; no hidden ones, no folders within), in the order
/// of their names with numbers as numbers (2 before 10), and each @LIST by the paths that the file
/// LIST holds, one a line, # before comments. InputError for a folder without such files.
std::vector<std::string> ensemble_files(const std::vector<std::string>& sources);

}  // namespace pleat
