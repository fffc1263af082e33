// Run folder: the manifest and the files of a run.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/report/matrix_data.h"

namespace pleat::report {

/// The last component of a path.
std::string folder_name(const std::filesystem::path& path);

/// A folder with a manifest. Files are drawn by their content, whichever command wrote them.
class RunFolder {
public:
    /// Throws InputError if the path is not a folder with a manifest written by pleat.
    explicit RunFolder(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return folder_name(path_); }
    const Json& manifest() const { return manifest_; }
    /// A parameter as text; empty if there is none.
    std::string parameter(std::string_view name) const;
    /// The names of its files: those in the manifest in their order, then the others by name.
    const std::vector<std::string>& files() const { return files_; }
    bool has(std::string_view file) const;
    std::filesystem::path file(std::string_view name) const { return path_ / name; }
    /// The inputs that the manifest lists.
    const Json& inputs() const;

private:
    std::filesystem::path path_;
    Json manifest_;
    std::vector<std::string> files_;
};

}  // namespace pleat::report
