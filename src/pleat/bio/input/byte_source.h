// Bytes and lines of a file, of standard input or of memory, decompressed on the way.
#pragma once

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/view.h"

namespace pleat {

/// The data end earlier than their header or earlier frames announce.
class CutShort : public InputError {
public:
    using InputError::InputError;
};

/// Gives bytes front to back; plain, gzip and Zstandard are distinguished by their first bytes.
/// Every function may throw InputError that names the file: it cannot be opened or read, or
/// compressed data are damaged or cut short.
class ByteReader {
public:
    explicit ByteReader(const std::filesystem::path& path);
    ByteReader(std::string name, std::string_view bytes);
    ~ByteReader();
    ByteReader(const ByteReader&) = delete;
    ByteReader& operator=(const ByteReader&) = delete;

    /// The next `size` bytes (at most 4096), or fewer at the end, without moving the position.
    std::string_view peek(std::size_t size);
    /// Fills `out` with the remaining bytes up to its size; returns their number.
    std::size_t read(void* out, std::size_t size);
    /// Reads up to `size` bytes, those available at once; 0 at the end or after an error, which is
    /// not thrown.
    std::size_t read_some(char* out, std::size_t size);
    const std::string& problem() const;
    /// Whether the error is that compressed data end too early.
    bool is_cut_short() const;
    /// Sets `out` to the next `size` bytes, or fewer at the end. Memory grows with the bytes that
    /// exist, not with `size`. If `size` exceeds kMaxStep and not all bytes exist, `out` is empty.
    /// Throws InputError if `size` exceeds kMaxUnseen and left() is unknown.
    std::size_t read(std::vector<char>& out, std::size_t size);
    static constexpr std::size_t kMaxStep = std::size_t{16} << 20;
    static constexpr std::size_t kMaxUnseen = std::size_t{64} << 20;
    /// The number of remaining bytes; -1 if unknown, as for compressed data and pipes.
    Index left() const;
    /// Whether the bytes come from a pipe or a device.
    bool is_from_pipe() const;
    /// Skips up to `size` bytes; returns how many existed.
    std::size_t skip(std::size_t size);
    bool at_end() { return peek(1).empty(); }
    /// Bytes given or passed over so far.
    Index position() const;
    const std::string& name() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Reads a number of type T at `bytes`, stored with the most significant byte first or last.
template <class T>
T stored_number(const char* bytes, bool big_endian) {
    std::array<char, sizeof(T)> copy;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        // The machines that are supported store the least significant byte first.
        copy[i] = bytes[big_endian ? sizeof(T) - 1 - i : i];
    }
    T value;
    std::memcpy(&value, copy.data(), sizeof(T));
    return value;
}

inline double real_number(const char* bytes, std::size_t width, bool big_endian) {
    return width == 4 ? double{stored_number<float>(bytes, big_endian)}
                      : stored_number<double>(bytes, big_endian);
}

/// Gives a text line by line. Plain text, gzip (one or several members, so bgzip too) and Zstandard
/// (one or several frames) are distinguished by their first bytes, never by the name. Lines end in
/// LF, CR LF or CR; a UTF-8 byte order mark is skipped.
///
/// Every member function may throw InputError, naming file and line: the file cannot be opened or
/// read, is UTF-16, has a NUL byte within a line, is compressed with bzip2, xz or zip, has a line
/// above `kMaxLine` or a text above `max_bytes` bytes, or its compressed data are damaged,
/// truncated or followed by other bytes. Memory: the longest line plus a constant.
class ByteSource {
public:
    static constexpr Index kMaxBytes = Index{4} << 30;
    static constexpr Index kMaxLine = Index{32} << 20;

    /// Opens a file; "-" is standard input (called "stdin" in errors).
    explicit ByteSource(const std::filesystem::path& path, Index max_bytes = kMaxBytes);
    /// Reads from memory, which must outlive the source; errors call the file `name`.
    ByteSource(std::string name, std::string_view bytes, Index max_bytes = kMaxBytes);
    /// Reads the bytes that `bytes` has not returned yet; lines count from 1 there.
    explicit ByteSource(std::unique_ptr<ByteReader> bytes, Index max_bytes = kMaxBytes);
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Sets `line` to the next line without its end, valid until the next call; false at the end.
    bool next(std::string_view& line);
    /// Makes the next call of `next` return the current line again.
    void hold();
    /// Number of the current line, from 1; 0 before the first.
    Index line() const;
    const std::string& name() const;
    /// Number of the current line's record, from 1; 0 before the first line. NUL bytes between
    /// lines divide a text into records, as in the results of MMseqs2; several are refused unless
    /// allow_records() was called.
    Index record() const;
    void allow_records();
    /// Throws InputError if more than `max` of something come from a pipe: `expected` such as
    /// "models of at most {} atoms", `found` the number or "more".
    void limit_pipe(Index count, Index max, std::string_view expected,
                    std::string_view found = "more") const;
    /// Whether the text comes from a pipe or a device.
    bool is_from_pipe() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
