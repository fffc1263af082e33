// Ensemble files: looking into folders and lists.
#include "pleat/bio/ensemble/ensemble_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/line_list.h"
#include "pleat/core/files/read_file.h"

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

/// By name, with runs of digits compared as numbers.
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

bool names_coordinates(const fs::path& path) {
    static const std::set<std::string> kPacked = {".gz", ".zst", ".zstd"};
    static const std::set<std::string> kEndings = {".pdb",  ".ent", ".cif", ".mmcif",
                                                   ".dcd",  ".xtc", ".trr", ".nc",
                                                   ".ncdf", ".npy", ".sdf", ".mol"};
    fs::path name = path.filename();
    if (name.string().front() == '.') return false;
    if (kPacked.count(name.extension().string()) > 0) name = name.stem();
    std::string ending = name.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return kEndings.count(ending) > 0;
}

std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> files;
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        if (entry.is_regular_file() && names_coordinates(entry.path())) {
            files.push_back(entry.path().string());
        }
    }
    if (problem) {
        throw InputError(folder.string(), 0,
                         fmt::format("expected a readable folder, found: {}", problem.message()));
    }
    if (files.empty()) {
        throw InputError(folder.string(), 0,
                         "expected a folder with coordinate files (.pdb, .cif, .dcd, .xtc, ...), "
                         "found none");
    }
    std::sort(files.begin(), files.end(), comes_before);
    return files;
}

bool is_list(const std::string& source) { return source.size() > 1 && source.front() == '@'; }

}  // namespace

std::vector<std::string> ensemble_files(const std::vector<std::string>& sources) {
    std::vector<std::string> files;
    for (const std::string& source : sources) {
        if (is_list(source)) {
            const std::string list = source.substr(1);
            const std::vector<std::uint8_t> text = read_file(list, kMaxListBytes);
            const auto paths = parse_path_list(
                list, std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
            files.insert(files.end(), paths.begin(), paths.end());
        } else if (source != "-" && is_folder(source)) {
            const auto found = files_in(source);
            files.insert(files.end(), found.begin(), found.end());
        } else {
            files.push_back(source);
        }
    }
    if (files.empty()) throw UsageError("expected files of coordinates, found none");
    return files;
}

void check_ensemble_files(const std::vector<std::string>& sources) {
    for (const std::string& source : sources)
        if (!is_list(source) || !is_read_once(source.substr(1)))
            check_readable(ensemble_files({source}));
}

void refuse_ensemble_pipes(const std::vector<std::string>& sources, std::string_view reason) {
    for (const std::string& source : sources) {
        refuse_pipes({is_list(source) ? source.substr(1) : source}, reason);
        if (is_list(source)) refuse_pipes(ensemble_files({source}), reason);
    }
}

}  // namespace pleat
