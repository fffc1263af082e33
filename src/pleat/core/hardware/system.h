// System: what POSIX leaves out. system_linux.cpp asks Linux and glibc, system_posix.cpp answers on
// every system; CMake links one of them.
#pragma once

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

namespace pleat::system {

/// CPUs that this process may run on.
std::int64_t usable_cpus();

/// Bytes that the machine can allocate without swapping; elsewhere than on Linux all its memory.
std::int64_t machine_memory();

/// Bytes of this process: its address space, and the resident ones that it shares with no file or
/// process; elsewhere than on Linux its largest resident size so far stands for both.
struct OwnMemory {
    std::int64_t address_space = 0, unshared = 0;
};
OwnMemory own_memory();

/// The largest resident size of this process so far, in bytes.
std::int64_t peak_memory();

/// Makes freed blocks of at least this many bytes go back to the system, where the allocator can be
/// told so.
void return_freed_blocks(int min_bytes);

/// Asks for large pages for memory that no thread has touched yet, where the system can be asked:
/// it then takes far fewer page faults to fill.
void prefer_large_pages(void* memory, std::int64_t bytes);

/// A text that differs from one start of the machine to the next; "unknown" if the system has none.
std::string boot_id();

/// When the file was last changed.
timespec change_time(const struct stat& about);

/// Begins to write these bytes of a file to disk, if the system can be asked without waiting.
void begin_flush(int descriptor, std::uint64_t offset, std::uint64_t bytes);

/// Waits until the data of a file are on disk; false, with errno, if that failed.
bool flush_data(int descriptor);

/// Parses the decimal number, infinity or NaN at the front of a text as std::from_chars() does,
/// which not every standard library has for these types.
std::from_chars_result read_real(std::string_view text, double& value);
std::from_chars_result read_real(std::string_view text, float& value);

/// Exchanges two paths in one step; false, with errno, if the system or the file system cannot.
bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace pleat::system
