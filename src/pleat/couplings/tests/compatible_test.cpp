// Tests of the compatible mode: CCMpred's own scores, its counts, and what resuming keeps.
#include "pleat/couplings/fit/compatible.h"

#include <gtest/gtest.h>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/tests/oracle.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::RandomFamily;

Parameters compatible_parameters() {
    Parameters parameters;
    parameters.compatible = CompatibleProgram::ccmpred;
    return parameters;
}

// One CG iteration from the definition, on the plain objective: x - g / |g|, pairs counted twice.
TEST(Compatible, MakesTheFirstStepOfTheProgram) {
    const RandomFamily family(40, 5, 21, 3);
    Problem problem = family.problem(false);
    problem.pair_metric = 2;
    const Model start = test::random_model(5, 21, 0, 5);
    const auto kernel = make_reference_kernel(problem);
    kernel->reserve(2);
    kernel->set_model(0, start);
    kernel->evaluate_plain(0, 1);
    const Model gradient = kernel->model(1);
    double norm2 = 0;
    for (const float g : gradient.fields) norm2 += static_cast<double>(g) * g;
    for (const float g : gradient.pairs) norm2 += 2 * static_cast<double>(g) * g;

    struct StopAfterOne : Progress {
        std::int64_t done = 0;
        void update(std::string_view, std::int64_t n, std::int64_t, std::string_view) override {
            done = n;
        }
        bool cancelled() override { return done >= 2; }
        void message(std::string_view) override {}
    } progress;
    Context context;
    context.device = {Device::Kind::reference, 0};
    context.progress = &progress;
    Result result;
    EXPECT_THROW(fit_compatible(problem, start, 250, context, *kernel, result), Cancelled);
    const Model moved = kernel->model(0);
    for (Index k = 0; k < moved.pairs.size(); ++k) {
        const double expected = start.pairs.data()[k] - gradient.pairs.data()[k] / std::sqrt(norm2);
        ASSERT_NEAR(moved.pairs.data()[k], expected, 1e-5);
    }
    for (Index k = 0; k < moved.fields.size(); ++k) {
        const double expected =
            start.fields.data()[k] - gradient.fields.data()[k] / std::sqrt(norm2);
        ASSERT_NEAR(moved.fields.data()[k], expected, 1e-5);
    }
}

TEST(Compatible, ReportsItsDistanceFromTheOptimum) {
    const RandomFamily family(120, 14, 21, 7);
    const Alignment alignment = family.alignment();
    const Result early = run(alignment, compatible_parameters(), {});
    Parameters tight;
    tight.tolerance = 1e-7;
    const Result best = run(alignment, tight, {});
    EXPECT_GT(early.objective, best.objective);
    EXPECT_LT(early.objective, 1.3 * best.objective);
    EXPECT_GE(early.relative_gap * early.objective, early.objective - best.objective);
    EXPECT_GT(early.iterations, 5);
    EXPECT_LE(early.iterations, 250);
    EXPECT_GT(early.evaluations, early.iterations);
}

TEST(Compatible, StopsAtTheIterationLimit) {
    const RandomFamily family(120, 14, 21, 7);
    Parameters parameters = compatible_parameters();
    parameters.max_iterations = 3;
    const Result result = run(family.alignment(), parameters, {});
    EXPECT_EQ(result.iterations, 3);
    EXPECT_EQ(result.stop_reason, StopReason::iteration_limit);
}

TEST(Compatible, ReferenceAndCpuAgreeForAnyThreads) {
    const RandomFamily family(60, 9, 21, 11);
    const Alignment alignment = family.alignment();
    Context context;
    context.device = {Device::Kind::reference, 0};
    const Result reference = run(alignment, compatible_parameters(), context);
    Context cpu;
    cpu.threads = 1;
    const Result one = run(alignment, compatible_parameters(), cpu);
    EXPECT_EQ(one.iterations, reference.iterations);
    EXPECT_NEAR(one.objective, reference.objective, 1e-5 * reference.objective);
    EXPECT_LT(test::largest_difference(one.corrected, reference.corrected), 1e-4);
    cpu.threads = 3;
    const Result three = run(alignment, compatible_parameters(), cpu);
    EXPECT_EQ(three.objective, one.objective);
    EXPECT_EQ(test::largest_difference(three.corrected, one.corrected), 0);
}

TEST(Compatible, ResumesToTheSameBits) {
    const RandomFamily family(80, 12, 21, 13);
    const Alignment alignment = family.alignment();
    const Result whole = run(alignment, compatible_parameters(), {});
    pleat::test::TemporaryFolder folder;
    struct StopOnce : Progress {
        std::int64_t at, done = 0;
        explicit StopOnce(std::int64_t step) : at(step) {}
        void update(std::string_view stage, std::int64_t n, std::int64_t,
                    std::string_view) override {
            if (stage == "fit") done = n;
        }
        bool cancelled() override { return done == at; }
        void message(std::string_view) override {}
    };
    for (const std::int64_t at : {1, 2, 9}) {
        StopOnce progress(at);
        Context context;
        context.progress = &progress;
        context.checkpoint = folder / ("fit" + std::to_string(at) + ".npz");
        EXPECT_THROW(run(alignment, compatible_parameters(), context), Cancelled);
        StopOnce never(-1);
        context.progress = &never;
        const Result resumed = run(alignment, compatible_parameters(), context);
        EXPECT_EQ(resumed.objective, whole.objective) << at;
        EXPECT_EQ(resumed.iterations, whole.iterations);
        EXPECT_EQ(resumed.evaluations, whole.evaluations);
        EXPECT_EQ(test::largest_difference(resumed.corrected, whole.corrected), 0);
    }
}

TEST(Compatible, ResumesAFinishedFitToItsResult) {
    const RandomFamily family(50, 8, 21, 17);
    const Alignment alignment = family.alignment();
    pleat::test::TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "fit.npz";
    context.checkpoint_seconds = 0;  // saves every step, the last one too
    const Result first = run(alignment, compatible_parameters(), context);
    ASSERT_TRUE(std::filesystem::exists(context.checkpoint));
    const Result again = run(alignment, compatible_parameters(), context);
    EXPECT_EQ(again.objective, first.objective);
    EXPECT_EQ(again.relative_gap, first.relative_gap);
    EXPECT_EQ(again.iterations, first.iterations);
    EXPECT_EQ(again.stop_reason, first.stop_reason);
    EXPECT_EQ(test::largest_difference(again.corrected, first.corrected), 0);
}

}  // namespace
}  // namespace pleat::couplings
