// The GPU's search for TM-score and GDT_TS, run thread by thread on the host, against the CPU's.
#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "pleat/rmsd/cuda/tm_gpu.cuh"
#include "pleat/rmsd/tests/oracle_frames.h"
#include "pleat/rmsd/tests/random_ensemble.h"
#include "pleat/rmsd/tests/turned.h"

namespace pleat::rmsd {
namespace {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;

struct Scores {
    std::vector<float> tm, gdt_ts;
};

/// By the search on the host, [row, column].
Scores on_cpu(const Frames& rows, const Frames& columns, Superpose superpose) {
    Scores found;
    TmSearch search(rows.atom_count(), superpose, superpose == superpose_fast);
    for (Index i = 0; i < rows.frame_count(); ++i)
        for (Index j = 0; j < columns.frame_count(); ++j) {
            const TmScores scores = search(rows.frame(i), columns.frame(j));
            found.tm.push_back(static_cast<float>(scores.tm));
            found.gdt_ts.push_back(static_cast<float>(scores.gdt_ts));
        }
    return found;
}

std::vector<float> run(cuda::TmOnGpu<HostGpu>& scores, HostGpuState& state, Block rows,
                       Block columns) {
    HostGpu gpu(state);
    HostGpu::Array<float> values(rows.count * columns.count);
    scores.run(rows, columns, values.data());
    return {values.data(), values.data() + values.size()};
}

Scores on_gpu(const Frames& rows, const Frames& columns, Index shared_bytes = 227 << 10) {
    Scores found;
    for (const bool is_gdt : {false, true}) {
        HostGpuState state;
        state.shared_bytes = shared_bytes;
        {
            cuda::TmOnGpu<HostGpu> scores(rows, columns, is_gdt, HostGpu(state));
            (is_gdt ? found.gdt_ts : found.tm) =
                run(scores, state, {0, rows.frame_count()}, {0, columns.frame_count()});
        }
        EXPECT_EQ(state.used_bytes, 0);
    }
    return found;
}

Frames first_frames(const Frames& frames, Index count) {
    count = std::min(count, frames.frame_count());
    Frames some = unset_frames(count, frames.atom_count(), frames.weight);
    std::copy_n(frames.frame(0), some.xyz.size(), some.frame(0));
    return some;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = a.size() == b.size() ? 0.0 : 1e9;
    for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
        const double difference = std::fabs(double{a[n]} - double{b[n]});
        largest = std::isnan(difference) ? 1e9 : std::max(largest, difference);
    }
    return largest;
}

void expect_equal(const Scores& found, const Scores& expected) {
    EXPECT_LE(largest_difference(found.tm, expected.tm), 1e-6);
    EXPECT_LE(largest_difference(found.gdt_ts, expected.gdt_ts), 1e-6);
}

TEST(TmOnHost, RotationsAreThoseOfJacobi) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    for (int n = 0; n < 2000; ++n) {
        double r[9], m[9], expected[9];
        // From far apart singular values to nearly equal ones, of either handedness.
        const double scale[3] = {std::pow(10.0, n % 7 - 3), 1.0, n % 3 == 0 ? 1e-3 : -0.5};
        for (int a = 0; a < 9; ++a)
            r[a] = (a % 4 == 0 ? scale[a / 4] : 0.0) + 0.3 * (n % 5) * normal(generator);
        cuda::find_rotation(r, m);
        rotation_by_jacobi(r, expected);
        double reached = 0.0, best = 0.0, size = 0.0;
        for (int a = 0; a < 9; ++a) {
            // m turns p onto q, r is sum p q'.
            reached += m[a] * r[a % 3 * 3 + a / 3];
            best += expected[a] * r[a % 3 * 3 + a / 3];
            size += std::fabs(r[a]);
        }
        EXPECT_NEAR(reached, best, 1e-13 * size) << n;
        double identity = 0.0;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                double dot = a == b ? -1.0 : 0.0;
                for (int c = 0; c < 3; ++c) dot += m[3 * a + c] * m[3 * b + c];
                identity = std::max(identity, std::fabs(dot));
            }
        EXPECT_LE(identity, 1e-14) << n;
    }
}

// No multiple of a warp or a word; fewer atoms than a fragment; structures alike and far apart.
TEST(TmOnHost, AgreesWithTheCpu) {
    struct Shape {
        Index frames, atoms;
        double spread;
    };
    for (const Shape& shape :
         {Shape{4, 1, 1.0}, Shape{4, 2, 1.0}, Shape{4, 3, 1.0}, Shape{4, 4, 1.0}, Shape{4, 5, 3.0},
          Shape{3, 31, 0.3}, Shape{3, 32, 3.0}, Shape{3, 33, 8.0}, Shape{3, 65, 1.0},
          Shape{2, 150, 2.0}, Shape{2, 150, 30.0}}) {
        SCOPED_TRACE(std::to_string(shape.atoms) + " atoms, spread " +
                     std::to_string(shape.spread));
        const Frames frames =
            centre(random_ensemble(shape.frames, shape.atoms, shape.spread, 3), {}, 1);
        const Frames others = centre(random_ensemble(2, shape.atoms, shape.spread, 4), {}, 1);
        expect_equal(on_gpu(frames, frames), on_cpu(frames, frames, superpose_fast));
        expect_equal(on_gpu(frames, others), on_cpu(frames, others, superpose_fast));
        if (shape.atoms > 40) continue;
        expect_equal(on_gpu(frames, others), on_cpu(frames, others, superpose_reference));
    }
}

TEST(TmOnHost, AgreesWithTheCpuOnRealTrajectories) {
    for (const test::OracleFrames& oracle : test::trajectories(5)) {
        SCOPED_TRACE(oracle.name);
        const Frames some = first_frames(oracle.frames, 5);
        expect_equal(on_gpu(some, some), on_cpu(some, some, superpose_fast));
    }
}

TEST(TmOnHost, AgreesWithTheCpuOfDegenerateFrames) {
    for (const test::OracleFrames& oracle : test::degenerate_ensembles()) {
        SCOPED_TRACE(oracle.name);
        const Frames some = first_frames(oracle.frames, 3);
        const Scores found = on_gpu(some, some), expected = on_cpu(some, some, superpose_fast);
        // Superpositions of rods are many, and scores of different ones may be found.
        EXPECT_LE(largest_difference(found.tm, expected.tm), 0.02);
        EXPECT_LE(largest_difference(found.gdt_ts, expected.gdt_ts), 0.02);
    }
}

TEST(TmOnHost, NeedsNoSharedMemoryAndGivesTheSameBitsForAnyBlocks) {
    const Frames frames = centre(random_ensemble(4, 70, 3.0, 3), {}, 1);
    const Scores all = on_gpu(frames, frames);
    EXPECT_EQ(on_gpu(frames, frames, 1000).tm, all.tm);
    HostGpuState state;
    cuda::TmOnGpu<HostGpu> one_cta(frames, frames, true, HostGpu(state), 1);
    for (const Index row : {0, 3})
        for (const Index columns : {1, 3}) {
            const std::vector<float> some = run(one_cta, state, {row, 1}, {1, columns});
            for (Index j = 0; j < columns; ++j) EXPECT_EQ(some[j], all.gdt_ts[4 * row + 1 + j]);
        }
}

constexpr int kWords = 2, kRoom = 40;

/// Finds 30 sets, each several times, in each of three rounds.
void insert_sets(std::uint32_t* bits, std::int32_t* table, int* counts) {
    cuda::TmSets sets{bits, table, kWords, kRoom + cuda::kTmBatch, 63};
    sets.clear_table();
    for (int round = 0; round < 3; ++round) {
        for (int n = 0; n < 3; ++n) {
            const int candidate = sets.end + static_cast<int>(threadIdx.x);
            const std::uint32_t number = (32 * n + threadIdx.x) % 30;
            sets.word(0, candidate) = number;
            sets.word(1, candidate) = ~number;
            // All of one hash: the table is searched.
            sets.insert(n < 2 || threadIdx.x % 2 == 0, candidate, 7);
        }
        sets.next_round();
        if (threadIdx.x == 0) {
            counts[2 * round] = sets.first;
            counts[2 * round + 1] = sets.count;
        }
    }
}

TEST(TmOnHost, ForgetsSetsOfEarlierRoundsIfThereIsNoRoom) {
    HostGpuState state;
    HostGpu gpu(state);
    HostGpu::Array<std::uint32_t> bits(kWords * (kRoom + cuda::kTmBatch));
    HostGpu::Array<std::int32_t> table(64);
    HostGpu::Array<int> counts(6);
    gpu.launch("insert sets", &insert_sets, pleat::cuda::Sides{1}, pleat::cuda::Sides{32}, 0,
               bits.data(), table.data(), counts.data());
    const std::vector<int> found(counts.data(), counts.data() + 6);
    // Forgotten, and so found again; the last round has them all, and finds nothing.
    EXPECT_EQ(found, (std::vector<int>{0, 30, 0, 30, 0, 30}));
    std::vector<std::uint32_t> numbers(bits.data(), bits.data() + 30);
    std::sort(numbers.begin(), numbers.end());
    for (std::uint32_t n = 0; n < 30; ++n) EXPECT_EQ(numbers[n], n);
}

}  // namespace
}  // namespace pleat::rmsd
