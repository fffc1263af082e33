// Tests of run(): cancelling and resuming, ranks, refusals, options, and the memory it asks for.
#include "pleat/mutual_information/mutual_information.h"

#include <gtest/gtest.h>

#include <random>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/ranks/rank_files.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/mutual_information/tests/stop_after.h"

namespace pleat::mutual_information {
namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;
using test::FirstCount;
using test::StopAfter;

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
    parameters.null = NullModel::exact;
    return parameters;
}

TEST(Run, ReportsWhatIsKeptAfterACancelWithinATileAndResumes) {
    const Alignment given = family(40, 40, 4);
    const Parameters parameters = exact_triples();
    const Result whole = run(given, parameters, {});
    TemporaryFolder folder;
    // Once between the tiles, and then while the moments of the next are computed.
    StopAfter progress("triples", 3, 1);
    Context context;
    context.progress = &progress;
    context.checkpoint = folder / "checkpoint.npz";
    context.checkpoint_seconds = 1000;
    const auto kept = rank_file(triple_checkpoint(context.checkpoint), 0);
    EXPECT_EQ(error_text<Cancelled>([&] { run(given, parameters, context); }),
              "triples: stopped after 3 of 10 tiles; they are kept in " + kept.string() +
                  ": run the same command again to resume");
    context.progress = nullptr;
    ASSERT_TRUE(std::filesystem::exists(kept));
    const Result resumed = run(given, parameters, context);
    EXPECT_EQ(resumed.triples->best_triples.triples, whole.triples->best_triples.triples);
    EXPECT_EQ(resumed.triples->cliques_by_z->words, whole.triples->cliques_by_z->words);
}

TEST(Run, ResumesTheExactMomentsOfPairs) {
    const Alignment given = family(60, 40, 6);
    Parameters parameters;
    parameters.null = NullModel::exact;
    const Result whole = run(given, parameters, {});
    TemporaryFolder folder;
    StopAfter progress("exact", 2, 1);
    Context context;
    context.progress = &progress;
    context.checkpoint = folder / "checkpoint.npz";
    context.checkpoint_seconds = 1000;
    EXPECT_THROW(run(given, parameters, context), Cancelled);
    ASSERT_TRUE(std::filesystem::exists(rank_file(exact_checkpoint(context.checkpoint), 0)));
    FirstCount begin("exact");
    context.progress = &begin;
    const Result resumed = run(given, parameters, context);
    EXPECT_EQ(begin.done, 2);
    EXPECT_EQ(resumed.pairs.mean, whole.pairs.mean);
    EXPECT_EQ(resumed.pairs.variance, whole.pairs.variance);
}

TEST(Run, RefusesOtherDevicesForCountsOfTheCpu) {
    const Alignment given = family(20, 5, 4);
    Parameters weighted, smoothed, omitted;
    weighted.sequence_weights = true;
    smoothed.pseudocount = 0.1;
    omitted.gaps = Gaps::omit;
    for (Parameters* parameters : {&weighted, &smoothed, &omitted}) {
        parameters->null = NullModel::none;
        EXPECT_EQ(run(given, *parameters, {}).pairs.mi.size(), 10u);
        Context context;
        context.device = {Device::Kind::reference, 0};
        EXPECT_EQ(
            error_text<UsageError>([&] { run(given, *parameters, context); }),
            "give --device cpu or auto: with --sequence-weights, --pseudocount or --gaps omit only "
            "the CPU counts; found reference");
    }
}

TEST(Parameters, NullModelIsExactUnlessShufflesAreGiven) {
    Parameters parameters;
    EXPECT_EQ(parameters.null_model(), NullModel::exact);
    EXPECT_EQ(parameters.shuffle_count(), 0);
    parameters.shuffles = 50;
    EXPECT_EQ(parameters.null_model(), NullModel::both);
    EXPECT_EQ(parameters.shuffle_count(), 50);
    parameters.pseudocount = 0.1;
    EXPECT_EQ(parameters.null_model(), NullModel::sampled);
    parameters.null = NullModel::exact;
    EXPECT_EQ(parameters.shuffle_count(), 0);
    parameters = {};
    parameters.null = NullModel::both;
    EXPECT_EQ(parameters.shuffle_count(), kDefaultShuffles);
    parameters = {};
    parameters.sequence_weights = true;
    EXPECT_EQ(error_text<UsageError>([&] { run(family(20, 5, 4), parameters, {}); }),
              "give --shuffles N or --null none: with --sequence-weights or --pseudocount there is "
              "no exact null model");
}

/// The numbers that any way of computing pairs must agree on, bit for bit.
std::vector<double> numbers_of(const Result& result) {
    std::vector<double> all = result.pairs.mi;
    for (const std::vector<double>* more :
         {&result.pairs.joint_entropy, &result.pairs.apc, &result.pairs.mean,
          &result.pairs.variance, &result.pairs.fdr, &result.weights})
        all.insert(all.end(), more->begin(), more->end());
    for (const SampledNull& null : result.pairs.sampled)
        all.insert(all.end(), {null.mean, null.variance, null.p});
    all.insert(all.end(), result.pair_rows.begin(), result.pair_rows.end());
    return all;
}

TEST(Run, GivesTheNumbersOfOneRankOnSeveralForCountsOfTheCpu) {
    const Alignment given = family(30, 40, 5);
    Parameters weighted, smoothed, omitted;
    weighted.sequence_weights = true;
    smoothed.pseudocount = 0.1;
    weighted.null = smoothed.null = NullModel::sampled;
    weighted.shuffles = smoothed.shuffles = 20;
    omitted.gaps = Gaps::omit;
    omitted.null = NullModel::exact;
    for (const Parameters& parameters : {weighted, smoothed, omitted}) {
        const std::vector<double> expected = numbers_of(run(given, parameters, {}));
        for (const int ranks : {2, 3}) {
            pleat::test::on_ranks(ranks, [&](Comm& comm) {
                Context context;
                context.comm = &comm;
                context.threads = 1;
                EXPECT_EQ(numbers_of(run(given, parameters, context)), expected);
            });
        }
    }
}

TEST(Run, RefusesTheCheckpointOfOtherCountsOfTheCpu) {
    const Alignment given = family(30, 40, 5);
    Parameters parameters;
    parameters.null = NullModel::none;
    parameters.pseudocount = 0.1;
    const TemporaryFolder folder;
    StopAfter progress("weighted pairs", 1);
    Context context;
    context.progress = &progress;
    context.checkpoint = folder / "checkpoint.npz";
    EXPECT_THROW(run(given, parameters, context), Cancelled);
    context.progress = nullptr;
    Parameters other = parameters;
    other.pseudocount = 0.2;
    EXPECT_THROW(run(given, other, context), InputError);
    EXPECT_EQ(run(given, parameters, context).pairs.mi, run(given, parameters, {}).pairs.mi);
}

TEST(Parameters, NamesOfTypedOptionsSetThem) {
    Parameters parameters;
    for (Field& field : fields(parameters)) {
        if (field.name == "null") field.set("exact");
        if (field.name == "gaps") field.set("omit");
        if (field.name == "rank-by") field.set("synergy");
        if (field.name == "min-z") field.set("2.5");
    }
    EXPECT_EQ(parameters.null, NullModel::exact);
    EXPECT_EQ(parameters.gaps, Gaps::omit);
    EXPECT_EQ(parameters.rank_by, RankBy::synergy);
    EXPECT_EQ(parameters.min_z, 2.5);
    for (Field& field : fields(parameters)) {
        if (field.name == "rank-by") field.set("auto");
        if (field.name == "min-z") field.set("none");
    }
    EXPECT_EQ(parameters.rank_by, RankBy::automatic);
    EXPECT_EQ(parameters.min_z, std::nullopt);
}

std::int64_t needed(const Alignment& given, const Parameters& parameters) {
    return memory_needed(given, parameters, {Device::Kind::cpu, 0}, 1);
}

TEST(Run, EstimatesTheMemoryOfKeptTriples) {
    const Alignment given = family(12, 60, 20);
    Parameters parameters = exact_triples();
    parameters.null = NullModel::none;
    const std::int64_t best = needed(given, parameters);
    parameters.all_triples = true;
    // 34,220 triples of 6 numbers, collected and sorted.
    EXPECT_GE(needed(given, parameters) - best, 34220 * 2 * 6 * 8);
    parameters.all_triples = false;
    parameters.min_z = -9;
    EXPECT_GE(needed(given, parameters), best + 1000 * 2 * 6 * 8);
}

TEST(Run, EstimatesTheMemoryOfExactMoments) {
    const Alignment given = family(50000, 3, 4);
    Parameters parameters = exact_triples();
    parameters.null = NullModel::none;
    const std::int64_t counted = needed(given, parameters);
    parameters.null = NullModel::exact;
    parameters.triple_variance = false;
    const std::int64_t mean = needed(given, parameters);
    EXPECT_GE(mean - counted, 50000 * (13 + 20) * 8);  // differences and weights of nodes
    parameters.triple_variance = true;
    EXPECT_GE(needed(given, parameters) - mean, 50000 * 96 * 8);  // and 96 functions
}

TEST(Run, EstimatesTheMemoryOfAllRanksOfAMachine) {
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
