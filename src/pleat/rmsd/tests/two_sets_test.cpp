// Runs by every metric: matrices of one and two sets, lists, one structure, resuming, refusals.
#include "pleat/rmsd/rmsd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/tests/random_ensemble.h"

namespace pleat::rmsd {
namespace {

using pleat::test::TemporaryFolder;

constexpr Index kFrames = 90, kOthers = 40, kAtoms = 9;

/// Frames and then the others, so that one run of all pairs knows every value.
const Array<float, 3>& everything() {
    static const Array<float, 3> xyz = random_ensemble(kFrames + kOthers, kAtoms, 1.5, 31);
    return xyz;
}
View<const float, 3> frames() { return {everything().data(), kFrames, kAtoms, Index{3}}; }
View<const float, 3> others() { return {everything()[kFrames].data, kOthers, kAtoms, Index{3}}; }

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

Parameters by(const char* metric, MatrixLayout matrix = MatrixLayout::condensed) {
    Parameters parameters;
    parameters.metric = metric_named(metric);
    parameters.matrix = matrix;
    return parameters;
}

std::vector<float> values_of(const std::filesystem::path& file) {
    return read_npy(file).as<float>("values");
}

/// [frame, other] out of the full matrix of everything.
std::vector<float> expected_rectangle(const AtomSets& sets, const char* metric) {
    const TemporaryFolder folder;
    run(everything(), sets, by(metric, MatrixLayout::full), one_thread(), folder / "full.npy");
    const std::vector<float> full = values_of(folder / "full.npy");
    std::vector<float> values;
    for (Index i = 0; i < kFrames; ++i)
        for (Index j = 0; j < kOthers; ++j)
            values.push_back(full[i * (kFrames + kOthers) + kFrames + j]);
    return values;
}

const AtomSets kHalves{{0, 1, 2, 3, 4}, {3, 5, 6, 7, 8}, {}};

// A cutoff that is a pair's very value: below it, or not, is for float64 to say.
TEST(Measures, PairsOfTwoSetsAtTheCutoffAreDecidedInFloat64) {
    Parameters parameters = by("rmsd");
    std::vector<float> truth(kFrames * kOthers);
    Context reference = one_thread();
    reference.device = {Device::Kind::reference, 0};
    run_against(frames(), others(), {}, parameters, reference, std::span<float>(truth));
    parameters.matrix = MatrixLayout::none;
    for (std::size_t pair = 0; pair < truth.size(); pair += 97) {
        for (const float cutoff : {truth[pair], std::nextafter(truth[pair], 9.0f)}) {
            parameters.cutoff = cutoff;
            const Result found = run_against(frames(), others(), {}, parameters, one_thread(), {});
            EXPECT_EQ(static_cast<Index>(found.neighbours.indices.size()),
                      std::count_if(truth.begin(), truth.end(),
                                    [&](float value) { return value < cutoff; }));
        }
    }
}

TEST(Measures, ScoresHaveNoPrecision) {
    Parameters parameters = by("tm", MatrixLayout::none);
    parameters.precision = FitPrecision::float64;
    EXPECT_THROW(run(frames(), AtomSets{}, parameters, one_thread(), {}), UsageError);
    parameters.metric = Metric::drmsd;
    EXPECT_EQ(run(frames(), AtomSets{}, parameters, one_thread(), {}).frames, kFrames);
}

TEST(Measures, TwoSetsGiveARectangleOfAllPairs) {
    const TemporaryFolder folder;
    for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts", "lddt"}) {
        for (const AtomSets& sets : {AtomSets{}, kHalves}) {
            if (metric != std::string("rmsd") && !sets.fit.empty()) continue;
            const std::vector<float> expected = expected_rectangle(sets, metric);
            const Result result = run_against(frames(), others(), sets, by(metric), one_thread(),
                                              folder / "rectangle.npy");
            EXPECT_EQ(read_npy(folder / "rectangle.npy").shape,
                      std::vector<Index>({kFrames, kOthers}));
            const std::vector<float> found = values_of(folder / "rectangle.npy");
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t n = 0; n < found.size(); ++n)
                ASSERT_NEAR(found[n], expected[n], 2e-5) << metric;
            EXPECT_EQ(result.statistics.pairs(), kFrames * kOthers);
            EXPECT_EQ(result.statistics.max(), *std::max_element(found.begin(), found.end()));
            EXPECT_EQ(result.statistics.min(), *std::min_element(found.begin(), found.end()));
        }
    }
}

TEST(Measures, MatricesOfScoresHaveOnesOnTheDiagonal) {
    const TemporaryFolder folder;
    run(frames(), AtomSets{}, by("tm", MatrixLayout::full), one_thread(), folder / "tm.npy");
    run(frames(), AtomSets{}, by("tm"), one_thread(), folder / "condensed.npy");
    const std::vector<float> full = values_of(folder / "tm.npy");
    const std::vector<float> condensed = values_of(folder / "condensed.npy");
    std::size_t pair = 0;
    for (Index i = 0; i < kFrames; ++i) {
        EXPECT_EQ(full[i * kFrames + i], 1.0f);
        for (Index j = i + 1; j < kFrames; ++j, ++pair) {
            ASSERT_EQ(full[i * kFrames + j], condensed[pair]);
            ASSERT_EQ(full[j * kFrames + i], condensed[pair]);
        }
    }
}

TEST(Measures, ListsHoldWhatIsNearest) {
    const TemporaryFolder folder;
    for (const char* metric : {"rmsd", "tm"}) {
        const bool is_score = metric == std::string("tm");
        Parameters parameters = by(metric);
        parameters.cutoff = is_score ? 0.2 : 2.4;
        parameters.nearest = 3;
        const Result with =
            run_against(frames(), others(), {}, parameters, one_thread(), folder / "rectangle.npy");
        const std::vector<float> values = values_of(folder / "rectangle.npy");
        parameters.matrix = MatrixLayout::none;
        const Result without = run_against(frames(), others(), {}, parameters, one_thread(), {});
        for (const Result* result : {&with, &without}) {
            ASSERT_EQ(result->neighbours.starts.size(), static_cast<std::size_t>(kFrames) + 1);
            std::int64_t listed = 0;
            for (Index i = 0; i < kFrames; ++i) {
                const float* const row = values.data() + i * kOthers;
                EXPECT_EQ(result->neighbours.starts[i], listed);
                std::vector<std::pair<float, Index>> sorted;
                for (Index j = 0; j < kOthers; ++j) {
                    sorted.emplace_back(is_score ? -row[j] : row[j], j);
                    const bool is_near = is_score ? row[j] > 0.2f : row[j] < 2.4f;
                    if (!is_near) continue;
                    ASSERT_EQ(result->neighbours.indices.at(listed), j);
                    ++listed;
                }
                std::sort(sorted.begin(), sorted.end());
                for (Index rank = 0; rank < 3; ++rank) {
                    ASSERT_EQ(result->nearest.indices(i, rank), sorted[rank].second);
                    ASSERT_EQ(result->nearest.values(i, rank), row[sorted[rank].second]);
                }
            }
            EXPECT_EQ(result->neighbours.starts.back(), listed);
            EXPECT_GT(listed, 0);
            EXPECT_LT(listed, kFrames * kOthers);
        }
    }
    // Among pairs of one set, too, near means a high score.
    Parameters parameters = by("tm");
    parameters.cutoff = 0.2;
    parameters.nearest = 1;
    const Result pairs = run(frames(), AtomSets{}, parameters, one_thread(), folder / "tm.npy");
    const std::vector<float> values = values_of(folder / "tm.npy");
    EXPECT_EQ(pairs.neighbours.indices.size(),
              2 * std::count_if(values.begin(), values.end(), [](float v) { return v > 0.2f; }));
    EXPECT_EQ(*std::max_element(pairs.nearest.values.begin(), pairs.nearest.values.end()),
              *std::max_element(values.begin(), values.end()));
}

TEST(Measures, OneStructureIsAColumn) {
    const TemporaryFolder folder;
    for (const char* metric : {"rmsd", "drmsd", "tm", "gdt_ts"}) {
        run_against(frames(), others(), {}, by(metric), one_thread(), folder / "rectangle.npy");
        const std::vector<float> rectangle = values_of(folder / "rectangle.npy");
        const Result result = run_reference(frames(), others()[7], {}, by(metric), one_thread());
        ASSERT_EQ(result.values.size(), static_cast<std::size_t>(kFrames));
        std::int64_t counted = 0;
        for (const std::int64_t count : result.statistics.histogram()) counted += count;
        EXPECT_EQ(counted, kFrames);
        for (Index i = 0; i < kFrames; ++i)
            ASSERT_NEAR(result.values[i], rectangle[i * kOthers + 7], 1e-5) << metric;
    }
    EXPECT_EQ(run_reference(frames(), frames()[3], {}, by("rmsd"), one_thread()).values[3], 0.0f);
}

// Of large frames 32 are packed at a time: the first and the last of a chunk are as any other.
TEST(Measures, ChunksOfRowsChangeNothing) {
    constexpr Index kMany = 70, kLarge = 30000;
    const Array<float, 3> xyz = random_ensemble(kMany, kLarge, 1.5, 7);
    const View<const float, 3> others{xyz[60].data, Index{3}, kLarge, Index{3}};
    const AtomSets halves{{0, 5, 9, 20000}, {1, 2, 29999}, {}};
    for (const AtomSets& sets : {AtomSets{}, halves}) {
        std::vector<float> whole(kMany * 3), part(3);
        run_against(xyz, others, sets, by("rmsd"), one_thread(), std::span(whole));
        const Result column = run_reference(xyz, others[1], sets, by("rmsd"), one_thread());
        for (Index i = 0; i < kMany; ++i) {
            const View<const float, 3> frame(xyz[i].data, Index{1}, kLarge, Index{3});
            run_against(frame, others, sets, by("rmsd"), one_thread(), std::span(part));
            for (Index j = 0; j < 3; ++j) ASSERT_NEAR(whole[3 * i + j], part[j], 1e-5) << i;
            ASSERT_NEAR(column.values[i], part[1], 1e-5) << i;
        }
        EXPECT_EQ(column.statistics.pairs(), kMany);
    }
}

TEST(Measures, OneStructureHasNoPairs) {
    Parameters near = by("rmsd"), best = by("rmsd");
    near.cutoff = 2;
    best.nearest = 1;
    for (const Parameters& parameters : {near, best, by("rmsd", MatrixLayout::full)})
        EXPECT_THROW(run_reference(frames(), others()[0], {}, parameters, one_thread()),
                     UsageError);
}

TEST(Measures, WeightsReachFitAndMeasure) {
    AtomSets sets = kHalves;
    sets.weights.assign(kAtoms, 1.0);
    const Result plain = run_reference(frames(), others()[0], kHalves, by("rmsd"), one_thread());
    const Result ones = run_reference(frames(), others()[0], sets, by("rmsd"), one_thread());
    EXPECT_EQ(plain.values, ones.values);
    // Without weight an atom might as well not be there.
    sets.weights[4] = sets.weights[8] = 0.0;
    const AtomSets fewer{{0, 1, 2, 3}, {3, 5, 6, 7}, {}};
    const Result without = run_reference(frames(), others()[0], fewer, by("rmsd"), one_thread());
    const Result weightless = run_reference(frames(), others()[0], sets, by("rmsd"), one_thread());
    AtomSets drmsd;
    drmsd.weights = {1, 1, 1, 1, 1, 1, 1, 1, 0};
    const AtomSets eight{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {}};
    const auto first = run_reference(frames(), others()[0], drmsd, by("drmsd"), one_thread());
    const auto second = run_reference(frames(), others()[0], eight, by("drmsd"), one_thread());
    for (Index i = 0; i < kFrames; ++i) {
        EXPECT_NEAR(weightless.values[i], without.values[i], 1e-5);
        EXPECT_NEAR(first.values[i], second.values[i], 1e-5);
    }
}

struct Stopper final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view note) override {
        resumed = resumed || note == "resumed";
    }
    bool cancelled() override { return stops; }
    void message(std::string_view) override {}
    bool stops = true, resumed = false;
};

TEST(Measures, CancelledRunsResumeWithTheSameBits) {
    const TemporaryFolder folder;
    Array<float, 3> many = random_ensemble(500, 5, 1.0, 3);
    using Run = std::function<void(const Context&, const std::filesystem::path&)>;
    const Run pairs = [&](const Context& context, const std::filesystem::path& matrix) {
        run(many, AtomSets{{0, 1, 2, 3}, {2, 3, 4}, {}}, by("rmsd"), context, matrix);
    };
    const Run sets = [&](const Context& context, const std::filesystem::path& matrix) {
        run_against(many, many, {{0, 1, 2, 3}, {2, 3, 4}, {}}, by("rmsd"), context, matrix);
    };
    for (const Run& compute : {pairs, sets}) {
        compute(one_thread(), folder / "whole.npy");
        Stopper progress;
        Context context = one_thread();
        context.progress = &progress;
        context.checkpoint = folder / "tiles.bin";
        EXPECT_THROW(compute(context, folder / "parts.npy"), Cancelled);
        EXPECT_FALSE(std::filesystem::exists(folder / "parts.npy"));
        progress.stops = false;
        compute(context, folder / "parts.npy");
        EXPECT_TRUE(progress.resumed);
        EXPECT_EQ(values_of(folder / "parts.npy"), values_of(folder / "whole.npy"));
        EXPECT_THROW(run(many, AtomSets{}, by("drmsd"), context, folder / "other.npy"), InputError);
        std::filesystem::remove(folder / "tiles.bin");
        std::filesystem::remove(folder / "parts.npy");
    }
}

TEST(Measures, CancelledRunsWithoutMatrixResumeToo) {
    const TemporaryFolder folder;
    const Array<float, 3> many = random_ensemble(4000, 5, 1.0, 3);
    const View<const float, 3> few(many.data(), Index{3}, Index{5}, Index{3});
    Parameters parameters = by("tm", MatrixLayout::none);
    Context context = one_thread();
    context.device = {Device::Kind::reference, 0};
    const Result whole = run_reference(many, many[7], {}, parameters, context);
    parameters.cutoff = 0.3;
    parameters.nearest = 2;
    const Result lists = run_against(many, few, {}, parameters, context, {});
    Stopper progress;
    context.progress = &progress;
    context.checkpoint = folder / "lists.tiles";
    EXPECT_THROW(run_against(many, few, {}, parameters, context, {}), Cancelled);
    progress.stops = false;
    const Result again = run_against(many, few, {}, parameters, context, {});
    EXPECT_TRUE(progress.resumed);
    EXPECT_EQ(again.neighbours.starts, lists.neighbours.starts);
    EXPECT_EQ(again.neighbours.indices, lists.neighbours.indices);
    EXPECT_EQ(again.neighbours.values, lists.neighbours.values);
    EXPECT_TRUE(std::equal(again.nearest.indices.begin(), again.nearest.indices.end(),
                           lists.nearest.indices.begin()));
    EXPECT_EQ(again.statistics.sum(), lists.statistics.sum());
    progress = {};
    context.checkpoint = folder / "reference.tiles";
    parameters = by("tm", MatrixLayout::none);
    EXPECT_THROW(run_reference(many, many[7], {}, parameters, context), Cancelled);
    progress.stops = false;
    const Result resumed = run_reference(many, many[7], {}, parameters, context);
    EXPECT_TRUE(progress.resumed);
    EXPECT_EQ(resumed.values, whole.values);
    EXPECT_EQ(resumed.statistics.histogram(), whole.statistics.histogram());
    // Of another structure they are no part.
    EXPECT_THROW(run_reference(many, many[8], {}, parameters, context), InputError);
}

TEST(Measures, ThreadsChangeNothing) {
    const TemporaryFolder folder;
    for (const char* metric : {"rmsd", "drmsd", "tm"}) {
        Context three = one_thread();
        three.threads = 3;
        run_against(frames(), others(), {}, by(metric), one_thread(), folder / "one.npy");
        run_against(frames(), others(), {}, by(metric), three, folder / "three.npy");
        EXPECT_EQ(values_of(folder / "one.npy"), values_of(folder / "three.npy"));
    }
}

TEST(Measures, RefusesWhatMakesNoSense) {
    const auto against = [](View<const float, 3> other, const AtomSets& sets, const char* metric) {
        run_against(frames(), other, sets, by(metric, MatrixLayout::none), one_thread(), {});
    };
    EXPECT_THROW(against({others().data, kOthers, kAtoms - 1, Index{3}}, {}, "rmsd"), UsageError);
    EXPECT_THROW(against({others().data, Index{0}, kAtoms, Index{3}}, {}, "rmsd"), InputError);
    EXPECT_THROW(against(others(), {{0, kAtoms}, {}, {}}, "rmsd"), UsageError);
    EXPECT_THROW(against(others(), {{-1}, {}, {}}, "rmsd"), UsageError);
    EXPECT_THROW(against(others(), {{}, {}, {1.0}}, "rmsd"), InputError);
    const std::vector<double> first = {1, 0, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_THROW(against(others(), {{}, {1, 2}, first}, "rmsd"), InputError);
    EXPECT_THROW(against(others(), {{}, {}, first}, "tm"), UsageError);
    EXPECT_THROW(against(others(), kHalves, "gdt_ts"), UsageError);
    EXPECT_THROW(against(others(), {}, "rmsf"), UsageError);
    EXPECT_THROW(run_against(frames(), others(), {}, by("rmsd"), one_thread(), {}), UsageError);
    Array<float, 3> broken(Index{2}, kAtoms, Index{3});
    broken(1, 0, 0) = std::nanf("");
    try {
        against(broken, {}, "rmsd");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("other frame 1: expected"))
            << error.what();
    }
}

}  // namespace
}  // namespace pleat::rmsd
