// Device code: functions that differ between a GPU and, in tests, the host.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define PLEAT_DEVICE __device__ inline
#else
#define PLEAT_DEVICE inline
#endif

namespace pleat::saxs::cuda {

#ifdef __CUDACC__
PLEAT_DEVICE std::uint32_t bits_of(float value) { return __float_as_uint(value); }
PLEAT_DEVICE float float_of(std::uint32_t bits) { return __uint_as_float(bits); }
/// rsqrtf() without its handling of denormal numbers.
PLEAT_DEVICE float approximate_inverse_root(float value) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}
/// The nearest integer.
PLEAT_DEVICE std::int64_t whole(double value) { return __double2ll_rn(value); }
#else
PLEAT_DEVICE std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
PLEAT_DEVICE float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
PLEAT_DEVICE float approximate_inverse_root(float value) { return 1.0f / std::sqrt(value); }
PLEAT_DEVICE std::int64_t whole(double value) { return std::llrint(value); }
#endif

}  // namespace pleat::saxs::cuda
