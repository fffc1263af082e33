// Tests of the reference kernel: the formula itself, central differences, the best fields.
#include <gtest/gtest.h>

#include <functional>

#include "pleat/couplings/kernel/kernel.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::distance;
using test::inner;
using test::random_model;
using test::RandomFamily;
using test::Shape;

// The objective as the paper writes it, from a model and nothing else.
double objective_of(const Problem& problem, const Model& model) {
    const Index columns = model.column_count();
    const int letters = problem.letter_count;
    const auto coupling = [&](Index i, int a, Index j, int b) -> double {
        return i < j ? model.pairs(pair_index(i, j, columns), a, b)
                     : model.pairs(pair_index(j, i, columns), b, a);
    };
    double f = 0;
    for (Index n = 0; n < problem.letters.extent(0); ++n) {
        for (Index i = 0; i < columns; ++i) {
            double partition = 0, own = 0;
            for (int a = 0; a < letters; ++a) {
                double h = a < letters - 1 ? model.fields(i, a) : 0.0f;
                for (Index j = 0; j < columns; ++j) {
                    if (j != i) h += coupling(i, a, j, problem.letters(n, j));
                }
                partition += std::exp(h);
                if (a == problem.letters(n, i)) own = h;
            }
            f += problem.weights[n] * (std::log(partition) - own);
        }
    }
    for (Index i = 0; i < columns; ++i) {
        for (int a = 0; a < letters - 1; ++a) {
            f += problem.lambda_single * std::pow(static_cast<double>(model.fields(i, a)), 2);
        }
    }
    for (const float e : model.pairs)
        f += problem.lambda_pair * std::pow(static_cast<double>(e), 2);
    return f;
}

std::vector<Shape> small_shapes() {
    return {{2, 2, 5}, {3, 2, 21}, {9, 4, 5}, {30, 7, 5}, {17, 5, 21}, {30, 7, 21}};
}

TEST(ReferenceKernel, ComputesTheFormula) {
    std::uint64_t seed = 1;
    for (const Shape& shape : small_shapes()) {
        for (const bool scaled : {false, true}) {
            const RandomFamily family(shape.sequences, shape.columns, shape.letters, ++seed);
            const Problem problem = family.problem(scaled);
            const auto kernel = make_reference_kernel(problem);
            kernel->reserve(2);
            const Model model = random_model(shape.columns, shape.letters, 0.3, seed);
            kernel->set_model(0, model);
            const Evaluation at = kernel->evaluate_plain(0, 1);
            EXPECT_NEAR(at.objective, objective_of(problem, model), 1e-9 * at.objective);
            EXPECT_EQ(at.objective, kernel->latest().objective);
            double point2 = 0;
            for (const float e : model.fields) point2 += static_cast<double>(e) * e;
            for (const float e : model.pairs) point2 += static_cast<double>(e) * e;
            EXPECT_NEAR(at.point2, point2, 1e-9 * point2);
        }
    }
}

// VectorStore of the reference: 0 the point, 1 its gradient, 2 a direction, 3 and 4 a moved point
// and its gradient.
class Differences : public testing::TestWithParam<std::tuple<bool, bool>> {
protected:
    /// df/dt along vector 2 by central differences. Extrapolated from two steps: error of order
    /// h^4.
    static double derivative(Kernel& kernel, const std::function<double(int, int)>& f) {
        const auto central = [&](double h) {
            double value[2];
            for (const int side : {0, 1}) {
                const int vectors[2] = {0, 2};
                const double factors[2] = {1, side == 0 ? -h : h};
                kernel.combine(3, vectors, factors);
                value[side] = f(3, 4);
            }
            return (value[1] - value[0]) / (2 * h);
        };
        return (4 * central(1e-3) - central(2e-3)) / 3;
    }
};

TEST_P(Differences, AgreeWithTheGradient) {
    const bool scaled = std::get<0>(GetParam()), best_fields = std::get<1>(GetParam());
    std::uint64_t seed = 100;
    for (const Shape& shape : small_shapes()) {
        const RandomFamily family(shape.sequences, shape.columns, shape.letters, ++seed);
        const auto kernel = make_reference_kernel(family.problem(scaled));
        kernel->field_gap = 1e-16;
        kernel->reserve(5);
        kernel->set_model(0, random_model(shape.columns, shape.letters, 0.3, seed));
        const auto f = [&](int x, int gradient) {
            return best_fields ? kernel->evaluate_best_fields(x, gradient).objective
                               : kernel->evaluate_plain(x, gradient).objective;
        };
        f(0, 1);
        const double norm = std::sqrt(inner(*kernel, 1, 1));
        ASSERT_GT(norm, 0);
        const Index fields = shape.columns * shape.letters;
        std::mt19937_64 random(seed);
        std::vector<float> direction(kernel->size());
        for (int trial = 0; trial < 40; ++trial) {
            // Single coordinates of fields and couplings, then dense directions.
            std::fill(direction.begin(), direction.end(), 0.0f);
            const Index first = best_fields ? fields : 0;
            const Index last = !best_fields && trial < 15 ? fields : kernel->size();
            if (trial < 35) {
                direction[first + static_cast<Index>(random() % (last - first))] = 1;
            } else {
                std::normal_distribution<double> normal;
                for (Index k = first; k < kernel->size(); ++k) {
                    direction[k] = static_cast<float>(normal(random) / std::sqrt(kernel->size()));
                }
            }
            kernel->upload(2, direction.data());
            EXPECT_NEAR(derivative(*kernel, f), inner(*kernel, 1, 2), 1e-7 * (norm + 1))
                << shape.sequences << " x " << shape.columns << ", trial " << trial;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, Differences, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& mode) {
                             return std::string(std::get<0>(mode.param) ? "Scaled" : "Unscaled") +
                                    (std::get<1>(mode.param) ? "BestFields" : "Plain");
                         });

TEST(ReferenceKernel, FindsTheBestFields) {
    const RandomFamily family(25, 6, 21, 5);
    const Problem problem = family.problem();
    const auto kernel = make_reference_kernel(problem);
    kernel->field_gap = 1e-12;
    kernel->reserve(2);
    Model model = random_model(6, 21, 0.3, 7);
    kernel->set_model(0, model);
    const double best = kernel->evaluate_best_fields(0, 1).objective;
    EXPECT_LT(kernel->latest().field_gradient2, 1e-10);
    const Model found = kernel->model(0);
    EXPECT_LT(distance(found.pairs, model.pairs), 1e-6);  // couplings stay
    EXPECT_NEAR(objective_of(problem, found), best, 1e-6 * best);
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    for (const double size : {1e-2, 1e-1, 1.0}) {
        Model other = found;
        for (Index i = 0; i < 6; ++i) {
            for (int a = 0; a < 20; ++a)
                other.fields(i, a) += static_cast<float>(size * normal(random));
        }
        EXPECT_GT(objective_of(problem, other), best);
    }
}

}  // namespace
}  // namespace pleat::couplings
