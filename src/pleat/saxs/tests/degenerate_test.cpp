// Degenerate scatterers: coincident, far apart, alone; q of 0 and of one value; broken models.
#include <gtest/gtest.h>

#include "every_kernel.h"
#include "pleat/core/error.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;
using test::with_every_kernel;

// One distance alone has the whole rounding of its sines, which many average out: near q = 0 a
// difference of two that are fifteen times as large.
TEST(Degenerate, CoincidentScatterersAddTheirAmplitudes) {
    RandomScatterers given = random_scatterers({.scatterers = 40, .types = 2, .q = 30});
    given.xyz.fill(-7.5f);
    with_every_kernel(given.model, [&](const std::string& name, Kernel& kernel, bool float64) {
        const Array<double, 3> found = profiles_of(kernel, given.model, given.xyz);
        for (Index k = 0; k < 30; ++k) {
            double sum = 0.0;
            for (const std::int32_t type : given.model.types)
                sum += given.model.factors(0, type, k);
            ASSERT_NEAR(found(0, 0, k) / (sum * sum), 1.0, float64 ? 1e-9 : 5e-5)
                << name << " " << k;
        }
    });
}

// Where q r is large, phases are those of float32 distances, and what they give is small.
TEST(Degenerate, FarScatterersScatterAlone) {
    for (const double far : {1e3, 1e5, 1e7}) {
        RandomScatterers given = random_scatterers({.scatterers = 6, .types = 2, .q = 30});
        for (Index i = 0; i < 6; ++i)
            given.xyz(0, 0, i) += static_cast<float>(far * static_cast<double>(i));
        const Array<double, 3> expected =
            profiles_of(*make_reference_kernel(given.model), given.model, given.xyz);
        Context context;
        context.threads = 1;
        for (const Precision precision : {Precision::float32, Precision::float64}) {
            const Array<double, 3> found = profiles_of(
                *make_cpu_kernel(given.model, precision, context), given.model, given.xyz);
            for (Index k = 0; k < 30; ++k)
                ASSERT_NEAR(found(0, 0, k) / expected(0, 0, k), 1.0,
                            precision == Precision::float64 ? 1e-9 : 1e-5)
                    << far << " " << k;
        }
        const Array<double, 3> chosen =
            profiles_of(*make_kernel(given.model, {}, context), given.model, given.xyz);
        for (Index k = 0; k < 30; ++k)
            ASSERT_NEAR(chosen(0, 0, k) / expected(0, 0, k), 1.0, 1e-5) << far << " " << k;
    }
}

// Harmonics of such a radius would take more than any memory; pairs are left.
TEST(Degenerate, MultipolesOfVastSystemsAreRefusedInTime) {
    RandomScatterers given = random_scatterers({.scatterers = 6, .types = 2, .q = 30});
    for (const float far : {1e5f, 1e8f}) {
        given.xyz(0, 0, 0) = far;
        EXPECT_THROW(profiles_of(*make_multipole_kernel(given.model, Precision::float32, {}),
                                 given.model, given.xyz),
                     DeviceError);
        EXPECT_NO_THROW(profiles(given.model, given.xyz, {}, {}, {}));
    }
}

TEST(Degenerate, OneValueOfQMayBeAny) {
    for (const double q : {0.0, 1e-6, 0.3, 5.0}) {
        RandomScatterers given = random_scatterers({.scatterers = 20, .types = 2, .q = 1});
        given.model.q = {q};
        const Array<double, 3> expected =
            profiles_of(*make_reference_kernel(given.model), given.model, given.xyz);
        with_every_kernel(given.model, [&](const std::string& name, Kernel& kernel, bool) {
            const Array<double, 3> found = profiles_of(kernel, given.model, given.xyz);
            EXPECT_NEAR(found(0, 0, 0) / expected(0, 0, 0), 1.0, 2e-6) << name << " " << q;
        });
    }
}

TEST(Degenerate, NoFramesGiveNoProfiles) {
    const RandomScatterers given = random_scatterers({.scatterers = 5});
    EXPECT_EQ(profiles(given.model, View<const float, 3>(nullptr, 0, 3, 5), {}, {}, {}).extent(0),
              0);
}

TEST(Degenerate, BrokenModelsAreRefused) {
    const RandomScatterers good = random_scatterers({.scatterers = 5, .channels = 2, .scaled = 1});
    const auto refuse = [&](const auto& breakage) {
        RandomScatterers bad = good;
        breakage(bad);
        EXPECT_THROW(profiles(bad.model, bad.xyz, bad.scales, {}, {}), UsageError);
    };
    const auto refuse_values = [&](const auto& breakage) {
        RandomScatterers bad = good;
        breakage(bad);
        EXPECT_THROW(profiles(bad.model, bad.xyz, bad.scales, {}, {}), InputError);
    };
    refuse([](RandomScatterers& bad) { bad.model.q.clear(); });
    refuse([](RandomScatterers& bad) { bad.model.q[3] = bad.model.q[2]; });
    refuse([](RandomScatterers& bad) { bad.model.q[0] = -0.1; });
    refuse([](RandomScatterers& bad) { bad.model.types[2] = 4; });
    refuse([](RandomScatterers& bad) { bad.model.types[2] = -1; });
    refuse([](RandomScatterers& bad) { bad.model.types.pop_back(); });
    refuse([](RandomScatterers& bad) { bad.model.scaled.pop_back(); });
    refuse([](RandomScatterers& bad) { bad.model.factors(1, 2, 3) = NAN; });
    refuse_values([](RandomScatterers& bad) { bad.xyz(0, 1, 2) = NAN; });
    refuse_values([](RandomScatterers& bad) { bad.xyz(0, 1, 2) = 1e9f; });
    refuse_values([](RandomScatterers& bad) { bad.scales(0, 0, 2) = INFINITY; });
    refuse([](RandomScatterers& bad) { bad.scales = {}; });
    EXPECT_NO_THROW(profiles(good.model, good.xyz, good.scales, {}, {}));
}

}  // namespace
}  // namespace pleat::saxs
