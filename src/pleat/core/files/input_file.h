// Input file: a file opened for reading or read whole; a pipe is read once, and hashed while it is
// read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "pleat/core/files/hash.h"

namespace pleat {

/// A file opened for reading; "-" is standard input.
///
/// Pipes, sockets, devices and standard input can be read only once. While an InputLedger exists,
/// their bytes are hashed as they are read, and opening one a second time throws InputError.
class InputFile {
public:
    struct Stream;  ///< what InputLedger knows of a pipe

    /// Throws InputError if the path is a folder, cannot be opened, or is a pipe that was opened
    /// before.
    explicit InputFile(const std::filesystem::path& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Reads up to `size` bytes. Returns fewer only at the end of the file, so that what is read
    /// never depends on how a pipe was filled; -1 with errno set if reading fails.
    ssize_t read(void* out, std::size_t size);
    /// Size of a regular file; -1 if the path is a pipe, a socket or a device.
    std::int64_t regular_bytes() const { return regular_bytes_; }

private:
    int descriptor_ = -1;
    std::int64_t regular_bytes_ = -1;
    std::shared_ptr<Stream> stream_;  // null for a regular file
};

/// Reads `bytes` bytes at `offset` of an open file. Returns fewer only at its end; -1 with errno
/// set if reading fails.
ssize_t read_at(int descriptor, std::int64_t offset, void* to, std::size_t bytes);

/// Throws DeviceError if `reason`, of errno, is that too many files are open.
void refuse_too_many_open_files(const std::filesystem::path& path, int reason);

/// Records which pipes this process reads, and hashes their bytes. main() makes one; a process that
/// may deliberately read a named pipe several times, such as Python, makes none. Thread-safe.
class InputLedger {
public:
    InputLedger();
    ~InputLedger();
    InputLedger(const InputLedger&) = delete;
    InputLedger& operator=(const InputLedger&) = delete;

    /// The hash of the bytes that were read from a pipe so far; nothing if no pipe was opened under
    /// this path.
    static std::optional<FileHash> hash_of(const std::filesystem::path& path);
};

/// Whether the path is a pipe, a socket, a device or "-"; false if it does not exist.
bool is_read_once(const std::filesystem::path& path);

/// Throws InputError for the first of these files that is a pipe, a socket or a device. `reason`
/// ends the message: "--write reads the frames twice". Empty paths are skipped.
void refuse_pipes(const std::vector<std::string>& paths, std::string_view reason);

/// Throws InputError for the first of these files that does not exist or may not be read. Pipes are
/// not opened. Empty paths and "-" are skipped.
void check_readable(const std::vector<std::string>& paths);

/// Reads all bytes of a file, a pipe or "-", standard input. Throws InputError if it cannot be
/// opened or read, is a folder, or holds more than `max_bytes`.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path,
                                    std::int64_t max_bytes = std::int64_t{1} << 40);

/// Maximum size of a file that lists paths or names.
inline constexpr std::int64_t kMaxListBytes = std::int64_t{16} << 20;

/// Whether a path names a regular file, or a folder; links are followed. Throws InputError with the
/// system's reason if this cannot be determined: a folder without access, a loop of links.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

}  // namespace pleat
