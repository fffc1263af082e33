// The CPU kernel against the reference: every instruction set and thread count, to the last unit.
#include "pleat/weights/kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/weights/tests/compiled_targets.h"
#include "pleat/weights/tests/random_family.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {
namespace {

std::vector<Index> counted(Kernel& kernel) {
    for (Index step = 0; step < kernel.step_count(); ++step) kernel.step(step);
    return kernel.neighbours();
}

std::vector<Index> reference(const Problem& problem) {
    return counted(*make_reference_kernel(problem));
}

std::vector<Index> on_cpu(const Problem& problem, int threads) {
    Context context;
    context.threads = threads;
    return counted(*make_cpu_kernel(problem, context));
}

void expect_equal_everywhere(const Problem& problem) {
    const std::vector<Index> expected = reference(problem);
    for (const std::int64_t target : compiled_targets()) {
        const UseInstructionSet use(target);
        for (const int threads : {1, 2, 3, 4}) {
            EXPECT_EQ(on_cpu(problem, threads), expected)
                << hwy::TargetName(target) << ", threads " << threads << ", sequences "
                << problem.letters.extent(0) << ", columns " << problem.letters.extent(1)
                << ", differences " << problem.max_differences;
        }
    }
}

TEST(CpuKernel, EqualsTheReferenceOnRandomFamilies) {
    std::mt19937_64 generator(11);
    for (int trial = 0; trial < 40; ++trial) {
        const auto sequences = static_cast<Index>(2 + generator() % 120);
        const auto columns = static_cast<Index>(1 + generator() % 300);
        const int codes = std::vector{2, 4, 5, 8, 20, 21, 32, 256}[generator() % 8];
        const auto letters = random_family(sequences, columns, codes, generator());
        const auto differences = static_cast<Index>(generator() % columns);
        expect_equal_everywhere({letters, differences});
        expect_equal_everywhere({letters, columns / 5});
    }
}

TEST(CpuKernel, EqualsTheReferenceAcrossTiles) {
    // More distinct sequences than two tiles hold, the last one not full.
    const auto letters = random_family(1700, 30, 21, 5);
    expect_equal_everywhere({letters, 5});
}

TEST(CpuKernel, CountsMoreColumnsThanAByteHolds) {
    const auto letters = random_family(60, 5000, 21, 9);
    for (const Index differences : {0, 255, 256, 999, 1000, 4000, 4999}) {
        expect_equal_everywhere({letters, differences});
    }
}

TEST(CpuKernel, SeparatesTheLastAllowedDifferenceFromTheNext) {
    // Row k differs from row 0 in k columns (11 divides none of the widths, so these columns
    // are spread and distinct): max_differences + 1 rows are near row 0.
    for (const Index columns : {2, 63, 64, 65, 127, 128, 129, 192, 500}) {
        Array<std::uint8_t, 2> letters(columns + 1, columns);
        for (Index k = 1; k <= columns; ++k) {
            for (Index i = 0; i < k; ++i) letters(k, (11 * i + 3) % columns) = 1;
        }
        for (const Index differences : {Index{0}, Index{1}, columns / 5, columns - 1}) {
            const Problem problem{letters, differences};
            ASSERT_EQ(reference(problem)[0], differences + 1);
            expect_equal_everywhere(problem);
        }
    }
}

TEST(CpuKernel, HandlesAllEqualAndAllDifferent) {
    Array<std::uint8_t, 2> letters(21, 90);
    EXPECT_EQ(on_cpu({letters, 0}, 2), std::vector<Index>(21, 21));
    for (Index n = 0; n < 21; ++n) {
        for (std::uint8_t& code : letters[n]) code = static_cast<std::uint8_t>(n);
    }
    EXPECT_EQ(on_cpu({letters, 89}, 2), std::vector<Index>(21, 1));
    EXPECT_EQ(on_cpu({letters, 90}, 2), std::vector<Index>(21, 21));
    expect_equal_everywhere({letters, 18});
}

TEST(CpuKernel, GivesTheSameCountsForStepsInAnyOrder) {
    // Wide and deep enough for several steps; copies of a few rows are the only neighbours.
    Array<std::uint8_t, 2> letters(4200, 5000);
    std::mt19937_64 generator(13);
    for (std::uint8_t& code : letters) code = static_cast<std::uint8_t>(generator() % 21);
    for (Index i = 0; i < 5000; ++i) {
        letters(4100, i) = letters(5, i);
        letters(2000, i) = i < 1000 ? (letters(700, i) + 1) % 21 : letters(700, i);
        letters(2001, i) = i < 1001 ? (letters(800, i) + 1) % 21 : letters(800, i);
    }
    Context context;
    context.threads = 2;
    const auto kernel = make_cpu_kernel({letters, 1000}, context);
    ASSERT_GT(kernel->step_count(), 1);
    for (Index step = kernel->step_count() - 1; step >= 0; --step) kernel->step(step);
    std::vector<Index> expected(4200, 1);
    expected[5] = expected[4100] = expected[700] = expected[2000] = 2;
    EXPECT_EQ(kernel->neighbours(), expected);
}

struct Recorder final : Progress {
    explicit Recorder(std::int64_t updates_before_cancel) : left(updates_before_cancel) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view) override {
        EXPECT_EQ(stage, "weights");
        EXPECT_EQ(done, last + 1);
        EXPECT_LE(done, total);
        last = done;
        all = total;
        --left;
    }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}

    std::int64_t left;
    std::int64_t last = 0;
    std::int64_t all = 0;
};

TEST(Progress, CountsTheStepsToTheEnd) {
    const auto letters = random_family(300, 40, 21, 2);
    for (const auto kind : {Device::Kind::reference, Device::Kind::cpu}) {
        Recorder recorder(1000);
        Context context;
        context.device.kind = kind;
        context.threads = 1;
        context.progress = &recorder;
        sequence_weights(letters, 0.8, context);
        EXPECT_GT(recorder.all, 0);
        EXPECT_EQ(recorder.last, recorder.all);
    }
}

TEST(Progress, StopsBetweenStepsWhenCancelled) {
    const auto letters = random_family(300, 40, 21, 2);
    Context context;
    context.threads = 1;
    Recorder at_once(0);
    context.progress = &at_once;
    EXPECT_THROW(sequence_weights(letters, 0.8, context), Cancelled);
    EXPECT_EQ(at_once.last, 0);

    context.device.kind = Device::Kind::reference;
    Recorder after_three(3);
    context.progress = &after_three;
    EXPECT_THROW(sequence_weights(letters, 0.8, context), Cancelled);
    EXPECT_EQ(after_three.last, 3);
}

}  // namespace
}  // namespace pleat::weights
