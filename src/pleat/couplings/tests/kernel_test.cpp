// Tests of the fast kernels against the reference, and of what every kernel promises.
#include "pleat/couplings/kernel.h"

#include <gtest/gtest.h>

#include <functional>

#include "pleat/core/instruction_set.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::distance;
using test::inner;
using test::random_model;
using test::RandomFamily;
using test::Shape;

// Everything that makes an alignment awkward, by number.
RandomFamily awkward_family(const Shape& shape, int kind, std::uint64_t seed) {
    RandomFamily family(shape.sequences, shape.columns, shape.letters, seed);
    const int gap = shape.letters - 1;
    switch (kind) {
        case 1: family.fill_column(shape.columns / 2, gap); break;  // a column of gaps
        case 2: family.fill_column(shape.columns - 1, 0); break;    // a constant column
        case 3:                                                     // letters that never occur
            family.replace(1, 0);
            family.replace(gap, 2);
            break;
        case 4:  // nothing but copies of one sequence
            for (Index n = 1; n < shape.sequences; ++n) {
                std::copy_n(&family.letters(0, 0), shape.columns, &family.letters(n, 0));
            }
            break;
        case 5:  // every column constant
            for (Index i = 0; i < shape.columns; ++i)
                family.fill_column(i, static_cast<int>(i % gap));
            break;
        case 6:  // weights over five orders of magnitude
            for (double& weight : family.weights) weight = std::pow(10.0, -5 * weight);
            break;
        default: break;
    }
    return family;
}

const std::vector<Shape>& large_shapes() {
    static const std::vector<Shape> shapes = {
        {2, 2, 21},   {3, 3, 5},     {40, 12, 5}, {300, 17, 5}, {255, 2, 21}, {257, 9, 21},
        {31, 40, 21}, {120, 23, 21}, {60, 11, 8}, {60, 7, 9},   {50, 6, 24}};
    return shapes;
}

// How far a kernel's numbers may be from those in double precision, as shares.
struct Tolerances {
    double objective, gradient, norm2;
    double point2 = 2e-5, fields = 1e-4;  // of the best fields, where hardly anything holds them
};
constexpr Tolerances kCpuTolerances{1e-5, 1e-5, 2e-5};
// Where all sequences are one, the best fields leave residuals p - 1 near zero: of those, single
// precision keeps fewer digits.
constexpr Tolerances kCpuWeakTolerances{1e-5, 1e-4, 2e-5};
// bf16 in two parts keeps 16 bits of a number.
constexpr Tolerances kCudaTolerances{1e-5, 3e-5, 6e-5, 2e-4, 5e-4};
constexpr Tolerances kCudaWeakTolerances{1e-4, 1e-3, 2e-3, 2e-4, 5e-4};

using MakeKernel = std::function<std::unique_ptr<Kernel>(const Problem&)>;

/// Objective and gradient of a kernel against the reference at one point.
void expect_agreement(const MakeKernel& make, const RandomFamily& family, bool scaled,
                      bool best_fields, double spread, std::uint64_t seed,
                      const Tolerances& tolerances) {
    const Problem problem = family.problem(scaled);
    const Index columns = family.letters.extent(1);
    const Model point = random_model(columns, family.letter_count, spread, seed);
    const auto reference = make_reference_kernel(problem);
    const auto fast = make(problem);
    Evaluation at[2];
    int k = 0;
    for (Kernel* kernel : {reference.get(), fast.get()}) {
        kernel->reserve(2);
        kernel->set_model(0, point);
        kernel->field_gap = 1e-9;
        at[k++] = best_fields ? kernel->evaluate_best_fields(0, 1) : kernel->evaluate_plain(0, 1);
    }
    EXPECT_NEAR(at[1].objective, at[0].objective, tolerances.objective * at[0].objective);
    EXPECT_NEAR(at[1].pair_gradient2, at[0].pair_gradient2, tolerances.norm2 * at[0].pair_gradient2);
    EXPECT_NEAR(at[1].point2, at[0].point2, tolerances.point2 * at[0].point2);
    if (!best_fields) {
        EXPECT_NEAR(at[1].field_gradient2, at[0].field_gradient2,
                    tolerances.norm2 * (at[0].field_gradient2 + 1e-6 * at[0].pair_gradient2));
    }
    const Model expected = reference->model(1), found = fast->model(1);
    EXPECT_LT(distance(found.pairs, expected.pairs), tolerances.gradient);
    if (best_fields) {
        EXPECT_EQ(distance(found.fields, expected.fields), 0);  // both are zero
        EXPECT_LT(distance(fast->model(0).fields, reference->model(0).fields), tolerances.fields);
    } else {
        // Fields and couplings of one gradient have one norm.
        double difference2 = 0, norm2 = at[0].pair_gradient2 + at[0].field_gradient2;
        for (Index e = 0; e < expected.fields.size(); ++e) {
            difference2 += std::pow(
                static_cast<double>(found.fields.data()[e]) - expected.fields.data()[e], 2);
        }
        EXPECT_LT(std::sqrt(difference2 / norm2), tolerances.gradient);
    }
    EXPECT_NEAR(inner(*fast, 1, 1), inner(*reference, 1, 1),
                tolerances.norm2 * inner(*reference, 1, 1));
}

/// The same for awkward families of many shapes.
void expect_agreement(const MakeKernel& make, const std::vector<Shape>& shapes,
                      const Tolerances& usual, const Tolerances& weak) {
    std::uint64_t seed = 1000;
    for (const Shape& shape : shapes) {
        for (int kind = 0; kind <= 6; ++kind) {
            const RandomFamily family = awkward_family(shape, kind, ++seed);
            const bool scaled = seed % 2 == 0, best_fields = seed % 3 == 0;
            const double spread = seed % 5 == 0 ? 1.0 : 0.1;
            SCOPED_TRACE("N " + std::to_string(shape.sequences) + ", L " +
                         std::to_string(shape.columns) + ", q " + std::to_string(shape.letters) +
                         ", kind " + std::to_string(kind) + (scaled ? ", scaled" : "") +
                         (best_fields ? ", best fields" : ""));
            const bool is_weak = best_fields && (kind == 4 || kind == 5);
            expect_agreement(make, family, scaled, best_fields, spread, seed,
                             is_weak ? weak : usual);
        }
    }
}

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

TEST_P(CpuKernel, PaddingStaysZero) {
    const RandomFamily family(50, 6, 21, 91);
    const auto kernel = make_cpu_kernel(family.problem(), 1);
    kernel->reserve(3);
    kernel->set_model(0, random_model(6, 21, 0.2, 92));
    kernel->evaluate_plain(0, 1);
    const int slots[2] = {0, 1};
    const double factors[2] = {1, -0.1};
    kernel->combine(2, slots, factors);
    const Model model = kernel->model(2), gradient = kernel->model(1);
    // What a model holds is all that a slot holds: setting it anew gives the same norm.
    const double before = inner(*kernel, 2, 2);
    kernel->set_model(2, model);
    EXPECT_NEAR(inner(*kernel, 2, 2), before, 1e-6 * before);
    for (Index i = 0; i < 6; ++i) EXPECT_EQ(gradient.fields(i, 20), 0);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, CpuKernel, testing::ValuesIn(instruction_sets()),
                         [](const auto& name) { return name.param; });

class CudaKernel : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
};

// Around the tiles of 48, 256, 384 and 1024 sequences and of 4, 12, 16 and 48 columns.
TEST_F(CudaKernel, AgreesWithTheReference) {
    std::vector<Shape> shapes = {{47, 13, 21},  {385, 17, 21}, {1025, 5, 21}, {1100, 3, 5},
                                 {130, 50, 21}, {90, 101, 5},  {60, 6, 23}};
    for (const Shape& shape : large_shapes()) {
        if (shape.letters <= 23) shapes.push_back(shape);
    }
    expect_agreement([](const Problem& problem) { return make_cuda_kernel(problem, 0); }, shapes,
                     kCudaTolerances, kCudaWeakTolerances);
}

TEST_F(CudaKernel, GivesTheSameBitsFromRunToRun) {
    for (const Shape& shape : {Shape{1100, 19, 21}, Shape{400, 53, 5}, Shape{5, 2, 21}}) {
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, 77);
        const Model point = random_model(shape.columns, shape.letters, 0.1, 78);
        std::vector<float> first[2];
        double first_objective = 0, first_norm = 0;
        for (int repeat = 0; repeat < 5; ++repeat) {
            const auto kernel = make_cuda_kernel(family.problem(), 0);
            kernel->reserve(2);
            kernel->set_model(0, point);
            const Evaluation at = kernel->evaluate_best_fields(0, 1);
            const double norm = inner(*kernel, 1, 1);
            if (repeat == 0) {
                first_objective = at.objective;
                first_norm = norm;
            }
            EXPECT_EQ(at.objective, first_objective);
            EXPECT_EQ(norm, first_norm);
            for (int slot = 0; slot < 2; ++slot) {
                std::vector<float> values(kernel->size());
                kernel->download(slot, values.data());
                if (repeat == 0) first[slot] = values;
                EXPECT_EQ(values, first[slot]) << "slot " << slot;
            }
        }
    }
}

// A slot's old contents, and a larger gradient before, leave no trace.
TEST_F(CudaKernel, ForgetsEarlierEvaluations) {
    const RandomFamily family(500, 11, 21, 79);
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(3);
    const Model point = random_model(11, 21, 0.1, 80);
    kernel->set_model(0, point);
    const Evaluation first = kernel->evaluate_plain(0, 1);
    const Model gradient = kernel->model(1);
    kernel->set_model(0, random_model(11, 21, 2.0, 81));
    kernel->evaluate_best_fields(0, 1);
    kernel->set_model(0, point);
    const Evaluation again = kernel->evaluate_plain(0, 1);
    EXPECT_EQ(again.objective, first.objective);
    EXPECT_EQ(distance(kernel->model(1).pairs, gradient.pairs), 0);
    EXPECT_EQ(distance(kernel->model(1).fields, gradient.fields), 0);
}

TEST_F(CudaKernel, TakesTheMemoryThatIsAnnounced) {
    const RandomFamily family(1000, 150, 21, 82);
    const int slots = Lbfgs::slots_needed({.history = 4});
    const std::int64_t before = use_cuda_device(0).free_bytes;
    const auto kernel = make_cuda_kernel(family.problem(), 0);
    kernel->reserve(slots);
    const std::int64_t taken = before - use_cuda_device(0).free_bytes;
    const std::int64_t announced = memory_needed(1000, 150, 21, {Device::Kind::cuda, 0}, 1);
    // Each array is rounded up to the pages of the GPU.
    EXPECT_NEAR(static_cast<double>(taken), static_cast<double>(announced), 64 << 20);
}

class EveryKernel : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (Device::parse(GetParam()).kind != Device::Kind::cuda) return;
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
    std::unique_ptr<Kernel> make(const Problem& problem) const {
        Context context;
        context.device = Device::parse(GetParam());
        context.threads = 2;
        return make_kernel(problem, context);
    }
};

TEST_P(EveryKernel, GiveBackTheModelThatWasSet) {
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
            EXPECT_EQ(inner(*kernel, 0, 0), 0);  // the other slot is as it was
        }
    }
}

TEST_P(EveryKernel, CombineAndDotLikeVectors) {
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

TEST_P(EveryKernel, DownloadAndUploadKeepAPoint) {
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

TEST_P(EveryKernel, ReserveKeepsWhatSlotsHold) {
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
TEST_P(EveryKernel, TheCertifiedGapBoundsTheRealOne) {
    for (const Shape& shape : {Shape{30, 5, 5}, Shape{40, 6, 21}, Shape{8, 3, 21}}) {
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, 12);
        const Problem problem = family.problem();
        const auto reference = make_reference_kernel(problem);
        reference->field_gap = 1e-14;
        Lbfgs exact(*reference, {.f_precision = 1e-15});
        exact.start();
        for (int k = 0; k < 500 && certified_gap(reference->latest(), problem) > 1e-10; ++k) {
            if (!exact.step()) break;
        }
        const double least = exact.objective();
        ASSERT_LT(certified_gap(reference->latest(), problem), 1e-8 * least);

        const auto kernel = make(problem);
        Lbfgs minimiser(*kernel, {});
        minimiser.start();
        double gap = 0;
        for (int k = 0; k < 60; ++k) {
            gap = certified_gap(kernel->latest(), problem);
            EXPECT_GE(gap, kernel->latest().objective - least - 2e-6 * least) << "step " << k;
            if (!minimiser.step()) break;
        }
        EXPECT_LT(gap, 1e-3 * least);  // and it shrinks to something useful
        for (int k = 0; k < 5; ++k) {
            kernel->set_model(0,
                              random_model(shape.columns, shape.letters, 0.05 * (k + 1), 30 + k));
            const Evaluation at = kernel->evaluate_plain(0, 1);
            EXPECT_GE(certified_gap(at, problem), at.objective - least);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryKernel, testing::Values("reference", "cpu", "cuda"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace pleat::couplings
