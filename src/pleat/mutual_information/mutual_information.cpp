// Mutual information: checks the input, counts columns, then runs pairs and triples.
#include "pleat/mutual_information/mutual_information.h"

#include <algorithm>

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/estimate.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/pairs/cpu_pairs.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/mutual_information/tree/tree_pairs.h"
#include "pleat/mutual_information/triples/triple_run.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::mutual_information {

namespace {

void check_combinations(const Parameters& p) {
    const auto refuse = [](bool is_wrong, const char* text) {
        if (is_wrong) throw UsageError(text);
    };
    check_tree_options(p);
    refuse(
        p.is_weighted() && p.has_exact(),
        "give --null sampled or none: with --sequence-weights or --pseudocount there is no exact "
        "null model");
    refuse(p.is_weighted() && p.null == NullModel::automatic && !p.shuffles,
           "give --shuffles N or --null none: with --sequence-weights or --pseudocount there is no "
           "exact null model");
    refuse(p.counts_on_cpu() && p.order > 2,
           "give --order 2: with --sequence-weights, --pseudocount or --gaps omit only pairs are "
           "counted");
    refuse(p.gaps == Gaps::omit && p.has_sampled(),
           "give no --shuffles, or --null exact or none: with --gaps omit, shuffles would change "
           "which rows are left out");
    refuse(p.gaps == Gaps::omit && p.is_weighted(),
           "give either --gaps omit or --sequence-weights or --pseudocount, not both");
    const bool is_computed =
        p.rank_by == RankBy::automatic || p.rank_by == RankBy::mi || p.rank_by == RankBy::synergy ||
        p.rank_by == RankBy::excess ||
        (p.rank_by == RankBy::z ? p.has_exact() && p.triple_variance : p.has_sampled());
    refuse(!is_computed,
           "give --rank-by a number that --null computes: percentile and sampled_z "
           "need --shuffles N");
    refuse(p.all_triples && p.min_z, "give either --all-triples or --min-z, not both");
    refuse(p.order == 2 && (p.all_triples || p.rank_by != RankBy::automatic),
           "give --order 3 with --all-triples or --rank-by, which are of triples");
}

/// The hash of the input and of the named options: all that decides what a stage collects. Other
/// options may change between two calls, since the sums of pairs serve both orders and every list.
std::string problem_hash(const Alignment& alignment, const Parameters& parameters,
                         const Context& context, std::initializer_list<std::string_view> decisive) {
    Sha256 hash;
    Parameters copy = parameters;
    copy.null = parameters.null_model();
    copy.shuffles = parameters.shuffles.value_or(kDefaultShuffles);
    hash.field(alignment.letters.view()).field(alignment.alphabet->letters());
    hash.field(context.device.kind_name()).field(static_cast<std::int64_t>(context.seed));
    for (const Field& field : fields(copy)) {
        if (std::find(decisive.begin(), decisive.end(), field.name) == decisive.end()) continue;
        hash.field(field.name).field(field.text());
    }
    return hash.hex();
}

/// Result::related_identity.
std::optional<double> related_identity(const Alignment& alignment, const Parameters& parameters) {
    constexpr Index kMinSequences = 20;  // fewer have no tree null
    if (parameters.null_model() == NullModel::none || parameters.has_tree() ||
        parameters.order > 2 || alignment.sequence_count() < kMinSequences)
        return std::nullopt;
    const phylogeny::Relatedness found =
        phylogeny::relatedness(alignment.letters, alignment.alphabet->without_unknown().size() - 1);
    return found.is_tree ? std::optional(found.mean_identity) : std::nullopt;
}

void check_memory(const Alignment& alignment, const Parameters& parameters,
                  const Context& context) {
    const int ranks = context.local_ranks();
    std::string what = fmt::format("the tables of {} columns", alignment.column_count());
    if (ranks > 1) what += fmt::format(" on {} ranks of a machine", ranks);
    std::string advice = "leave out columns with many gaps (--max-gaps), or use fewer threads";
    if (ranks > 1) advice += " or ranks";
    if (parameters.all_triples) advice += ", or ask for the best triples (--top) instead of all";
    if (parameters.order == 3 && parameters.has_exact() && parameters.triple_variance)
        advice += ", or leave out variances (--no-triple-variance)";
    require_memory(ranks * host_bytes(alignment, parameters, context), what, advice);
}

std::filesystem::path stage_checkpoint(const std::filesystem::path& checkpoint,
                                       const std::string& stage) {
    if (checkpoint.empty()) return {};
    std::filesystem::path path = checkpoint;
    return path.replace_filename(checkpoint.stem().string() + stage +
                                 checkpoint.extension().string());
}

}  // namespace

void check_input(const Alignment& alignment, Parameters parameters) {
    check(fields(parameters));
    check_combinations(parameters);
    const std::string source = alignment.source.string();
    if (alignment.sequence_count() < 2)
        throw InputError(fmt::format("{}: expected at least 2 sequences, found {}", source,
                                     alignment.sequence_count()));
    if (alignment.column_count() < parameters.order)
        throw InputError(fmt::format("{}: expected at least {} columns, found {}", source,
                                     parameters.order, alignment.column_count()));
    if (alignment.alphabet->size() > kMaxSymbols)
        throw InputError(fmt::format("{}: expected at most {} letters, found {}", source,
                                     kMaxSymbols, alignment.alphabet->size()));
}

std::filesystem::path triple_checkpoint(const std::filesystem::path& checkpoint) {
    return stage_checkpoint(checkpoint, "-triples");
}

std::filesystem::path exact_checkpoint(const std::filesystem::path& checkpoint) {
    return stage_checkpoint(checkpoint, "-exact");
}

Result run(const Alignment& alignment, const Parameters& parameters, const Context& context) {
    if (!context.lanes.empty())
        return first_of_lanes(
            context, [&](const Context& lane) { return run(alignment, parameters, lane); });
    check_input(alignment, parameters);
    check_memory(alignment, parameters, context);
    const CodedColumns columns = compact_columns(alignment.letters);
    Result result;
    result.shuffles = parameters.shuffle_count();
    for (Index column = 0; column < columns.column_count(); ++column) {
        result.symbol_counts.push_back(columns.symbol_count(column));
        result.entropy.push_back(entropy(columns.margin(column), columns.row_count()));
        if (result.entropy.back() < parameters.min_entropy) result.low_entropy.push_back(column);
    }
    result.related_identity = related_identity(alignment, parameters);
    const auto hash = [&](std::initializer_list<std::string_view> decisive) {
        return problem_hash(alignment, parameters, context, decisive);
    };
    if (parameters.has_tree()) {
        run_tree_pairs(alignment, parameters, context, result);
        return result;
    }
    if (parameters.counts_on_cpu()) {
        const std::string decisive =
            hash({"null", "shuffles", "gaps", "sequence-weights", "identity", "pseudocount"});
        run_cpu_pairs(alignment, columns, parameters, decisive, context, result);
        return result;
    }
    const Statistic statistic = make_statistic(columns.row_count());
    const Problem problem{&columns, &statistic, context.seed};
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    PairRun pairs =
        run_pairs(problem, *kernel, parameters, {hash({}), hash({"null", "shuffles"})}, context);
    const double of_pairs = kernel->gpu_seconds();
    if (parameters.order == 3) {
        Context of_triples = context;
        of_triples.checkpoint = triple_checkpoint(context.checkpoint);
        const std::string decisive = hash({"null", "shuffles", "triple-variance", "top", "rank-by",
                                           "min-z", "all-triples", "min-entropy"});
        result.triples = run_triples(problem, *kernel, pairs, parameters, decisive, of_triples);
    }
    if (context.device.kind == Device::Kind::cuda)
        result.gpu_seconds = {of_pairs, kernel->gpu_seconds() - of_pairs};
    result.pairs = std::move(pairs.statistics);
    return result;
}

}  // namespace pleat::mutual_information
