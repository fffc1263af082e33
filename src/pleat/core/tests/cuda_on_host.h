// CUDA on the host: runs kernels thread by thread on the CPU, so that tests need no GPU.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat/core/math/half_float.h"
#include "pleat/core/view.h"

// Words of CUDA C++. Shared memory is static, since CTAs run one after the other; what a CTA finds
// in it is what another left, as on a GPU.
#define __host__
#define __device__
#define __global__ inline
#define __shared__ static
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/// Places in a grid, as CUDA names them; those of the thread that runs.
struct PlaceInGrid {
    unsigned x = 0, y = 0, z = 0;
};
inline PlaceInGrid threadIdx, blockIdx, blockDim, gridDim;

namespace pleat::test {

/// Runs the threads of one CTA in turn, each until it waits for others. Barriers and exchanges of a
/// warp need all 32 lanes, as the kernels promise: otherwise std::logic_error. Every second CTA
/// runs its threads in reverse, so that what depends on their order without a barrier differs.
class Machine {
public:
    static Machine& only() {
        static Machine machine;
        return machine;
    }

    void run(PlaceInGrid grid, PlaceInGrid threads, const std::function<void()>& kernel) {
        if (grid.x * grid.y * grid.z == 0) throw std::logic_error("a grid without a CTA");
        gridDim = grid;
        blockDim = threads;
        kernel_ = &kernel;
        fibers_.resize(static_cast<std::size_t>(threads.x) * threads.y);
        for (Fiber& fiber : fibers_) {
            if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
        }
        for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
            for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
                for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) run_block();
            }
        }
    }

    void wait_for_block() { wait_for(block_, fibers_.size()); }

    /// Every lane gives a value, all of one type, and gets those of all 32.
    template <class T>
    const T* exchange(const T& value) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxExchanged);
        Warp& warp = warps_[current_ / 32];
        std::memcpy(warp.given + current_ % 32 * sizeof(T), &value, sizeof(T));
        if (warp.meeting.arrived + 1 == 32) std::memcpy(warp.taken, warp.given, 32 * sizeof(T));
        wait_for(warp.meeting, 32);
        return reinterpret_cast<const T*>(warp.taken);
    }

private:
    static constexpr std::size_t kStackBytes = 192 << 10, kMaxExchanged = 64;
    /// Where a stack resumes. Such jumps need no system call, which swapcontext() does.
    using Place = jmp_buf;
    struct Meeting {
        std::size_t arrived = 0, number = 0;
    };
    struct Warp {
        Meeting meeting;
        alignas(16) unsigned char given[32 * kMaxExchanged], taken[32 * kMaxExchanged];
    };
    struct Fiber {
        std::unique_ptr<char[]> stack;
        ucontext_t context{};
        Place place{};
        bool begun = false, ended = false;
    };

    static void enter() {
        Machine& machine = only();
        (*machine.kernel_)();
        Fiber& fiber = machine.fibers_[machine.current_];
        fiber.ended = machine.moved_ = true;
        leave(fiber.place, machine.main_place_);
    }

    __attribute__((noipa)) static void leave(Place& from, Place& to) {
        if (_setjmp(from) == 0) _longjmp(to, 1);
    }
    /// Runs a fiber until it waits or ends.
    __attribute__((noipa)) void enter(Fiber& fiber) {
        if (_setjmp(main_place_) != 0) return;
        if (fiber.begun) _longjmp(fiber.place, 1);
        fiber.begun = true;
        setcontext(&fiber.context);
    }

    void wait_for(Meeting& meeting, std::size_t count) {
        const std::size_t number = meeting.number;
        if (++meeting.arrived == count) {
            meeting.arrived = 0;
            ++meeting.number;
            moved_ = true;
        }
        while (meeting.number == number) leave(fibers_[current_].place, main_place_);
    }

    void run_block() {
        warps_.assign((fibers_.size() + 31) / 32, {});
        block_ = {};
        for (Fiber& fiber : fibers_) {
            fiber.begun = fiber.ended = false;
            getcontext(&fiber.context);
            fiber.context.uc_stack = {fiber.stack.get(), 0, kStackBytes};
            fiber.context.uc_link = nullptr;
            makecontext(&fiber.context, static_cast<void (*)()>(&Machine::enter), 0);
        }
        reverse_ = !reverse_;
        for (std::size_t left = fibers_.size(); left > 0;) {
            moved_ = false;
            for (std::size_t turn = 0; turn < fibers_.size(); ++turn) {
                current_ = reverse_ ? fibers_.size() - 1 - turn : turn;
                Fiber& fiber = fibers_[current_];
                if (fiber.ended) continue;
                const auto place = static_cast<unsigned>(current_);
                threadIdx = {place % blockDim.x, place / blockDim.x, 0};
                enter(fiber);
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
    bool moved_ = false, reverse_ = true;
    Place main_place_{};
};

}  // namespace pleat::test

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
/// A float16 number by its bits.
struct __half {
    std::uint16_t bits;
};
inline __half __float2half_rn(float value) { return {pleat::to_half(value)}; }
inline float __half2float(__half value) { return pleat::from_half(value.bits); }

inline void __syncwarp() { pleat::test::Machine::only().exchange(0); }
inline void __syncthreads() { pleat::test::Machine::only().wait_for_block(); }
inline unsigned __ballot_sync(unsigned, int predicate) {
    const std::uint64_t* all = pleat::test::Machine::only().exchange(std::uint64_t{predicate != 0});
    unsigned votes = 0;
    for (int lane = 0; lane < 32; ++lane) votes |= static_cast<unsigned>(all[lane]) << lane;
    return votes;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline unsigned __reduce_add_sync(unsigned, unsigned value) {
    const unsigned* all = pleat::test::Machine::only().exchange(value);
    unsigned sum = 0;
    for (int lane = 0; lane < 32; ++lane) sum += all[lane];
    return sum;
}
inline int __reduce_add_sync(unsigned mask, int value) {
    return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}
inline unsigned __reduce_min_sync(unsigned, unsigned value) {
    const unsigned* all = pleat::test::Machine::only().exchange(value);
    return *std::min_element(all, all + 32);
}
inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    const unsigned* all = pleat::test::Machine::only().exchange(value);
    return *std::max_element(all, all + 32);
}
inline unsigned __reduce_or_sync(unsigned, unsigned value) {
    const unsigned* all = pleat::test::Machine::only().exchange(value);
    unsigned found = 0;
    for (int lane = 0; lane < 32; ++lane) found |= all[lane];
    return found;
}
/// The value of lane `lane`.
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    return pleat::test::Machine::only().exchange(value)[lane % 32];
}
/// The value of the lane whose number differs in the bits of `apart`.
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int apart) {
    return __shfl_sync(mask, value, static_cast<int>(threadIdx.x % 32) ^ apart);
}
inline int __ffs(int bits) { return std::countr_zero(static_cast<unsigned>(bits)) + 1; }
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
/// The bytes of `low` and `high` that the lowest four digits of `selector` name.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    unsigned result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const unsigned byte = selector >> 4 * n & 7;
        result |= ((byte < 4 ? low : high) >> byte % 4 * 8 & 0xff) << 8 * n;
    }
    return result;
}
template <class T>
T __ldg(const T* from) {
    return *from;
}
template <class T>
T __ldcg(const T* from) {
    return *from;
}
template <class T>
T __ldcv(const T* from) {
    return *from;
}
inline void __threadfence() {}
inline void __threadfence_system() {}
using std::max;
using std::min;
inline float __expf(float value) { return std::exp(value); }
using std::fma;
inline float rsqrtf(float value) { return 1 / std::sqrt(value); }
inline double rsqrt(double value) { return 1 / std::sqrt(value); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dsqrt_rn(double value) { return std::sqrt(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline long long __double2ll_rn(double value) { return std::llrint(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float2uint_rn(float value) {
    return static_cast<unsigned>(std::nearbyint(value));
}
/// Each atomic operation returns what was there before.
template <class T>
T atomicAdd(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, static_cast<T>(*to + value));
}
template <class T>
T atomicSub(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, static_cast<T>(*to - value));
}
template <class T>
T atomicMin(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, std::min(*to, value));
}
template <class T>
T atomicMax(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, std::max(*to, value));
}
template <class T>
T atomicOr(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, *to | value);
}
template <class T>
T atomicCAS(T* to, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    const T found = *to;
    if (found == expected) *to = value;
    return found;
}
template <class T>
T atomicAnd(T* to, std::type_identity_t<T> value) {
    return std::exchange(*to, *to & value);
}
