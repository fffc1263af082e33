// Folder claim: making and locking a folder, undoing both, and a forced run taking the place of
// another.
#pragma once

#include <filesystem>
#include <set>
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
    bool open_lock_file();
    bool lock_open_file();
    void unlock();
    std::filesystem::path path_;
    const bool is_shared_;
    bool was_free_ = true;
    std::vector<std::filesystem::path> created_;  ///< the innermost last
    int descriptor_ = -1;
};

inline constexpr std::string_view kLockFile = ".pleat-lock";

/// Removes a file or empty folder; returns whether it was there and could be removed.
bool remove_quietly(const std::filesystem::path& file);

/// Whether an entry of a run's folder is neither a result nor a user's file: it begins with
/// ".pleat-".
bool is_hidden_name(std::string_view name);

/// The files that the lock file of this folder lists; empty if there is no lock file.
std::vector<std::string> read_notes(const std::filesystem::path& folder);

// Names of the files in every run's folder.
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kLogFile = "log.txt";
inline constexpr const char* kBibliographyFile = "cite.bib";

/// The files that a run made in its folder, from its manifest and its lock file's list.
struct RunFiles {
    std::set<std::string> names;   ///< of files: outputs, checkpoints, manifest, log, citations
    std::set<std::string> stages;  ///< names of folders within that are runs of their own

    /// Whether the run made this file: a listed name, a rank's file beside a checkpoint, or an
    /// incomplete version of one of these.
    bool contains(const std::string& file) const;
};
/// The names are empty if the manifest is not pleat's and the lock file lists nothing.
RunFiles files_of_run(const std::filesystem::path& folder);

/// Throws UsageError if a run that replaces the one in `folder` would remove its own input.
void refuse_replaced_input(const std::filesystem::path& folder, const std::filesystem::path& input);

/// Removes the files of a run in this folder, the manifest last, and then the folder if it is
/// empty. After a kill, a second call completes the removal.
void remove_run(const std::filesystem::path& folder);

/// The hidden folder, inside the run's folder, in which a forced run works until it has finished.
std::filesystem::path forced_folder(const std::filesystem::path& run);

/// A line for the lock file by which resumes_forced_run() sees that an input has changed. An empty
/// path is an input that cannot be read twice.
std::string input_note(const std::filesystem::path& input);

/// Whether this command resumes the forced run that stopped in `run`: the same command line, and
/// with
/// --force inputs that have not changed. (Without --force the saved state is compared instead.)
bool resumes_forced_run(const std::filesystem::path& run, std::string_view command,
                        const std::vector<std::string>& arguments, bool force);

/// Replaces the run in `run` by the finished run of `forced`, a claim of forced_folder(). The
/// user's own files and folders stay.
///
/// The two folders exchange their paths in one step of the file system, so that `run` holds either
/// the earlier run or the new one, whole, at any moment. Where this is not possible (another file
/// system, a mount point, a parent folder that may not be written, the working folder of this
/// process) the earlier manifest and files are removed, the new files are moved, and the new
/// manifest is moved last. What a kill interrupts, finish_replacement() completes. Throws
/// OutputError if the new files cannot be moved.
void replace_run(FolderClaim& run, FolderClaim& forced);

/// Completes work that a kill interrupted after a run had finished: the replacement of an earlier
/// run, and the removal of checkpoints.
void finish_replacement(FolderClaim& run);

}  // namespace pleat
