// Memory: of the machine, under resource limits, and under control groups from that of this process
// up to the root.
#include "pleat/core/hardware/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/hardware/system.h"

namespace pleat {

namespace {

/// The folders of this process's control group (version 2) and its parent groups.
std::vector<std::filesystem::path> group_folders(const CgroupPaths& places) {
    std::ifstream file(places.membership);
    std::string line, group;
    while (std::getline(file, line))
        if (line.starts_with("0::")) group = line.substr(3);
    std::vector<std::filesystem::path> folders;
    // In a container, the process's own group may be mounted as the root, so the root is always
    // checked.
    std::filesystem::path at = std::filesystem::path(group).relative_path();
    for (; !at.empty(); at = at.parent_path()) folders.push_back(places.mount / at);
    folders.push_back(places.mount);
    return folders;
}

/// Reads the number in a file; kUnlimited for "max" or a missing file.
std::int64_t number_in(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? number : kUnlimited;
}

std::int64_t statistic(const std::filesystem::path& path, std::string_view wanted) {
    std::ifstream file(path);
    std::string name;
    std::int64_t number = 0;
    while (file >> name >> number)
        if (name == wanted) return number;
    return 0;
}

}  // namespace

std::int64_t cgroup_cpus(const CgroupPaths& places) {
    std::int64_t lowest = kUnlimited;
    for (const auto& folder : group_folders(places)) {
        std::ifstream file(folder / "cpu.max");
        std::int64_t quota = 0, period = 0;
        if (file >> quota >> period && quota > 0 && period > 0)
            lowest = std::min(lowest, (quota + period - 1) / period);
    }
    return lowest;
}

std::int64_t cgroup_free_bytes(const CgroupPaths& places) {
    std::int64_t lowest = kUnlimited;
    for (const auto& folder : group_folders(places)) {
        const std::int64_t max = number_in(folder / "memory.max");
        const std::int64_t used = number_in(folder / "memory.current");
        if (max == kUnlimited || used == kUnlimited) continue;
        const std::int64_t cache = statistic(folder / "memory.stat", "inactive_file");
        lowest = std::min(lowest, std::max<std::int64_t>(0, max - used + cache));
    }
    return lowest;
}

namespace {

std::int64_t left_of(std::int64_t limit, std::int64_t used) {
    return std::max<std::int64_t>(0, limit - used);
}

/// Bytes of address space that `ulimit -v` still allows.
std::int64_t address_space_bytes() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
    return left_of(static_cast<std::int64_t>(limit.rlim_cur), system::own_memory().address_space);
}

std::atomic<std::int64_t> chosen_limit{kUnlimited};

/// Bytes that limit_memory() still allows.
std::int64_t chosen_bytes() {
    const std::int64_t limit = chosen_limit;
    if (limit == kUnlimited) return kUnlimited;
    return left_of(limit, system::own_memory().unshared);
}

}  // namespace

std::int64_t available_memory() {
    return std::min(
        {system::machine_memory(), cgroup_free_bytes(), address_space_bytes(), chosen_bytes()});
}

void limit_memory(std::int64_t bytes) { chosen_limit = bytes; }

std::int64_t peak_memory() { return system::peak_memory(); }

void return_freed_memory() {
    constexpr int kMinBytes = 1 << 20;
    system::return_freed_blocks(kMinBytes);
}

std::string human_bytes(std::int64_t bytes) {
    if (bytes > -1024 && bytes < 1024) return fmt::format("{} B", bytes);
    constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    int unit = 0;
    // Above this the number would be printed as 1024.0.
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
