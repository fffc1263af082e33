// The GPU's solver in float32 against float64: values, and whether errors keep to their estimates.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/core/math/half_float.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/superposition/superpose.h"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

/// Deviations of a frame as they are packed, [axis, atom].
std::vector<double> unpacked(const TilePack& pack, Index frame, Index atoms) {
    std::vector<double> a(3 * atoms);
    const int lane = static_cast<int>(frame % kPanelFrames);
    for (Index k = 0; k < atoms; ++k) {
        const std::uint32_t* const chunk =
            pack.operands.data() +
            (frame / kPanelFrames * pack.chunks + k / kChunkAtoms) * 4 * chunk_words(pack.format);
        const int atom = static_cast<int>(k % kChunkAtoms);
        for (int axis = 0; axis < 3; ++axis) {
            double& value = a[axis * atoms + k];
            const auto* const halves = reinterpret_cast<const std::uint16_t*>(chunk);
            value = from_half(halves[half_offset(lane, atom, axis)]);
            if (pack.format == TileFormat::split)
                value += from_half(halves[8 * kPartWords + half_offset(lane, atom, axis)]);
        }
    }
    return a;
}

struct Trial {
    Index pairs = 0, uncertain = 0;
    double worst = 0.0;  ///< error, in units of its estimate
};

/// Solves all pairs with exact products, rounded once, so that what is left is the solver's error.
Trial try_pairs(const Frames& frames, TileFormat format) {
    TilePack pack;
    TilePacker(frames, format, 1).pack(frames, {0, frames.frame_count()}, 1, pack);
    const Index count = frames.frame_count(), atoms = frames.atom_count();
    SolverScale exact = pack.scale;
    exact.product_error = 6e-8f;  // of the one rounding
    std::vector<std::vector<double>> a;
    for (Index i = 0; i < count; ++i) a.push_back(unpacked(pack, i, atoms));
    Trial trial;
    for (Index i = 0; i < count; ++i) {
        for (Index j = i + 1; j < count; ++j) {
            TilePair pairs[1] = {{{}, &pack.terms[i], &pack.terms[j]}};
            for (int entry = 0; entry < 9; ++entry) {
                double sum = 0.0;
                for (Index k = 0; k < atoms; ++k)
                    sum += a[i][entry / 3 * atoms + k] * a[j][entry % 3 * atoms + k];
                pairs[0].a[entry] = static_cast<float>(sum);
            }
            Solved of[1];
            solve_pairs(pairs, exact, of);
            const Solved& solved = of[0];
            const double truth =
                superposed_residual(frames.frame(i), frames.frame(j), atoms) / frames.weight;
            ++trial.pairs;
            if (!(solved.error < 0.02 * solved.square)) {
                ++trial.uncertain;
                continue;
            }
            trial.worst = std::max(trial.worst, std::fabs(solved.square - truth) / solved.error);
        }
    }
    return trial;
}

/// Of the estimate: of roundings half is usual, while a frame's move is bounded and may be met.
double max_error_ratio(TileFormat format) { return format == TileFormat::half ? 0.95 : 0.7; }

TEST(TileSolver, ErrorsKeepToTheirEstimates) {
    for (const TileFormat format : {TileFormat::split, TileFormat::half}) {
        for (const Index atoms : {4, 5, 12, 70, 140}) {
            for (const double spread : {0.1, 0.5, 2.0, 6.0, 30.0}) {
                const Frames frames = centre(random_ensemble(60, atoms, spread, 31), {}, 1);
                const Trial trial = try_pairs(frames, format);
                EXPECT_LE(trial.worst, max_error_ratio(format))
                    << "format " << static_cast<int>(format) << ", atoms " << atoms << ", spread "
                    << spread;
            }
        }
    }
}

TEST(TileSolver, IsCertainOfRealTrajectories) {
    for (const test::OracleFrames& oracle : test::trajectories(300)) {
        SCOPED_TRACE(oracle.name);
        for (const TileFormat format : {TileFormat::split, TileFormat::half}) {
            const Trial trial = try_pairs(oracle.frames, format);
            EXPECT_LE(trial.worst, max_error_ratio(format));
            EXPECT_LE(trial.uncertain, trial.pairs / 1000);
        }
    }
}

TEST(HalfFloat, RoundsToTheNearestAndBack) {
    EXPECT_EQ(to_half(1.0f), 0x3c00);
    EXPECT_EQ(to_half(-2.0f), 0xc000);
    EXPECT_EQ(to_half(65504.0f), 0x7bff);
    EXPECT_EQ(to_half(65519.0f), 0x7bff);
    EXPECT_EQ(to_half(65520.0f), 0x7c00);
    EXPECT_EQ(to_half(0x1p-24f), 1);
    EXPECT_EQ(to_half(0x1p-25f), 0);  // a tie goes to the even one
    EXPECT_EQ(to_half(0x1.8p-24f), 2);
    EXPECT_EQ(to_half(1.0f + 0x1p-11f), 0x3c00);
    EXPECT_EQ(to_half(1.0f + 0x1.8p-10f), 0x3c02);
    EXPECT_TRUE(std::isnan(from_half(to_half(NAN))));
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if ((half & 0x7fff) > 0x7c00) continue;
        ASSERT_EQ(to_half(from_half(half)), half);
    }
    std::mt19937 random(3);
    std::uniform_real_distribution<float> exponent(-20, 15);
    for (int n = 0; n < 10000; ++n) {
        const float value = std::exp2(exponent(random));
        const float quantum = std::max(std::exp2(std::floor(std::log2(value)) - 10), 0x1p-24f);
        ASSERT_LE(std::fabs(from_half(to_half(value)) - value), 0.5f * quantum);
    }
}

}  // namespace
}  // namespace pleat::rmsd
