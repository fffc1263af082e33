// Folder claim: mkdir, flock and rmdir; exchanging two folders, or moving files where they cannot
// be exchanged.
#include "pleat/core/run/folder_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/system.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/version.h"

namespace pleat {

namespace {

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
    const std::filesystem::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

bool remove_quietly(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::remove(file, ignored);
}

FolderClaim::FolderClaim(const std::filesystem::path& path, bool is_shared)
    : path_(without_trailing_slash(path)), is_shared_(is_shared) {
    if (path_.empty()) throw UsageError("expected a folder for the results, found an empty name");
    try {
        create();
        while (!open_lock_file()) {
        }
    } catch (...) {
        remove_created();
        throw;
    }
}

FolderClaim::~FolderClaim() { unlock(); }

/// Creates the folder and its missing parents; false, with errno, if one cannot be created.
bool FolderClaim::create_missing() {
    std::vector<std::filesystem::path> missing;
    std::filesystem::path at = path_;
    std::error_code unreadable;
    while (!at.empty() && !std::filesystem::exists(at, unreadable)) {
        missing.push_back(at);
        at = at.parent_path();
    }
    for (; !missing.empty(); missing.pop_back()) {
        // Another run may make a common parent at the same time.
        if (::mkdir(missing.back().c_str(), 0777) == 0)
            created_.push_back(missing.back());
        else if (errno != EEXIST)
            return false;
    }
    return true;
}

void FolderClaim::create() {
    std::error_code
        unreadable;  // a folder that cannot be looked into fails in mkdir, with the reason
    // A run that failed may remove a common parent between two calls of mkdir.
    constexpr int kAttempts = 100;
    int attempt = 0;
    while (!create_missing()) {
        if (errno != ENOENT || ++attempt == kAttempts)
            throw OutputError(
                fmt::format("{}: cannot be created: {}", path_.string(), std::strerror(errno)));
    }
    const std::filesystem::file_type found = std::filesystem::status(path_, unreadable).type();
    if (found == std::filesystem::file_type::none)
        throw OutputError(
            fmt::format("{}: cannot be opened: {}", path_.string(), unreadable.message()));
    if (found != std::filesystem::file_type::directory)
        throw UsageError(
            fmt::format("{}: expected a folder for the results, found a file", path_.string()));
}

/// Returns false if another process holds the folder. If a file system refuses to lock for other
/// reasons, the claim is only a folder.
bool FolderClaim::lock_open_file() {
    // A process that shares the folder first tries an exclusive lock for a moment, to learn whether
    // it is the first.
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        was_free_ = lock_file(descriptor_, LOCK_EX | LOCK_NB);
        if (!is_shared_) return was_free_;
        if (lock_file(descriptor_, LOCK_SH | LOCK_NB)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

/// False if another process removed the file between opening and locking it.
bool FolderClaim::open_lock_file() {
    const std::filesystem::path file = path_ / kLockFile;
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
        throw OutputError(
            fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
    if (!lock_open_file()) {
        ::close(std::exchange(descriptor_, -1));
        throw UsageError(
            fmt::format("{}: another run is writing here; wait for its end or choose "
                        "another folder",
                        path_.string()));
    }
    if (is_open_file(descriptor_, file)) return true;
    ::close(std::exchange(descriptor_, -1));
    return false;
}

void FolderClaim::unlock() {
    if (descriptor_ < 0) return;
    const std::filesystem::path file = path_ / kLockFile;
    struct stat info {};
    // Removed while it is locked, so that a process that has opened it can see that it is gone.
    // Other processes that share the folder keep the file.
    const bool is_last = !is_shared_ || lock_file(descriptor_, LOCK_EX | LOCK_NB);
    if (is_last && ::fstat(descriptor_, &info) == 0 && info.st_size == 0 &&
        is_open_file(descriptor_, file))
        ::unlink(file.c_str());
    ::close(std::exchange(descriptor_, -1));
}

bool FolderClaim::is_empty() const {
    const std::filesystem::directory_iterator entries(path_);
    return std::none_of(begin(entries), end(entries), [](const auto& entry) {
        const std::string name = entry.path().filename().string();
        return !is_hidden_name(name) && complete_name(name).empty();
    });
}

void FolderClaim::note(std::string_view name) {
    const std::string line = fmt::format("{}\n", name);
    if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw OutputError(fmt::format("{}: writing failed: {}", (path_ / kLockFile).string(),
                                      std::strerror(errno)));
}

void FolderClaim::clear_notes() { (void)!::ftruncate(descriptor_, 0); }

void FolderClaim::remove_created() {
    unlock();
    for (; !created_.empty(); created_.pop_back())
        if (::rmdir(created_.back().c_str()) != 0) return;
}

bool is_hidden_name(std::string_view name) { return name.starts_with(".pleat-"); }

std::vector<std::string> read_notes(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    if (!std::filesystem::is_regular_file(folder / kLockFile, none)) return names;
    const std::vector<std::uint8_t> bytes = read_file(folder / kLockFile);
    std::istringstream lines({bytes.begin(), bytes.end()});
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) names.push_back(line);
    return names;
}

namespace {

using std::filesystem::path;

/// Name of the earlier manifest during a file-by-file replacement, until the earlier files are
/// removed.
constexpr const char* kEarlierManifest = ".pleat-earlier.json";
/// Marker file in the forced folder: its files are being moved one by one.
constexpr const char* kIsMoving = ".pleat-moving";
/// Entry in the lock file of the earlier run: its folder is about to be exchanged.
constexpr std::string_view kIsReplaced = "/replaced";
/// Followed by an input's size, time and path. Like the line above, it is not a file name.
constexpr std::string_view kInputNote = "/input ";

bool is_there(const path& file) {
    std::error_code none;
    return std::filesystem::symlink_status(file, none).type() !=
           std::filesystem::file_type::not_found;
}

bool is_own_folder(const path& file) {
    std::error_code none;
    return std::filesystem::symlink_status(file, none).type() ==
           std::filesystem::file_type::directory;
}

std::vector<std::string> entries_of(const path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        names.push_back(entry.path().filename().string());
    return names;
}

void move(const path& from, const path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0)
        throw OutputError(fmt::format("{}: cannot be moved to {}: {}", from.string(), to.string(),
                                      std::strerror(errno)));
}

RunFiles files_of_manifest(const path& manifest) {
    const EarlierRun run = read_earlier_run(manifest);
    RunFiles files{{run.outputs.begin(), run.outputs.end()},
                   {run.stages.begin(), run.stages.end()}};
    if (run.is_ours) files.names.insert({kManifestFile, kLogFile, kBibliographyFile});
    return files;
}

std::vector<std::string> without_force(std::vector<std::string> arguments) {
    std::erase_if(arguments, [](const std::string& a) { return a == "-f" || a == "--force"; });
    return arguments;
}

/// Whether the inputs of the run in this folder are as it found them; false if one is no file.
bool has_same_inputs(const path& folder) {
    const std::vector<std::string> notes = read_notes(folder);
    return std::ranges::all_of(notes, [](const std::string& note) {
        if (!note.starts_with(kInputNote)) return true;
        const std::size_t space = note.find(' ', note.find(' ', kInputNote.size()) + 1);
        const path input = note.substr(space + 1);
        return !input.empty() && input_note(input) == note;
    });
}

/// The temporary name next to the run's folder, used to exchange the two folders.
path beside(const path& run) {
    return run.parent_path() / fmt::format(".{}.pleat-replaced", run.filename().string());
}

bool is_within(const path& inner, const path& outer) {
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
}

/// Moves a user's file to the new folder, unless that has one which is at least as new.
void keep_file(const path& from, const path& to) {
    std::error_code none;
    const bool is_newer = !is_there(to) || std::filesystem::last_write_time(from, none) >
                                               std::filesystem::last_write_time(to, none);
    // rename() does nothing if both names are links to the same file, so the old name is removed.
    if (!is_newer || ::rename(from.c_str(), to.c_str()) == 0) remove_quietly(from);
}

/// Removes the files of the run in `from`, and moves all others to `to`, the new run's folder.
void clear_replaced(const path& from, const path& to) {
    const RunFiles own = files_of_run(from), now = files_of_run(to);
    std::error_code ignored;
    for (const std::string& name : entries_of(from)) {
        if (name == kManifestFile || name == kLockFile) continue;
        const bool is_made = own.contains(name) || now.contains(name) || is_hidden_name(name);
        if (!is_own_folder(from / name)) {
            if (is_made)
                remove_quietly(from / name);
            else
                keep_file(from / name, to / name);
        } else if (is_hidden_name(name)) {
            std::filesystem::remove_all(from / name, ignored);
        } else if (own.stages.contains(name) || is_own_folder(to / name)) {
            clear_replaced(from / name, to / name);
        } else if (!is_there(to / name)) {
            std::filesystem::create_directories(to, ignored);
            ::rename((from / name).c_str(), (to / name).c_str());
        }
    }
    // These files list what the run made, so they are removed last.
    remove_quietly(from / kManifestFile);
    remove_quietly(from / kLockFile);
    remove_quietly(from);
}

/// Hard-links the user's files into the new folder, so that both folders have them while their
/// paths are exchanged. Files that cannot be linked are moved afterwards.
void link_other_files(const path& run, const path& forced) {
    const RunFiles own = files_of_run(run), now = files_of_run(forced);
    for (const std::string& name : entries_of(run)) {
        if (is_hidden_name(name) || own.contains(name) || now.contains(name)) continue;
        if (is_own_folder(run / name)) continue;
        remove_quietly(forced / name);  // a link that a killed process made
        (void)!::link((run / name).c_str(), (forced / name).c_str());
    }
    struct stat info {};
    if (::stat(run.c_str(), &info) != 0) return;
    (void)!::chown(forced.c_str(), info.st_uid, info.st_gid);
    (void)!::chmod(forced.c_str(), info.st_mode & 07777);
}

/// Exchanges the paths of the two folders; false if this is not possible here.
bool exchange(const path& forced, const path& run, FolderClaim& claim) {
    std::error_code none;
    const path working = std::filesystem::current_path(none);
    // A process working in a replaced folder would be left in a removed folder.
    if (is_there(forced / kIsMoving) || is_within(working, run)) return false;
    link_other_files(run, forced);
    const path other = beside(run);
    claim.note(kIsReplaced);
    if (::rename(forced.c_str(), other.c_str()) != 0) return false;
    flush_folder(run.parent_path());
    if (!system::exchange_paths(other, run)) {
        move(other, forced);
        return false;
    }
    flush_folder(run.parent_path());
    return true;
}

/// The first half of move_run(): removes the earlier manifest and the files that it lists.
void remove_earlier(const path& from, const path& to) {
    if (is_there(to / kManifestFile) && !is_there(from / kEarlierManifest))
        move(to / kManifestFile, from / kEarlierManifest);
    if (!is_there(from / kEarlierManifest)) return;
    RunFiles earlier = files_of_run(to);
    const RunFiles listed = files_of_manifest(from / kEarlierManifest);
    earlier.names.insert(listed.names.begin(), listed.names.end());
    for (const std::string& name : entries_of(to))
        if (!is_hidden_name(name) && earlier.contains(name)) remove_quietly(to / name);
    for (const std::string& stage : listed.stages)
        if (!is_there(from / stage)) remove_run(to / stage);
    remove_quietly(from / kEarlierManifest);
}

/// Moves a finished run file by file to a folder with an earlier run. The earlier manifest is
/// removed first and the new one moved last, so no manifest ever lists files of another run. After
/// a kill, a second call completes the move.
void move_run(const path& from, const path& to) {
    if (is_there(from / kManifestFile)) {
        remove_earlier(from, to);
        const RunFiles made = files_of_manifest(from / kManifestFile);
        for (const std::string& name : entries_of(from)) {
            if (made.stages.contains(name) && is_there(to / name))
                move_run(from / name, to / name);
            else if (made.stages.contains(name) ||
                     (made.names.contains(name) && name != kManifestFile))
                move(from / name, to / name);
        }
        move(from / kManifestFile, to / kManifestFile);
        flush_folder(to);
    }
    std::error_code ignored;
    std::filesystem::remove_all(from, ignored);
}

}  // namespace

bool RunFiles::contains(const std::string& file) const {
    const auto is_made = [&](const std::string& name) {
        return names.contains(name) || std::ranges::any_of(names, [&](const auto& made) {
                   return made.starts_with("checkpoint") && is_rank_file(name, made);
               });
    };
    const std::string complete = complete_name(file);
    return is_made(file) || (!complete.empty() && is_made(complete));
}

RunFiles files_of_run(const path& folder) {
    RunFiles files = files_of_manifest(folder / kManifestFile);
    for (std::string name : read_notes(folder)) {
        const bool is_stage = name.ends_with('/');
        if (is_stage) name.pop_back();
        if (is_plain_name(name)) (is_stage ? files.stages : files.names).insert(name);
    }
    return files;
}

void refuse_replaced_input(const path& folder, const path& input) {
    std::error_code none;
    const path within = std::filesystem::relative(input, folder, none);
    if (within.empty() || within.begin()->string() == "..") return;
    const RunFiles replaced = files_of_run(folder);
    const std::string name = within.begin()->string();
    if (replaced.contains(name) || replaced.stages.contains(name))
        throw UsageError(
            fmt::format("{}: --force would replace this input, a file of the run in {}; choose "
                        "another folder for the results",
                        input.string(), folder.string()));
}

void remove_run(const path& folder) {
    const RunFiles own = files_of_run(folder);
    for (const std::string& name : entries_of(folder))
        if (name != kManifestFile && name != kLockFile && !is_own_folder(folder / name) &&
            own.contains(name))
            remove_quietly(folder / name);
    for (const std::string& stage : own.stages) remove_run(folder / stage);
    if (own.names.contains(kManifestFile)) remove_quietly(folder / kManifestFile);
    remove_quietly(folder / kLockFile);
    remove_quietly(folder);
}

path forced_folder(const path& run) { return run / ".pleat-forced"; }

std::string input_note(const path& input) {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(input, none);
    const auto time = std::filesystem::last_write_time(input, none).time_since_epoch().count();
    return fmt::format("{}{} {} {}", kInputNote, bytes, time, input.string());
}

bool resumes_forced_run(const path& run, std::string_view command,
                        const std::vector<std::string>& arguments, bool force) {
    const path folder = forced_folder(run);
    const EarlierRun stopped = read_earlier_run(folder / kManifestFile);
    return stopped.is_ours && stopped.command == command && stopped.version == kVersion &&
           without_force(stopped.arguments) == without_force(arguments) &&
           (!force || has_same_inputs(folder));
}

void replace_run(FolderClaim& run, FolderClaim& forced) {
    const path to = std::filesystem::canonical(run.path());
    const path from = std::filesystem::canonical(forced.path());
    if (exchange(from, to, run)) {
        run.swap_locks(forced);
        clear_replaced(beside(to), to);
    } else {
        // From here on the new run is in two folders, which can no longer be exchanged.
        write_text(from / kIsMoving, "");
        move_run(from, to);
    }
    run.clear_notes();
}

namespace {

/// Removes leftovers of a finished run that was killed before it removed them.
void remove_leftovers(FolderClaim& claim) {
    const path& folder = claim.path();
    if (read_notes(folder).empty() || read_earlier_run(folder / kManifestFile).status != "finished")
        return;
    const RunFiles made = files_of_run(folder), listed = files_of_manifest(folder / kManifestFile);
    for (const std::string& name : entries_of(folder))
        if (made.contains(name) && !listed.names.contains(name) && !is_own_folder(folder / name))
            remove_quietly(folder / name);
    claim.clear_notes();
}

}  // namespace

void finish_replacement(FolderClaim& run) {
    const path to = std::filesystem::canonical(run.path());
    const path other = beside(to), forced = forced_folder(to);
    const std::vector<std::string> notes = read_notes(to);
    const bool was_next = std::ranges::find(notes, kIsReplaced) != notes.end();
    if (is_own_folder(other) && !was_next) clear_replaced(other, to);
    if (is_own_folder(other) && was_next && !is_there(forced)) move(other, forced);
    if (read_earlier_run(forced / kManifestFile).status == "finished") {
        FolderClaim claim(forced_folder(run.path()));
        remove_leftovers(claim);
        replace_run(run, claim);
    }
    remove_leftovers(run);
}

}  // namespace pleat
