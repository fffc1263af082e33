// Mutual information: check, count columns, run pairs and then triples.
#include "pleat/mutual_information/mutual_information.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/count/weighted_run.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/exact/moments.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/kernel/row_counts.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/mutual_information/triples/triple_run.h"

namespace pleat::mutual_information {

namespace {

void check_combinations(const Parameters& p) {
    const auto refuse = [](bool found, const char* text) {
        if (found) throw UsageError(text);
    };
    refuse(
        p.is_weighted() && p.has_exact(),
        "expected --null sampled or none with --weights or --pseudocount, found an exact one: its "
        "moments hold for plain counts only");
    refuse(
        p.counts_on_cpu() && p.order > 2,
        "expected plain counts with gaps as a symbol for --order 3, found --weights, --pseudocount "
        "or --gaps omit, which are of pairs");
    refuse(p.gaps == "omit" && p.has_sampled(),
           "expected --null exact or none with --gaps omit, found a sampled one: shuffles would "
           "change "
           "which rows are left out");
    refuse(p.gaps == "omit" && p.is_weighted(),
           "expected plain counts with --gaps omit, found --weights or --pseudocount");
    const bool has_by = p.by.empty() || p.by == "mi" || p.by == "synergy" || p.by == "excess" ||
                        (p.by == "z" ? p.has_exact() && p.triple_variance : p.has_sampled());
    refuse(!has_by,
           "expected a number for --by that --null computes, found one that it leaves out");
    refuse(p.all && !std::isnan(p.threshold), "expected one of --all and --threshold, found both");
    refuse(p.order == 2 && (p.all || !p.by.empty()),
           "expected --order 3 with --all or --by, found pairs alone");
}

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
    if (alignment.alphabet->size() > 32)
        throw InputError(fmt::format("{}: expected at most 32 letters, found {}", source,
                                     alignment.alphabet->size()));
}

/// Of all that decides a stage's sums and what it collects. Others may change between two calls:
/// sums of pairs serve whatever is listed of them, and both orders.
std::string problem_hash(const Alignment& alignment, const Parameters& parameters,
                         const Context& context, std::initializer_list<std::string_view> decisive) {
    Sha256 hash;
    Parameters copy = parameters;
    hash.field(alignment.letters.view()).field(alignment.alphabet->letters());
    hash.field(context.device.kind_name()).field(static_cast<std::int64_t>(context.seed));
    for (const Field& field : fields(copy))
        if (std::find(decisive.begin(), decisive.end(), field.name) != decisive.end())
            hash.field(field.name).field(field.text());
    return hash.hex();
}

/// Bytes of a pair: T, the sums, and all that is derived.
constexpr std::int64_t kPairBytes = 400;

/// Bytes of the host's memory that one rank takes.
std::int64_t host_bytes(const Alignment& alignment, const Parameters& parameters,
                        const Context& context) {
    const Index rows = alignment.sequence_count(), columns = alignment.column_count();
    const int symbols = alignment.alphabet->size();
    std::int64_t bytes = 2 * rows * columns + 8 * rows + kPairBytes * pair_count(columns);
    if (context.device.kind == Device::Kind::cuda) {
        // The rows sorted by each column of a tile, on their way to the GPU.
        bytes += 8 * rows + (parameters.order == 3 ? 4 * rows * cuda::kLoneTileSide : 0);
    } else if (parameters.has_sampled()) {
        const std::int64_t planes = columns * (symbols - 1) * ((rows + 63) / 64) * kLanes * 8;
        bytes += std::max(planes, std::min<std::int64_t>(8 * planes, 256 << 20)) +
                 resolve_threads(context) * 14 * rows * kLanes;
        if (parameters.order == 3) bytes += codes_bytes(rows, symbols);
    }
    const std::int64_t of_pairs =
        parameters.has_exact() ? pair_moments_bytes(rows, columns, symbols) : 0;
    const std::int64_t of_triples =
        parameters.order == 3 ? triple_run_bytes(alignment, parameters, context) : 0;
    return bytes + std::max(of_pairs, of_triples);
}

void check_memory(const Alignment& alignment, const Parameters& parameters,
                  const Context& context) {
    const int ranks = context.comm != nullptr ? context.comm->local_size() : 1;
    std::string what = fmt::format("the tables of {} columns", alignment.column_count());
    if (ranks > 1) what += fmt::format(" on {} ranks of a machine", ranks);
    std::string advice = "leave out columns with many gaps (--max-gaps), or use fewer threads";
    if (ranks > 1) advice += " or ranks";
    if (parameters.all) advice += ", or ask for the best triples (--top) instead of all";
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

std::int64_t memory_needed(const Alignment& alignment, const Parameters& parameters,
                           const Device& device, int threads) {
    check_input(alignment, parameters);
    if (device.kind == Device::Kind::cuda)
        return cuda::memory_needed(compact(alignment.letters), static_cast<int>(parameters.order),
                                   parameters.has_sampled() ? parameters.shuffles : 0);
    Context context;
    context.device = device;
    context.threads = threads;
    return host_bytes(alignment, parameters, context);
}

std::filesystem::path triple_checkpoint(const std::filesystem::path& checkpoint) {
    return stage_checkpoint(checkpoint, "-triples");
}

std::filesystem::path exact_checkpoint(const std::filesystem::path& checkpoint) {
    return stage_checkpoint(checkpoint, "-exact");
}

Result run(const Alignment& alignment, const Parameters& parameters, const Context& context) {
    check_input(alignment, parameters);
    check_memory(alignment, parameters, context);
    Result result;
    result.columns = compact(alignment.letters);
    result.shuffles = parameters.has_sampled() ? parameters.shuffles : 0;
    for (Index column = 0; column < result.columns.column_count(); ++column) {
        result.entropy.push_back(
            entropy(result.columns.margin(column), result.columns.row_count()));
        if (result.entropy.back() < parameters.least_entropy) result.low_entropy.push_back(column);
    }
    if (parameters.counts_on_cpu()) {
        run_weighted(alignment, parameters, context, result);
        return result;
    }
    const Statistic statistic = make_statistic(result.columns.row_count());
    const Problem problem{&result.columns, &statistic, context.seed};
    const std::unique_ptr<Kernel> kernel = make_kernel(problem, context);
    const auto hash = [&](std::initializer_list<std::string_view> decisive) {
        return problem_hash(alignment, parameters, context, decisive);
    };
    PairRun pairs =
        run_pairs(problem, *kernel, parameters, {hash({}), hash({"null", "shuffles"})}, context);
    const double of_pairs = kernel->gpu_seconds();
    if (parameters.order == 3) {
        Context own = context;
        own.checkpoint = triple_checkpoint(context.checkpoint);
        const std::string of_triples = hash({"null", "shuffles", "triple-variance", "top", "by",
                                             "threshold", "all", "min-entropy"});
        result.triples = run_triples(problem, *kernel, pairs, parameters, of_triples, own);
    }
    if (context.device.kind == Device::Kind::cuda)
        result.gpu_seconds = {of_pairs, kernel->gpu_seconds() - of_pairs};
    result.pairs = std::move(pairs.statistics);
    return result;
}

}  // namespace pleat::mutual_information
