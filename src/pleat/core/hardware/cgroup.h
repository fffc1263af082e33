// Control groups: the limits that a batch system or a container sets on this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace pleat {

constexpr std::int64_t kUnlimited = INT64_MAX;

/// The folders in which Linux shows control groups; tests use other folders.
struct CgroupPaths {
    std::filesystem::path membership = "/proc/self/cgroup";
    std::filesystem::path mount = "/sys/fs/cgroup";
};

/// CPUs that `cpu.max` of the process's group (version 2) and of its parents allow, rounded up;
/// kUnlimited if there is no limit.
std::int64_t cgroup_cpus(const CgroupPaths& places = {});

/// Bytes still free under `memory.max` of the process's group and its parents; page cache that the
/// kernel can drop counts as free. kUnlimited if there is no limit.
std::int64_t cgroup_free_bytes(const CgroupPaths& places = {});

}  // namespace pleat
