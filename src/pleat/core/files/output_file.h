// Output files: written beside their final name, flushed to the disk, then renamed into place.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// A file that appears under its name complete or not at all. Bytes go to `NAME.pleat-part` in the
/// same folder, or to `NAME.N.pleat-part` while another process writes the same file; close()
/// flushes and renames it. Files that a killed process left are reused. Without close(), the
/// destructor removes the file. Devices and pipes (`/dev/stdout`) are written directly. Every
/// failure is an OutputError that names the file and the system's reason.
class OutputFile {
public:
    explicit OutputFile(std::filesystem::path path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    /// Overwrites bytes that were written earlier, such as a header whose lengths were not known
    /// yet.
    void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
    /// Bytes written so far.
    std::uint64_t position() const { return position_; }
    const std::filesystem::path& path() const { return path_; }
    void close();

    /// The suffix of the file's name while it is incomplete.
    static constexpr std::string_view kSuffix = ".pleat-part";

private:
    void open_partial();
    bool create_partial();
    bool reuse_partial();
    void flush_buffer();
    [[noreturn]] void fail(std::string_view action) const;

    std::filesystem::path path_;            ///< as the caller named it, for errors
    std::filesystem::path target_;          ///< symbolic links resolved
    std::filesystem::path temporary_path_;  ///< empty when written directly
    int descriptor_ = -1;
    std::uint64_t position_ = 0;
    std::uint64_t flushed_bytes_ = 0;  ///< bytes whose flush to the disk has started
    std::vector<std::uint8_t> buffer_;
};

/// Writes a whole text file through OutputFile.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Writes all bytes at `offset` of an open file, however the system splits them; false with errno
/// set on failure.
bool write_fully(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes);

/// The final name of a temporary file: "scores.tsv" for "scores.tsv.pleat-part" and
/// "scores.tsv.2.pleat-part"; empty for other names.
std::string complete_name(std::string_view partial);

/// Whether the path still refers to the open file `descriptor`.
bool is_open_file(int descriptor, const std::filesystem::path& path);
/// flock(); false if another process has the lock, true also if the file system has no locks.
bool lock_file(int descriptor, int operation);

/// Free bytes on the disk of this folder, which need not exist yet; the largest number if the
/// system does not say.
std::int64_t free_disk_space(std::filesystem::path folder);

/// Throws OutputError if the disk of `path` is known to have fewer free bytes.
void require_room(const std::filesystem::path& path, std::int64_t bytes);

/// Throws OutputError, with both numbers, if the folder's disk has fewer than `bytes` free.
void require_disk_space(const std::filesystem::path& folder, std::int64_t bytes);

/// Flushes a folder's entries, so that a rename in it survives a power cut.
void flush_folder(const std::filesystem::path& folder);

/// A long text as consecutive pieces.
using TextPieces = std::vector<std::string>;

/// Returns lines 0 to count - 1; `append(line, text)` appends one. Several threads call it at the
/// same time, each with its own text.
TextPieces make_lines(int threads, Index count,
                      const std::function<void(Index, std::string&)>& append);

/// Writes the pieces as one file through OutputFile.
void write_text(const std::filesystem::path& path, const TextPieces& pieces);

void append_integer(std::string& text, Index value);
/// The number as printf writes it with %e, %f or %g and this precision (at most 60).
void append_number(std::string& text, double value, std::chars_format format, int precision);

}  // namespace pleat
