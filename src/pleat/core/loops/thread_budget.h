// Thread budget: threads that several jobs of this process share.
#pragma once

namespace pleat {

/// While one exists, every parallel_for() of the process uses the calling thread and as many others
/// as are free, up to the number that it asks for: jobs that run side by side have a thread each,
/// and the last ones use the threads of those that have ended. At most one exists at a time.
class ThreadBudget {
public:
    explicit ThreadBudget(int threads);
    ~ThreadBudget();
    ThreadBudget(const ThreadBudget&) = delete;
    ThreadBudget& operator=(const ThreadBudget&) = delete;

    /// The calling thread works; it counts as one of the threads while this exists.
    class Worker {
    public:
        Worker();
        ~Worker();
        Worker(const Worker&) = delete;
        Worker& operator=(const Worker&) = delete;
    };
    /// The calling thread waits, so that others may use its place.
    class Pause {
    public:
        Pause();
        ~Pause();
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;
    };

    /// Up to `wanted` free threads, taken for as long as this exists.
    class Extra {
    public:
        explicit Extra(int wanted) : count_(take(wanted)) {}
        ~Extra() { give_back(count_); }
        Extra(const Extra&) = delete;
        Extra& operator=(const Extra&) = delete;
        int count() const { return count_; }

    private:
        const int count_;
    };

    /// Takes up to `wanted` free threads and returns their number; all if there is no budget.
    static int take(int wanted);
    static void give_back(int threads);
};

}  // namespace pleat
