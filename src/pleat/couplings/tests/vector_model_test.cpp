// Tests of what every kernel does with whole models: scores of a vector, and a start from fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pleat/couplings/contacts/scores.h"
#include "pleat/couplings/tests/every_kernel.h"
#include "pleat/couplings/tests/oracle.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::EveryKernel;
using test::random_model;
using test::RandomFamily;
using test::Shape;

TEST_P(EveryKernel, IsScoredLikeAModel) {
    for (const Shape& shape : {Shape{30, 8, 5}, Shape{40, 2, 21}, Shape{30, 19, 21}}) {
        for (const bool scaled : {false, true}) {
            const RandomFamily family(shape.sequences, shape.columns, shape.letters, 6);
            const auto kernel = make(family.problem(scaled));
            kernel->reserve(3);
            kernel->set_model(1, random_model(shape.columns, shape.letters, 0.3, 7));
            const Array<double, 2> expected = frobenius_scores(kernel->model(1), 1);
            const Array<double, 2> scores = kernel->raw_scores(1, 2);
            ASSERT_EQ(scores.extent(0), shape.columns);
            ASSERT_EQ(scores.extent(1), shape.columns);
            const double max_score = *std::max_element(expected.begin(), expected.end());
            ASSERT_GT(max_score, 0);
            EXPECT_LT(test::largest_difference(scores, expected), 1e-5 * max_score);
            kernel->set_fields(1, random_model(shape.columns, shape.letters, 0.3, 7).fields);
            for (const double score : kernel->raw_scores(1, 2)) EXPECT_EQ(score, 0);
        }
    }
}

TEST_P(EveryKernel, SetsFieldsLikeAModelWithoutCouplings) {
    for (const Shape& shape : {Shape{30, 8, 5}, Shape{30, 19, 21}}) {
        for (const bool scaled : {false, true}) {
            const RandomFamily family(shape.sequences, shape.columns, shape.letters, 8);
            const auto kernel = make(family.problem(scaled));
            kernel->reserve(3);
            Model model = random_model(shape.columns, shape.letters, 0.3, 9);
            kernel->set_model(0, model);  // what a vector held before is gone
            kernel->set_fields(0, model.fields);
            model.pairs.fill(0);
            kernel->set_model(1, model);
            std::vector<float> found(static_cast<std::size_t>(kernel->size())), expected(found);
            kernel->download(0, found.data());
            kernel->download(1, expected.data());
            EXPECT_EQ(found, expected);
            set_start(*kernel, 1, {model.fields, {}});
            kernel->download(1, expected.data());
            EXPECT_EQ(found, expected);
            const double objective = kernel->evaluate_plain(0, 2).objective;
            EXPECT_EQ(kernel->evaluate_plain(1, 2).objective, objective);
        }
    }
}

}  // namespace
}  // namespace pleat::couplings
