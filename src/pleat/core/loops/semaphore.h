// Semaphore: a number of units, such as bytes of memory or threads, that jobs share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

namespace pleat {

/// Jobs acquire units in the order in which they ask, so that small jobs do not delay a large one
/// for ever. Jobs that use several semaphores must acquire them in the same order, or they may wait
/// for each other.
class Semaphore {
public:
    explicit Semaphore(std::int64_t units) : total_units_(units), free_units_(units) {}
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    /// The units that a job has; released by the destructor. Must not outlive the semaphore.
    class Units {
    public:
        Units() = default;
        Units(Units&& other) noexcept { *this = std::move(other); }
        Units& operator=(Units&& other) noexcept;
        ~Units() { release(); }
        std::int64_t count() const { return count_; }
        void release();

    private:
        friend class Semaphore;
        Units(Semaphore& semaphore, std::int64_t count) : semaphore_(&semaphore), count_(count) {}
        Semaphore* semaphore_ = nullptr;
        std::int64_t count_ = 0;
    };

    /// Waits until at least `min` units are free, and returns as many of the free units as `max`
    /// allows. A job that asks for more than total() waits until no other job has any, and gets
    /// all. `is_cancelled` is called about ten times a second while the job waits; throws Cancelled
    /// if it returns true.
    Units acquire(std::int64_t min, std::int64_t max, const std::function<bool()>& is_cancelled);
    /// Acquires exactly `count` units, or all if there are fewer.
    Units acquire(std::int64_t count, const std::function<bool()>& is_cancelled) {
        return acquire(count, count, is_cancelled);
    }

    std::int64_t total() const { return total_units_; }

private:
    const std::int64_t total_units_;
    std::int64_t free_units_;
    std::int64_t next_ticket_ = 0;
    std::set<std::int64_t> waiting_tickets_;  ///< tickets; the lowest one is served next
    std::mutex mutex_;
    std::condition_variable units_changed_;
};

}  // namespace pleat
