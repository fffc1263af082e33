// Semaphore: a counter, and a queue of tickets.
#include "pleat/core/loops/semaphore.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::chrono::milliseconds kPollInterval{
    100};  // an interrupt does not wake a waiting thread, so it polls

}  // namespace

Semaphore::Units& Semaphore::Units::operator=(Units&& other) noexcept {
    if (this == &other) return *this;
    release();
    semaphore_ = std::exchange(other.semaphore_, nullptr);
    count_ = std::exchange(other.count_, 0);
    return *this;
}

void Semaphore::Units::release() {
    Semaphore* const semaphore = std::exchange(semaphore_, nullptr);
    if (semaphore == nullptr) return;
    const std::lock_guard lock(semaphore->mutex_);
    semaphore->free_units_ += std::exchange(count_, 0);
    semaphore->units_changed_.notify_all();
}

Semaphore::Units Semaphore::acquire(std::int64_t min, std::int64_t max,
                                    const std::function<bool()>& is_cancelled) {
    min = std::clamp<std::int64_t>(min, 0, total_units_);
    std::unique_lock lock(mutex_);
    // Leaves the queue, even if is_cancelled() throws. The caller must hold the lock.
    struct Ticket {
        explicit Ticket(Semaphore& owner) : semaphore(owner), number(owner.next_ticket_++) {
            semaphore.waiting_tickets_.insert(number);
        }
        ~Ticket() {
            semaphore.waiting_tickets_.erase(number);
            semaphore.units_changed_.notify_all();
        }
        bool is_next() const { return *semaphore.waiting_tickets_.begin() == number; }
        Semaphore& semaphore;
        const std::int64_t number;
    } ticket(*this);
    while (!ticket.is_next() || free_units_ < min) {
        if (is_cancelled()) throw Cancelled("stopped while waiting for memory or threads");
        units_changed_.wait_for(lock, kPollInterval);
    }
    const std::int64_t count = std::clamp(max, min, free_units_);
    free_units_ -= count;
    return {*this, count};
}

}  // namespace pleat
