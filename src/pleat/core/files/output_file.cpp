// Output files: buffering, flushing and the final rename; long texts made by several threads.
#include "pleat/core/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"
#include "pleat/core/loops/parallel.h"

namespace pleat {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::uint64_t kEarlyBytes = std::uint64_t{1} << 25;

std::filesystem::path resolved(const std::filesystem::path& path) {
    std::error_code error;
    const auto target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target;
}

bool write_in_order(int descriptor, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const std::uint8_t*>(data);
    while (bytes > 0) {
        const ssize_t n = ::write(descriptor, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), target_(resolved(path_)) {
    struct stat info {};
    const bool exists = ::stat(path_.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        fail("cannot be written");
    }
    // Renaming over a device or a pipe would replace it by a regular file.
    const bool direct = exists && !S_ISREG(info.st_mode);
    if (direct)
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    else
        open_partial();
    if (descriptor_ < 0) fail("cannot be written");
    buffer_.reserve(kBufferBytes);
}

/// Each writer uses its own temporary file, which it locks while it writes. If two processes write
/// the same file, the one that finishes last wins.
void OutputFile::open_partial() {
    for (int attempt = 1;; ++attempt) {
        temporary_path_ = target_;
        if (attempt > 1) temporary_path_ += fmt::format(".{}", attempt);
        temporary_path_ += kSuffix;
        if (create_partial() || reuse_partial()) return;
        if (errno != EEXIST) fail("cannot be written");
    }
}

/// Returns false, with errno EEXIST, if the file exists or if another process locked it first.
bool OutputFile::create_partial() {
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return false;
    if (lock_file(descriptor_, LOCK_EX | LOCK_NB)) return true;
    ::close(std::exchange(descriptor_, -1));
    errno = EEXIST;
    return false;
}

/// Reuses a temporary file that is not locked: a killed process left it.
bool OutputFile::reuse_partial() {
    if (errno != EEXIST) return false;
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode) &&
        ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 &&
        is_open_file(descriptor_, temporary_path_) && ::ftruncate(descriptor_, 0) == 0)
        return true;
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    errno = EEXIST;
    return false;
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
    ::close(descriptor_);
}

void OutputFile::fail(std::string_view action) const {
    throw OutputError(fmt::format("{}: {}: {}", path_.string(), action, std::strerror(errno)));
}

void OutputFile::flush_buffer() {
    if (!write_in_order(descriptor_, buffer_.data(), buffer_.size())) fail("writing failed");
    buffer_.clear();
}

void OutputFile::write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::uint8_t*>(data);
    if (buffer_.size() + bytes > kBufferBytes) flush_buffer();
    if (bytes >= kBufferBytes) {
        if (!write_in_order(descriptor_, from, bytes)) fail("writing failed");
    } else {
        buffer_.insert(buffer_.end(), from, from + bytes);
    }
    position_ += bytes;
    // Starts to flush large files while they are written, so that close() waits less.
    if (position_ - flushed_bytes_ >= kEarlyBytes) {
        system::begin_flush(descriptor_, flushed_bytes_, position_ - flushed_bytes_);
        flushed_bytes_ = position_;
    }
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
    flush_buffer();
    if (!write_fully(descriptor_, offset, data, bytes)) fail("writing failed");
}

void OutputFile::close() {
    flush_buffer();
    if (temporary_path_.empty()) {
        const int descriptor = std::exchange(descriptor_, -1);
        if (::close(descriptor) != 0) fail("writing failed");
        return;
    }
    if (::fsync(descriptor_) != 0) fail("flushing failed");
    // Renamed while it is locked, so that no other process takes it for an abandoned file.
    if (::rename(temporary_path_.c_str(), target_.c_str()) != 0) fail("writing failed");
    temporary_path_.clear();
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("writing failed");
    flush_folder(target_.parent_path());
}

void write_text(const std::filesystem::path& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.close();
}

bool write_fully(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const std::uint8_t*>(data);
    while (bytes > 0) {
        const ssize_t n = ::pwrite(descriptor, at, bytes, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        offset += static_cast<std::uint64_t>(n);
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

std::string complete_name(std::string_view partial) {
    if (!partial.ends_with(OutputFile::kSuffix)) return {};
    partial.remove_suffix(OutputFile::kSuffix.size());
    const std::size_t dot = partial.find_last_not_of("0123456789");
    const bool is_numbered =
        dot != std::string_view::npos && dot + 1 < partial.size() && partial[dot] == '.' && dot > 0;
    return std::string(is_numbered ? partial.substr(0, dot) : partial);
}

bool is_open_file(int descriptor, const std::filesystem::path& path) {
    struct stat open {
    }, named{};
    return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool lock_file(int descriptor, int operation) {
    int result = 0;
    do result = ::flock(descriptor, operation);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno != EWOULDBLOCK;
}

std::int64_t free_disk_space(std::filesystem::path folder) {
    folder = std::filesystem::absolute(folder.empty() ? "." : folder);
    struct statvfs disk {};
    while (::statvfs(folder.c_str(), &disk) != 0) {
        if (errno != ENOENT || folder == folder.parent_path())
            return std::numeric_limits<std::int64_t>::max();
        folder = folder.parent_path();
    }
    return static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
}

void require_room(const std::filesystem::path& path, std::int64_t bytes) {
    const std::int64_t room = free_disk_space(path.parent_path());
    if (room < bytes)
        throw OutputError(fmt::format("{}: expected {} of free space, found {}", path.string(),
                                      human_bytes(bytes), human_bytes(room)));
}

void require_disk_space(const std::filesystem::path& folder, std::int64_t bytes) {
    const std::int64_t available = free_disk_space(folder);
    if (bytes > available)
        throw OutputError(fmt::format(
            "{}: {} of disk space needed, {} available; free some, write to another disk, or "
            "choose fewer frames, columns or files of results",
            folder.string(), human_bytes(bytes), human_bytes(available)));
}

void flush_folder(const std::filesystem::path& folder) {
    const int descriptor =
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    // Some file systems cannot flush a folder; the rename itself has already succeeded.
    (void)::fsync(descriptor);
    ::close(descriptor);
}

namespace {

constexpr Index kPiecesPerThread =
    8;  // several pieces per thread balance lines of different lengths

}  // namespace

TextPieces make_lines(int threads, Index count,
                      const std::function<void(Index, std::string&)>& append) {
    const Index lines = threads <= 1 ? count + 1 : count / (kPiecesPerThread * threads) + 1;
    TextPieces pieces(static_cast<std::size_t>((count + lines - 1) / lines));
    parallel_for(threads, std::ssize(pieces), [&](Index piece, int) {
        std::string text;
        const Index last = std::min(count, (piece + 1) * lines);
        for (Index line = piece * lines; line < last; ++line) {
            append(line, text);
            if (line == piece * lines)
                text.reserve((text.size() + 8) * static_cast<std::size_t>(lines));
        }
        pieces[piece] = std::move(text);
    });
    return pieces;
}

void write_text(const std::filesystem::path& path, const TextPieces& pieces) {
    OutputFile file(path);
    for (const std::string& piece : pieces) file.write(piece);
    file.close();
}

void append_integer(std::string& text, Index value) {
    char digits[std::numeric_limits<Index>::digits10 + 2];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
}

void append_number(std::string& text, double value, std::chars_format format, int precision) {
    char digits[400];  // a sign, 309 digits before the decimal point, the point, and the digits
                       // after it
    const auto end = std::to_chars(digits, digits + sizeof digits, value, format, precision).ptr;
    text.append(digits, end);
}

}  // namespace pleat
