// lDDT: the fast counts against their definition, values known by hand, residues, degenerate input.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

Context context_of(Device::Kind kind) {
    Context context;
    context.device = {kind, 0};
    context.threads = 2;
    return context;
}

/// [row, column]
std::vector<float> values_of(const TwoSets& sides, const AtomSets& sets, Device::Kind kind) {
    const auto comparison = make_comparison(sides, sets, Metric::lddt, {}, context_of(kind));
    std::vector<float> values(
        static_cast<std::size_t>(sides.rows.extent(0) * sides.columns.extent(0)));
    compare(*comparison, {0, sides.rows.extent(0)}, {0, sides.columns.extent(0)}, 2, values.data());
    return values;
}

/// Residues of 1 to 4 atoms.
std::vector<std::int32_t> random_residues(Index atoms, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<std::int32_t> residues;
    for (std::int32_t number = 0; static_cast<Index>(residues.size()) < atoms; ++number)
        residues.insert(residues.end(), 1 + generator() % 4, 1000 - number);
    residues.resize(static_cast<std::size_t>(atoms));
    return residues;
}

void expect_equal_on_every_cpu(const TwoSets& sides, const AtomSets& sets,
                               const std::string& what) {
    const std::vector<float> expected = values_of(sides, sets, Device::Kind::reference);
    for (const float value : expected) ASSERT_TRUE(value >= 0 && value <= 1) << what;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        EXPECT_EQ(values_of(sides, sets, Device::Kind::cpu), expected)
            << what << ", " << hwy::TargetName(target);
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST(Lddt, CountsAreThoseOfTheDefinition) {
    for (const Index atoms : {2, 3, 17, 64, 140}) {
        for (const double spread : {0.0, 0.3, 2.0, 20.0}) {
            const Array<float, 3> rows = random_ensemble(9, atoms, spread, 3),
                                  columns = random_ensemble(18, atoms, spread, 4);
            const std::string what =
                "atoms " + std::to_string(atoms) + ", spread " + std::to_string(spread);
            AtomSets sets;
            for (const bool has_residues : {false, true}) {
                if (has_residues) sets.residues = random_residues(atoms, 5);
                expect_equal_on_every_cpu({rows, columns}, sets, what);
                expect_equal_on_every_cpu({rows, columns, true}, sets, what + ", reference");
                expect_equal_on_every_cpu({rows, rows}, sets, what + ", one set");
            }
            if (atoms < 17) continue;
            for (Index k = 0; k < atoms; k += 3) sets.fit.push_back(k);
            sets.measured = sets.fit;
            expect_equal_on_every_cpu({rows, columns}, sets, what + ", some atoms");
        }
    }
}

TEST(Lddt, DistancesAtAThresholdOrTheRadiusFallOnOneSide) {
    // Steps of a quarter of an angstrom along a line: distances, differences and the radius are
    // exact numbers, and many are equal to a threshold.
    std::mt19937_64 generator(8);
    for (const float step : {0.25F, 0.5F, 1.0F}) {
        Array<float, 3> xyz(Index{40}, Index{30}, Index{3});
        for (Index i = 0; i < 40; ++i)
            for (Index k = 0; k < 30; ++k)
                xyz(i, k, i % 3) = step * static_cast<float>(generator() % 100);
        expect_equal_on_every_cpu({xyz, xyz}, {}, "steps of " + std::to_string(step));
    }
    // And differences one float32 step to either side of a threshold.
    Array<float, 3> near(Index{32}, Index{3}, Index{3});
    for (Index i = 1; i < 32; ++i) {
        const auto threshold = static_cast<float>(std::ldexp(0.5, static_cast<int>(i % 4)));
        near(i, 1, 0) = std::nextafter(threshold, i % 8 < 4 ? 0.0F : 9.0F);
        near(i, 2, 1) = std::nextafter(15.0F, i % 16 < 8 ? 0.0F : 99.0F);
    }
    expect_equal_on_every_cpu({near, near}, {}, "next to thresholds");
}

TEST(Lddt, KnownValues) {
    // Two distances of 10, one of sqrt(200) < 15; the third atom of q is 1.5 further out.
    Array<float, 3> xyz(Index{2}, Index{3}, Index{3});
    for (Index i = 0; i < 2; ++i) {
        xyz(i, 1, 0) = 10;
        xyz(i, 2, 1) = i == 0 ? 10.0F : 11.5F;
    }
    for (const auto kind : {Device::Kind::reference, Device::Kind::cpu}) {
        // p's distances: one kept within all, one off by 1.5 (kept within 2 of 4 thresholds), one
        // by sqrt(100 + 132.25) - sqrt(200) = 1.0977 (2 of 4).
        const float forth = (4 + 2 + 2) / 12.0F;
        // q's: sqrt(232.25) = 15.24 is beyond the radius.
        const float back = (4 + 2) / 8.0F;
        EXPECT_FLOAT_EQ(values_of({xyz, xyz}, {}, kind)[1], (forth + back) / 2);
        const std::vector<float> to_one = values_of({xyz, xyz, true}, {}, kind);
        EXPECT_FLOAT_EQ(to_one[1 * 2 + 0], forth);  // of frame 1, with frame 0 as reference
        EXPECT_FLOAT_EQ(to_one[0 * 2 + 1], back);
        EXPECT_EQ(to_one[0], 1.0F);
        AtomSets sets;
        sets.residues = {7, 7, 3};  // leaves the distance of 10 that is kept out
        EXPECT_FLOAT_EQ(values_of({xyz, xyz, true}, sets, kind)[2], (2 + 2) / 8.0F);
    }
}

TEST(Lddt, SeesNoRotationTranslationOrMirror) {
    Array<float, 3> xyz = random_ensemble(8, 60, 1.0, 2);
    const Array<float, 3> before = xyz;
    std::mt19937_64 generator(3);
    for (Index i = 0; i < 8; ++i) test::turn(xyz[i], generator, 20.0);
    const std::vector<float> expected = values_of({before, before}, {}, Device::Kind::cpu);
    const auto expect_close = [&](const std::vector<float>& found) {
        for (std::size_t n = 0; n < found.size(); ++n)
            EXPECT_NEAR(found[n], expected[n], 1e-3);  // a distance may pass a threshold
    };
    expect_close(values_of({xyz, before}, {}, Device::Kind::cpu));
    for (Index i = 0; i < 8; ++i)
        for (Index k = 0; k < 60; ++k) xyz(i, k, 2) = -xyz(i, k, 2);
    expect_close(values_of({xyz, before}, {}, Device::Kind::cpu));
}

TEST(Lddt, DegenerateStructuresGiveStatedNumbers) {
    // Frame 0: all atoms at one place; 1: all apart; 2: also apart, in another way; 3: a chain.
    Array<float, 3> xyz(Index{4}, Index{5}, Index{3});
    for (Index k = 0; k < 5; ++k) {
        xyz(1, k, 0) = 20.0F * static_cast<float>(k);
        xyz(2, k, 1) = 31.0F * static_cast<float>(k);
        xyz(3, k, 0) = 3.8F * static_cast<float>(k);
    }
    for (const auto kind : {Device::Kind::reference, Device::Kind::cpu}) {
        const std::vector<float> found = values_of({xyz, xyz}, {}, kind);
        EXPECT_EQ(found[0 * 4 + 1], 0.0F);  // by the distances of frame 0 alone
        EXPECT_EQ(found[1 * 4 + 0], 0.0F);
        EXPECT_EQ(found[1 * 4 + 2], 1.0F);  // neither has a distance below 15 angstrom
        for (Index i = 0; i < 4; ++i) EXPECT_EQ(found[static_cast<std::size_t>(5 * i)], 1.0F);
    }
    Array<float, 3> far = random_ensemble(5, 20, 2.0, 3), large = far, small = far;
    for (float& x : far) x += 1e5F;
    for (float& x : large) x *= 1e12F;
    for (float& x : small) x *= 1e-6F;
    for (const auto* frames : {&far, &large, &small})
        expect_equal_on_every_cpu({*frames, *frames}, {}, "extreme");
}

TEST(Lddt, OneResidueAndAReferenceWithoutDistancesAreRefused) {
    const Array<float, 3> xyz = random_ensemble(4, 5, 1.0, 3);
    const Context context = context_of(Device::Kind::cpu);
    Parameters parameters;
    parameters.metric = Metric::lddt;
    parameters.matrix = MatrixLayout::none;
    const auto refusal = [&](const AtomSets& sets, View<const float, 2> reference) {
        try {
            run_reference(xyz, reference, sets, parameters, context);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    AtomSets one;
    one.residues.assign(5, 3);
    EXPECT_NE(refusal(one, xyz[0]).find("at least 2 residues"), std::string::npos);
    EXPECT_THROW(run(View<const float, 3>(xyz), one, parameters, context, {}), InputError);
    Array<float, 2> apart(Index{5}, Index{3});
    for (Index k = 0; k < 5; ++k) apart(k, 0) = 15.0F * static_cast<float>(k);
    EXPECT_NE(refusal({}, apart).find("found none"), std::string::npos);
    AtomSets few;
    few.residues = {1, 2};
    EXPECT_THROW(run_reference(xyz, xyz[0], few, parameters, context), UsageError);
}

TEST(Lddt, ResiduesAddUpToTheFrame) {
    Array<float, 3> xyz = random_ensemble(30, 50, 1.5, 6);
    for (Index i = 0; i < 30; ++i) xyz(i, 49, 0) += 500;  // a residue alone
    AtomSets sets;
    sets.residues = random_residues(49, 9);
    sets.residues.push_back(77);
    for (const bool some : {false, true}) {
        for (Index k = 1; some && k < 50; k += 2) sets.measured.push_back(k);
        sets.fit = sets.measured;
        Parameters parameters;
        parameters.metric = Metric::lddt;
        parameters.matrix = MatrixLayout::none;
        const Result found =
            run_reference(xyz, xyz[2], sets, parameters, context_of(Device::Kind::cpu));
        const std::vector<Index> residues = residues_in_order(sets, 50);
        const auto& [distances, values] = found.residues;
        ASSERT_EQ(static_cast<Index>(distances.size()), residues.back() + 1);
        EXPECT_EQ(distances.back(), 0);
        for (Index i = 0; i < 30; ++i) {
            double kept = 0, all = 0;
            for (std::size_t r = 0; r < distances.size(); ++r) {
                const float value = values(i, static_cast<Index>(r));
                if (distances[r] == 0) {
                    EXPECT_EQ(value, kNoLddt);
                    continue;
                }
                kept += value * static_cast<double>(distances[r]);
                all += static_cast<double>(distances[r]);
            }
            EXPECT_NEAR(found.values[static_cast<std::size_t>(i)], kept / all, 1e-6);
        }
        EXPECT_EQ(found.values[2], 1.0F);
    }
}

TEST(Lddt, ResiduesOfATopologyAreTheirNumbersInTheirChains) {
    Topology topology;
    topology.residues = {{"ALA", 1, ' ', "A"},
                         {"GLY", 2, ' ', "A"},
                         {"GLY", 2, 'A', "A"},
                         {"ALA", 1, ' ', "B"},
                         {"ALA", 1, ' ', "A"}};
    for (const Index residue : {0, 0, 1, 2, 3, 4})
        topology.atoms.push_back({"CA", "C", 12, residue});
    EXPECT_EQ(residues_of(topology), (std::vector<std::int32_t>{0, 0, 1, 2, 3, 0}));
    topology.named = false;
    EXPECT_TRUE(residues_of(topology).empty());
}

TEST(Lddt, OfRealTrajectoriesIsThatOfTheDefinition) {
    const Ensemble hivp = test::hiv_protease(24);
    std::vector<float> values;
    for (Index frame = 0; frame < 24; ++frame)
        for (Index atom = 0; atom < hivp.atom_count(); ++atom)
            for (Index axis = 0; axis < 3; ++axis) values.push_back(hivp.xyz(frame, axis, atom));
    const View<const float, 3> xyz(values.data(), Index{24}, hivp.atom_count(), Index{3});
    expect_equal_on_every_cpu({xyz, xyz}, {}, "hiv protease");
    const std::filesystem::path path =
        pleat::test::shared_folder() / "data/ensembles/md70_CA70_M5000_xyz.npy";
    if (!pleat::test::shared_is_present(path)) return;
    const NpyArray array = read_npy(path);
    const std::vector<float> all = array.as<float>("xyz");
    const View<const float, 3> some(all.data(), Index{90}, array.shape[1], Index{3});
    expect_equal_on_every_cpu({some, some}, {}, "md70");
}

}  // namespace
}  // namespace pleat::rmsd
