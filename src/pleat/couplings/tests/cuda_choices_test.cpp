// Tests every way of the CUDA kernel once, on one shape, so that sanitizers can check them all.
#include <gtest/gtest.h>

#include <string>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/couplings/kernel/kernel.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::distance;
using test::random_model;
using test::RandomFamily;

// No multiple of a tile of sequences, columns or letters, and more than one block of 64 columns.
constexpr Index kSequences = 333, kColumns = 67;
constexpr int kLetters = 21;

TEST(CudaChoices, AllEvaluateAnOddShape) {
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    const RandomFamily family(kSequences, kColumns, kLetters, 41);
    const Model point = random_model(kColumns, kLetters, 0.1, 42);
    Problem problem = family.problem();
    const auto reference = make_reference_kernel(problem);
    reference->reserve(2);
    for (const bool plain : {true, false}) {
        reference->set_model(0, point);
        const Evaluation expected =
            plain ? reference->evaluate_plain(0, 1) : reference->evaluate_best_fields(0, 1);
        const Model gradient = reference->model(1);
        for (const double error : {1e-9, 1e-6}) {
            problem.objective_error = error;
            for (const CudaChoices& choices :
                 {CudaChoices{}, CudaChoices{.blocks = 2}, CudaChoices{.portable = true},
                  CudaChoices{.portable = true, .blocks = 2}}) {
                SCOPED_TRACE(std::string(plain ? "plain" : "best fields") + ", error " +
                             std::to_string(error) + (choices.portable ? ", portable" : "") +
                             ", blocks " + std::to_string(choices.blocks));
                const auto kernel = make_cuda_kernel(problem, 0, choices);
                kernel->reserve(2);
                kernel->set_model(0, point);
                const Evaluation at =
                    plain ? kernel->evaluate_plain(0, 1) : kernel->evaluate_best_fields(0, 1);
                EXPECT_NEAR(at.objective, expected.objective, 1e-5 * expected.objective);
                // Two parts show: one is off by more than 1e-5.
                EXPECT_LT(distance(kernel->model(1).pairs, gradient.pairs),
                          error < 1e-6 ? 1e-5 : 1e-3);
            }
        }
    }
}

}  // namespace
}  // namespace pleat::couplings
