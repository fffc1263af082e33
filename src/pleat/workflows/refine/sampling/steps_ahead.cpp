// Steps ahead: rounds of steps, which end when all threads know of theirs.
#include "pleat/workflows/refine/sampling/steps_ahead.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace pleat::refine {

namespace {

/// Combines round and thread into a number that is larger for later rounds and earlier threads.
constexpr Index kMaxThreads = 256;
Index number_of(Index round, Index thread) { return (round + 1) * kMaxThreads - 1 - thread; }
Index round_of(Index number) { return number / kMaxThreads; }
Index thread_of(Index number) { return kMaxThreads - 1 - number % kMaxThreads; }

/// Polls; after some looks it yields the processor to other threads.
template <class Done>
void look_until(const Done& done) {
    constexpr int kPatience = 64;
    for (int look = 1; !done(); ++look)
        if (look % kPatience == 0) std::this_thread::yield();
}

}  // namespace

StepsAhead::StepsAhead(std::vector<std::span<Sampler>> copies, bool begins_early)
    : copies_(std::move(copies)) {
    if (copies_.empty() || static_cast<Index>(copies_.size()) > kMaxThreads)
        throw std::logic_error("steps ahead need 1 to 256 copies");
    for (const std::span<Sampler> copy : copies_)
        for (Sampler& sampler : copy)
            if (begins_early) sampler.target().begin_early();
}

void StepsAhead::prepare() {
    arrived_ = adoptable_ = 0;
    for (std::atomic<Index>& one : accepted_) one = 0;
    has_failed_ = false;
}

void StepsAhead::note_accepted(Index thread, Index round) {
    std::atomic<Index>& of_round = accepted_[round % 2];
    const Index number = number_of(round, thread);
    Index before = of_round.load(std::memory_order_relaxed);
    while (before < number &&
           !of_round.compare_exchange_weak(before, number, std::memory_order_relaxed)) {
    }
}

Index StepsAhead::first_accepting_thread(Index round) const {
    const Index number = accepted_[round % 2].load(std::memory_order_relaxed);
    return round_of(number) == round ? thread_of(number) : -1;
}

bool StepsAhead::is_overtaken(Index thread, Index round) const {
    const Index first = first_accepting_thread(round);
    return first >= 0 && first < thread;
}

bool StepsAhead::wait_for(const std::atomic<Index>& counter, Index value) const {
    bool has_come = false;
    look_until([&] {
        has_come = counter.load(std::memory_order_acquire) >= value;
        return has_come || has_failed_.load(std::memory_order_relaxed);
    });
    return has_come;
}

void StepsAhead::adopt(Index thread, Index from, Index replica) {
    copies_[thread][replica].adopt(copies_[from][replica]);
}

void StepsAhead::adopt_all() {
    for (Index thread = 1; thread < static_cast<Index>(copies_.size()); ++thread)
        for (Index replica = 0; replica < static_cast<Index>(copies_.front().size()); ++replica)
            adopt(thread, 0, replica);
}

StepsAhead::Trial StepsAhead::try_step(Sampler& sampler, Index number, Index thread, Index round) {
    SamplingTarget& target = sampler.target();
    const auto is_ready_in_time = [&] {
        bool is_needed = true;
        look_until([&] {
            is_needed =
                !is_overtaken(thread, round) && !has_failed_.load(std::memory_order_relaxed);
            return !is_needed || target.is_ready();
        });
        return is_needed;
    };
    // A dropped step may still be in progress.
    if (!is_ready_in_time()) return Trial::none;
    if (!sampler.propose(number) || is_overtaken(thread, round)) return Trial::rejected;
    target.begin();
    return is_ready_in_time() && sampler.is_acceptable() ? Trial::accepted : Trial::rejected;
}

void StepsAhead::run(Index thread, Index threads, Index first, Index count) try {
    const std::span<Sampler> mine = copies_[thread];
    const auto replicas = static_cast<Index>(mine.size());
    for (Index replica = 0; thread > 0 && replica < replicas; ++replica) adopt(thread, 0, replica);
    for (Index step = 0, round = 1; step < count * replicas; ++round) {
        const Index tried = std::min(threads, count * replicas - step), own = step + thread;
        Sampler& sampler = mine[own % replicas];
        const Trial trial =
            thread < tried ? try_step(sampler, first + own / replicas, thread, round) : Trial::none;
        if (trial == Trial::accepted) note_accepted(thread, round);
        arrived_.fetch_add(1, std::memory_order_acq_rel);
        // No thread accepts a step of the next round before all have arrived there, so the data of
        // an accepted step can be read until then.
        if (!wait_for(arrived_, round * threads)) return;
        const Index accepted = first_accepting_thread(round);
        if (thread == accepted) {
            sampler.accept();
            adoptable_.store(round, std::memory_order_release);
        } else if (trial != Trial::none) {
            if (accepted < 0 || thread < accepted)
                sampler.reject();
            else
                sampler.drop();
        }
        if (accepted >= 0 && thread != accepted) {
            if (!wait_for(adoptable_, round)) return;
            adopt(thread, accepted, (step + accepted) % replicas);
        }
        const Index made = accepted < 0 ? tried : accepted + 1;
        if (thread == 0) dropped_ += tried - made;
        step += made;
    }
} catch (...) {
    has_failed_ = true;
    throw;
}

void StepsAhead::take_counts(MoveCounts& sum) {
    for (std::size_t thread = 1; thread < copies_.size(); ++thread)
        for (Sampler& sampler : copies_[thread]) sum.take(sampler.counts);
}

}  // namespace pleat::refine
