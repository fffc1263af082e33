// Instructions of a GPU on the host, by their definition: what core/cuda/cuda_gpu.cuh has.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/tests/cuda_on_host.h"

namespace pleat::cuda {

/// What a CTA of any GPU may have.
inline constexpr Index kMaxDynamicShared = 227 << 10;
alignas(128) inline unsigned char dynamic_shared_memory[kMaxDynamicShared];
#define PLEAT_DYNAMIC_SHARED(T, name) \
    T* const name = reinterpret_cast<T*>(pleat::cuda::dynamic_shared_memory)

// Copies are there at once.
inline void copy_async(void* to, const void* from) { std::memcpy(to, from, 16); }
inline void end_copies() {}
template <int kLeft>
void wait_for_copies() {}

/// PTX ISA, "ldmatrix".
template <bool kTransposed>
void load_matrices(std::uint32_t (&to)[4], const __half* row) {
    const unsigned lane = threadIdx.x % 32;
    const __half* const* rows = test::Machine::only().exchange(row);
    for (unsigned k = 0; k < 4; ++k) {
        to[k] = 0;
        for (unsigned n = 0; n < 2; ++n) {
            const unsigned here = lane / 4, pair = lane % 4 * 2 + n;
            const __half of = kTransposed ? rows[8 * k + pair][here] : rows[8 * k + here][pair];
            to[k] |= std::uint32_t{of.bits} << 16 * n;
        }
    }
}

/// Adds terms as tensor cores were found to (Fasi et al., PeerJ Comput. Sci. 7:e330, 2021): aligned
/// with the largest, cut two bits below float32, and the sum cut to float32.
inline float truncated_sum(const double (&terms)[17]) {
    const auto exponent = [](double x) { return x == 0 ? -300 : std::ilogb(x); };
    int largest = -300;
    for (const double term : terms) {
        if (!std::isfinite(term))
            return static_cast<float>(std::accumulate(std::begin(terms), std::end(terms), 0.0));
        largest = std::max(largest, exponent(term));
    }
    const double unit = std::ldexp(1.0, largest - 25);
    double sum = 0.0;
    for (const double term : terms) sum += std::trunc(term / unit) * unit;
    const double last = std::ldexp(1.0, exponent(sum) - 23);
    return static_cast<float>(std::trunc(sum / last) * last);
}

/// PTX ISA, "Matrix fragments for mma.m16n8k16".
inline void multiply_halves(float* c, const std::uint32_t (&a)[4], std::uint32_t b0,
                            std::uint32_t b1) {
    struct Fragments {
        float a[8], b[4];
    } own;
    const auto unpack = [](std::uint32_t pair, float* to) {
        to[0] = from_half(static_cast<std::uint16_t>(pair));
        to[1] = from_half(static_cast<std::uint16_t>(pair >> 16));
    };
    for (int n = 0; n < 4; ++n) unpack(a[n], own.a + 2 * n);
    unpack(b0, own.b);
    unpack(b1, own.b + 2);
    const Fragments* all = test::Machine::only().exchange(own);
    const unsigned lane = threadIdx.x % 32;
    for (unsigned n = 0; n < 4; ++n) {
        const Fragments *row = all + lane / 4 * 4, *column = all + (lane % 4 * 2 + n % 2) * 4;
        double terms[17];
        terms[16] = c[n];
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned of = k % 8 / 2, upper = k / 8, which = k % 2;
            terms[k] = static_cast<double>(row[of].a[4 * upper + n / 2 * 2 + which]) *
                       static_cast<double>(column[of].b[2 * upper + which]);
        }
        c[n] = truncated_sum(terms);
    }
}

/// PTX ISA, "Matrix fragments for mma.m8n8k4 with .f64"; each product is added with one rounding.
inline void multiply_doubles(double* c, double a, double b) {
    struct Fragments {
        double a, b;
    };
    const Fragments* all = test::Machine::only().exchange(Fragments{a, b});
    const unsigned lane = threadIdx.x % 32;
    for (unsigned n = 0; n < 2; ++n)
        for (unsigned k = 0; k < 4; ++k)
            c[n] = std::fma(all[lane / 4 * 4 + k].a, all[(lane % 4 * 2 + n) * 4 + k].b, c[n]);
}

inline std::uint32_t equal_halves(std::uint32_t x, std::uint32_t y) {
    const auto one = [](bool equal) { return equal ? 0x3c00u : 0u; };
    return one((x & 0xffff) == (y & 0xffff)) | one(x >> 16 == y >> 16) << 16;
}

inline float rough_inverse_root(float value) { return 1.0f / std::sqrt(value); }
inline float rough_inverse(float value) { return 1.0f / value; }

}  // namespace pleat::cuda
