// Rank files: making and recognising their names.
#include "pleat/core/ranks/rank_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace pleat {

namespace {

std::string opening(const std::filesystem::path& checkpoint) {
    return checkpoint.stem().string() + ".rank";
}

bool is_rank_file(std::string_view name, std::string_view before, std::string_view behind) {
    if (!name.starts_with(before)) return false;
    name.remove_prefix(before.size());
    if (!name.ends_with(behind)) return false;
    name.remove_suffix(behind.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && std::ranges::all_of(name, is_digit);
}

}  // namespace

std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank) {
    const std::string ending = checkpoint.extension().string();
    return checkpoint.parent_path() / fmt::format("{}{}{}", opening(checkpoint), rank, ending);
}

bool is_rank_file(std::string_view name, const std::filesystem::path& checkpoint) {
    return is_rank_file(name, opening(checkpoint), checkpoint.extension().string());
}

std::vector<std::filesystem::path> rank_files(const std::filesystem::path& checkpoint,
                                              std::string_view suffix) {
    const std::filesystem::path folder = checkpoint.parent_path();
    const std::string before = opening(checkpoint);
    const std::string behind = checkpoint.extension().string() + std::string(suffix);
    std::vector<std::filesystem::path> found;
    std::error_code absent;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.empty() ? "." : folder, absent))
        if (is_rank_file(entry.path().filename().string(), before, behind))
            found.push_back(folder / entry.path().filename());
    std::ranges::sort(found);
    return found;
}

}  // namespace pleat
