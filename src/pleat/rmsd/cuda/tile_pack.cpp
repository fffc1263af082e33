// Tile pack: turning, rounding, and the terms of single frames.
#include "pleat/rmsd/cuda/tile_pack.h"

#include <algorithm>
#include <cstring>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/half_float.h"
#include "pleat/core/pairs/pair_order.h"

namespace pleat::rmsd {

namespace {

Index rounded_up(Index value, Index step) { return (value + step - 1) / step; }

/// The power of two that brings the root mean square deviation near 1, but keeps the sum of squares
/// of a frame below 2^24, since the solver multiplies four of them.
double unit_length(const Frames& frames, const std::vector<double>& m) {
    const Index atoms = frames.atom_count(), count = frames.frame_count();
    const Index used = std::min<Index>(count, 1000);
    std::vector<double> turned(3 * atoms);
    double square_sum = 0.0, deviation = 0.0;
    for (Index n = 0; n < used; ++n) {
        const Index i = n * count / used;
        rotate_onto(frames.frame(i), m.data(), atoms, turned.data());
        square_sum += frames.square_sum[i] / static_cast<double>(used);
        for (Index k = 0; k < 3 * atoms; ++k) {
            const double d = turned[k] - m[k];
            deviation += d * d / static_cast<double>(used * 3 * atoms);
        }
    }
    const double by_self = square_sum > 0 ? std::sqrt(0x1p24 / square_sum) : 1.0;
    const double by_deviation = deviation > 0 ? std::sqrt(1.0 / deviation) : by_self;
    return std::exp2(std::floor(std::log2(std::min(by_self, by_deviation))));
}

/// Sums over the atoms of one frame, in the pack's units.
struct FrameSums {
    double own = 0.0, moved = 0.0;  // squares of a, and of its rounding error
    double cross[9] = {};           // of a with m: [axis of a, axis of m]

    void add(const double (&a)[3], const double (&m)[3], const double (&exact)[3]) {
        for (int axis = 0; axis < 3; ++axis) {
            own += a[axis] * a[axis];
            moved += (exact[axis] - a[axis]) * (exact[axis] - a[axis]);
            for (int other = 0; other < 3; ++other) cross[3 * axis + other] += a[axis] * m[other];
        }
    }
};

FrameTerms terms_of(const FrameSums& sums, const double (&common)[9], double root_unit) {
    double h[9];
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            h[3 * a + b] = common[3 * a + b] + sums.cross[3 * a + b] + sums.cross[3 * b + a];
    FrameTerms terms{};
    const double values[6] = {h[4] + h[8], h[0] + h[8], h[0] + h[4], -h[1], -h[2], -h[5]};
    for (int n = 0; n < 6; ++n) terms.inertia[n] = static_cast<float>(values[n]);
    const double* const g = sums.cross;
    terms.torque[0] = static_cast<float>(g[5] - g[7]);
    terms.torque[1] = static_cast<float>(g[6] - g[2]);
    terms.torque[2] = static_cast<float>(g[1] - g[3]);
    terms.deviation_norm = static_cast<float>(std::sqrt(sums.own));
    terms.rounding = static_cast<float>(std::sqrt(sums.moved) * root_unit);
    terms.square_sum = sums.own;
    return terms;
}

/// Rounds a coordinate, stores it, and returns the rounded value. `n`: the frame in the pack.
double put(TilePack& pack, Index n, Index k, int axis, double value) {
    const int frame = static_cast<int>(n % kPanelFrames), atom = static_cast<int>(k % kChunkAtoms);
    std::uint32_t* const chunk =
        pack.operands.data() +
        (n / kPanelFrames * pack.chunks + k / kChunkAtoms) * 4 * chunk_words(pack.format);
    const auto add = [&](int part, float number) {
        const std::uint16_t half = to_half(number);
        std::memcpy(reinterpret_cast<std::uint8_t*>(chunk + part * 4 * kPartWords) +
                        2 * half_offset(frame, atom, axis),
                    &half, sizeof half);
        return from_half(half);
    };
    const float high = add(0, static_cast<float>(value));
    if (pack.format == TileFormat::half) return high;
    return static_cast<double>(high) + add(1, static_cast<float>(value - high));
}

}  // namespace

TilePacker::TilePacker(const Frames& sample, TileFormat format, int threads)
    : format_(format),
      chunks_(rounded_up(sample.atom_count(), kChunkAtoms)),
      m_(common_structure(sample, threads)) {
    const Index atoms = sample.atom_count();
    unit_ = unit_length(sample, m_);
    for (double& value : m_) value *= unit_;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            for (Index k = 0; k < atoms; ++k)
                common_[3 * a + b] += m_[a * atoms + k] * m_[b * atoms + k];
    scale_.square = 1.0 / (sample.weight * unit_ * unit_);
}

Index TilePacker::frames_at_once() const {
    constexpr Index kWords = Index{64 << 20} / 4;
    return std::max<Index>(1, kWords / (chunks_ * 4 * chunk_words(format_))) * kPanelFrames;
}

void TilePacker::pack(const Frames& frames, Block some, int threads, TilePack& pack) const {
    pack.format = format_;
    pack.frames = some.count;
    pack.panels = rounded_up(some.count, kPanelFrames);
    pack.chunks = chunks_;
    pack.scale = scale_;
    const Index words = chunks_ * 4 * chunk_words(format_);
    pack.operands.resize(pack.panels * words);
    pack.terms.resize(pack.panels * kPanelFrames);
    // One thread per panel: frames of a panel are adjacent, and threads would share cache lines.
    parallel_for(threads, pack.panels, [&](Index panel, int) {
        const Index first = panel * kPanelFrames, end = std::min(some.count, first + kPanelFrames);
        if (end < first + kPanelFrames) {
            std::fill_n(pack.operands.data() + panel * words, words, 0u);
            std::fill_n(pack.terms.data() + first, kPanelFrames, FrameTerms{});
        }
        for (Index n = first; n < end; ++n) pack_frame(frames.frame(some.first + n), n, pack);
    });
}

/// Atoms up to a whole chunk stay 0.
void TilePacker::pack_frame(const double* frame, Index n, TilePack& pack) const {
    const auto atoms = std::ssize(m_) / 3;
    std::vector<double> turned(m_.size());
    rotate_onto(frame, m_.data(), atoms, turned.data());
    FrameSums sums;
    for (Index k = 0; k < atoms; ++k) {
        double a[3], m[3], exact[3];
        for (int axis = 0; axis < 3; ++axis) {
            m[axis] = m_[axis * atoms + k];
            exact[axis] = turned[axis * atoms + k] * unit_ - m[axis];
            a[axis] = put(pack, n, k, axis, exact[axis]);
        }
        sums.add(a, m, exact);
    }
    pack.terms[n] = terms_of(sums, common_, std::sqrt(scale_.square));
}

float product_error(TilePrecision precision, Index atoms) {
    constexpr double kUnit = 0x1p-24;
    // Products of two low parts, which are left out: 2^-11 of each number at most.
    constexpr double kLeftOut = 2.0;
    const auto chunks = static_cast<double>(rounded_up(std::min(atoms, kSegmentAtoms), 16));
    const auto segments = static_cast<double>(rounded_up(atoms, kSegmentAtoms));
    // A product truncates its 17 terms, then its sum, at the size of the sum so far
    // (bench/rmsd.md).
    double additions = 3.5 * chunks;
    if (precision == TilePrecision::counted) additions = 4.5 * chunks + kLeftOut;
    // The sums of chunks do not exceed both spreads together; adding them rounds.
    if (precision == TilePrecision::full) additions = 4 + 0.5 * std::sqrt(chunks) + kLeftOut;
    return static_cast<float>(2.0 * kUnit * (additions + 0.5 * (segments - 1.0)));
}

std::int64_t tile_memory(Index frames, Index atoms, TileFormat format) {
    const Index panels = rounded_up(frames, kPanelFrames);
    const auto terms = static_cast<std::int64_t>(sizeof(FrameTerms));
    const Index doubts =
        std::min(kMaxDoubtfulPairs, std::max<Index>(pairs_before(frames, frames), 1));
    return panels *
               (rounded_up(atoms, kChunkAtoms) * 16 * chunk_words(format) + kPanelFrames * terms) +
           24 * frames * atoms + 8 * doubts;
}

std::int64_t gromos_memory(Index frames, Index atoms) {
    constexpr Index kFormatWords = 16 * chunk_words(TileFormat::half) / kPanelFrames;
    constexpr Index kFrameBytes = 5 * 4;  // counts, clusters, lists
    const Index packed = rounded_up(atoms, kChunkAtoms) * kFormatWords +
                         static_cast<Index>(sizeof(FrameTerms) + sizeof(std::uint32_t));
    return (2 * frames + 5 * kPanelFrames) * packed + kFrameBytes * frames;
}

}  // namespace pleat::rmsd
