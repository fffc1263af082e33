// Family list: lines to paths, and paths to names.
#include "pleat/bio/alignment/family_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

/// Cuts off the ending where it is one of these and leaves something.
void cut_ending(std::string& name, std::initializer_list<std::string_view> endings) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0) return;
    std::string ending = name.substr(dot + 1);
    const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
    std::transform(ending.begin(), ending.end(), ending.begin(), lower);
    if (std::find(endings.begin(), endings.end(), ending) != endings.end()) name.resize(dot);
}

}  // namespace

std::string family_name(const std::filesystem::path& file) {
    std::string name = file.filename().string();
    cut_ending(name, {"gz", "zst", "zstd"});
    cut_ending(name, {"fasta", "fa", "fas", "afa", "a2m", "a3m", "sto", "stk", "stockholm", "aln",
                      "clustal", "clu", "psicov", "msa", "txt"});
    return name;
}

std::vector<std::string> parse_path_list(std::string_view name, std::string_view text) {
    std::vector<std::string> paths;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = line.find_first_not_of(kSpace);
        if (first == std::string_view::npos || line[first] == '#') continue;
        line = line.substr(first, line.find_last_not_of(kSpace) - first + 1);
        if (line.find('\0') != std::string_view::npos)
            throw InputError(fmt::format("{}: expected a path a line, found zero bytes", name));
        constexpr std::size_t kMaxPaths = 1'000'000;
        if (paths.size() == kMaxPaths)
            throw InputError(
                fmt::format("{}: expected at most {} paths, found more", name, kMaxPaths));
        paths.emplace_back(line);
    }
    if (paths.empty())
        throw InputError(fmt::format("{}: expected a path a line, found none", name));
    return paths;
}

std::vector<Family> name_families(const std::vector<std::string>& paths) {
    std::vector<Family> families;
    std::map<std::string, std::string> path_of;
    for (const std::string& path : paths) {
        const std::string name = family_name(path);
        if (name.empty() || name == "." || name == "..")
            throw UsageError(fmt::format("expected an alignment's file, found '{}'", path));
        const auto [same, is_new] = path_of.emplace(name, path);
        if (!is_new) {
            throw UsageError(
                fmt::format("expected families of different names, found '{}' and '{}', "
                            "which are both '{}'; rename one or leave it out",
                            same->second, path, name));
        }
        families.push_back({path, name});
    }
    return families;
}

}  // namespace pleat
