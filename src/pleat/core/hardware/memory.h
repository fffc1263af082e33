// Memory: how much is available, also under the limits of a control group, and refusing work that
// needs more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace pleat {

/// Bytes that this process can allocate without swapping: the minimum of the machine's available
/// memory and what the limits of its control group, of its address space and of limit_memory()
/// leave.
std::int64_t available_memory();

/// Limits the memory that this process should use, including memory already allocated.
void limit_memory(std::int64_t bytes);

/// The largest resident size of this process so far, in bytes.
std::int64_t peak_memory();

/// Makes blocks of a megabyte and more go back to the system when they are freed, so that another
/// thread can use them. For programs that run many large jobs; call it before threads start.
void return_freed_memory();

/// "512 B", "3.1 GiB": at most three digits before the decimal point, else the next unit.
std::string human_bytes(std::int64_t bytes);

/// Throws DeviceError if `needed` bytes for `what` ("the couplings of 2000 columns") exceed the
/// available ones, of this process or of another `memory` (" on cuda:0"). The text has both numbers
/// and `advice` ("up to 1200 columns would fit").
void require_memory(std::int64_t needed, std::string_view what, std::string_view advice,
                    std::int64_t available = available_memory(), std::string_view memory = "");

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
