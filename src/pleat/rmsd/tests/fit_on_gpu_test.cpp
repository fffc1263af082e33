// RMSDs of some atoms after superposing others, of two sets and in place: the GPU's kernels on the
// host against the reference.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "pleat/rmsd/cuda/fit_on_gpu.cuh"
#include "pleat/rmsd/tests/fit_truth.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;
using test::atoms_from;
using test::by_reference;
using test::expect_fits;
using test::scattered;

std::vector<float> on_gpu(const Array<float, 3>& rows, const Array<float, 3>& columns,
                          const AtomSets& sets, double cutoff = 0.0, Index chunk = 1000) {
    HostGpuState state;
    const bool is_one = &rows == &columns;
    const FitFrames p = fit_frames(rows, sets, 1),
                    q = is_one ? FitFrames() : fit_frames(columns, sets, 1);
    std::vector<float> values;
    {
        cuda::FitOnGpu<HostGpu> fit(p, is_one ? p : q, cutoff, HostGpu(state));
        const Index width = columns.extent(0);
        for (Index first = 0; first < rows.extent(0); first += chunk) {
            const Block some{first, std::min(chunk, rows.extent(0) - first)};
            HostGpu::Array<float> found(some.count * width);
            std::fill_n(found.data(), found.size(), 7.0F);
            fit.run(some, {0, width}, found.data());
            values.insert(values.end(), found.data(), found.data() + found.size());
        }
    }
    EXPECT_EQ(state.used_bytes, 0);
    return values;
}

struct Shape {
    Index rows, columns, atoms;
    double spread;
};
// No multiple of an octet or a step of atoms; more tiles than one; a single frame.
const Shape kShapes[] = {{1, 1, 5, 1.0},    {3, 70, 8, 1.0},  {65, 33, 9, 0.2},
                         {130, 1, 17, 1.0}, {9, 8, 41, 20.0}, {20, 20, 260, 1.5}};

TEST(FitOnGpu, SuperposesTwoSetsLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " +
                     std::to_string(shape.atoms));
        const auto rows =
            scattered(random_ensemble(shape.rows, shape.atoms, shape.spread, 1), 50.0, 1);
        const auto columns =
            scattered(random_ensemble(shape.columns, shape.atoms, shape.spread, 2), 50.0, 2);
        expect_fits(on_gpu(rows, columns, {}), by_reference(rows, columns, {}));
        expect_fits(on_gpu(rows, rows, {}), by_reference(rows, rows, {}));
    }
}

TEST(FitOnGpu, MeasuresOtherAtomsLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " +
                     std::to_string(shape.atoms));
        const auto rows =
            scattered(random_ensemble(shape.rows, shape.atoms, shape.spread, 3), 30.0, 3);
        const auto columns =
            scattered(random_ensemble(shape.columns, shape.atoms, shape.spread, 4), 30.0, 4);
        AtomSets sets;
        sets.fit = atoms_from(0, shape.atoms / 2 + 2);
        sets.measured = atoms_from(shape.atoms / 3, shape.atoms);
        expect_fits(on_gpu(rows, columns, sets), by_reference(rows, columns, sets));
        for (Index k = 0; k < shape.atoms; ++k)
            sets.weights.push_back(k % 5 == 1 ? 0.0 : 1.0 + static_cast<double>(k % 3));
        expect_fits(on_gpu(rows, columns, sets), by_reference(rows, columns, sets));
        sets.fit.clear();  // all
        expect_fits(on_gpu(rows, columns, sets), by_reference(rows, columns, sets));
    }
}

TEST(FitOnGpu, MeasuresInPlaceAndOverOrdersLikeTheReference) {
    const auto rows = random_ensemble(35, 19, 2.0, 5), columns = random_ensemble(131, 19, 2.0, 6);
    AtomSets sets;
    sets.in_place = true;
    expect_fits(on_gpu(rows, columns, sets), by_reference(rows, columns, sets));
    sets.measured = atoms_from(4, 17);
    sets.equal_orders = {{{6, 8, 9, 7}, {9, 7, 6, 8}},
                         {{11, 12, 16}, {11, 16, 12}, {12, 11, 16}, {12, 16, 11}}};
    const auto in_place = by_reference(rows, columns, sets);
    expect_fits(on_gpu(rows, columns, sets), in_place);
    sets.in_place = false;
    sets.fit = atoms_from(0, 6);
    const auto fitted = by_reference(rows, columns, sets);
    EXPECT_NE(fitted, in_place);
    expect_fits(on_gpu(rows, columns, sets), fitted);
    sets.equal_orders.clear();
    EXPECT_NE(by_reference(rows, columns, sets), fitted);
}

// Copies, mirror images, rods, points and single atoms: what a quartic does not decide comes from
// residuals. A rod determines no rotation, so that only RMSDs of its own atoms are compared.
TEST(FitOnGpu, RecomputesWhatIsDoubtful) {
    for (const Index atoms : {1, 2, 3, 4, 30}) {
        for (const int kind : {0, 1, 2, 3}) {
            SCOPED_TRACE(std::to_string(atoms) + " atoms, kind " + std::to_string(kind));
            Array<float, 3> one = random_ensemble(1, atoms, 0.0, 7);
            Array<float, 3> xyz(Index{20}, atoms, Index{3});
            std::mt19937_64 generator(8);
            std::normal_distribution<double> normal;
            for (Index i = 0; i < 20; ++i) {
                for (Index k = 0; k < atoms; ++k)
                    for (int axis = 0; axis < 3; ++axis) {
                        float x = kind == 3 ? 0.0F : one(0, k, axis);
                        if (kind == 1 && axis > 0) x = 0.0F;  // on a line
                        if (kind == 2) x += static_cast<float>(1e-6 * normal(generator));
                        xyz(i, k, axis) = x;
                    }
                test::turn(xyz[i], generator, 10.0, kind == 0 && i % 4 == 3);
            }
            expect_fits(on_gpu(xyz, xyz, {}), by_reference(xyz, xyz, {}));
            if (kind == 1 || atoms < 4) continue;
            AtomSets sets;
            sets.measured = atoms_from(1, atoms);
            expect_fits(on_gpu(xyz, xyz, sets), by_reference(xyz, xyz, sets));
        }
    }
}

TEST(FitOnGpu, GivesTheSameBitsForAnyBlock) {
    const auto rows = random_ensemble(77, 13, 1.0, 9), columns = random_ensemble(40, 13, 1.0, 10);
    AtomSets sets;
    for (const bool measures_others : {false, true}) {
        if (measures_others) sets.fit = atoms_from(0, 7);
        const auto all = on_gpu(rows, columns, sets);
        for (const Index chunk : {1, 5, 64})
            EXPECT_EQ(on_gpu(rows, columns, sets, 0.0, chunk), all) << chunk;
    }
}

// A cutoff that is a pair's very value: its side is that of the recomputed value.
TEST(FitOnGpu, RecomputesPairsAtTheCutoff) {
    const auto rows = random_ensemble(12, 15, 1.0, 11), columns = random_ensemble(9, 15, 1.0, 12);
    const auto expected = by_reference(rows, columns, {});
    for (std::size_t pair = 0; pair < expected.size(); pair += 7)
        EXPECT_EQ(on_gpu(rows, columns, {}, double{expected[pair]})[pair], expected[pair]);
}

}  // namespace
}  // namespace pleat::rmsd
