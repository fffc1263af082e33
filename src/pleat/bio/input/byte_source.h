// Byte sources: the lines of a file, of standard input or of memory, decompressed on the way.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "pleat/bio/input/byte_reader.h"
#include "pleat/core/view.h"

namespace pleat {

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
    /// Whether the text comes from a pipe or a device.
    bool is_from_pipe() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
