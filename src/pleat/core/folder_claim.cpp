// Folder claim: mkdir, flock and rmdir.
#include "pleat/core/folder_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pleat/core/error.h"

namespace pleat {

namespace {

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
    const std::filesystem::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

FolderClaim::FolderClaim(const std::filesystem::path& path) : path_(without_trailing_slash(path)) {
    if (path_.empty()) throw UsageError("expected a folder for the results, found an empty name");
    try {
        create();
        lock();
    } catch (...) {
        remove_created();
        throw;
    }
}

FolderClaim::~FolderClaim() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderClaim::create() {
    std::vector<std::filesystem::path> missing;
    std::filesystem::path at = path_;
    std::error_code
        unreadable;  // a folder that cannot be looked into fails in mkdir, with the reason
    while (!at.empty() && !std::filesystem::exists(at, unreadable)) {
        missing.push_back(at);
        at = at.parent_path();
    }
    for (; !missing.empty(); missing.pop_back()) {
        // Another run may make a common parent at the same time.
        if (::mkdir(missing.back().c_str(), 0777) == 0)
            created_.push_back(missing.back());
        else if (errno != EEXIST)
            throw OutputError(
                fmt::format("{}: cannot be created: {}", path_.string(), std::strerror(errno)));
    }
    if (!std::filesystem::is_directory(path_, unreadable))
        throw UsageError(
            fmt::format("{}: expected a folder for the results, found a file", path_.string()));
}

void FolderClaim::lock() {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0)
        throw OutputError(
            fmt::format("{}: cannot be opened: {}", path_.string(), std::strerror(errno)));
    // File systems without locks answer otherwise; there the claim is only a folder.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw UsageError(
            fmt::format("{}: another run is writing here; wait for its end or choose "
                        "another folder",
                        path_.string()));
}

bool FolderClaim::is_empty() const { return std::filesystem::is_empty(path_); }

void FolderClaim::remove_created() {
    for (; !created_.empty(); created_.pop_back())
        if (::rmdir(created_.back().c_str()) != 0) return;
}

}  // namespace pleat
