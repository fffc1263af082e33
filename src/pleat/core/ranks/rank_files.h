// Rank files: one file a rank beside a checkpoint's name, found again whoever wrote them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace pleat {

/// "run/checkpoint.npz" and 3 give "run/checkpoint.rank3.npz".
std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank);

/// Whether "checkpoint.rank3.npz" is the name of a rank file of "checkpoint.npz".
bool is_rank_file(std::string_view name, const std::filesystem::path& checkpoint);

/// The rank files of a checkpoint that exist, of whatever rank, and `suffix` behind their names, in
/// the order of names.
std::vector<std::filesystem::path> rank_files(const std::filesystem::path& checkpoint,
                                              std::string_view suffix = {});

}  // namespace pleat
