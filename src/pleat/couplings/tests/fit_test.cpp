// Tests of the whole fit: devices agree, tolerances hold, the oracle's contacts come out.
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/cuda/cuda_layout.h"

#include <gtest/gtest.h>

#include <fstream>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/couplings/contacts/scores.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/tests/oracle.h"
#include "pleat/couplings/tests/random_family.h"

namespace pleat::couplings {
namespace {

using test::RandomFamily;

Context on(const char* device, int threads = 1) {
    Context context;
    context.device = Device::parse(device);
    context.threads = threads;
    return context;
}

Parameters with_tolerance(double tolerance) {
    Parameters parameters;
    parameters.tolerance = tolerance;
    return parameters;
}

Alignment alignment_of_size(Index sequences, Index columns) {
    Alignment alignment = RandomFamily(2, 2, 21, 1).alignment();
    alignment.letters = Array<std::uint8_t, 2>(sequences, columns);
    return alignment;
}

TEST(Fit, ReferenceAndCpuReachTheSameOptimum) {
    std::uint64_t seed = 20;
    for (const auto& [sequences, columns, letters] :
         {std::tuple{2, 2, 21}, std::tuple{50, 9, 21}, std::tuple{80, 14, 5},
          std::tuple{150, 8, 21}}) {
        const Alignment alignment = RandomFamily(sequences, columns, letters, ++seed).alignment();
        const Result reference = run(alignment, with_tolerance(1e-8), on("reference"));
        const Result cpu = run(alignment, with_tolerance(1e-8), on("cpu"));
        EXPECT_EQ(reference.stop_reason, StopReason::converged);
        EXPECT_NEAR(cpu.objective, reference.objective, 1e-6 * reference.objective);
        EXPECT_EQ(cpu.weights, reference.weights);
        // Two points within 1e-8 of the least f may lie this far apart: curvature is no more than
        // that.
        EXPECT_LT(test::distance(cpu.model.pairs, reference.model.pairs), 3e-3);
        if (columns > 2) {
            EXPECT_LT(test::largest_difference(cpu.raw, reference.raw), 1e-3);
            EXPECT_LT(test::largest_difference(cpu.corrected, reference.corrected), 1e-3);
        }
    }
}

TEST(Fit, CudaReachesTheOptimumOfTheReference) {
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    std::uint64_t seed = 50;
    for (const auto& [sequences, columns, letters] :
         {std::tuple{2, 2, 21}, std::tuple{50, 9, 21}, std::tuple{80, 14, 5},
          std::tuple{1100, 8, 21}}) {
        const Alignment alignment = RandomFamily(sequences, columns, letters, ++seed).alignment();
        const Result reference = run(alignment, with_tolerance(1e-8), on("reference"));
        const Result cuda = run(alignment, with_tolerance(1e-8), on("cuda"));
        EXPECT_NEAR(cuda.objective, reference.objective, 1e-6 * reference.objective);
        EXPECT_EQ(cuda.weights, reference.weights);
        if (columns > 2) {
            EXPECT_LT(test::largest_difference(cuda.raw, reference.raw), 1e-3);
            EXPECT_LT(test::largest_difference(cuda.corrected, reference.corrected), 1e-3);
        }
    }
}

// One float16 part is enough for the default tolerance: what is certified holds, weak regularisers
// included, which magnify rounding in the bound.
TEST(Fit, CudaConvergesByDefault) {
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    for (const double lambda_pair : {0.2, 0.01}) {
        const Alignment alignment = RandomFamily(700, 24, 21, 47).alignment();
        Parameters parameters = with_tolerance(1e-8);
        parameters.lambda_pair = lambda_pair;
        const double minimum = run(alignment, parameters, on("cpu")).objective;
        for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
            parameters.tolerance = tolerance;
            const Result result = run(alignment, parameters, on("cuda"));
            EXPECT_EQ(result.stop_reason, StopReason::converged);
            EXPECT_LE(result.relative_gap, tolerance);
            EXPECT_LE(result.objective - minimum, result.relative_gap * result.objective);
            EXPECT_GE(result.objective - minimum, -1e-6 * minimum);
        }
    }
}

// 13 vectors of 500 x 21 + 124750 x 441 numbers; operands in two parts and products, 10240 by 10048
// for 500 columns of 20 letters; logits, residuals and letters of 5120 sequences.
TEST(Fit, CountsTheMemoryOfAGpu) {
    const int vectors = 13;
    const cuda::Layout layout{5000, 500, 21};
    const std::int64_t vector_bytes = std::int64_t{vectors} * 4 * (10500 + 55014750);
    const std::int64_t operands = std::int64_t{4} * 10240 * 10048 + std::int64_t{4} * 10240 * 10240;
    const std::int64_t of_sequences =
        std::int64_t{5120} * ((4 + 4) * 10240 + 2 * (500 + 6 + 3) + 4);
    const std::int64_t sums = 4 * 10240 * (63 + 20) + 500 * (16 * 63 + 1208 * 5);
    EXPECT_EQ(layout.bytes(vectors), vector_bytes + operands + of_sequences + sums);
}

// What does not fit at once is worked on in blocks of columns, down to 64 of them.
TEST(Fit, SavesMemoryByBlocksOfColumns) {
    const int vectors = 13;
    const cuda::Layout large{5000, 3000, 21};
    const std::int64_t all = cuda::bytes_needed(large, vectors);
    EXPECT_EQ(cuda::fit_layout(large, vectors, all).blocks, 1);
    const cuda::Layout less = cuda::fit_layout(large, vectors, all - 1);
    EXPECT_EQ(less.blocks, 2);
    EXPECT_LT(cuda::bytes_needed(less, vectors), all - (std::int64_t{4} << 30));
    const cuda::Layout smallest = cuda::fit_layout(large, vectors, 0);
    EXPECT_EQ(smallest.block_columns(), 128);
    EXPECT_EQ(gpu_memory_needed(alignment_of_size(5000, 3000)),
              cuda::bytes_needed(smallest, vectors));
    EXPECT_EQ(cuda::fit_layout({5000, 64, 21}, vectors, 0).blocks, 1);
    // Two blocks of so few columns take more than one.
    EXPECT_EQ(cuda::fit_layout({5000, 130, 21}, vectors, 0).blocks, 1);
    // Estimates come before checks.
    for (const auto& [sequences, columns] : {std::pair{0, 4}, {0, 0}, {4, 0}})
        EXPECT_GT(gpu_memory_needed(alignment_of_size(sequences, columns)), 0);
}

TEST(Fit, CountsTheModelsInHostMemory) {
    Context context = on("cpu");
    Parameters parameters;
    const auto estimate = [&] {
        return couplings::estimate(40, 60, 21, parameters, context).host_bytes;
    };
    const std::int64_t model = 4 * (1770 * 441 + 60 * 21);
    const std::int64_t with_model = estimate();
    parameters.models = false;
    const std::int64_t without = with_model - model;
    EXPECT_EQ(estimate(), without);
    parameters.initial = "couplings.npz";
    EXPECT_EQ(estimate(), without + model);
    parameters.models = true;
    EXPECT_EQ(estimate(), without + 2 * model);
    parameters.compatible = CompatibleProgram::ccmpred;
    parameters.initial = "";
    const std::int64_t vector = 4 * (1770 * 21 * 24 + 60 * 24);
    EXPECT_EQ(estimate(), without - 10 * vector + 2 * model + 4 * 1260 * 1260);
    // Resuming reads one vector after the other.
    parameters.compatible = CompatibleProgram::none;
    parameters.models = false;
    pleat::test::TemporaryFolder folder;
    context.checkpoint = folder / "checkpoint.npz";
    EXPECT_EQ(estimate(), without);
    std::ofstream(context.checkpoint) << "there";
    EXPECT_EQ(estimate(), without + vector);
}

TEST(Fit, AnnouncesTheMemoryItEstimates) {
    const Alignment alignment = RandomFamily(40, 60, 21, 71).alignment();
    struct Listener : Progress {
        std::string heard;
        void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
        bool cancelled() override { return false; }
        void message(std::string_view text) override { heard = text; }
    } listener;
    Context context = on("cpu");
    context.progress = &listener;
    EXPECT_EQ(check_memory(alignment, {}, context), kHistory);
    // Without what results need while they are written.
    const std::string needed = human_bytes(couplings::estimate(40, 60, 21, {}, context).host_bytes -
                                           140 * 60 * 60 - 40 * 60);
    EXPECT_EQ(listener.heard.substr(0, listener.heard.find(" of ")),
              "40 sequences, 60 columns: needs " + needed);
}

TEST(Fit, KeepsTheTolerance) {
    const Alignment alignment = RandomFamily(120, 15, 21, 31).alignment();
    const double minimum = run(alignment, with_tolerance(1e-8), on("cpu")).objective;
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5}) {
        const Result result = run(alignment, with_tolerance(tolerance), on("cpu"));
        EXPECT_EQ(result.stop_reason, StopReason::converged);
        EXPECT_LE(result.relative_gap, tolerance);
        EXPECT_LE((result.objective - minimum) / result.objective, result.relative_gap + 1e-7);
        EXPECT_GT(result.evaluations, result.iterations);
    }
}

TEST(Fit, IsBitEqualForAnyThreads) {
    const Alignment alignment = RandomFamily(90, 13, 21, 37).alignment();
    const Result one = run(alignment, {}, on("cpu", 1));
    for (const int threads : {2, 4}) {
        const Result more = run(alignment, {}, on("cpu", threads));
        EXPECT_EQ(more.objective, one.objective);
        EXPECT_EQ(more.iterations, one.iterations);
        EXPECT_EQ(test::largest_difference(more.corrected, one.corrected), 0);
    }
}

TEST(Fit, StopsAtTheIterationLimitAndReportsIt) {
    const Alignment alignment = RandomFamily(90, 13, 21, 41).alignment();
    Parameters parameters = with_tolerance(1e-8);
    parameters.max_iterations = 3;
    const Result result = run(alignment, parameters, on("cpu"));
    EXPECT_EQ(result.iterations, 3);
    EXPECT_EQ(result.stop_reason, StopReason::iteration_limit);
    EXPECT_GT(result.relative_gap, 1e-8);
}

TEST(Fit, AppliesItsOptions) {
    const Alignment alignment = RandomFamily(60, 10, 21, 43).alignment();
    const Result plain = run(alignment, {}, on("cpu"));
    Parameters parameters;
    parameters.sequence_weights = false;
    const Result unweighted = run(alignment, parameters, on("cpu"));
    EXPECT_EQ(unweighted.weights, std::vector<double>(60, 1.0));
    EXPECT_EQ(unweighted.effective_sequences, 60);
    EXPECT_LT(plain.effective_sequences, 60);
    parameters = {};
    parameters.apc = false;
    const Result raw = run(alignment, parameters, on("cpu"));
    EXPECT_EQ(test::largest_difference(raw.corrected, raw.raw), 0);
    parameters = {};
    parameters.lambda_pair = 2;
    const Result stiff = run(alignment, parameters, on("cpu"));
    double weak = 0, strong = 0;
    for (const double value : plain.raw) weak += value;
    for (const double value : stiff.raw) strong += value;
    EXPECT_LT(strong, 0.5 * weak);
}

TEST(Fit, UsesTheDefaultsOfTheAlphabet) {
    const Alignment rna = RandomFamily(60, 9, 5, 31).alignment(),
                    protein = RandomFamily(60, 9, 21, 32).alignment();
    Parameters as_proteins, as_rna;
    as_proteins.identity = 0.8;
    as_proteins.norm = NormLetters::residues;
    as_rna.identity = 0.9;
    as_rna.norm = NormLetters::all;
    const auto equal = [](const Result& a, const Result& b) {
        return a.weights == b.weights && test::largest_difference(a.raw, b.raw) == 0;
    };
    EXPECT_TRUE(equal(run(protein, {}, on("cpu")), run(protein, as_proteins, on("cpu"))));
    const Result usual = run(rna, {}, on("cpu")), other = run(rna, as_proteins, on("cpu"));
    EXPECT_TRUE(equal(usual, run(rna, as_rna, on("cpu"))));
    EXPECT_FALSE(equal(usual, other)) << "the user's option wins";
    EXPECT_EQ(
        test::largest_difference(usual.raw, frobenius_scores(usual.model, 1, NormLetters::all)), 0);
    Parameters compatible;
    compatible.compatible = CompatibleProgram::ccmpred;
    EXPECT_EQ(resolved(compatible, Alphabet::rna()).norm, NormLetters::residues);
    EXPECT_EQ(resolved(compatible, Alphabet::rna()).identity, 0.8);
}

TEST(Fit, OmitsTheModelWithoutTheOption) {
    const Alignment alignment = RandomFamily(60, 10, 21, 61).alignment();
    for (const auto compatible : {CompatibleProgram::none, CompatibleProgram::ccmpred}) {
        Parameters parameters;
        parameters.compatible = compatible;
        const Result whole = run(alignment, parameters, on("cpu"));
        EXPECT_EQ(whole.model.pairs.size(), 45 * 21 * 21);
        EXPECT_EQ(test::largest_difference(whole.raw, frobenius_scores(whole.model, 1)), 0);
        parameters.models = false;
        const Result scores = run(alignment, parameters, on("cpu"));
        EXPECT_EQ(scores.model.pairs.size(), 0);
        EXPECT_EQ(scores.model.fields.size(), 0);
        EXPECT_EQ(scores.objective, whole.objective);
        EXPECT_EQ(test::largest_difference(scores.corrected, whole.corrected), 0);
    }
}

TEST(Fit, UsesGivenWeights) {
    const Alignment alignment = RandomFamily(60, 10, 21, 67).alignment();
    const Result whole = run(alignment, {}, on("cpu"));
    std::vector<double> weights = sequence_weights(alignment, {}, on("cpu", 2));
    EXPECT_EQ(weights, whole.weights);
    const Result halves = run(alignment, {}, weights, on("cpu"));
    EXPECT_EQ(halves.objective, whole.objective);
    for (double& weight : weights) weight = 1;
    EXPECT_EQ(run(alignment, {}, weights, on("cpu")).effective_sequences, 60);
    EXPECT_THROW(run(alignment, {}, {1, 1}, on("cpu")), UsageError);
    EXPECT_THROW(sequence_weights(RandomFamily(1, 9, 21, 1).alignment(), {}, on("cpu")),
                 InputError);
}

TEST(Fit, WaitsForAGpuWithWeightsOfLargeAlignmentsOnly) {
    Alignment alignment = RandomFamily(60, 10, 21, 67).alignment();
    EXPECT_FALSE(weights_want_gpu(alignment, {}, on("cpu", 1)));
    alignment.letters = Array<std::uint8_t, 2>(80000, 10);
    EXPECT_TRUE(weights_want_gpu(alignment, {}, on("cpu", 1)));
    EXPECT_FALSE(weights_want_gpu(alignment, {}, on("cpu", 16)));
    Parameters unweighted;
    unweighted.sequence_weights = false;
    EXPECT_FALSE(weights_want_gpu(alignment, unweighted, on("cpu", 1)));
}

TEST(Fit, ResumesToTheSameBits) {
    const Alignment alignment = RandomFamily(80, 12, 21, 47).alignment();
    const Result whole = run(alignment, with_tolerance(1e-8), on("cpu"));
    struct StopOnce : Progress {
        std::int64_t at, done = 0;
        explicit StopOnce(std::int64_t step) : at(step) {}
        void update(std::string_view stage, std::int64_t n, std::int64_t,
                    std::string_view) override {
            if (stage == "fit") done = n;
        }
        bool cancelled() override { return done == at; }
        void message(std::string_view) override {}
    };
    pleat::test::TemporaryFolder folder;
    for (const std::int64_t at : {1, 2, 5}) {
        StopOnce progress(at), never(-1);
        Context context = on("cpu");
        context.progress = &progress;
        context.checkpoint = folder / ("fit" + std::to_string(at) + ".npz");
        EXPECT_THROW(run(alignment, with_tolerance(1e-8), context), Cancelled);
        context.progress = &never;
        Parameters parameters = with_tolerance(1e-8);
        parameters.models = false;  // the same fit, whatever is made of it
        const Result resumed = run(alignment, parameters, context);
        EXPECT_EQ(resumed.objective, whole.objective) << at;
        EXPECT_EQ(resumed.iterations, whole.iterations);
        EXPECT_EQ(resumed.relative_gap, whole.relative_gap);
        EXPECT_EQ(test::largest_difference(resumed.corrected, whole.corrected), 0);
    }
}

TEST(Fit, ResumesAFinishedFitToItsResult) {
    const Alignment alignment = RandomFamily(50, 8, 21, 53).alignment();
    pleat::test::TemporaryFolder folder;
    Context context = on("cpu");
    context.checkpoint = folder / "fit.npz";
    context.checkpoint_seconds = 0;  // saves every step, the last one too
    const Result first = run(alignment, {}, context);
    ASSERT_TRUE(std::filesystem::exists(context.checkpoint));
    const Result again = run(alignment, {}, context);
    EXPECT_EQ(again.objective, first.objective);
    EXPECT_EQ(again.relative_gap, first.relative_gap);
    EXPECT_EQ(again.stop_reason, first.stop_reason);
    EXPECT_EQ(test::largest_difference(again.corrected, first.corrected), 0);
}

TEST(Fit, RefusesTooSmallAlignmentsAndBadOptions) {
    EXPECT_THROW(run(RandomFamily(1, 9, 21, 1).alignment(), {}, on("cpu")), InputError);
    EXPECT_THROW(run(RandomFamily(9, 1, 21, 1).alignment(), {}, on("cpu")), InputError);
    EXPECT_THROW(run(RandomFamily(9, 9, 21, 1).alignment(), with_tolerance(-1), on("cpu")),
                 UsageError);
}

TEST(Fit, ConvergesOnDegenerateFamilies) {
    for (int kind = 0; kind < 4; ++kind) {
        RandomFamily family(20, 6, 21, 59);
        if (kind == 0) family.fill_column(2, 20);  // all gaps
        if (kind == 1)
            for (Index i = 0; i < 6; ++i) family.fill_column(i, 20);  // nothing but gaps
        if (kind == 2)
            for (Index i = 0; i < 6; ++i) family.fill_column(i, 3);  // one sequence
        if (kind == 3) family.replace(20, 0);                        // no gaps
        const Result result = run(family.alignment(), {}, on("cpu"));
        EXPECT_EQ(result.stop_reason, StopReason::converged) << kind;
        for (const double value : result.corrected) EXPECT_TRUE(std::isfinite(value)) << kind;
    }
}

}  // namespace
}  // namespace pleat::couplings
