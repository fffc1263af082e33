// Run folder: a finished run as the report sees it, a manifest and files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/report/packed.h"

namespace pleat::report {

/// A folder with a manifest. Which command wrote it is not asked: files are drawn by what they
/// hold.
class RunFolder {
public:
    /// InputError where the folder is none, or holds no manifest of pleat's.
    explicit RunFolder(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    /// The folder's own name.
    std::string name() const;
    const Json& manifest() const { return manifest_; }
    /// A parameter as text; empty where there is none or it is no text.
    std::string parameter(std::string_view name) const;
    /// The names of its files, in the order of the manifest, then of the alphabet.
    const std::vector<std::string>& files() const { return files_; }
    bool has(std::string_view file) const;
    std::filesystem::path file(std::string_view name) const { return path_ / name; }
    /// The files that the manifest lists as inputs, by their paths.
    const Json& inputs() const;

private:
    std::filesystem::path path_;
    Json manifest_;
    std::vector<std::string> files_;
};

}  // namespace pleat::report
