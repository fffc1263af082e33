// Sampled moments and percentiles lie where the exact ones say, on every pair of real alignments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/exact/tail.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/pairs/pair_run.h"

namespace pleat::mutual_information {
namespace {

constexpr Index kShuffles = 10000;

/// What a file's pairs gave: how many lie so many standard errors off.
struct Deviations {
    Index pairs = 0, tails = 0;
    Index beyond4 = 0;
    double worst = 0;

    void add(double off) {
        beyond4 += std::abs(off) > 4;
        worst = std::max(worst, std::abs(off));
    }
};

class Sampling : public testing::TestWithParam<std::string> {};

CodedColumns read_columns(const std::filesystem::path& path, Index max_columns) {
    ReadOptions options;
    options.keep_unknown = true;
    if (path.string().ends_with(".sto.gz")) options.insertions = Insertions::keep;
    const Alignment alignment = read_alignment(path, options);
    const Index columns = std::min(max_columns, alignment.column_count());
    const Index rows = std::min<Index>(1000, alignment.sequence_count());
    Array<std::uint8_t, 2> letters(rows, columns);
    for (Index n = 0; n < rows; ++n)
        std::copy_n(alignment.letters[n].data, columns, letters[n].data);
    return compact_columns(letters);
}

/// Standard errors by the null's own moments: of the mean sd / sqrt n; of the variance by the
/// kurtosis that a Pearson III distribution of this skewness has, 1.5 skewness^2.
void compare_moments(const SampledNull& sampled, double mean, double variance, Deviations& found) {
    const double n = static_cast<double>(kShuffles);
    found.add((sampled.mean - mean) / std::sqrt(variance / n));
    const double kurtosis = 1.5 * sampled.skewness * sampled.skewness;
    found.add((sampled.variance - variance) / (variance * std::sqrt((2 + kurtosis) / n)));
    ++found.pairs;
}

/// A share p of n shuffles has a standard error of sqrt(p (1 - p) / n), but never below one
/// shuffle.
void compare_shares(const TailProbabilities& tail, std::uint32_t less_count,
                    std::uint32_t equal_count, Deviations& found) {
    const double n = static_cast<double>(kShuffles);
    for (const auto& [share, count] :
         {std::pair{tail.p_less, less_count}, std::pair{tail.p_equal, equal_count}}) {
        const double error = std::sqrt(std::max(share * (1 - share) / n, 1 / (n * n)));
        found.add((static_cast<double>(count) / n - share) / error);
    }
    ++found.tails;
}

Deviations deviations(const CodedColumns& columns, const Context& context) {
    const Statistic statistic = make_statistic(columns.row_count());
    const auto kernel = make_kernel({&columns, &statistic, 1}, context);
    const Index count = columns.column_count(), pairs = pair_count(count);
    Array<std::int64_t, 1> observed(pairs);
    kernel->observe_pairs(observed);
    NullSums sums(pairs);
    kernel->sample_pairs({0, kShuffles}, observed, sums, nullptr);
    Array<double, 1> mean(pairs), variance(pairs);
    pair_moments(columns, mean, variance, context);
    const std::vector<double> mi =
        pair_information(columns, statistic, {observed.data(), static_cast<std::size_t>(pairs)});
    const NullEnumerator nulls(statistic);
    Deviations found;
    for (Index i = 0, pair = 0; i < count; ++i) {
        for (Index j = i + 1; j < count; ++j, ++pair) {
            if (is_constant(mean(pair), variance(pair))) {
                EXPECT_EQ(sums.equal_count(pair), kShuffles);
                continue;
            }
            compare_moments(sampled_null(sums, pair, kShuffles, mi[pair], statistic), mean(pair),
                            variance(pair), found);
            if (const auto null = nulls.null(columns.margin(i), columns.margin(j), 1000))
                compare_shares(null->tail(observed(pair)), sums.less_count(pair),
                               sums.equal_count(pair), found);
        }
    }
    return found;
}

TEST_P(Sampling, AgreesWithTheExactNullOfRealAlignments) {
    Context context;
    context.device = Device::parse(GetParam());
    context.threads = 2;
    if (GetParam() == "cuda") {
        const CudaDevices gpus = find_cuda_devices(0);
        if (gpus.devices.empty()) GTEST_SKIP() << gpus.absence;
    }
    const std::filesystem::path data = pleat::test::data_folder(),
                                shared = pleat::test::shared_folder();
    std::vector<std::filesystem::path> paths{data / "cheY.aln.gz", data / "trypsin.a2m.gz",
                                             data / "trna.sto.gz"};
    const std::filesystem::path oracle = shared / "oracle/mutual_information";
    if (pleat::test::shared_is_present(oracle)) {
        paths.push_back(oracle / "trna140x71.fasta");
        paths.push_back(oracle / "hivp_xray_unique.fasta");
        paths.push_back(shared / "data/alignments/PF00014_bpti.aln.gz");
    }
    Index tests = 0, beyond4 = 0;
    for (const std::filesystem::path& path : paths) {
        SCOPED_TRACE(path.filename().string());
        const Deviations found = deviations(read_columns(path, 40), context);
        EXPECT_GT(found.pairs, 100);
        // Of as many normal deviates the largest is beyond 6 once in 10^4 such tests; skewed nulls
        // of few atoms have longer tails, and their variance a larger error than their skewness
        // tells.
        EXPECT_LT(found.worst, 7.0);
        tests += 2 * (found.pairs + found.tails);
        beyond4 += found.beyond4;
    }
    RecordProperty("comparisons", static_cast<int>(tests));
    RecordProperty("beyond_4_standard_errors", static_cast<int>(beyond4));
    // A normal deviate is beyond 4 with a probability of 6.3e-5.
    EXPECT_LE(static_cast<double>(beyond4), 4 + 2e-4 * static_cast<double>(tests));
}

INSTANTIATE_TEST_SUITE_P(Devices, Sampling, testing::Values("cpu", "cuda"),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace pleat::mutual_information
