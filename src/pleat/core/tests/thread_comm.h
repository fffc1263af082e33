// Ranks as threads of one process: a Comm for tests.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "pleat/core/ranks/comm.h"

namespace pleat::test {

class ThreadComm : public Comm {
public:
    struct Shared {
        explicit Shared(int n) : meeting(n), places(static_cast<std::size_t>(n)) {}
        int size() const { return static_cast<int>(places.size()); }
        std::barrier<> meeting;
        std::vector<const void*> places;  ///< what each rank shows the others
    };
    ThreadComm(Shared& shared, int rank) : shared_(shared), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return shared_.size(); }
    int local_rank() const override { return rank_; }
    int local_size() const override { return shared_.size(); }
    void barrier() override { shared_.meeting.arrive_and_wait(); }
    bool any(bool value) override {
        bool result = false;
        look(value, [&](bool other) { result |= other; });
        return result;
    }
    double sum(double value) override {
        double total = 0.0;
        look(value, [&](double other) { total += other; });
        return total;
    }
    void sum(std::span<std::int64_t> values) override { add(values); }
    void sum(std::span<std::uint32_t> values) override { add(values); }
    void raise(std::span<double> values) override {
        std::vector<double> largest(values.begin(), values.end());
        look(values, [&](std::span<double> other) {
            for (std::size_t i = 0; i < largest.size(); ++i)
                largest[i] = std::max(largest[i], other[i]);
        });
        std::copy(largest.begin(), largest.end(), values.begin());
        barrier();
    }
    void broadcast(std::vector<std::uint8_t>& bytes, int root) override {
        int rank = 0;
        const std::vector<std::uint8_t>* const own = &bytes;
        std::vector<std::uint8_t> copy;
        look(own, [&](const std::vector<std::uint8_t>* other) {
            if (rank++ == root) copy = *other;
        });
        bytes = copy;
    }
    std::vector<std::vector<std::uint8_t>> gather(std::span<const std::uint8_t> bytes,
                                                  int root) override {
        std::vector<std::vector<std::uint8_t>> all;
        look(bytes, [&](std::span<const std::uint8_t> other) {
            if (rank_ == root) all.emplace_back(other.begin(), other.end());
        });
        return all;
    }

private:
    /// Shows `own` and calls `action` with what each rank shows, in their order.
    template <class T, class Action>
    void look(const T& own, Action action) {
        shared_.places[static_cast<std::size_t>(rank_)] = &own;
        barrier();
        for (const void* place : shared_.places) action(*static_cast<const T*>(place));
        barrier();
    }
    template <class T>
    void add(std::span<T> values) {
        std::vector<T> total(values.size());
        look(values, [&](std::span<T> other) {
            for (std::size_t i = 0; i < total.size(); ++i) total[i] += other[i];
        });
        std::copy(total.begin(), total.end(), values.begin());
        barrier();
    }
    Shared& shared_;
    int rank_;
};

/// Calls action(comm) on each of `size` ranks.
template <class Action>
void on_ranks(int size, Action action) {
    ThreadComm::Shared shared(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            ThreadComm comm(shared, rank);
            action(comm);
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace pleat::test
