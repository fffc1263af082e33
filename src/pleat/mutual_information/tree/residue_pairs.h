// Residue pairs: mutual information and G of two columns over the rows where both have a residue.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"

namespace pleat::mutual_information {

/// Two columns over the rows where both have a residue.
struct ResiduePair {
    double mi = 0, joint_entropy = 0;  ///< bits; 0 without such rows
    double g = 0;                      ///< 2 W MI, nats, W: the sum of these rows' weights
};

PLEAT_HOST_DEVICE inline double x_ln_x(std::uint32_t x) {
    return x > 0 ? static_cast<double>(x) * std::log(static_cast<double>(x)) : 0;
}

/// Maximum number of states, without the missing one.
constexpr int kMaxResidues = 32;

/// `table(a, b)`: the sum of `scale` x weight over the rows with these states.
template <class Table>
PLEAT_HOST_DEVICE ResiduePair residue_pair(const Table& table, int states, double scale) {
    std::uint32_t of_j[kMaxResidues] = {};
    double cells = 0, margins = 0;
    std::uint32_t total = 0;
    for (int a = 0; a < states; ++a) {
        std::uint32_t of_i = 0;
        for (int b = 0; b < states; ++b) {
            const std::uint32_t count = table(a, b);
            of_i += count;
            of_j[b] += count;
            cells += x_ln_x(count);
        }
        margins += x_ln_x(of_i);
        total += of_i;
    }
    if (total == 0) return {};
    for (int b = 0; b < states; ++b) margins += x_ln_x(of_j[b]);
    const double all = static_cast<double>(total);
    const double information = std::fmax(0.0, cells - margins + x_ln_x(total));
    ResiduePair pair;
    pair.mi = information / all / std::numbers::ln2;
    pair.joint_entropy = std::fmax(0.0, std::log(all) - cells / all) / std::numbers::ln2;
    pair.g = 2 * information / scale;
    return pair;
}

/// `g`, or else `mi`, as a multiple of 2^-30, so that devices whose logarithms round differently
/// find the same pairs equal.
PLEAT_HOST_DEVICE inline double residue_score(const ResiduePair& pair, bool is_g) {
    return std::rint((is_g ? pair.g : pair.mi) * 0x1p30) * 0x1p-30;
}

/// Weights rounded to integers, so that sums do not depend on their order.
struct IntegerWeights {
    /// Of weights of at least 0, one per row; at most 2^30 rows.
    explicit IntegerWeights(std::span<const double> weights);

    std::vector<std::uint32_t> weights;  ///< [row]: `scale` x weight
    double scale = 1;                    ///< a power of two; their sum fits 31 bits
};

/// Scores pairs of columns on one device; letters are [column, row], `states` where there is no
/// residue. Counts are the same integers on every device, and scores but for one of some 10,000,
/// which differs by 2^-30.
class ResidueScorer {
public:
    virtual ~ResidueScorer() = default;
    /// Sets the score of every pair i < j in lexicographic order. Threads with numbers of their own
    /// may call it at the same time.
    virtual void score(View<const std::uint8_t, 2> letters, int thread, std::span<double> to) = 0;
};

/// What a scorer counts, and which number of a ResiduePair it sets.
struct ResidueScoring {
    IntegerWeights weights;
    int states = 0;
    bool is_g = true;  ///< g, or else mi
};

/// For `threads` threads, on the device of the context. Throws DeviceError.
std::unique_ptr<ResidueScorer> make_scorer(const ResidueScoring& scoring, int threads,
                                           const Context& context);

/// On the GPU `context.device.index`.
std::unique_ptr<ResidueScorer> make_cuda_scorer(const ResidueScoring& scoring, int threads,
                                                const Context& context);

}  // namespace pleat::mutual_information
