// Input file: opening, reading in full pieces or whole, and the account of pipes.
#include "pleat/core/files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>

#include "pleat/core/error.h"

namespace pleat {

struct InputFile::Stream {
    std::filesystem::path path;
    dev_t device = 0;
    ino_t number = 0;
    Sha256 hash;
    std::int64_t bytes = 0;
    bool at_end = false;
};

namespace {

std::string name_of(const std::filesystem::path& path) {
    return path == "-" ? "stdin" : path.string();
}

bool is_once(const struct stat& about) {
    return !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode) && !S_ISLNK(about.st_mode);
}

[[noreturn]] void fail(const std::filesystem::path& path, int reason) {
    if (reason == EISDIR) throw InputError(name_of(path), 0, "expected a file, found a directory");
    if (reason == ENOENT) {
        throw InputError(name_of(path), 0,
                         path.empty() ? "expected the name of a file, found an empty one"
                                      : "expected a file, found nothing of that name");
    }
    refuse_too_many_open_files(path, reason);
    throw InputError(name_of(path), 0,
                     fmt::format("expected a readable file, found: {}", std::strerror(reason)));
}

struct Account {
    std::mutex mutex;
    int ledgers = 0;
    std::vector<std::shared_ptr<InputFile::Stream>> streams;
};

Account& account() {
    static Account all;
    return all;
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) {
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path, errno);
    struct stat about = {};
    const int reason = ::fstat(descriptor_, &about) != 0 ? errno
                       : S_ISDIR(about.st_mode)          ? EISDIR
                                                         : 0;
    const auto close = [&] {
        if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    };
    if (reason != 0) {
        close();
        fail(path, reason);
    }
    // All readers of standard input share one position, even if it is a regular file.
    if (!is_once(about) && path != "-") {
        regular_bytes_ = static_cast<std::int64_t>(about.st_size);
        return;
    }
    stream_ = std::make_shared<Stream>();
    stream_->path = path;
    stream_->device = about.st_dev;
    stream_->number = about.st_ino;
    Account& all = account();
    const std::lock_guard lock(all.mutex);
    if (all.ledgers == 0) return;
    for (const auto& earlier : all.streams) {
        if (earlier->device != stream_->device || earlier->number != stream_->number) continue;
        close();
        throw InputError(name_of(path), 0,
                         "cannot be read twice, as this command needs: it is a pipe or a device; "
                         "save it to a file first");
    }
    all.streams.push_back(stream_);
}

InputFile::~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

ssize_t InputFile::read(void* out, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t n = ::read(descriptor_, static_cast<char*>(out) + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        // Returns the bytes that were read before the failure; the next call reports the failure.
        if (n < 0 && done == 0) return -1;
        if (n <= 0) {
            if (stream_ != nullptr) stream_->at_end = n == 0;
            break;
        }
        done += static_cast<std::size_t>(n);
    }
    if (stream_ != nullptr) {
        stream_->hash.add(out, done);
        stream_->bytes += static_cast<std::int64_t>(done);
    }
    return static_cast<ssize_t>(done);
}

ssize_t read_at(int descriptor, std::int64_t offset, void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t n = ::pread(descriptor, static_cast<char*>(to) + done, bytes - done,
                                  static_cast<off_t>(offset) + static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(done);
}

void refuse_too_many_open_files(const std::filesystem::path& path, int reason) {
    if (reason != EMFILE && reason != ENFILE) return;
    throw DeviceError(fmt::format(
        "{}: cannot be opened: {}; raise the limit (ulimit -n) or run fewer jobs at a time",
        name_of(path), std::strerror(reason)));
}

InputLedger::InputLedger() {
    const std::lock_guard lock(account().mutex);
    ++account().ledgers;
}

InputLedger::~InputLedger() {
    const std::lock_guard lock(account().mutex);
    if (--account().ledgers == 0) account().streams.clear();
}

std::optional<FileHash> InputLedger::hash_of(const std::filesystem::path& path) {
    const std::lock_guard lock(account().mutex);
    for (const auto& stream : account().streams) {
        if (stream->path != path) continue;
        return FileHash{stream->hash.hex(), stream->bytes,
                        stream->at_end ? "" : "the bytes that were read, not all of the pipe"};
    }
    return std::nullopt;
}

bool is_read_once(const std::filesystem::path& path) {
    struct stat about = {};
    return path == "-" || (::stat(path.c_str(), &about) == 0 && is_once(about));
}

void refuse_pipes(const std::vector<std::string>& paths, std::string_view reason) {
    for (const std::string& path : paths) {
        if (path.empty() || !is_read_once(path)) continue;
        throw InputError(
            name_of(path), 0,
            fmt::format("expected a file on a disk, found a pipe or a device: {}; save "
                        "it to a file first",
                        reason));
    }
}

void check_readable(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (path.empty() || path == "-") continue;
        struct stat about = {};
        if (::stat(path.c_str(), &about) != 0) fail(path, errno);
        if (S_ISDIR(about.st_mode)) fail(path, EISDIR);
        if (::access(path.c_str(), R_OK) != 0) fail(path, errno);
    }
}

namespace {

std::filesystem::file_type type_of(const std::filesystem::path& path) {
    std::error_code reason;
    const std::filesystem::file_type type = std::filesystem::status(path, reason).type();
    if (type == std::filesystem::file_type::none)
        throw InputError(path.string(), 0, fmt::format("cannot be read: {}", reason.message()));
    return type;
}

}  // namespace

bool is_file(const std::filesystem::path& path) {
    return type_of(path) == std::filesystem::file_type::regular;
}

bool is_folder(const std::filesystem::path& path) {
    return type_of(path) == std::filesystem::file_type::directory;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::int64_t max_bytes) {
    constexpr std::int64_t kStep = 1 << 16;
    InputFile file(path);
    const std::string name = path == "-" ? "stdin" : path.string();
    const auto refuse_larger = [&] {
        throw InputError(name, 0, fmt::format("expected at most {} bytes, found more", max_bytes));
    };
    if (file.regular_bytes() > max_bytes) refuse_larger();
    std::vector<std::uint8_t> bytes;
    // Asks for one byte more than the file's size, so that the first call also finds the end of the
    // file.
    std::size_t step = static_cast<std::size_t>(std::max(file.regular_bytes() + 1, kStep));
    std::size_t done = 0;
    for (;;) {
        bytes.resize(done + step);
        const ssize_t n = file.read(bytes.data() + done, step);
        if (n < 0)
            throw InputError(name, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
        done += static_cast<std::size_t>(n);
        if (static_cast<std::int64_t>(done) > max_bytes) refuse_larger();
        if (static_cast<std::size_t>(n) < step) break;
        step = std::max<std::size_t>(done / 2, kStep);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace pleat
