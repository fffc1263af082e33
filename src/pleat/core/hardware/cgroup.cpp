// Control groups: reading cpu.max and memory.max from this process's group up to the root.
#include "pleat/core/hardware/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace pleat {

namespace {

/// Folders of this process's version 2 group and of its parents.
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

/// The number that a file contains, kUnlimited for "max" or no file.
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

}  // namespace pleat
