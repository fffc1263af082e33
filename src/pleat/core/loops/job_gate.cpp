// Job gate: a queue of tickets before a set of counters.
#include "pleat/core/loops/job_gate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::chrono::milliseconds kPoll{100};  // a signal wakes nobody who waits here

}  // namespace

JobGate::Pass::Pass(Pass&& other) noexcept { *this = std::move(other); }

JobGate::Pass& JobGate::Pass::operator=(Pass&& other) noexcept {
    if (this == &other) return *this;
    leave();
    gate_ = std::exchange(other.gate_, nullptr);
    held_ = std::move(other.held_);
    choice_ = other.choice_;
    return *this;
}

void JobGate::Pass::keep(const Amounts& amounts) {
    if (gate_ == nullptr) return;
    {
        const std::lock_guard lock(gate_->mutex_);
        for (std::size_t k = 0; k < held_.size(); ++k) {
            const std::int64_t kept = std::clamp<std::int64_t>(amounts.at(k), 0, held_[k]);
            gate_->free_[k] += held_[k] - kept;
            held_[k] = kept;
        }
    }
    gate_->changed_.notify_all();
}

void JobGate::Pass::leave() {
    JobGate* const gate = std::exchange(gate_, nullptr);
    if (gate == nullptr) return;
    {
        const std::lock_guard lock(gate->mutex_);
        for (std::size_t k = 0; k < held_.size(); ++k) gate->free_[k] += held_[k];
        --gate->inside_;
    }
    gate->changed_.notify_all();
}

bool JobGate::fits(const Amounts& wanted, const Amounts& reserved) const {
    if (wanted.size() != capacity_.size())
        throw std::logic_error("a job names another number of resources than its gate has");
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const std::int64_t own = reserved.empty() ? 0 : reserved[k];
        if (std::min(wanted[k], capacity_[k]) > free_[k] + own) return false;
    }
    return true;
}

int JobGate::first_fitting(const std::vector<Amounts>& choices, const Amounts& reserved) const {
    for (std::size_t c = 0; c < choices.size(); ++c)
        if (fits(choices[c], reserved)) return static_cast<int>(c);
    return -1;
}

JobGate::Pass JobGate::admit(const Amounts& wanted, int choice) {
    Pass pass;
    pass.held_.resize(wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        pass.held_[k] = std::clamp<std::int64_t>(wanted[k], 0, capacity_[k]);
        free_[k] -= pass.held_[k];
    }
    pass.gate_ = this;
    pass.choice_ = choice;
    ++inside_;
    return pass;
}

void JobGate::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& cancelled) {
    lock.unlock();
    bool stop = false;
    try {
        stop = cancelled();
    } catch (...) {
        lock.lock();
        throw;
    }
    lock.lock();
    if (stop) throw Cancelled("stopped while it waited for memory or threads");
    changed_.wait_for(lock, kPoll);
}

JobGate::Pass JobGate::enter(const std::vector<Amounts>& choices,
                             const std::function<bool()>& cancelled, Pass reserved) {
    std::unique_lock lock(mutex_);
    const auto ticket = waiting_.insert(waiting_.end(), next_ticket_++);
    const bool holds = reserved.gate_ != nullptr;
    // Whoever begins or ends to wait may be what another waits for.
    const auto change_waiting = [&](int change) {
        if (holds) inside_ -= change;
        changed_.notify_all();
    };
    change_waiting(1);
    try {
        while (true) {
            int choice = -1;
            if (ticket == waiting_.begin()) {
                choice = first_fitting(choices, reserved.held_);
                if (choice < 0 && inside_ == 0) choice = 0;
            }
            if (choice >= 0) {
                Pass pass = admit(choices[static_cast<std::size_t>(choice)], choice);
                waiting_.erase(ticket);
                change_waiting(-1);
                lock.unlock();  // before `reserved` leaves
                return pass;
            }
            wait(lock, cancelled);
        }
    } catch (...) {
        waiting_.erase(ticket);
        change_waiting(-1);
        throw;
    }
}

JobGate::Pass JobGate::reserve(const Amounts& amounts, const std::function<bool()>& cancelled) {
    std::unique_lock lock(mutex_);
    while (!fits(amounts, {})) wait(lock, cancelled);
    return admit(amounts, 0);
}

int thread_share(int threads, double share, int least) {
    // What is a whole number but for rounding is not rounded up.
    const double wanted = std::ceil(threads * std::clamp(share, 0.0, 1.0) - 1e-9);
    return std::clamp(std::max(static_cast<int>(wanted), least), 1, std::max(1, threads));
}

}  // namespace pleat
