// What a fast kernel is held to: the reference on random and awkward families, within tolerances.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pleat/couplings/kernel/kernel.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings::test {

// Everything that makes an alignment awkward, by number.
inline RandomFamily awkward_family(const Shape& shape, int kind, std::uint64_t seed) {
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

inline const std::vector<Shape>& large_shapes() {
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
// Two float16 parts keep 22 bits of a number, one keeps 11.
constexpr Tolerances kCudaTolerances{1e-5, 3e-5, 6e-5, 2e-4, 5e-4};
constexpr Tolerances kCudaWeakTolerances{3e-4, 1e-3, 2e-3, 2e-4, 5e-4};
constexpr Tolerances kCoarseTolerances{1e-4, 1e-3, 2e-3, 1e-3, 5e-3};
constexpr Tolerances kCoarseWeakTolerances{3e-4, 1e-2, 2e-2, 1e-3, 5e-3};

using MakeKernel = std::function<std::unique_ptr<Kernel>(const Problem&)>;

/// Objective and gradient of a kernel against the reference at one point.
inline void expect_agreement(const MakeKernel& make, const RandomFamily& family, bool scaled,
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
    EXPECT_NEAR(at[1].pair_gradient2, at[0].pair_gradient2,
                tolerances.norm2 * at[0].pair_gradient2);
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
inline void expect_agreement(const MakeKernel& make, const std::vector<Shape>& shapes,
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

}  // namespace pleat::couplings::test
