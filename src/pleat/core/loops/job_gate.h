// Job gate: lets jobs in while what they need of memory and threads fits beside those that run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

namespace pleat {

/// Amounts of what jobs share, in an order that the caller chooses: bytes of the host, threads,
/// bytes of each GPU.
using Amounts = std::vector<std::int64_t>;

/// Jobs enter in the order in which they came: a large one is not overtaken for ever by small ones.
class JobGate {
public:
    /// What there is for all jobs together.
    explicit JobGate(Amounts capacity) : capacity_(capacity), free_(std::move(capacity)) {}
    JobGate(const JobGate&) = delete;
    JobGate& operator=(const JobGate&) = delete;

    /// A job's stay inside; leaves when destroyed. Outlived by its gate.
    class Pass {
    public:
        Pass() = default;
        Pass(Pass&& other) noexcept;
        Pass& operator=(Pass&& other) noexcept;
        ~Pass() { leave(); }
        /// Which of the choices was taken.
        int choice() const { return choice_; }
        /// Gives all but `amounts` back, each at most what is held.
        void keep(const Amounts& amounts);
        void leave();

    private:
        friend class JobGate;
        JobGate* gate_ = nullptr;
        Amounts held_;
        int choice_ = 0;
    };

    /// Waits until one of `choices` fits and takes the first that does. An amount above the
    /// capacity counts as all of it: such a job waits until nobody else holds any of it. Cancelled
    /// when `cancelled()`, which is asked ten times a second, is true.
    /// `reserved`: what the job holds meanwhile and gives for its place. Where all that are inside
    /// only wait so, the first of them enters whether it fits or not: nobody else would make room.
    Pass enter(const std::vector<Amounts>& choices, const std::function<bool()>& cancelled,
               Pass reserved);
    Pass enter(const std::vector<Amounts>& choices, const std::function<bool()>& cancelled) {
        return enter(choices, cancelled, Pass());
    }
    /// Waits until these amounts are free, for what comes before the job's place is asked for.
    /// Overtakes those who wait to enter; as each job does so once, nobody is kept out for ever.
    Pass reserve(const Amounts& amounts, const std::function<bool()>& cancelled);

    const Amounts& capacity() const { return capacity_; }

private:
    /// The first choice that fits now beside what is `reserved` for it, or -1.
    int first_fitting(const std::vector<Amounts>& choices, const Amounts& reserved) const;
    bool fits(const Amounts& wanted, const Amounts& reserved) const;
    Pass admit(const Amounts& wanted, int choice);
    /// One turn of waiting: Cancelled, or something may have changed.
    void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& cancelled);

    const Amounts capacity_;
    Amounts free_;                     ///< below zero where a job entered that does not fit
    std::list<std::int64_t> waiting_;  ///< tickets
    std::int64_t next_ticket_ = 0;
    std::int64_t inside_ = 0;  ///< without those who wait to enter
    mutable std::mutex mutex_;
    std::condition_variable changed_;
};

/// Threads for a job that is this share of all that is left to do, of `threads` for all jobs: such
/// shares let jobs that start together end together. At least `least`.
int thread_share(int threads, double share, int least = 1);

}  // namespace pleat
