// Times TM-score and GDT_TS of all pairs of made frames on a GPU, beside the CPU's scores and the
// limit of float64, as JSON.
//
// bench_tm_gpu [FRAMES ATOMS]   5000 x 150
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "made_ensemble.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/pair_order.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/tm_search.h"
#include "product_ceilings.h"

namespace {

using namespace pleat;
using namespace pleat::rmsd;
using Json = nlohmann::ordered_json;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The scores of some pairs by the CPU.
struct Sample {
    std::vector<Index> rows, columns;
    std::vector<TmScores> scores;
    double mean_superpositions = 0.0;
};

Sample sample_of(const Frames& frames) {
    constexpr Index kPairs = 1000;
    Sample sample;
    const Index count = frames.frame_count();
    for (Index n = 0; n < kPairs; ++n) {
        const Index row = n * 7919 % (count - 1);
        sample.rows.push_back(row);
        sample.columns.push_back(row + 1 + n * 104729 % (count - 1 - row));
    }
    sample.scores.resize(kPairs);
    parallel_for(available_threads(), kPairs, [&](Index n, int) {
        TmSearch search(frames.atom_count(), superpose_fast, true);
        sample.scores[n] = search(frames.frame(sample.rows[n]), frames.frame(sample.columns[n]));
    });
    for (const TmScores& scores : sample.scores)
        sample.mean_superpositions += static_cast<double>(scores.superpositions) / kPairs;
    return sample;
}

/// All pairs, copied to the host.
Json timed(const FrameSet& frames, Metric metric, const Sample& sample, double floor) {
    Context context;
    context.device = {Device::Kind::cuda, 0};
    context.threads = available_threads();
    const Index count = frames->frame_count();
    const auto kernel =
        make_pair_kernel(make_tm(frames, frames, metric, context), count, context.threads);
    std::vector<float> values(static_cast<std::size_t>(pairs_before(count, count)));
    // The first call makes arrays.
    kernel->band({count - 40, 40}, values.data() + pairs_before(count - 40, count));
    const double start = now();
    kernel->band({0, count}, values.data());
    const double seconds = now() - start;
    double worst = 0.0;
    std::size_t other = 0;
    for (std::size_t n = 0; n < sample.rows.size(); ++n) {
        const double found = values[pairs_before(sample.rows[n], count) + sample.columns[n] -
                                    sample.rows[n] - 1],
                     expected =
                         metric == Metric::tm ? sample.scores[n].tm : sample.scores[n].gdt_ts;
        worst = std::max(worst, std::fabs(found - expected));
        other += !(std::fabs(found - expected) < 1e-6);
    }
    return {{"seconds", seconds},          {"floor_seconds", floor},
            {"fraction", floor / seconds}, {"sampled_pairs", sample.rows.size()},
            {"other_than_cpu", other},     {"worst_difference", worst}};
}

Json run(Index count, Index atoms) {
    using bench::Product;
    const FrameSet frames =
        owned(centre(bench::MadeEnsemble(atoms, 20, 1).frames(count, available_threads()), {},
                     available_threads()));
    const double start = now();
    const Sample sample = sample_of(*frames);
    const double cpu_seconds = now() - start;
    const double rate = bench::multiply_adds_a_second(Product::float64);
    const auto pairs = static_cast<double>(pairs_before(count, count));
    // 15 instructions measure an atom, and as many add it to the sums of a set.
    const double floor =
        pairs * sample.mean_superpositions * 30.0 * static_cast<double>(atoms) / rate;
    return {
        {"frames", count},
        {"atoms", atoms},
        {"superpositions_of_a_pair", sample.mean_superpositions},
        {"cpu_seconds_a_pair_all_threads", cpu_seconds / static_cast<double>(sample.rows.size())},
        {"float64_multiply_adds_a_second", rate},
        {"float64_tensor_multiply_adds_a_second",
         bench::multiply_adds_a_second(Product::float64_tensor)},
        {"float16_tensor_multiply_adds_a_second",
         bench::multiply_adds_a_second(Product::float16_tensor)},
        {"tm", timed(frames, Metric::tm, sample, floor)},
        {"gdt_ts", timed(frames, Metric::gdt_ts, sample, floor)}};
}

}  // namespace

int main(int count, char** words) {
    try {
        std::cout << run(count > 2 ? std::atoll(words[1]) : 5000,
                         count > 2 ? std::atoll(words[2]) : 150)
                         .dump(1)
                  << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
