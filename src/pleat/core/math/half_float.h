// Float16: rounding to it and back on the host.
#pragma once

#include <bit>
#include <cstdint>

namespace pleat {

/// The nearest float16, ties to even; infinity from 65520 on.
inline std::uint16_t to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
    if (size >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (size < 0x38800000u) {
        // Adding 0.5 rounds the number to a multiple of 2^-24, which is left in the low bits.
        const float shifted = std::bit_cast<float>(size) + 0.5f;
        return static_cast<std::uint16_t>(sign |
                                          (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    return static_cast<std::uint16_t>(sign | ((size + 0xc8000fffu + (size >> 13 & 1u)) >> 13));
}

inline float from_half(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
    if (size >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    if (size < 0x400u) {
        const float value = static_cast<float>(size) * 5.9604644775390625e-8f;
        return sign != 0 ? -value : value;
    }
    return std::bit_cast<float>(sign | ((size << 13) + 0x38000000u));
}

}  // namespace pleat
