// Prior: the table, its draws, and the mean square end-to-end distance that follows from it.
#include "pleat/workflows/refine/prior/prior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "pleat/workflows/refine/moves/moves.h"
#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/long_tests.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using test::made_model;

struct NoTarget final : SamplingTarget {
    void start(const Conformation&) override {}
    bool prepare(const Conformation&) override { return true; }
    double prepared_log_weight() override { return 0; }
    double accepted_log_weight() override { return 0; }
};

TEST(Prior, TablesAreProbabilitiesWithTheKnownBasins) {
    for (const std::vector<double>& table : coil_tables()) {
        ASSERT_EQ(table.size(), kCells * kCells);
        EXPECT_NEAR(std::accumulate(table.begin(), table.end(), 0.0), 1.0, 1e-12);
        for (const double value : table) EXPECT_GE(value, 0.02 / 5184 * 0.999);
    }
    // Left-handed conformations are common for glycine alone, and proline has phi near -65.
    const auto share = [](ResidueClass of, double phi_from, double phi_to) {
        const std::vector<double>& table = coil_tables()[static_cast<std::size_t>(of)];
        double sum = 0;
        for (std::size_t n = 0; n < table.size(); ++n) {
            const std::size_t cell = n / kCells;
            const double phi = -180 + 5.0 * static_cast<double>(cell);
            if (phi >= phi_from && phi < phi_to) sum += table[n];
        }
        return sum;
    };
    EXPECT_GT(share(ResidueClass::glycine, 0, 180), 0.4);
    EXPECT_LT(share(ResidueClass::beta_branched, 0, 180), 0.1);
    EXPECT_GT(share(ResidueClass::proline, -100, -40), 0.85);
}

TEST(Prior, ProlineIsDistributedAsGivenItsPhi) {
    const ChainModel model = made_model("AAAAAAPAAAAAAA", "A:7");
    const Prior prior(model, coil_tables());
    const std::vector<double>& table =
        coil_tables()[static_cast<std::size_t>(ResidueClass::proline)];
    const double phi = model.residues[0].phi;
    const std::size_t row = cell_of(phi) * kCells;
    const double one = prior.log_density(0, phi, 2.5), other = prior.log_density(0, phi, -0.6);
    EXPECT_NEAR(one - other, std::log(table[row + cell_of(2.5)] / table[row + cell_of(-0.6)]),
                1e-12);
}

/// P(chi^2 >= value) with this many degrees of freedom (Wilson and Hilferty 1931).
double chi_square_tail(double value, double freedom) {
    const double c = 2 / (9 * freedom);
    return std::erfc((std::cbrt(value / freedom) - 1 + c) / std::sqrt(2 * c)) / 2;
}

ChainModel five_residues() { return made_model("AAAAAAGAVPAAAAAAAA", "A:7-11"); }

/// Runs redraws and pivots without any other weight, and returns for each class the p of the chi^2
/// test of its (phi, psi), in cells of 10 degrees with at least 25 expected samples.
std::vector<double> test_distribution(const ChainModel& model, std::uint64_t seed, Index samples) {
    constexpr Index kThinning = 60;  // moves; a residue is drawn again every 8 on average
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    NoTarget target;
    Sampler sampler(moves, target, model, seed, 0);
    sampler.settings = {.pivot_width = 1.0, .crankshaft_width = 1.0, .kind_shares = {0.5, 0.5, 0}};
    Random random(seed, 0, 0, Random::kStart);
    sampler.start(moves.draw_all(random));
    constexpr std::size_t kWide = kCells / 2;
    std::vector<std::vector<double>> counts(model.residues.size(),
                                            std::vector<double>(kWide * kWide));
    for (Index sample = 0; sample < samples; ++sample) {
        sampler.run(sample * kThinning, kThinning);
        for (std::size_t n = 0; n < counts.size(); ++n)
            ++counts[n][cell_of(sampler.conformation().phi(model.residues[n])) / 2 * kWide +
                        cell_of(sampler.conformation().psi(model.residues[n])) / 2];
    }
    std::vector<double> tails;
    for (std::size_t n = 0; n < counts.size(); ++n) {
        if (model.residues[n].phi_hinge < 0) continue;  // proline: one row of its table
        const std::vector<double>& table =
            coil_tables()[static_cast<std::size_t>(model.residues[n].residue_class)];
        std::vector<double> expected(kWide * kWide);
        for (std::size_t cell = 0; cell < table.size(); ++cell)
            expected[cell / kCells / 2 * kWide + cell % kCells / 2] +=
                static_cast<double>(samples) * table[cell];
        double chi_square = 0, freedom = -1, rare = 0, rare_expected = 0;
        const auto add = [&](double count, double mean) {
            chi_square += (count - mean) * (count - mean) / mean;
            ++freedom;
        };
        for (std::size_t cell = 0; cell < expected.size(); ++cell) {
            if (expected[cell] >= 25) {
                add(counts[n][cell], expected[cell]);
            } else {
                rare += counts[n][cell];
                rare_expected += expected[cell];
            }
        }
        if (rare_expected >= 25) add(rare, rare_expected);
        tails.push_back(chi_square_tail(chi_square, freedom));
    }
    return tails;
}

TEST(Prior, MovesWithoutOtherWeightsSampleIt) {
    for (const double tail : test_distribution(five_residues(), 1, 5000)) {
        EXPECT_GT(tail, 0.001);
        EXPECT_LT(tail, 0.999);
    }
}

TEST(Prior, ASymmetricOligomerHasThatOfItsChain) {
    const ChainModel trimer =
        test::made_symmetric_model("AAAAAAGAVPAAAAAAAA", "A:7-11", "A:12-18", 3);
    ASSERT_EQ(trimer.residues.size(), 15u);
    const std::vector<double> tails = test_distribution(trimer, 1, 5000);
    ASSERT_EQ(tails.size(), 12u);
    for (std::size_t n = 0; n < tails.size(); ++n) {
        EXPECT_GT(tails[n], 0.001);
        EXPECT_LT(tails[n], 0.999);
        EXPECT_NEAR(tails[n], tails[n % 4], 1e-3);  // rounded angles at the edge of a cell
    }
}

TEST(Prior, MovesSampleItInTwentyRuns) {
    if (!test::runs_long_tests()) GTEST_SKIP() << "PLEAT_LONG_TESTS is not set";
    std::vector<double> tails;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const double tail : test_distribution(five_residues(), seed, 20000))
            tails.push_back(tail);
    std::sort(tails.begin(), tails.end());
    // Kolmogorov and Smirnov's largest distance from the uniform distribution.
    const auto count = static_cast<double>(tails.size());
    double largest = 0;
    for (std::size_t n = 0; n < tails.size(); ++n)
        largest = std::max({largest, tails[n] - static_cast<double>(n) / count,
                            static_cast<double>(n + 1) / count - tails[n]});
    EXPECT_LT(largest, 1.63 / std::sqrt(count));  // p = 0.01
    EXPECT_GT(tails.front(), 0.01 / count);       // the smallest of so many, p = 0.01
    std::printf("%zu tests: smallest p %.4f, largest %.4f, distance from uniform %.3f\n",
                tails.size(), tails.front(), tails.back(), largest);
}

struct Frame {
    Vector origin, x, y, z;
    Vector coordinates(Vector at) const {
        const Vector v = at - origin;
        return {dot(v, x), dot(v, y), dot(v, z)};
    }
};

/// The frame of a residue: at CA, x along N-CA, y in the plane of the C before.
Frame frame_of(Vector previous_c, Vector n, Vector ca) {
    const Vector x = unit(ca - n), z = unit(cross(n - previous_c, x));
    return {ca, x, cross(z, x), z};
}

/// <R^2> from CA to CA over `count` residues in one class, which are independent: with v the vector
/// from CA to the next one in the residue's frame and T the rotation between their frames,
///     <R^2> = n <v.v> + 2 sum_{m=0}^{n-2} (n - 1 - m) w' U^m <v>,   U = <T>, w = <T'v>.
double mean_square_distance(const ChainModel& model, std::size_t residue, Index count) {
    const LinkerResidue &one = model.residues[residue], &next = model.residues[residue + 1];
    const std::vector<double>& table = coil_tables()[static_cast<std::size_t>(one.residue_class)];
    constexpr int kFine = 3;
    double square = 0, turn[3][3] = {}, mean[3] = {}, back[3] = {};
    Conformation conformation(model);
    std::vector<double> angles(model.hinges.size());
    for (std::size_t cell = 0; cell < table.size(); ++cell)
        for (int fine = 0; fine < kFine * kFine; ++fine) {
            const auto angle = [&](std::size_t of, int part) {
                return (-180 + 5 * (static_cast<double>(of) + (part + 0.5) / kFine)) *
                       test::kDegree;
            };
            angles[static_cast<std::size_t>(one.phi_hinge)] =
                angle(cell / kCells, fine / kFine) - one.phi;
            angles[static_cast<std::size_t>(one.psi_hinge)] =
                angle(cell % kCells, fine % kFine) - one.psi;
            conformation.set_angles(angles);
            const auto at = [&](Index atom) { return conformation.atom(atom); };
            const Frame frame = frame_of(at(one.previous_c), at(one.n), at(one.ca)),
                        behind = frame_of(at(next.previous_c), at(next.n), at(next.ca));
            const double weight = table[cell] / (kFine * kFine);
            const Vector v = frame.coordinates(at(next.ca));
            const Vector axes[3] = {frame.coordinates(frame.origin + behind.x),
                                    frame.coordinates(frame.origin + behind.y),
                                    frame.coordinates(frame.origin + behind.z)};
            const double components[3] = {v.x, v.y, v.z};
            square += weight * dot(v, v);
            for (int k = 0; k < 3; ++k) {
                const double column[3] = {axes[k].x, axes[k].y, axes[k].z};
                for (int row = 0; row < 3; ++row) turn[row][k] += weight * column[row];
                mean[k] += weight * components[k];
                back[k] += weight * dot(axes[k], v);
            }
        }
    double sum = static_cast<double>(count) * square;
    double vector[3] = {mean[0], mean[1], mean[2]};
    for (Index m = 0; m + 1 < count; ++m) {
        sum += 2 * static_cast<double>(count - 1 - m) *
               (back[0] * vector[0] + back[1] * vector[1] + back[2] * vector[2]);
        double turned[3] = {};
        for (int row = 0; row < 3; ++row)
            for (int k = 0; k < 3; ++k) turned[row] += turn[row][k] * vector[k];
        std::copy(turned, turned + 3, vector);
    }
    return sum;
}

TEST(Prior, EndToEndDistanceIsThatOfTheClosedForm) {
    const ChainModel model = made_model(std::string(62, 'A'), "A:1-62");
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    constexpr Index kResidues = 59, kSamples = 20000;
    const double expected = mean_square_distance(model, 1, kResidues);
    Conformation conformation(model);
    double sum = 0, squares = 0;
    for (Index sample = 0; sample < kSamples; ++sample) {
        Random random(5, 0, sample);
        conformation.set_angles(moves.draw_all(random));
        const double apart = distance(conformation.atom(model.residues[1].ca),
                                      conformation.atom(model.residues[1 + kResidues].ca));
        sum += apart * apart;
        squares += std::pow(apart, 4);
    }
    const double mean = sum / kSamples,
                 error = std::sqrt((squares / kSamples - mean * mean) / kSamples);
    EXPECT_NEAR(mean, expected, 4 * error);
    EXPECT_LT(error / mean, 0.01);
    std::printf("<R^2> of %d residues: %.1f +- %.1f sampled, %.1f in closed form\n",
                static_cast<int>(kResidues), mean, error, expected);
}

}  // namespace

}  // namespace pleat::refine
