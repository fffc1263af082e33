// Folder claim: mkdir, flock and rmdir.
#include "pleat/core/run/folder_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"

namespace pleat {

namespace {

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
    const std::filesystem::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

FolderClaim::FolderClaim(const std::filesystem::path& path, bool is_shared)
    : path_(without_trailing_slash(path)), is_shared_(is_shared) {
    if (path_.empty()) throw UsageError("expected a folder for the results, found an empty name");
    try {
        create();
        lock();
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

void FolderClaim::lock() {
    while (!open_lock_file()) {
    }
}

/// False if another process has the folder. File systems without locks refuse otherwise; there the
/// claim is only a folder.
bool FolderClaim::lock_open_file() {
    const auto lock = [&](int kind) {
        return ::flock(descriptor_, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    };
    // A process that shares the folder locks it for itself first, for a moment, to learn whether it
    // is the first one.
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        was_free_ = lock(LOCK_EX);
        if (!is_shared_) return was_free_;
        if (lock(LOCK_SH)) return true;
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
    // Removed while it is still locked: whoever opened it meanwhile sees that it is gone. Others
    // that share the folder keep the file.
    const bool is_last =
        !is_shared_ || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
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

}  // namespace pleat
