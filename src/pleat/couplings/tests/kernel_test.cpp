// Tests of the fast kernels against the reference, and of what every kernel promises.
#include "pleat/couplings/kernel/kernel.h"

#include <gtest/gtest.h>

#include "pleat/core/hardware/instruction_set.h"
#include "pleat/couplings/tests/every_kernel.h"
#include "pleat/couplings/tests/kernel_agreement.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using namespace test;

class CpuKernel : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override { restrict_instruction_set(GetParam()); }
    void TearDown() override { restrict_instruction_set(""); }
};

TEST_P(CpuKernel, AgreesWithTheReference) {
    expect_agreement([](const Problem& problem) { return make_cpu_kernel(problem, 1); },
                     large_shapes(), kCpuTolerances, kCpuWeakTolerances);
}

TEST_P(CpuKernel, IsBitEqualForAnyThreads) {
    for (const Shape& shape : {Shape{257, 19, 21}, Shape{40, 5, 5}, Shape{5, 2, 21}}) {
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, 77);
        const Model point = random_model(shape.columns, shape.letters, 0.1, 78);
        std::vector<float> first_point, first_gradient;
        double first_objective = 0, first_norm = 0;
        for (const int threads : {1, 2, 3, 4}) {
            const auto kernel = make_cpu_kernel(family.problem(), threads);
            kernel->reserve(2);
            kernel->set_model(0, point);
            const Evaluation at = kernel->evaluate_best_fields(0, 1);
            std::vector<float> x(kernel->size()), gradient(kernel->size());
            kernel->download(0, x.data());
            kernel->download(1, gradient.data());
            if (threads == 1) {
                first_point = x;
                first_gradient = gradient;
                first_objective = at.objective;
                first_norm = inner(*kernel, 1, 1);
            }
            EXPECT_EQ(at.objective, first_objective) << threads;
            EXPECT_EQ(inner(*kernel, 1, 1), first_norm) << threads;
            EXPECT_EQ(x, first_point) << threads;
            EXPECT_EQ(gradient, first_gradient) << threads;
        }
    }
}

TEST_P(CpuKernel, KeepsPaddingZero) {
    const RandomFamily family(50, 6, 21, 91);
    const auto kernel = make_cpu_kernel(family.problem(), 1);
    kernel->reserve(3);
    kernel->set_model(0, random_model(6, 21, 0.2, 92));
    kernel->evaluate_plain(0, 1);
    const int vectors[2] = {0, 1};
    const double factors[2] = {1, -0.1};
    kernel->combine(2, vectors, factors);
    const Model model = kernel->model(2), gradient = kernel->model(1);
    // What a model holds is all that a vector holds: setting it anew gives the same norm.
    const double before = inner(*kernel, 2, 2);
    kernel->set_model(2, model);
    EXPECT_NEAR(inner(*kernel, 2, 2), before, 1e-6 * before);
    for (Index i = 0; i < 6; ++i) EXPECT_EQ(gradient.fields(i, 20), 0);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, CpuKernel, testing::ValuesIn(instruction_sets()),
                         [](const auto& name) { return name.param; });

TEST_P(EveryKernel, ReturnsTheModelThatWasSet) {
    for (const int letters : {5, 21}) {
        for (const bool scaled : {false, true}) {
            const RandomFamily family(30, 8, letters, 3);
            const auto kernel = make(family.problem(scaled));
            kernel->reserve(2);
            const Model model = random_model(8, letters, 0.3, 4);
            kernel->set_model(1, model);
            const Model back = kernel->model(1);
            EXPECT_EQ(distance(back.fields, model.fields), 0);
            EXPECT_LT(distance(back.pairs, model.pairs), scaled ? 1e-6 : 1e-30);
            EXPECT_EQ(inner(*kernel, 0, 0), 0);  // the other vector is as it was
        }
    }
}

TEST_P(EveryKernel, CombinesVectorsAndTheirProducts) {
    const RandomFamily family(10, 9, 21, 5);
    Problem problem = family.problem(false);
    for (const double metric : {1.0, 2.0}) {
        problem.pair_metric = metric;
        const auto kernel = make(problem);
        kernel->reserve(4);
        std::vector<Model> models;
        for (int k = 0; k < 3; ++k) {
            models.push_back(random_model(9, 21, 0.5, 10 + k));
            kernel->set_model(k, models.back());
        }
        const auto expected = [&](const Model& a, const Model& b) {
            double fields = 0, pairs = 0;
            for (Index e = 0; e < a.fields.size(); ++e) {
                fields += static_cast<double>(a.fields.data()[e]) * b.fields.data()[e];
            }
            for (Index e = 0; e < a.pairs.size(); ++e) {
                pairs += static_cast<double>(a.pairs.data()[e]) * b.pairs.data()[e];
            }
            return fields + metric * pairs;
        };
        const int with[3] = {2, 0, 1};
        double products[3];
        kernel->dots(1, with, products);
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(products[k], expected(models[1], models[with[k]]), 1e-9 * products[2]);
        }
        // The target among the sources, each source once, and a copy.
        const int sources[3] = {1, 0, 2};
        const double factors[3] = {0.5, -2, 3};
        kernel->combine(1, sources, factors);
        const Model sum = kernel->model(1);
        for (Index e = 0; e < sum.pairs.size(); ++e) {
            ASSERT_NEAR(sum.pairs.data()[e],
                        0.5 * models[1].pairs.data()[e] - 2 * models[0].pairs.data()[e] +
                            3 * models[2].pairs.data()[e],
                        1e-5);
        }
        const double one = 1;
        kernel->combine(3, std::span(&sources[0], 1), std::span(&one, 1));
        EXPECT_EQ(distance(kernel->model(3).pairs, sum.pairs), 0);
        EXPECT_EQ(distance(kernel->model(3).fields, sum.fields), 0);
    }
}

TEST_P(EveryKernel, KeepsAPointThroughDownloadAndUpload) {
    const RandomFamily family(20, 7, 21, 6);
    const auto kernel = make(family.problem());
    kernel->reserve(2);
    kernel->set_model(0, random_model(7, 21, 0.2, 7));
    std::vector<float> values(kernel->size());
    kernel->download(0, values.data());
    kernel->upload(1, values.data());
    std::vector<float> again(kernel->size());
    kernel->download(1, again.data());
    EXPECT_EQ(again, values);
    EXPECT_LT(distance(kernel->model(1).pairs, kernel->model(0).pairs), 1e-7);
}

TEST_P(EveryKernel, ReserveKeepsTheVectors) {
    const RandomFamily family(20, 5, 21, 8);
    const auto kernel = make(family.problem());
    kernel->reserve(3);
    kernel->set_model(2, random_model(5, 21, 0.2, 9));
    const double norm = inner(*kernel, 2, 2);
    kernel->reserve(6);
    kernel->reserve(1);
    EXPECT_EQ(inner(*kernel, 2, 2), norm);
}

// f* is where the gradient of a convex function is zero, to rounding: from a fit in float64.
TEST_P(EveryKernel, BoundsTheGapByItsCertificate) {
    const bool slow = GetParam().is_slow;
    for (const Shape& shape : {Shape{8, 3, 21}, Shape{30, 5, 5}, Shape{40, 6, 21}}) {
        if (slow && shape.sequences > 8) break;
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, 12);
        const Problem problem = family.problem();
        const auto reference = make_reference_kernel(problem);
        reference->field_gap = 1e-14;
        Lbfgs exact(*reference, {.f_precision = 1e-15});
        exact.start();
        for (int k = 0; k < 500 && certified_gap(reference->latest(), problem) > 1e-10; ++k) {
            if (!exact.step()) break;
        }
        const double minimum = exact.objective();
        ASSERT_LT(certified_gap(reference->latest(), problem), 1e-8 * minimum);

        const auto kernel = make(problem);
        double gap = 0;
        Lbfgs minimiser(*kernel, {});
        if (!slow) minimiser.start();
        for (int k = 0; k < (slow ? 0 : 60); ++k) {
            gap = certified_gap(kernel->latest(), problem);
            EXPECT_GE(gap, kernel->latest().objective - minimum - 2e-6 * minimum) << "step " << k;
            if (!minimiser.step()) break;
        }
        EXPECT_LT(gap, 1e-3 * minimum);  // and it shrinks to something useful
        kernel->reserve(2);
        for (int k = 0; k < 5; ++k) {
            kernel->set_model(0,
                              random_model(shape.columns, shape.letters, 0.05 * (k + 1), 30 + k));
            const Evaluation at = kernel->evaluate_plain(0, 1);
            EXPECT_GE(certified_gap(at, problem), at.objective - minimum);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryKernel,
                         testing::Values(on_device("reference"), on_device("cpu"),
                                         on_device("cuda")),
                         maker_name);

}  // namespace
}  // namespace pleat::couplings
