// Random: numbers that depend only on a seed, a chain and a step, whatever thread draws them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include <Random123/philox.h>

#include "pleat/core/view.h"

namespace pleat::refine {

/// The numbers of one step of one Monte Carlo chain: words of Philox4x32-10 (Salmon et al., SC
/// 2011) with key = (low, high 32 bits of the seed) and counter = (block, step, chain, purpose).
class Random {
public:
    Random(std::uint64_t seed, Index chain, Index step, std::uint32_t purpose = kMoves)
        : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
          counter_{{0, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(chain),
                    purpose + static_cast<std::uint32_t>(static_cast<std::uint64_t>(step) >> 32)}} {
    }

    /// A number in [0, 1), a multiple of 2^-53.
    double uniform() {
        const std::uint64_t high = word(), low = word();
        return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
    }
    /// An integer in [0, range); for a range below 2^20 the bias is below 2^-33.
    Index below(Index range) { return static_cast<Index>(uniform() * static_cast<double>(range)); }

    /// A number of the normal distribution, by Box and Muller.
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    static constexpr std::uint32_t kMoves = 0x52460000;  // "RF"
    static constexpr std::uint32_t kSwaps = 0x52580000;  // "RX"
    static constexpr std::uint32_t kStart = 0x52530000;  // "RS"
    static constexpr std::uint32_t kBuild = 0x52420000;  // "RB"

private:
    std::uint32_t word() {
        if (used_ == 4) {
            block_ = r123::Philox4x32()(counter_, key_);
            ++counter_[0];
            used_ = 0;
        }
        return block_[used_++];
    }

    r123::Philox4x32::key_type key_;
    r123::Philox4x32::ctr_type counter_, block_{};
    std::size_t used_ = 4;
};

}  // namespace pleat::refine
