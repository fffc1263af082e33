// Folder claim: making a folder with its parents, locking it, and undoing both.
#pragma once

#include <filesystem>
#include <vector>

namespace pleat {

/// Owns a folder for one process: creates it and missing parents, and locks it against other runs.
/// OutputError when it cannot be made; UsageError when it is a file or in use.
class FolderClaim {
public:
    explicit FolderClaim(const std::filesystem::path& path);
    ~FolderClaim();
    FolderClaim(const FolderClaim&) = delete;
    FolderClaim& operator=(const FolderClaim&) = delete;

    const std::filesystem::path& path() const { return path_; }
    bool is_empty() const;
    /// Removes the folders that the claim created, where they are empty.
    void remove_created();

private:
    void create();
    void lock();
    std::filesystem::path path_;
    std::vector<std::filesystem::path> created_;  ///< the innermost last
    int descriptor_ = -1;
};

}  // namespace pleat
