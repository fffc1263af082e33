// Folder claim: making a folder with its parents, locking it, and undoing both.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pleat {

/// Owns a folder for one process: creates it and missing parents, and locks it against other runs.
/// The lock is on a file in the folder, open for writing, because a folder that is open for reading
/// locks nothing on NFS. That file also lists what the owner makes in the folder, so that the next
/// owner knows it after a kill.
class FolderClaim {
public:
    /// `is_shared`: other processes may have the folder at the same time if they share it, too.
    /// Throws OutputError if the folder cannot be made; UsageError if it is a file or in use.
    explicit FolderClaim(const std::filesystem::path& path, bool is_shared = false);
    /// Unlocks, and removes the lock file unless it lists something.
    ~FolderClaim();
    FolderClaim(const FolderClaim&) = delete;
    FolderClaim& operator=(const FolderClaim&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Whether no other process had the folder when this one claimed it.
    bool was_free() const { return was_free_; }
    /// Whether the folder contains only entries that runs make (is_hidden_name(), and files that a
    /// killed process did not complete).
    bool is_empty() const;
    /// Adds a name to the list in the lock file. Throws OutputError.
    void note(std::string_view name);
    /// Empties the list.
    void clear_notes();
    /// Unlocks and removes the folders that the claim created if they are empty.
    void remove_created();
    /// Exchanges the locks of two claims whose folders have exchanged their paths.
    void swap_locks(FolderClaim& other) { std::swap(descriptor_, other.descriptor_); }

private:
    void create();
    bool create_missing();
    void lock();
    bool open_lock_file();
    bool lock_open_file();
    void unlock();
    std::filesystem::path path_;
    const bool is_shared_;
    bool was_free_ = true;
    std::vector<std::filesystem::path> created_;  ///< the innermost last
    int descriptor_ = -1;
};

/// Name of the lock file.
inline constexpr std::string_view kLockFile = ".pleat-lock";

/// Whether an entry of a run's folder is neither a result nor a user's file: it begins with
/// ".pleat-".
bool is_hidden_name(std::string_view name);

/// The files that the lock file of this folder lists; empty if there is no lock file.
std::vector<std::string> read_notes(const std::filesystem::path& folder);

}  // namespace pleat
