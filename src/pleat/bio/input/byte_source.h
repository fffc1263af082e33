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

/// The data end before what their header, or the frames before, announce.
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

    /// The next `size` bytes, or fewer at the end; the position does not change. At most 4096.
    std::string_view peek(std::size_t size);
    /// Fills `out` as far as the bytes go; how many.
    std::size_t read(void* out, std::size_t size);
    /// Reads up to `size` bytes, those available at once; 0 at the end or after an error, which is
    /// not thrown.
    std::size_t read_some(char* out, std::size_t size);
    const std::string& problem() const;
    /// Whether the problem is that packed data end too early.
    bool is_cut_short() const;
    /// Sets `out` to the next `size` bytes, as far as they go; memory grows with what is there, not
    /// with what a header claims. Of more than kMaxStep bytes that are not all there, `out` gets
    /// none. Throws InputError for more than kMaxUnseen bytes if it is not known whether they are
    /// there.
    std::size_t read(std::vector<char>& out, std::size_t size);
    static constexpr std::size_t kMaxStep = std::size_t{16} << 20;
    static constexpr std::size_t kMaxUnseen = std::size_t{64} << 20;
    /// How many bytes are left; -1 if that is not known, as of packed data and of a pipe.
    Index left() const;
    /// Whether the bytes come from a pipe or a device.
    bool is_from_pipe() const;
    /// Passes over bytes as far as they go; how many.
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
/// Every member function may throw InputError, naming the file and the line: a file that cannot be
/// opened or read, UTF-16, a NUL byte within a line, compressed data that are damaged, cut short or
/// followed by other bytes, another compression (bzip2, xz, zip), a line above `kMaxLine` bytes, a
/// text above `max_bytes` bytes. Memory: the longest line and a constant.
class ByteSource {
public:
    static constexpr Index kMaxBytes = Index{4} << 30;
    static constexpr Index kMaxLine = Index{32} << 20;

    /// Opens a file; "-" is standard input (called "stdin" in errors).
    explicit ByteSource(const std::filesystem::path& path, Index max_bytes = kMaxBytes);
    /// Reads from memory, which must outlive the source; errors call the file `name`.
    ByteSource(std::string name, std::string_view bytes, Index max_bytes = kMaxBytes);
    /// Reads what `bytes` have not given yet; lines count from 1 there.
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
