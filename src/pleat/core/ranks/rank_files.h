// Rank files: one file per rank, named after a checkpoint.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace pleat {

/// "run/checkpoint.npz" and 3 give "run/checkpoint.rank3.npz".
std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank);

/// Whether "checkpoint.rank3.npz" is the name of a rank file of "checkpoint.npz".
bool is_rank_file(std::string_view name, const std::filesystem::path& checkpoint);

/// The existing rank files of a checkpoint, of all ranks, sorted by name. `suffix`: what follows
/// their names.
std::vector<std::filesystem::path> rank_files(const std::filesystem::path& checkpoint,
                                              std::string_view suffix = {});

}  // namespace pleat
