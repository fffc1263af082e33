// Replacement: a finished forced run takes the place of what its folder held before.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/run/folder_claim.h"

namespace pleat {

// Names of the files in every run's folder.
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kLogFile = "log.txt";
inline constexpr const char* kBibliographyFile = "cite.bib";

/// What a run made in its folder, from its manifest and its lock file's list.
struct RunFiles {
    std::set<std::string> names;   ///< of files: outputs, checkpoints, manifest, log, citations
    std::set<std::string> stages;  ///< names of folders within that are runs of their own

    /// Whether the run made this file: one of the names, a file of a rank beside a checkpoint, or
    /// one of these that is not complete.
    bool contains(const std::string& file) const;
};
/// The names are empty if the manifest is not pleat's and the lock file lists nothing.
RunFiles files_of_run(const std::filesystem::path& folder);

/// Throws UsageError if a run that replaces the one in `folder` would remove its own input.
void refuse_replaced_input(const std::filesystem::path& folder, const std::filesystem::path& input);

/// Removes what a run made in this folder, the manifest last, and the folder if nothing else is in
/// it. A kill in between leaves a folder for which a second call does the rest.
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

/// Puts the finished run of `forced`, a claim of forced_folder(), where `run` is. The user's own
/// files and folders stay.
///
/// The two folders exchange their paths in one step of the file system, so that `run` holds either
/// the earlier run or the new one, whole, at any moment. Where this is not possible (another file
/// system, a mount point, a parent folder that may not be written, the working folder of this
/// process) the earlier manifest and files are removed, the new files are moved, and the new
/// manifest is moved last. What a kill interrupts, finish_replacement() completes. Throws
/// OutputError if the new files cannot be moved.
void replace_run(FolderClaim& run, FolderClaim& forced);

/// Completes what a killed process was doing in this folder after its run had finished: the
/// replacement of an earlier run, and the removal of checkpoints.
void finish_replacement(FolderClaim& run);

}  // namespace pleat
