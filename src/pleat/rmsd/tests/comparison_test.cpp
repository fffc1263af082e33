// Every measure of two structures: the fast one against its definition, and what must hold of it.
#include "pleat/rmsd/measures/comparison.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/rmsd/measures/tm_search.h"
#include "pleat/rmsd/tests/every_kernel.h"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

Context context_of(Device::Kind kind, int threads = 1) {
    Context context;
    context.device = {kind, 0};
    context.threads = threads;
    return context;
}

/// [row, column]
std::vector<float> all_values(const TwoSets& sides, const AtomSets& sets, const char* metric,
                              const Context& context,
                              FitPrecision precision = FitPrecision::mixed) {
    const auto comparison =
        make_comparison(sides, sets, metric_named(metric), {precision}, context);
    std::vector<float> values(
        static_cast<std::size_t>(sides.rows.extent(0) * sides.columns.extent(0)));
    compare(*comparison, {0, sides.rows.extent(0)}, {0, sides.columns.extent(0)}, context.threads,
            values.data());
    return values;
}

std::vector<float> by_reference(const TwoSets& sides, const AtomSets& sets, const char* metric) {
    return all_values(sides, sets, metric, context_of(Device::Kind::reference));
}

/// Calls `check(name, values)` for each precision on each instruction set of this machine.
void by_every_cpu(const TwoSets& sides, const AtomSets& sets, const char* metric,
                  const std::function<void(const std::string&, const std::vector<float>&)>& check) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        for (const FitPrecision precision : {FitPrecision::mixed, FitPrecision::float64}) {
            // Scores know one precision.
            if (traits_of(metric_named(metric)).is_score && precision == FitPrecision::float64)
                continue;
            check(std::string(metric) +
                      (precision == FitPrecision::mixed ? " mixed " : " float64 ") +
                      hwy::TargetName(target),
                  all_values(sides, sets, metric, context_of(Device::Kind::cpu), precision));
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = a.size() == b.size() ? 0.0 : 1e9;
    for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
        const double difference = std::fabs(double{a[n]} - double{b[n]});
        largest = std::isnan(difference) ? 1e9 : std::max(largest, difference);
    }
    return largest;
}

AtomSets some_sets(Index atoms) {
    AtomSets sets;
    for (Index k = 0; k < atoms; k += 2) sets.fit.push_back(k);
    for (Index k = atoms / 3; k < atoms; ++k) sets.measured.push_back(k);
    return sets;
}

TEST(Comparison, EveryMeasureAgreesWithItsDefinition) {
    for (const Index atoms : {1, 2, 3, 4, 5, 31, 70, 140}) {
        for (const double spread : {0.3, 3.0}) {
            const Array<float, 3> xyz = random_ensemble(19, atoms, spread, 5);
            const Array<float, 3> others = random_ensemble(23, atoms, spread, 6);
            const TwoSets sides{xyz, others};
            for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts"}) {
                const bool is_score = traits_of(metric_named(metric)).is_score;
                if (is_score && atoms > 31) continue;  // below, on a real trajectory
                const std::vector<float> expected = by_reference(sides, {}, metric);
                const double size = *std::max_element(expected.begin(), expected.end());
                by_every_cpu(sides, {}, metric, [&](const std::string& name, const auto& found) {
                    // Scores: an atom at the very threshold may fall on either side of it.
                    const double stated = is_score                                  ? 1e-3
                                          : name.find("mixed") != std::string::npos ? 1e-5
                                                                                    : 1e-6;
                    EXPECT_LE(largest_difference(found, expected), stated + 1e-6 * size)
                        << name << ", atoms " << atoms << ", spread " << spread;
                });
            }
            if (atoms < 4) continue;
            EXPECT_LE(largest_difference(all_values(sides, some_sets(atoms), "rmsd",
                                                    context_of(Device::Kind::cpu)),
                                         by_reference(sides, some_sets(atoms), "rmsd")),
                      1e-6);
        }
    }
}

TEST(Comparison, NoMeasureSeesRotationOrTranslation) {
    Array<float, 3> xyz = random_ensemble(6, 40, 1.0, 1);
    const Array<float, 3> before = xyz;
    std::mt19937_64 generator(3);
    for (Index i = 0; i < 6; ++i) test::turn(xyz[i], generator, 20.0);
    for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts"}) {
        for (const AtomSets& sets : {AtomSets{}, some_sets(40)}) {
            const std::vector<float> expected = by_reference({before, before}, sets, metric);
            by_every_cpu({xyz, before}, sets, metric,
                         [&](const std::string& name, const auto& found) {
                             EXPECT_LE(largest_difference(found, expected), 3e-5) << name;
                         });
        }
    }
}

TEST(Comparison, EqualStructuresAreEqualAndNothingDependsOnTheOrder) {
    const Array<float, 3> xyz = random_ensemble(9, 30, 2.0, 4);
    for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts"}) {
        const float equal = traits_of(metric_named(metric)).value_of_equal_structures();
        by_every_cpu({xyz, xyz}, some_sets(30), metric,
                     [&](const std::string& name, const std::vector<float>& found) {
                         for (Index i = 0; i < 9; ++i) {
                             EXPECT_NEAR(found[i * 9 + i], equal, 1e-6) << name;
                             for (Index j = 0; j < i; ++j)
                                 EXPECT_NEAR(found[i * 9 + j], found[j * 9 + i], 2e-5) << name;
                         }
                     });
    }
}

TEST(Comparison, MirrorImagesDifferUnlessDistancesAreAllThatCounts) {
    Array<float, 3> xyz = random_ensemble(1, 50, 1.0, 8);
    Array<float, 3> mirrored = xyz;
    for (Index k = 0; k < 50; ++k) mirrored(0, k, 0) = -mirrored(0, k, 0);
    const auto value = [&](const char* metric) {
        return all_values({xyz, mirrored}, {}, metric, context_of(Device::Kind::cpu))[0];
    };
    EXPECT_GT(value("rmsd"), 1.0);
    EXPECT_LE(value("drmsd"), 1e-5);
    EXPECT_LT(value("tm"), 0.9);
    EXPECT_LT(value("gdt_ts"), 0.9);
}

TEST(Comparison, DegenerateStructuresGiveNumbers) {
    std::vector<Array<float, 3>> classes;
    classes.emplace_back(Index{5}, Index{12}, Index{3});  // all atoms at one place
    classes.push_back(random_ensemble(5, 1, 1.0, 1));
    classes.push_back(random_ensemble(5, 2, 1.0, 1));
    Array<float, 3> rods(Index{5}, Index{20}, Index{3}), planes = random_ensemble(5, 20, 2.0, 2);
    for (Index i = 0; i < 5; ++i)
        for (Index k = 0; k < 20; ++k) {
            rods(i, k, i % 3) = 0.93f * static_cast<float>(k * (i + 1));  // no whole distances
            planes(i, k, 2) = 0.0f;
        }
    classes.push_back(rods);
    classes.push_back(planes);
    Array<float, 3> far = random_ensemble(5, 20, 2.0, 3), large = far, small = far;
    for (float& x : far) x += 1e5f;
    for (float& x : large) x *= 1e4f;
    for (float& x : small) x *= 1e-6f;
    classes.insert(classes.end(), {far, large, small});
    for (const Array<float, 3>& xyz : classes) {
        for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts"}) {
            const std::vector<float> expected = by_reference({xyz, xyz}, {}, metric);
            const double size = std::max(1.0f, *std::max_element(expected.begin(), expected.end()));
            by_every_cpu({xyz, xyz}, {}, metric, [&](const std::string& name, const auto& found) {
                // Superpositions of rods are many, and scores of different ones may be found.
                const double stated = traits_of(metric_named(metric)).is_score ? 0.02 : 1e-5 * size;
                EXPECT_LE(largest_difference(found, expected), stated) << name;
                for (Index i = 0; i < 5; ++i)
                    EXPECT_NEAR(found[i * 6],
                                traits_of(metric_named(metric)).value_of_equal_structures(), 1e-5)
                        << name;
            });
        }
    }
}

TEST(Comparison, KnownValues) {
    // A triangle 3, 4, 5 against one of sides 3, 4, 3.
    Array<float, 3> xyz(Index{2}, Index{3}, Index{3});
    xyz(0, 1, 0) = xyz(1, 1, 0) = 3;
    xyz(0, 2, 1) = 4;
    xyz(1, 2, 0) = 8.0f / 3;  // 4 from the first, 3 from the second atom
    xyz(1, 2, 1) = std::sqrt(16.0f - 64.0f / 9);
    const auto value = [&](const AtomSets& sets, const char* metric, Device::Kind kind) {
        return all_values({xyz, xyz}, sets, metric, context_of(kind))[1];
    };
    for (const auto kind : {Device::Kind::reference, Device::Kind::cpu}) {
        EXPECT_NEAR(value({}, "drmsd", kind), 2 / std::sqrt(3.0), 1e-6);
        EXPECT_NEAR(value({{}, {}, {1, 2, 3}}, "drmsd", kind), 2 * std::sqrt(6.0 / 11.0), 1e-6);
        // Superposed on the first two atoms the third ones are free to turn about their line: as
        // far apart as either circle lets them be, whatever turn is taken.
        const double apart = value({{0, 1}, {2}, {}}, "rmsd", kind);
        const double high = std::sqrt(16.0 - 64.0 / 9);
        EXPECT_GE(apart, std::hypot(8.0 / 3, 4 - high) - 1e-5);
        EXPECT_LE(apart, std::hypot(8.0 / 3, 4 + high) + 1e-5);
    }
    EXPECT_NEAR(tm_scale(100), 1.24 * std::cbrt(85.0) - 1.8, 1e-12);
    EXPECT_EQ(tm_scale(16), 0.5);
}

TEST(Comparison, BandsOfPairsAreTheUpperTriangle) {
    const Index count = 41;
    const Array<float, 3> xyz = random_ensemble(count, 12, 2.0, 10);
    for (const char* metric : {"drmsd", "tm"}) {
        const std::vector<float> full =
            all_values({xyz, xyz}, {}, metric, context_of(Device::Kind::cpu));
        for (const int threads : {1, 3}) {
            for (const Index rows : {5, 41}) {
                const auto kernel =
                    make_pair_kernel(make_comparison({xyz, xyz}, {}, metric_named(metric), {},
                                                     context_of(Device::Kind::cpu)),
                                     count, threads);
                const std::vector<float> pairs = test::all_pairs(*kernel, count, rows);
                for (Index i = 0; i < count; ++i)
                    for (Index j = i + 1; j < count; ++j)
                        ASSERT_EQ(pairs[pairs_before(i, count) + j - i - 1], full[i * count + j])
                            << metric << ", threads " << threads << ", rows " << rows;
            }
        }
    }
}

void expect_bounds(const std::vector<float>& values, Index count, Index atoms) {
    const View<const float, 3> xyz(values.data(), count, atoms, Index{3});
    const std::vector<float> expected = by_reference({xyz, xyz}, {}, "drmsd");
    by_every_cpu({xyz, xyz}, {}, "drmsd", [&](const std::string& name, const auto& found) {
        EXPECT_LE(largest_difference(found, expected), 3e-6) << name;
    });
    const View<const float, 3> few(values.data(), Index{8}, atoms, Index{3});
    for (const char* metric : {"tm", "gdt_ts"}) {
        const std::vector<float> scores = by_reference({few, few}, {}, metric);
        by_every_cpu({few, few}, {}, metric, [&](const std::string& name, const auto& found) {
            EXPECT_LE(largest_difference(found, scores), 1e-6) << name;
        });
    }
}

TEST(Comparison, OfRealTrajectoriesKeepsItsBounds) {
    const Ensemble hivp = test::hiv_protease(24);
    std::vector<float> values;
    for (Index frame = 0; frame < 24; ++frame)
        for (Index atom = 0; atom < hivp.atom_count(); ++atom)
            for (Index axis = 0; axis < 3; ++axis) values.push_back(hivp.xyz(frame, axis, atom));
    expect_bounds(values, 24, hivp.atom_count());
    const std::filesystem::path path =
        pleat::test::shared_folder() / "data/ensembles/md70_CA70_M5000_xyz.npy";
    if (!pleat::test::shared_is_present(path)) return;
    const NpyArray array = read_npy(path);
    expect_bounds(array.as<float>("xyz"), 150, array.shape[1]);
}

TEST(Comparison, AGpuThatIsNotThereIsRefused) {
    const Array<float, 3> xyz = random_ensemble(2, 3, 1.0, 1);
    Context context = context_of(Device::Kind::cuda);
    context.device.index = 999;
    EXPECT_THROW(all_values({xyz, xyz}, {}, "drmsd", context), DeviceError);
}

}  // namespace
}  // namespace pleat::rmsd
