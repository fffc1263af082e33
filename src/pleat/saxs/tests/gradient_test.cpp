// Gradients of profiles by every kernel against the reference's, and that against differences.
#include <gtest/gtest.h>

#include "every_gpu.h"
#include "every_kernel.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::EveryGpu;
using test::profiles_of;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;
using test::with_every_kernel;

struct Given {
    RandomScatterers scatterers;
    Array<double, 2> weight;

    explicit Given(const RandomShape& shape)
        : scatterers(random_scatterers(shape)),
          weight(scatterers.model.pair_count(), scatterers.model.q_count()) {
        double value = 0.3;
        for (double& w : weight) w = value = std::fmod(7.1 * value + 0.37, 1.0) - 0.5;
    }
    View<const float, 2> scales() const {
        return scatterers.scales.size() > 0 ? scatterers.scales.view()[0] : View<const float, 2>{};
    }
    Array<double, 2> gradient(Kernel& kernel) const {
        Array<double, 2> result(Index{3}, scatterers.model.scatterer_count());
        result.fill(std::numeric_limits<double>::quiet_NaN());
        kernel.gradient(scatterers.xyz.view()[0], scales(), weight, result);
        return result;
    }
};

const RandomShape kShapes[] = {
    {.scatterers = 1, .types = 1},
    {.scatterers = 2, .types = 2, .q = 7},
    {.scatterers = 40, .types = 3, .q = 51, .spread = 8},
    {.scatterers = 75, .types = 2, .q = 20, .first = 0.02},
    {.scatterers = 30, .types = 2, .q = 33, .even = false},
    {.scatterers = 33, .types = 3, .channels = 3, .scaled = 1, .q = 25},
};

TEST(Gradient, IsTheSlopeOfTheReferencesProfile) {
    const Given given(
        {.scatterers = 12, .types = 3, .channels = 2, .scaled = 1, .q = 20, .spread = 6});
    const Model& model = given.scatterers.model;
    const auto reference = make_reference_kernel(model);
    const Array<double, 2> gradient = given.gradient(*reference);
    const auto value = [&](const Array<float, 3>& xyz) {
        const Array<double, 3> partial =
            profiles_of(*reference, model, xyz, given.scatterers.scales);
        double sum = 0.0;
        for (Index n = 0; n < given.weight.size(); ++n)
            sum += given.weight.data()[n] * partial.data()[n];
        return sum;
    };
    double largest = 0.0;
    for (const double g : gradient) largest = std::max(largest, std::fabs(g));
    ASSERT_GT(largest, 1.0);
    for (Index i = 0; i < 12; ++i) {
        for (Index axis = 0; axis < 3; ++axis) {
            Array<float, 3> plus = given.scatterers.xyz, minus = plus;
            plus(0, axis, i) += 0.004f;
            minus(0, axis, i) -= 0.004f;
            const double step = double{plus(0, axis, i)} - double{minus(0, axis, i)};
            EXPECT_NEAR(gradient(axis, i), (value(plus) - value(minus)) / step, 1e-5 * largest);
        }
    }
}

TEST(Gradient, IsTheReferencesByEveryKernel) {
    for (const RandomShape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.scatterers) + " scatterers");
        const Given given(shape);
        const Array<double, 2> expected =
            given.gradient(*make_reference_kernel(given.scatterers.model));
        double largest = 0.0;
        for (const double g : expected) largest = std::max(largest, std::fabs(g));
        with_every_kernel(given.scatterers.model, [&](const std::string& name, Kernel& kernel,
                                                      bool) {
            const bool float64 = name.starts_with("float64");
            const Array<double, 2> found = given.gradient(kernel);
            for (Index n = 0; n < found.size(); ++n)
                ASSERT_NEAR(found.data()[n], expected.data()[n], (float64 ? 1e-10 : 1e-5) * largest)
                    << name << " " << n;
        });
    }
}

TEST_P(EveryGpu, FindsTheReferencesGradient) {
    std::vector<RandomShape> shapes(std::begin(kShapes), std::end(kShapes));
    shapes.push_back({.scatterers = 2, .types = 1, .q = 20, .spread = 0.01});
    shapes.push_back({.scatterers = 140, .types = 5, .q = 101, .step = 0.005});
    shapes.push_back({.scatterers = 70, .types = 2, .channels = 2, .scaled = 2, .q = 60});
    if (GetParam().needs_gpu) {
        shapes.push_back({.scatterers = 1888, .types = 21, .q = 51, .spread = 30});
        shapes.push_back({.scatterers = 5000, .types = 3, .channels = 3, .scaled = 1, .q = 30});
    }
    for (const RandomShape& shape : shapes) {
        SCOPED_TRACE(std::to_string(shape.scatterers) + " scatterers");
        const Given given(shape);
        Context context;
        const Array<double, 2> expected = given.gradient(
            shape.scatterers > 1000
                ? *make_cpu_kernel(given.scatterers.model, Precision::float64, context)
                : *make_reference_kernel(given.scatterers.model));
        double largest = 0.0;
        for (const double g : expected) largest = std::max(largest, std::fabs(g));
        const auto kernel = make(given.scatterers.model);
        const Array<double, 2> found = given.gradient(*kernel);
        for (Index n = 0; n < found.size(); ++n)
            ASSERT_NEAR(found.data()[n], expected.data()[n], tolerance() * largest) << n;
        const Array<double, 2> again = given.gradient(*kernel);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), again.begin()));
    }
}

TEST(Gradient, IsNothingBetweenCoincidentScatterers) {
    Given given({.scatterers = 2, .types = 1, .q = 12});
    given.scatterers.xyz.fill(3.0f);
    with_every_kernel(given.scatterers.model, [&](const std::string& name, Kernel& kernel, bool) {
        for (const double g : given.gradient(kernel)) EXPECT_EQ(g, 0.0) << name;
    });
}

}  // namespace
}  // namespace pleat::saxs
