// Bookkeeping: what a chain carries from move to move equals what is computed afresh.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/long_tests.h"
#include "pleat/workflows/refine/tests/made_hinge.h"

namespace pleat::refine {

namespace {

using test::Hinge174;

/// Moves of a chain without a refresh: a million in a long test.
Index move_count() { return test::runs_long_tests() ? 1000000 : 3000; }

/// The largest change of a bond's length from the start structure to a conformation.
double largest_stretch(const ChainModel& chain, const Conformation& at) {
    const auto distance_at = [](const Vector& a, const Vector& b) {
        return std::sqrt(dot(a - b, a - b));
    };
    double largest = 0;
    for (Index a = 0; a < chain.atom_count(); ++a)
        for (Index b = a + 1; b < std::min(chain.atom_count(), a + 20); ++b) {
            const double before = distance_at(chain.start[static_cast<std::size_t>(a)],
                                              chain.start[static_cast<std::size_t>(b)]);
            if (before < 1.7)
                largest = std::max(largest, std::abs(distance_at(at.atom(a), at.atom(b)) - before));
        }
    return largest;
}

/// The largest difference of two profiles, of the largest value of the second.
double difference(View<const double, 2> one, View<const double, 2> other) {
    double largest = 0, scale = 0;
    for (Index pair = 0; pair < other.extent(0); ++pair)
        for (Index k = 0; k < other.extent(1); ++k) {
            largest = std::max(largest, std::abs(one(pair, k) - other(pair, k)));
            scale = std::max(scale, std::abs(other(pair, k)));
        }
    return largest / scale;
}

TEST(Bookkeeping, AChainWithoutRefreshKeepsItsProfileEnergyAndBonds) {
    const Hinge174 hinge;
    const ProfileModel model = make_profile_model(hinge.chain, hinge.draw(0), hinge.q, {});
    const CurveLikelihood likelihood(hinge.curve_of(hinge.draw(1), model, true), hinge.q,
                                     {.c2 = {0, 1, 2}});
    const auto batch = std::make_shared<ProfileBatch>(model, 1, Device{});
    CurveTarget target(hinge.chain, batch, 0, likelihood);
    target.set_beta(0.05);
    Sampler sampler(hinge.moves, target, hinge.chain, 2, 0);
    sampler.settings.distance_share = 0.4;
    sampler.start(hinge.draw(2).angles());
    sampler.run(0, move_count());
    for (const std::int64_t accepted : sampler.counts.accepted)
        EXPECT_GT(accepted, move_count() / 1000);

    Array<double, 2> carried(batch->profile(0).extent(0), batch->profile(0).extent(1));
    std::copy_n(batch->profile(0).data, carried.size(), carried.begin());
    const Array<double, 3> fresh = hinge.partial_of(sampler.conformation(), model);
    const double drift = difference(carried.view(), fresh.view()[0]);
    RecordProperty("drift", fmt::format("{:.2e}", drift));
    EXPECT_LE(drift, 1e-5);
    EXPECT_LE(largest_stretch(hinge.chain, sampler.conformation()), 1e-4);
    // What is left of the weight without the curve is the energy of overlaps.
    target.set_beta(0);
    EXPECT_NEAR(target.accepted_log_weight(),
                -Sterics(hinge.chain).overlap(sampler.conformation()).energy, 1e-9);
}

TEST(Bookkeeping, AChainOfAPoolKeepsItsEnergyAndItsPositions) {
    const Hinge174 hinge;
    StericTarget target(hinge.chain);
    Sampler sampler(hinge.moves, target, hinge.chain, 3, 0);
    sampler.start(hinge.draw(3).angles());
    sampler.run(0, move_count());
    EXPECT_NEAR(target.accepted_log_weight(),
                -Sterics(hinge.chain).overlap(sampler.conformation()).energy, 1e-9);
    // Positions that moves changed step by step are those of the angles.
    Conformation rebuilt(hinge.chain);
    rebuilt.set_angles(sampler.conformation().angles());
    double worst = 0;
    for (Index atom = 0; atom < hinge.chain.atom_count(); ++atom) {
        const Vector apart = rebuilt.atom(atom) - sampler.conformation().atom(atom);
        worst = std::max(worst, std::sqrt(dot(apart, apart)));
    }
    EXPECT_LE(worst, 1e-9);
    EXPECT_LE(largest_stretch(hinge.chain, sampler.conformation()), 1e-4);
}

}  // namespace

}  // namespace pleat::refine
