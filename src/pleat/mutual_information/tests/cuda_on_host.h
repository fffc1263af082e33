// CUDA on the host: runs kernels thread by thread on the CPU, so that tests need no GPU.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/view.h"

// Words of CUDA C++ that mean nothing here.
#define __host__
#define __device__
#define __global__ inline
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

/// Places in a grid, as CUDA names them; those of the thread that runs.
struct PlaceInGrid {
    unsigned x = 0, y = 0;
};
inline PlaceInGrid threadIdx, blockIdx, blockDim, gridDim;

namespace pleat::test {

/// Runs the threads of one CTA in turn, each until it waits for others. Barriers and exchanges of a
/// warp need all 32 lanes, as the kernels promise: otherwise std::logic_error.
class Machine {
public:
    static Machine& only() {
        static Machine machine;
        return machine;
    }

    void run(PlaceInGrid grid, PlaceInGrid threads, const std::function<void()>& kernel) {
        gridDim = grid;
        blockDim = threads;
        kernel_ = &kernel;
        fibers_.resize(static_cast<std::size_t>(threads.x) * threads.y);
        for (Fiber& fiber : fibers_) {
            if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
        }
        for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
            for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) run_block();
        }
    }

    void wait_for_block() { wait_for(block_, fibers_.size()); }

    /// A lane's words of two matrices.
    struct Fragments {
        std::uint32_t a[4], b[2];
    };

    /// Every lane gives its words and gets those of all 32.
    const Fragments* exchange(const Fragments& fragments) {
        Warp& warp = warps_[current_ / 32];
        warp.fragments_given[current_ % 32] = fragments;
        if (warp.meeting.arrived + 1 == 32)
            std::copy(warp.fragments_given, warp.fragments_given + 32, warp.fragments_taken);
        wait_for(warp.meeting, 32);
        return warp.fragments_taken;
    }

    /// Every lane gives a value and gets those of all 32.
    const std::uint64_t* exchange(std::uint64_t value) {
        Warp& warp = warps_[current_ / 32];
        warp.given[current_ % 32] = value;
        if (warp.meeting.arrived + 1 == 32) std::copy(warp.given, warp.given + 32, warp.taken);
        wait_for(warp.meeting, 32);
        return warp.taken;
    }

private:
    static constexpr std::size_t kStackBytes = 192 << 10;
    struct Meeting {
        std::size_t arrived = 0, number = 0;
    };
    struct Warp {
        Meeting meeting;
        std::uint64_t given[32], taken[32];
        Fragments fragments_given[32], fragments_taken[32];
    };
    struct Fiber {
        std::unique_ptr<char[]> stack;
        ucontext_t context{};
        bool ended = false;
    };

    static void enter() {
        Machine& machine = only();
        (*machine.kernel_)();
        Fiber& fiber = machine.fibers_[machine.current_];
        fiber.ended = machine.moved_ = true;
        swapcontext(&fiber.context, &machine.main_);
    }

    void wait_for(Meeting& meeting, std::size_t count) {
        const std::size_t number = meeting.number;
        if (++meeting.arrived == count) {
            meeting.arrived = 0;
            ++meeting.number;
            moved_ = true;
        }
        while (meeting.number == number) swapcontext(&fibers_[current_].context, &main_);
    }

    void run_block() {
        warps_.assign((fibers_.size() + 31) / 32, {});
        block_ = {};
        for (Fiber& fiber : fibers_) {
            fiber.ended = false;
            getcontext(&fiber.context);
            fiber.context.uc_stack = {fiber.stack.get(), 0, kStackBytes};
            fiber.context.uc_link = nullptr;
            makecontext(&fiber.context, &Machine::enter, 0);
        }
        for (std::size_t left = fibers_.size(); left > 0;) {
            moved_ = false;
            for (current_ = 0; current_ < fibers_.size(); ++current_) {
                Fiber& fiber = fibers_[current_];
                if (fiber.ended) continue;
                const auto place = static_cast<unsigned>(current_);
                threadIdx = {place % blockDim.x, place / blockDim.x};
                swapcontext(&main_, &fiber.context);
                left -= fiber.ended;
            }
            if (!moved_) throw std::logic_error("threads wait for others that never come");
        }
    }

    const std::function<void()>* kernel_ = nullptr;
    std::vector<Fiber> fibers_;
    std::vector<Warp> warps_;
    Meeting block_;
    std::size_t current_ = 0;
    bool moved_ = false;
    ucontext_t main_{};
};

}  // namespace pleat::test

inline void __syncthreads() { pleat::test::Machine::only().wait_for_block(); }
inline unsigned __ballot_sync(unsigned, int predicate) {
    const std::uint64_t* all = pleat::test::Machine::only().exchange(std::uint64_t{predicate != 0});
    unsigned votes = 0;
    for (int lane = 0; lane < 32; ++lane) votes |= static_cast<unsigned>(all[lane]) << lane;
    return votes;
}
inline unsigned __reduce_or_sync(unsigned, unsigned value) {
    const std::uint64_t* all = pleat::test::Machine::only().exchange(std::uint64_t{value});
    unsigned found = 0;
    for (int lane = 0; lane < 32; ++lane) found |= static_cast<unsigned>(all[lane]);
    return found;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline void __syncwarp() { pleat::test::Machine::only().exchange(std::uint64_t{0}); }
template <class T>
T __ldg(const T* from) {
    return *from;
}
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
template <class T>
void atomicAdd(T* to, T value) {
    *to += value;
}
template <class T>
void atomicMax(T* to, T value) {
    *to = std::max(*to, value);
}

namespace pleat::test {

/// One-bit products as mma.sync defines them for a warp, with kWords words of 32 bits a lane of
/// each row and column: PTX ISA, "Matrix fragments for mma.m16n8k128", and "for mma.m16n8k256".
template <std::size_t kWords>
void multiply_bits_on_host(int (&c)[4], const std::uint32_t (&a)[2 * kWords],
                           const std::uint32_t (&b)[kWords]) {
    Machine::Fragments mine{};
    std::copy(a, a + 2 * kWords, mine.a);
    std::copy(b, b + kWords, mine.b);
    const unsigned lane = threadIdx.x;
    const Machine::Fragments* all = Machine::only().exchange(mine);
    for (unsigned n = 0; n < 4; ++n) {
        const unsigned row = lane / 4 + (n >= 2 ? 8 : 0), column = lane % 4 * 2 + n % 2;
        for (unsigned word = 0; word < 4 * kWords; ++word) {
            const std::uint32_t of_a = all[row % 8 * 4 + word % 4].a[word / 4 * 2 + row / 8];
            const std::uint32_t of_b = all[column * 4 + word % 4].b[word / 4];
            c[n] += std::popcount(of_a & of_b);
        }
    }
}

}  // namespace pleat::test
