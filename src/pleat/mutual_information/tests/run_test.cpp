// Tests of run(): what is told where it stops, what it refuses, and what it asks of memory.
#include "pleat/mutual_information/mutual_information.h"

#include <gtest/gtest.h>

#include <random>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::mutual_information {
namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;

Alignment family(Index rows, Index columns, int symbols) {
    std::mt19937 random(5);
    Alignment made;
    made.alphabet = &Alphabet::protein().with_unknown();
    made.source = "family.aln";
    made.letters = Array<std::uint8_t, 2>(rows, columns);
    for (std::uint8_t& letter : made.letters)
        letter = static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
    for (Index row = 0; row < rows; ++row) made.names.push_back(std::to_string(row));
    for (Index column = 0; column < columns; ++column) made.columns.push_back(column);
    return made;
}

Parameters exact_triples() {
    Parameters parameters;
    parameters.order = 3;
    parameters.null = "exact";
    return parameters;
}

/// Asks to stop once a stage has come so far and was asked so often since.
struct StopLater final : Progress {
    StopLater(std::string_view of, std::int64_t at, int times)
        : stage(of), enough(at), left(times) {}
    void update(std::string_view now, std::int64_t done, std::int64_t, std::string_view) override {
        is_there |= now == stage && done >= enough;
    }
    bool cancelled() override { return is_there && left-- <= 0; }
    void message(std::string_view) override {}
    std::string_view stage;
    std::int64_t enough;
    int left;
    bool is_there = false;
};

TEST(Run, StoppedAmidATilesMomentsItTellsWhatIsKeptAndGoesOnFromThere) {
    const Alignment given = family(40, 40, 4);
    const Parameters parameters = exact_triples();
    const Result whole = run(given, parameters, {});
    TemporaryFolder folder;
    // Once between the tiles, and then while the moments of the next are computed.
    StopLater progress("triples", 3, 1);
    Context context;
    context.progress = &progress;
    context.checkpoint = folder / "checkpoint.npz";
    context.checkpoint_seconds = 1000;
    const auto kept = rank_file(triple_checkpoint(context.checkpoint), 0);
    EXPECT_EQ(error_text<Cancelled>([&] { run(given, parameters, context); }),
              "triples: stopped after 3 of 10 tiles; they are kept in " + kept.string() +
                  ": run the same command again to resume");
    StopLater never("none", 0, 0);
    context.progress = &never;
    ASSERT_TRUE(std::filesystem::exists(kept));
    const Result resumed = run(given, parameters, context);
    EXPECT_EQ(resumed.triples->best.triples, whole.triples->best.triples);
    EXPECT_EQ(resumed.triples->cliques_by_z->words(), whole.triples->cliques_by_z->words());
}

// The count of tiles at which a stage begins.
struct BeginOf final : Progress {
    explicit BeginOf(std::string_view of) : stage(of) {}
    void update(std::string_view now, std::int64_t done, std::int64_t, std::string_view) override {
        if (now == stage && first < 0) first = done;
    }
    bool cancelled() override { return false; }
    void message(std::string_view) override {}
    std::string_view stage;
    std::int64_t first = -1;
};

TEST(Run, ResumesTheExactMomentsOfPairs) {
    const Alignment given = family(60, 40, 6);
    Parameters parameters;
    parameters.null = "exact";
    const Result whole = run(given, parameters, {});
    TemporaryFolder folder;
    StopLater progress("exact", 2, 1);
    Context context;
    context.progress = &progress;
    context.checkpoint = folder / "checkpoint.npz";
    context.checkpoint_seconds = 1000;
    EXPECT_THROW(run(given, parameters, context), Cancelled);
    ASSERT_TRUE(std::filesystem::exists(rank_file(exact_checkpoint(context.checkpoint), 0)));
    BeginOf begin("exact");
    context.progress = &begin;
    const Result resumed = run(given, parameters, context);
    EXPECT_EQ(begin.first, 2);
    EXPECT_EQ(resumed.pairs.mean, whole.pairs.mean);
    EXPECT_EQ(resumed.pairs.variance, whole.pairs.variance);
}

TEST(Run, WhatTheCpuAloneComputesIsRefusedElsewhere) {
    const Alignment given = family(20, 5, 4);
    Parameters weighted, smoothed, omitted;
    weighted.weights = true;
    smoothed.pseudocount = 0.1;
    omitted.gaps = "omit";
    for (Parameters* parameters : {&weighted, &smoothed, &omitted}) {
        parameters->null = "none";
        EXPECT_EQ(run(given, *parameters, {}).pairs.mi.size(), 10u);
        Context context;
        context.device = {Device::Kind::reference, 0};
        EXPECT_EQ(
            error_text<UsageError>([&] { run(given, *parameters, context); }),
            "expected --device cpu or auto for --weights, --pseudocount and --gaps omit, which "
            "the CPU alone computes, found reference");
    }
}

std::int64_t needed(const Alignment& given, const Parameters& parameters) {
    return memory_needed(given, parameters, {Device::Kind::cpu, 0}, 1);
}

TEST(Run, AsksForTheMemoryOfWhatItKeeps) {
    const Alignment given = family(12, 60, 20);
    Parameters parameters = exact_triples();
    parameters.null = "none";
    const std::int64_t best = needed(given, parameters);
    parameters.all = true;
    // 34,220 triples of 6 numbers, collected and sorted.
    EXPECT_GE(needed(given, parameters) - best, 34220 * 2 * 6 * 8);
    parameters.all = false;
    parameters.threshold = -9;
    EXPECT_GE(needed(given, parameters), best + 1000 * 2 * 6 * 8);
}

TEST(Run, AsksForTheMemoryOfExactMoments) {
    const Alignment given = family(50000, 3, 4);
    Parameters parameters = exact_triples();
    parameters.null = "none";
    const std::int64_t counted = needed(given, parameters);
    parameters.null = "exact";
    parameters.triple_variance = false;
    const std::int64_t mean = needed(given, parameters);
    EXPECT_GE(mean - counted, 50000 * (13 + 20) * 8);  // differences and weights of nodes
    parameters.triple_variance = true;
    EXPECT_GE(needed(given, parameters) - mean, 50000 * 96 * 8);  // and 96 functions
}

TEST(Run, AsksForTheMemoryOfAllRanksOfAMachine) {
    struct Crowd final : Comm {
        int local_size() const override { return 1 << 30; }
    } crowd;
    const Alignment given = family(12, 20, 20);
    Context context;
    context.comm = &crowd;
    Parameters parameters = exact_triples();
    const std::string text = error_text<DeviceError>([&] { run(given, parameters, context); });
    EXPECT_EQ(text.find("the tables of 20 columns on 1073741824 ranks of a machine: "), 0u) << text;
    EXPECT_NE(text.find("or use fewer threads or ranks, or leave out variances"), std::string::npos)
        << text;
}

}  // namespace
}  // namespace pleat::mutual_information
