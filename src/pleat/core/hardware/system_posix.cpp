// System, where only POSIX can be asked.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"

namespace pleat::system {

namespace {

// macOS counts the peak in bytes, and has its own name for a file's time of change.
#ifdef __APPLE__
constexpr std::int64_t kPeakUnit = 1;
constexpr auto kChanged = &stat::st_mtimespec;
#else
constexpr std::int64_t kPeakUnit = 1024;
constexpr auto kChanged = &stat::st_mtim;
#endif

}  // namespace

std::int64_t usable_cpus() { return std::max(1u, std::thread::hardware_concurrency()); }

std::int64_t machine_memory() {
    const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? pages * ::sysconf(_SC_PAGESIZE) : kUnlimited;
}

OwnMemory own_memory() { return {peak_memory(), peak_memory()}; }

std::int64_t peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * kPeakUnit;
}

void return_freed_blocks(int) {}

std::string boot_id() { return "unknown"; }

timespec change_time(const struct stat& about) { return about.*kChanged; }

void begin_flush(int, std::uint64_t, std::uint64_t) {}

bool flush_data(int descriptor) { return ::fsync(descriptor) == 0; }

bool exchange_paths(const std::filesystem::path&, const std::filesystem::path&) {
    errno = ENOTSUP;
    return false;
}

}  // namespace pleat::system
