// ProcessWatch: whether other processes of this machine still run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pleat {

/// What other processes need to watch this one. Trivially copyable.
struct ProcessIdentity {
    std::int64_t process = 0;
    std::uint64_t process_ids = 0;  ///< the namespace that the number belongs to; 0: unknown

    static ProcessIdentity of_this_process();
};

/// Watches processes through Linux's pidfd_open(2), which no later process with the same number can
/// confuse. A process in another namespace of process numbers, or on a kernel without that call,
/// counts as running.
class ProcessWatch {
public:
    ProcessWatch() = default;
    explicit ProcessWatch(std::span<const ProcessIdentity> processes);
    ProcessWatch(ProcessWatch&& other) noexcept : files_(std::move(other.files_)) {}
    ProcessWatch& operator=(ProcessWatch&& other) noexcept {
        files_.swap(other.files_);
        return *this;
    }
    ~ProcessWatch();

    /// The first process that has ended, by its index in the constructor's list.
    std::optional<std::size_t> find_ended() const;
    /// Whether all processes before this index have ended.
    bool is_lowest_running(std::size_t index) const;
    /// Whether any watched process other than this one runs.
    bool any_running() const;

private:
    bool has_ended(std::size_t index) const;

    std::vector<int> files_;  ///< -1: this process, or one that cannot be watched
};

}  // namespace pleat
