// Mutual information: how much columns of an alignment tell of each other, against shuffled
// columns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/pairs/pair_statistics.h"
#include "pleat/mutual_information/triples/clique_set.h"
#include "pleat/mutual_information/triples/triple_sink.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// The options; fields() describes each. Gaps and unknown letters are symbols like all others, as
/// in Waechter et al. (the `comic` software, TU Darmstadt), unless gaps are omitted.
struct Parameters {
    std::int64_t order = 2;
    std::string null = "both";  ///< "sampled", "exact", "both", "none"
    std::int64_t shuffles = 10000;
    std::int64_t top = 1000;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::string by;  ///< number that ranks triples; empty: z, sampled_z or mi, the first there is
    bool all = false;
    bool triple_variance = true;
    std::string gaps = "symbol";  ///< "symbol", "omit"
    bool weights = false;
    double identity = 0.8;
    double pseudocount = 0.0;
    double least_entropy = 0.3;

    bool has_sampled() const { return null == "sampled" || null == "both"; }
    bool has_exact() const { return null == "exact" || null == "both"; }
    /// Whether MI is of weighted counts in float64 instead of plain counts.
    bool is_weighted() const { return weights || pseudocount > 0; }
    /// Whether the counts are such that the CPU alone makes, on one rank.
    bool counts_on_cpu() const { return is_weighted() || gaps == "omit"; }
};
std::vector<Field> fields(Parameters& parameters);

/// What the triples i < j < k gave, in the units of their names: bits, or none.
struct TripleResult {
    std::vector<std::string> names;   ///< of the numbers of each record
    int key = 0;                      ///< the number that ranks
    TripleRecords best;               ///< up to Parameters::top, best first
    std::vector<double> best_excess;  ///< of `best`, bits: see Excess
    std::vector<double>
        best_fdr;  ///< of `best`, by sampled p; NaN: constant null; empty: not sampled
    std::optional<TripleRecords> kept;  ///< with --threshold or --all, in lexicographic order
    std::vector<double> kept_fdr;
    std::optional<CliqueSet> cliques;       ///< C by the paper's definition, from sampling
    std::optional<CliqueSet> cliques_by_z;  ///< C by exact Z
    Index count = 0;                        ///< of all triples
};

/// What a GPU took to count.
struct GpuSeconds {
    double pairs = 0, triples = 0;
};

struct Result {
    Columns columns;
    std::vector<double> entropy;     ///< H_i in bits: MI_ii; Z_ii is 0/0 and NaN by definition
    std::vector<Index> low_entropy;  ///< columns below Parameters::least_entropy
    PairStatistics pairs;
    std::vector<Index> pair_rows;  ///< [pair]: rows counted, where gaps are omitted; else empty
    std::int64_t shuffles = 0;     ///< 0 without sampling
    std::vector<double> weights;   ///< of the sequences; empty: none
    double effective_sequences = 0;
    std::optional<TripleResult> triples;
    /// Kernel::gpu_seconds() of this call's pairs and triples, on this rank; empty without a GPU.
    std::optional<GpuSeconds> gpu_seconds;
};

/// Computes MI of all pairs, and with order 3 of all triples, with what Parameters::null asks for.
/// `alignment` should be read with ReadOptions::keep_unknown. With Context::comm the shuffles and
/// tiles are spread over ranks and the result is that of one rank, bit for bit, on rank 0. Throws
/// UsageError (parameters, or combinations without a meaning), InputError (fewer columns than the
/// order), DeviceError (memory, device), Cancelled.
Result run(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// The files beside Context::checkpoint, which the shuffled pairs use, that keep the state of the
/// triples and of the pairs' exact moments; empty where that is.
std::filesystem::path triple_checkpoint(const std::filesystem::path& checkpoint);
std::filesystem::path exact_checkpoint(const std::filesystem::path& checkpoint);

/// Bytes of memory that run() needs on the given device, beyond the alignment; for `cuda` the
/// GPU's.
std::int64_t memory_needed(const Alignment& alignment, const Parameters& parameters,
                           const Device& device, int threads);

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
