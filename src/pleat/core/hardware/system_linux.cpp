// System, on Linux with glibc.
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"

namespace pleat::system {

std::int64_t usable_cpus() {
    constexpr int kMaxCpus = 1 << 20;
    // The mask is enlarged until the kernel's fits.
    for (int cpus = 1024; cpus <= kMaxCpus; cpus *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
        const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* set) { CPU_FREE(set); })> set(
            CPU_ALLOC(cpus));
        if (sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    }
    return std::max(1u, std::thread::hardware_concurrency());
}

std::int64_t machine_memory() {
    std::ifstream file("/proc/meminfo");
    std::string name, rest;
    std::int64_t kibibytes = 0;
    while (file >> name >> kibibytes && std::getline(file, rest))
        if (name == "MemAvailable:") return kibibytes * 1024;
    return kUnlimited;
}

OwnMemory own_memory() {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0, shared = 0;
    file >> all >> resident >> shared;
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    return {all * page, (resident - shared) * page};
}

std::int64_t peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void return_freed_blocks(int min_bytes) {
    // By default glibc raises this threshold up to 32 MiB, and keeps smaller blocks in each
    // thread's heap.
    ::mallopt(M_MMAP_THRESHOLD, min_bytes);
}

void prefer_large_pages(void* memory, std::int64_t bytes) {
    constexpr std::int64_t kMinBytes = 4 << 20;
    if (bytes < kMinBytes) return;
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t before = -reinterpret_cast<std::intptr_t>(memory) & (page - 1);
    // A kernel without large pages refuses, and then nothing changes.
    (void)::madvise(static_cast<char*>(memory) + before, static_cast<std::size_t>(bytes - before),
                    MADV_HUGEPAGE);
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id.empty() ? "unknown" : id;
}

timespec change_time(const struct stat& about) { return about.st_mtim; }

void begin_flush(int descriptor, std::uint64_t offset, std::uint64_t bytes) {
    (void)::sync_file_range(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                            SYNC_FILE_RANGE_WRITE);
}

bool flush_data(int descriptor) { return ::fdatasync(descriptor) == 0; }

std::from_chars_result read_real(std::string_view text, double& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value);
}
std::from_chars_result read_real(std::string_view text, float& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value);
}

bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other) {
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace pleat::system
