// Reading a whole file into memory, with errors that name it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace pleat {

/// Reads all bytes of a file, a pipe or "-", standard input. Throws InputError if it cannot be
/// opened or read, is a folder, or holds more than `max_bytes`.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path,
                                    std::int64_t max_bytes = std::int64_t{1} << 40);

/// A file of paths or names, one per line, may have this size.
inline constexpr std::int64_t kMaxListBytes = std::int64_t{16} << 20;

/// Whether a path names a regular file, or a folder; links are followed. InputError with the
/// system's reason where that cannot be found out: a folder that may not be entered, a loop of
/// links.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

/// Whether a path names a regular file, or a folder; links are followed. InputError with the
/// system's reason where that cannot be found out: a folder that may not be entered, a loop of
/// links.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

}  // namespace pleat
