// Mutual information: the parameters, the results and run() of the mutual information of alignment
// columns.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/phylogeny/significance.h"

#pragma GCC visibility push(default)

namespace pleat::mutual_information {

/// What the observed MI is compared with: random shuffles of the columns, the exact mean and
/// variance over all permutations, both, or nothing. automatic: the exact one, and with
/// Parameters::shuffles the shuffles too; for weighted counts, which have no exact one, only the
/// shuffles. tree: alignments that evolve along a tree of the sequences, without covariation.
enum class NullModel { automatic, sampled, exact, both, none, tree };
std::span<const std::string_view> names_of(NullModel);

/// Gaps count as a symbol, or pairs leave out the rows with a gap in either column.
enum class Gaps { symbol, omit };
std::span<const std::string_view> names_of(Gaps);

/// The number that ranks triples; automatic: the first computed one of z, sampled_z and mi.
enum class RankBy { automatic, mi, z, sampled_z, percentile, synergy, excess };
std::span<const std::string_view> names_of(RankBy);

/// The score of a pair that the tree null compares, over the rows where both columns have a
/// residue: gt, the G statistic 2 N_ij MI_ij in nats; mi, the mutual information in bits; gtp and
/// mip, the same less the average product (APC).
enum class PairScore { gtp, gt, mip, mi };
std::span<const std::string_view> names_of(PairScore);

/// Weights of the sequences for the tree null: position-based, by identity, or 1 each.
enum class TreeWeights { position, identity, none };
std::span<const std::string_view> names_of(TreeWeights);

/// Number of shuffles for NullModel::sampled and both, unless it is given.
constexpr std::int64_t kDefaultShuffles = 10000;

/// The options; fields() describes each. Gaps and unknown letters are symbols like all others, as
/// in Waechter et al. (the `comic` software, TU Darmstadt), unless gaps are omitted.
struct Parameters {
    std::int64_t order = 2;
    NullModel null = NullModel::automatic;
    std::optional<std::int64_t> shuffles;  ///< not set: kDefaultShuffles if `null` asks for some
    std::int64_t top = 1000;
    std::optional<double> min_z;
    RankBy rank_by = RankBy::automatic;
    bool all_triples = false;
    bool triple_variance = true;
    Gaps gaps = Gaps::symbol;
    bool sequence_weights = false;
    double identity = 0.8;
    double pseudocount = 0.0;
    double min_entropy = 0.3;
    phylogeny::TreeOptions tree;  ///< of NullModel::tree
    TreeWeights tree_weights = TreeWeights::position;
    PairScore statistic = PairScore::gtp;

    bool has_tree() const { return null == NullModel::tree; }
    bool has_sampled() const {
        return null == NullModel::sampled || null == NullModel::both ||
               (null == NullModel::automatic && shuffles);
    }
    bool has_exact() const {
        return null == NullModel::exact || null == NullModel::both ||
               (null == NullModel::automatic && !is_weighted());
    }
    /// The null model that is computed, never automatic.
    NullModel null_model() const {
        if (has_tree()) return null;
        if (has_sampled()) return has_exact() ? NullModel::both : NullModel::sampled;
        return has_exact() ? NullModel::exact : NullModel::none;
    }
    /// The number of shuffles; 0 without a sampled null model.
    std::int64_t shuffle_count() const {
        return has_sampled() ? shuffles.value_or(kDefaultShuffles) : 0;
    }
    /// Whether MI is of weighted counts in float64 instead of plain counts.
    bool is_weighted() const { return sequence_weights || pseudocount > 0; }
    /// Whether only the CPU computes these counts.
    bool counts_on_cpu() const { return !has_tree() && (is_weighted() || gaps == Gaps::omit); }
    /// Whether a GPU can be used: for shuffles with plain counts.
    bool has_gpu_work() const { return has_tree() || (has_sampled() && !counts_on_cpu()); }
};
std::vector<Field> fields(Parameters& parameters);

/// Statistics of n shuffles for one pair or triple.
struct SampledNull {
    double mean = 0;        ///< bits
    double variance = 0;    ///< bits^2, divided by n
    double skewness = 0;    ///< third central moment / variance^1.5; NaN if the variance is 0
    double z = 0;           ///< (observed - mean) / sqrt(variance); NaN if the variance is 0
    double percentile = 0;  ///< n_less / n: the paper's c, strict
    double p = 0;           ///< (1 + n_greater_or_equal) / (1 + n)
    double p_strict = 0;    ///< (1 + n_greater) / (1 + n), ties counted as below the observed
};

/// The minimum reported tail_p and exact_p; smaller values are replaced by it.
constexpr double kMinTail = 1e-300;

/// The numbers of all pairs, [pair] each, i < j in lexicographic order; arrays that were not
/// requested are empty.
struct PairInformation {
    std::vector<double> mi, joint_entropy;  ///< bits
    std::vector<double> normalised;         ///< MI_ij / H_ij
    std::vector<double> apc, asc;           ///< MI less the average product, and the average sum
    std::vector<double> mean, variance, z;  ///< exact
    std::vector<SampledNull> sampled;
    std::vector<std::uint32_t> less_count,
        equal_count;  ///< shuffles with a smaller, and with an equal MI
    /// P(MI >= observed), an approximation: exact_p if it is known; else of the Pearson III
    /// distribution with the exact mean and variance (without them, the sampled ones) and the
    /// sampled skewness; without samples gamma_tail(). NaN if the null is constant. Against full
    /// enumeration it is off by 0.06 in log10 p on average and by at most 0.35, down to p = 1e-3,
    /// if the null has 50 values or more; up to 0.85 too low if it has two; wrong by many orders of
    /// magnitude far out (p < 1e-9). If more than a few shuffles reach the observed MI, sampled.p
    /// is the better number.
    std::vector<double> tail_p;
    /// P(MI >= observed) over all permutations if all tables were enumerated, else NaN.
    std::vector<double> exact_p;
    std::vector<double> fdr;  ///< of sampled p, without samples of tail_p; NaN: constant null
    std::vector<double> family_p;
};

/// Triples and the numbers of each. A triple i < j < k is given by its position in the
/// lexicographic list of all triples: see triple_at().
struct TripleRecords {
    std::vector<Index> triples;  ///< [record]
    Array<double, 2> numbers;    ///< [record, number]
};

/// The columns i < j < k at this position of the list of all triples of `columns` columns.
std::array<Index, 3> triple_at(Index position, Index columns);

/// A set of triples, one bit each.
struct TripleSet {
    std::vector<std::uint64_t> words;  ///< bit t % 64 of word t / 64 is the triple at position t
    Index size = 0;
    std::vector<Index> triples_per_column;  ///< [column]: triples of the set that have this column
};

/// Statistics of triples i < j < k, in bits or without a unit.
struct TripleResult {
    std::vector<std::string> names;   ///< of the numbers of each record
    int key = 0;                      ///< the number that ranks
    TripleRecords best_triples;       ///< up to Parameters::top, best first
    std::vector<double> best_excess;  ///< of `best_triples`, bits: see Excess
    std::vector<double> best_fdr;     ///< of `best_triples`; NaN: constant null; empty: not sampled
    std::optional<TripleRecords>
        kept_triples;  ///< with --min-z or --all-triples, in lexicographic order
    std::vector<double> kept_fdr;
    std::optional<TripleSet> cliques;       ///< C by the paper's definition, from sampling
    std::optional<TripleSet> cliques_by_z;  ///< C by exact Z
    Index count = 0;                        ///< of all triples
};

using phylogeny::kSignificantE;
using phylogeny::TreeResult;

/// Seconds that a GPU took to count.
struct GpuSeconds {
    double pairs = 0, triples = 0;
};

struct Result {
    std::vector<double> entropy;     ///< [column]: H_i in bits, which is MI_ii; Z_ii is 0/0 and NaN
    std::vector<int> symbol_counts;  ///< [column]
    std::vector<Index> low_entropy;  ///< columns below Parameters::min_entropy
    PairInformation pairs;
    std::vector<Index> pair_rows;  ///< [pair]: rows counted if gaps are omitted; else empty
    std::int64_t shuffles = 0;     ///< 0 without sampling
    std::vector<double> weights;   ///< of the sequences; empty: none
    double effective_sequences = 0;
    std::optional<TripleResult> triples;
    std::optional<TreeResult> tree;  ///< of NullModel::tree
    /// Mean pairwise identity, if pairs were compared with permutations although identities vary as
    /// those of sequences of one tree do: p does not account for that.
    std::optional<double> related_identity;
    /// GPU time of this call on this rank, by the GPU's clock; empty without a GPU.
    std::optional<GpuSeconds> gpu_seconds;

    Index column_count() const { return static_cast<Index>(entropy.size()); }
};

/// Computes MI of all pairs and, with order 3, of all triples, with the null model of
/// Parameters::null. Read `alignment` with ReadOptions::keep_unknown. With Context::comm, ranks
/// share shuffles and tiles; rank 0 has the result, bit-identical to that of a single rank. Throws
/// UsageError (parameters, or combinations without a meaning), InputError (fewer columns than the
/// order), DeviceError (memory, device), Cancelled.
Result run(const Alignment& alignment, const Parameters& parameters, const Context& context);

/// The checkpoint files of the triples and of the pairs' exact moments, beside Context::checkpoint,
/// which sampled, weighted or gap-free pairs use; empty if `checkpoint` is empty.
std::filesystem::path triple_checkpoint(const std::filesystem::path& checkpoint);
std::filesystem::path exact_checkpoint(const std::filesystem::path& checkpoint);

/// Memory in bytes that run() needs on the given device beyond the alignment; for `cuda` GPU
/// memory. Throws like run().
std::int64_t memory_needed(const Alignment& alignment, const Parameters& parameters,
                           const Device& device, int threads);

/// GPU demand of run() if the user named no device; empty if nothing runs on a GPU. Throws like
/// run().
std::optional<GpuDemand> gpu_demand(const Alignment& alignment, const Parameters& parameters,
                                    int threads);

}  // namespace pleat::mutual_information

#pragma GCC visibility pop
