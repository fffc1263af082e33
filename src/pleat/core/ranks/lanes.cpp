// Lanes: a Comm whose ranks are threads, over the Comm of the process.
#include "pleat/core/ranks/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/pack.h"

namespace pleat {

namespace {

/// Shared state of one process's lanes. Only lane 0 calls the process's Comm, since MPI allows one
/// thread.
class LaneGroup {
public:
    LaneGroup(Comm& outer, int lanes) : outer_(outer), shown_(lanes) {
        std::vector<std::int64_t> counts(outer.size());
        counts[outer.rank()] = lanes;
        outer.sum(counts);
        for (const std::int64_t count : counts) {
            first_.push_back(size_);
            size_ += static_cast<int>(count);
        }
    }
    Comm& outer() const { return outer_; }
    int lanes() const { return static_cast<int>(shown_.size()); }
    int size() const { return size_; }
    /// Rank of this process's first lane.
    int first() const { return first_[outer_.rank()]; }
    int process_of(int rank) const {
        return static_cast<int>(std::ranges::upper_bound(first_, rank) - first_.begin()) - 1;
    }
    int first_of(int process) const { return first_[process]; }
    int lanes_of(int process) const {
        return (process + 1 < outer_.size() ? first_of(process + 1) : size_) - first_of(process);
    }

    /// What lane `lane` brought to meet().
    template <class T>
    T& shown(int lane) const {
        return *static_cast<T*>(shown_[lane]);
    }
    /// Lane 0 calls `exchange` once all lanes are here; then all go on.
    template <class T, class Exchange>
    void meet(int lane, T& own, Exchange exchange) {
        std::unique_lock lock(mutex_);
        if (has_failed_) throw OtherRankFailed();
        shown_[lane] = &own;
        ++arrived_;
        changed_.notify_all();
        if (lane != 0) {
            const std::uint64_t round = round_;
            changed_.wait(lock, [&] { return round_ != round || has_failed_; });
            if (round_ == round) throw OtherRankFailed();
            return;
        }
        changed_.wait(lock, [&] { return arrived_ == lanes() || has_failed_; });
        if (has_failed_) throw OtherRankFailed();
        exchange();  // on_lanes() calls fail() if this throws
        arrived_ = 0;
        ++round_;
        changed_.notify_all();
    }
    /// A lane has stopped before its end.
    void fail() {
        const std::lock_guard lock(mutex_);
        has_failed_ = true;
        changed_.notify_all();
    }

private:
    Comm& outer_;
    std::vector<void*> shown_;
    std::vector<int> first_;
    int size_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    int arrived_ = 0;
    std::uint64_t round_ = 0;
    bool has_failed_ = false;
};

class LaneComm : public Comm {
public:
    LaneComm(LaneGroup& group, int lane) : group_(group), lane_(lane) {}
    int rank() const override { return group_.first() + lane_; }
    int size() const override { return group_.size(); }
    int local_rank() const override { return outer().local_rank() * group_.lanes() + lane_; }
    int local_size() const override { return outer().local_size() * group_.lanes(); }
    double cpu_share() const override { return outer().cpu_share() / group_.lanes(); }

    void barrier() override {
        char nothing = 0;
        group_.meet(lane_, nothing, [&] { outer().barrier(); });
    }
    bool any(bool value) override {
        group_.meet(lane_, value, [&] {
            for (int lane = 1; lane < group_.lanes(); ++lane) value |= group_.shown<bool>(lane);
            value = outer().any(value);
            for (int lane = 1; lane < group_.lanes(); ++lane) group_.shown<bool>(lane) = value;
        });
        return value;
    }
    double sum(double value) override {
        group_.meet(lane_, value, [&] {
            std::vector<double> own;
            own.reserve(group_.lanes());
            for (int lane = 0; lane < group_.lanes(); ++lane)
                own.push_back(group_.shown<double>(lane));
            value = sum_in_order(own);
            for (int lane = 1; lane < group_.lanes(); ++lane) group_.shown<double>(lane) = value;
        });
        return value;
    }
    void sum(std::span<std::int64_t> values) override { combine(values, add<std::int64_t>); }
    void sum(std::span<std::uint32_t> values) override { combine(values, add<std::uint32_t>); }
    void raise(std::span<double> values) override {
        group_.meet(lane_, values, [&] {
            for_each_other(values, [](double& into, double from) { into = std::max(into, from); });
            outer().raise(values);
            copy_to_others(values);
        });
    }
    void broadcast(Bytes& bytes, int root) override {
        group_.meet(lane_, bytes, [&] {
            const int process = group_.process_of(root);
            if (process == outer().rank() && root != group_.first())
                bytes = group_.shown<Bytes>(root - group_.first());
            outer().broadcast(bytes, process);
            for (int lane = 1; lane < group_.lanes(); ++lane) group_.shown<Bytes>(lane) = bytes;
        });
    }
    std::vector<Bytes> gather(std::span<const std::uint8_t> bytes, int root) override {
        Gathered own{bytes, {}};
        group_.meet(lane_, own, [&] {
            const int process = group_.process_of(root);
            std::vector<Bytes> all = gather_processes(process);
            if (process == outer().rank())
                group_.shown<Gathered>(root - group_.first()).all = std::move(all);
        });
        return std::move(own.all);
    }
    int end(const Outcome&, const Report&) override {
        throw std::logic_error("a lane ended the run of its process");
    }

private:
    struct Gathered {
        std::span<const std::uint8_t> own;
        std::vector<Bytes> all;  ///< [rank], on the root
    };
    template <class T>
    static void add(T& into, T from) {
        into += from;
    }
    Comm& outer() const { return group_.outer(); }
    template <class T, class Combine>
    void for_each_other(std::span<T> values, Combine combine_one) {
        for (int lane = 1; lane < group_.lanes(); ++lane) {
            const std::span<T> other = group_.shown<std::span<T>>(lane);
            for (std::size_t i = 0; i < values.size(); ++i) combine_one(values[i], other[i]);
        }
    }
    template <class T>
    void copy_to_others(std::span<T> values) {
        for (int lane = 1; lane < group_.lanes(); ++lane)
            std::ranges::copy(values, group_.shown<std::span<T>>(lane).begin());
    }
    template <class T, class Combine>
    void combine(std::span<T> values, Combine combine_one) {
        group_.meet(lane_, values, [&] {
            for_each_other(values, combine_one);
            outer().sum(values);
            copy_to_others(values);
        });
    }
    /// Sum over the lanes of all processes in the order of their ranks: its bits do not depend on
    /// how lanes are distributed over processes. Called by lane 0.
    double sum_in_order(std::span<const double> own) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(own.data());
        double total = 0.0;
        for (const Bytes& part : outer().gather({bytes, own.size_bytes()}, 0))
            for (Packer read(part); read.has_more();) {
                double one = 0.0;
                read(one);
                total += one;
            }
        share(outer(), total);
        return total;
    }
    /// The bytes of all ranks on one process; empty on the others. Called by lane 0.
    std::vector<Bytes> gather_processes(int process) {
        int rounds = 0;  // one per lane; a process with fewer lanes sends nothing in the last ones
        for (int one = 0; one < outer().size(); ++one)
            rounds = std::max(rounds, group_.lanes_of(one));
        std::vector<Bytes> all(outer().rank() == process ? static_cast<std::size_t>(size()) : 0);
        for (int lane = 0; lane < rounds; ++lane) {
            std::span<const std::uint8_t> sent;
            if (lane < group_.lanes()) sent = group_.shown<Gathered>(lane).own;
            std::vector<Bytes> part = outer().gather(sent, process);
            for (int from = 0; !all.empty() && from < outer().size(); ++from) {
                if (lane >= group_.lanes_of(from)) continue;
                const int rank = group_.first_of(from) + lane;
                all[rank] = std::move(part[from]);
            }
        }
        return all;
    }

    LaneGroup& group_;
    int lane_;
};

/// The progress of one lane. Only the first lane, in the calling thread, reports and checks for a
/// cancel; it informs the others.
class LaneProgress : public Progress {
public:
    LaneProgress(Progress* outer, int lane, std::atomic<bool>& is_cancelled)
        : outer_(outer), is_first_(lane == 0), is_cancelled_(is_cancelled) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        if (is_first_) outer_->update(stage, done, total, note);
    }
    bool cancelled() override {
        if (is_first_ && outer_->cancelled()) is_cancelled_ = true;
        return is_cancelled_;
    }
    void message(std::string_view text) override {
        if (is_first_) outer_->message(text);
    }
    void note(const Note& note) override {
        if (is_first_) outer_->note(note);
    }

private:
    Progress* outer_;
    bool is_first_;
    std::atomic<bool>& is_cancelled_;
};

bool is_of_other_rank(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const OtherRankFailed&) {
        return true;
    } catch (...) {
        return false;
    }
}

/// Throws the error of the lowest lane with its own failure, if any.
void throw_first(std::span<const std::exception_ptr> errors) {
    std::exception_ptr first;
    for (const std::exception_ptr& error : errors) {
        if (error == nullptr) continue;
        if (!is_of_other_rank(error)) std::rethrow_exception(error);
        first = error;
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace

void on_lanes(const Context& context, const std::function<void(const Context& lane)>& work) {
    if (context.lanes.empty()) return work(context);
    const std::vector<Device>& devices = context.lanes;
    const int lanes = static_cast<int>(devices.size());
    const int threads = std::max(1, resolve_threads(context) / lanes);
    Comm alone;
    LaneGroup group(context.comm != nullptr ? *context.comm : alone, lanes);
    std::vector<std::exception_ptr> errors(devices.size());
    std::atomic<bool> is_cancelled = false;
    const auto run_lane = [&](int lane) {
        try {
            LaneComm comm(group, lane);
            LaneProgress progress(context.progress, lane, is_cancelled);
            Context own = context;
            own.lanes.clear();
            own.device = devices[lane];
            own.threads = threads;
            own.comm = &comm;
            if (context.progress != nullptr) own.progress = &progress;
            work(own);
        } catch (...) {
            errors[lane] = std::current_exception();
            group.fail();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int lane = 1; lane < lanes; ++lane) others.emplace_back(run_lane, lane);
        run_lane(0);
    }
    throw_first(errors);
}

void require_one_device(const Context& context, const char* what) {
    if (context.lanes.size() < 2) return;
    throw UsageError(
        fmt::format("--device: {} uses one device, found {}", what, context.lanes.size()));
}

bool are_one_process(const Context& context) {
    if (context.ranks() == 1) return true;
    static const double process = [] {
        std::random_device random;
        return static_cast<double>(random()) * 0x1p20 + static_cast<double>(random() >> 12);
    }();
    double bounds[] = {process, -process};
    context.comm->raise(bounds);
    return bounds[0] == -bounds[1];
}

void wait_for_ranks(const Context& context) {
    if (context.comm != nullptr) context.comm->barrier();
}

std::vector<std::uintptr_t> numbers_of_ranks(const Context& context, std::uintptr_t own) {
    std::vector<std::uintptr_t> numbers;
    for (int rank = 0; rank < context.ranks(); ++rank) {
        Packer written;
        written(own);
        if (context.comm != nullptr) context.comm->broadcast(written.bytes, rank);
        Packer{written.bytes}(numbers.emplace_back());
    }
    return numbers;
}

}  // namespace pleat
