// Memory: /proc, control groups and resource limits.
#include "pleat/core/hardware/memory.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>

#include "pleat/core/error.h"
#include "pleat/core/hardware/cgroup.h"

namespace pleat {

namespace {

std::int64_t machine_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string name, rest;
    std::int64_t kibibytes = 0;
    while (file >> name >> kibibytes && std::getline(file, rest))
        if (name == "MemAvailable:") return kibibytes * 1024;
    return kUnlimited;
}

/// Pages of this process.
struct Pages {
    std::int64_t all = 0, resident = 0, shared = 0;
};
Pages own_pages() {
    std::ifstream file("/proc/self/statm");
    Pages pages;
    file >> pages.all >> pages.resident >> pages.shared;
    return pages;
}

std::int64_t left_of(std::int64_t limit, std::int64_t pages) {
    return std::max<std::int64_t>(0, limit - pages * ::sysconf(_SC_PAGESIZE));
}

/// Bytes of address space that `ulimit -v` still allows.
std::int64_t address_space_bytes() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
    return left_of(static_cast<std::int64_t>(limit.rlim_cur), own_pages().all);
}

std::atomic<std::int64_t> chosen_limit{kUnlimited};

/// Bytes that limit_memory() still allows.
std::int64_t chosen_bytes() {
    const std::int64_t limit = chosen_limit;
    if (limit == kUnlimited) return kUnlimited;
    const Pages pages = own_pages();
    return left_of(limit, pages.resident - pages.shared);
}

}  // namespace

std::int64_t available_memory() {
    return std::min({machine_bytes(), cgroup_free_bytes(), address_space_bytes(), chosen_bytes()});
}

void limit_memory(std::int64_t bytes) { chosen_limit = bytes; }

std::int64_t peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void return_freed_memory() {
    constexpr int kMinBytes = 1 << 20;
    // By default glibc raises this threshold up to 32 MiB, and keeps smaller blocks in each
    // thread's heap.
    ::mallopt(M_MMAP_THRESHOLD, kMinBytes);
}

std::string human_bytes(std::int64_t bytes) {
    if (bytes > -1024 && bytes < 1024) return fmt::format("{} B", bytes);
    constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    int unit = 0;
    // From here on a number would be rounded to 1024.0.
    while (std::abs(value) >= 1023.95 && unit < 5) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

void require_memory(std::int64_t needed, std::string_view what, std::string_view advice,
                    std::int64_t available, std::string_view memory) {
    if (needed <= available) return;
    throw DeviceError(fmt::format("{}: {} of memory needed, {} available{}; {}", what,
                                  human_bytes(needed), human_bytes(available), memory, advice));
}

}  // namespace pleat
