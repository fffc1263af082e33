// Folder listing: names of coordinate files, and their order.
#include "pleat/bio/ensemble/folder_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "pleat/core/error.h"

namespace pleat {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the front, without leading zeros.
std::string_view take_digits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
}

/// The file's name without its folder and the ending of its compression.
fs::path unpacked_name(const fs::path& path) {
    static const std::set<std::string> kPacked = {".gz", ".zst", ".zstd"};
    const fs::path name = path.filename();
    return kPacked.count(name.extension().string()) > 0 ? name.stem() : name;
}

bool names_coordinates(const fs::path& path) {
    static const std::set<std::string> kEndings = {".pdb", ".ent", ".cif",  ".mmcif", ".gro",
                                                   ".sdf", ".mol", ".mol2", ".xyz",   ".dcd",
                                                   ".xtc", ".trr", ".nc",   ".ncdf",  ".npy"};
    if (path.filename().string().front() == '.') return false;
    std::string ending = unpacked_name(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return kEndings.count(ending) > 0;
}

}  // namespace

bool comes_before(const std::string& left, const std::string& right) {
    std::string_view a = left, b = right;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view m = take_digits(a), n = take_digits(b);
            if (m.size() != n.size()) return m.size() < n.size();
            if (m != n) return m < n;
        } else if (a.front() != b.front()) {
            return a.front() < b.front();
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) return a.empty();
    return left < right;
}

std::string name_without_endings(const fs::path& path) {
    return unpacked_name(path).stem().string();
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
    std::error_code problem;
    std::vector<fs::directory_entry> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
        entries.push_back(entry);
    if (problem)
        throw InputError(folder.string(), 0,
                         fmt::format("expected a readable folder, found: {}", problem.message()));
    return entries;
}

std::vector<std::string> coordinate_files(const fs::path& folder) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : entries_of(folder))
        if (names_coordinates(entry.path()) && entry.is_regular_file())
            files.push_back(entry.path().string());
    std::sort(files.begin(), files.end(), comes_before);
    return files;
}

}  // namespace pleat
