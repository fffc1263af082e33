// Couplings fit: reads, fits and writes one family.
#include "couplings/couplings_fit.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "couplings/couplings_summary.h"
#include "options/options.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/output.h"
#include "pleat/couplings/parts/analysis.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::program {

namespace {

using couplings::BasePairs;
using couplings::ContactEvaluation;
using couplings::RankedPair;
using couplings::Report;
using couplings::Result;
using couplings::ScoredParts;

void record_result(RunDirectory& run, const Report& report) {
    const Result& result = report.result;
    run.fact("alphabet", report.alignment.alphabet->name());
    run.fact("format", report.alignment.format);
    run.fact("sequences", report.alignment.sequence_count());
    run.fact("columns", report.alignment.column_count());
    run.fact("effective_sequences", result.effective_sequences);
    run.fact("weights_identity", *report.parameters.identity);
    run.fact("norm_letters",
             names_of(report.parameters.norm)[static_cast<std::size_t>(report.parameters.norm)]);
    run.fact("objective", result.objective);
    run.fact("relative_gap", result.relative_gap);
    run.fact("relative_gradient", result.relative_gradient);
    run.fact("iterations", result.iterations);
    run.fact("evaluations", result.evaluations);
    run.fact("stop_reason", std::string(name_of(result.stop_reason)));
    run.fact("reference_row", report.reference.name);
    if (report.base_pairs != nullptr) run.fact("base_pairs", std::ssize(report.base_pairs->pairs));
    if (report.parts != nullptr) run.fact("parts", std::ssize(report.parts->parts));
    if (report.evaluation == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
    run.fact("precision_L", report.evaluation->at("all", "L").precision);
}

/// How the structure of several parts is aligned to them; empty for one part.
ResidueMapper part_mapper(const couplings::Parts& parts) {
    if (parts.empty()) return {};
    return [parts](const Alignment& source, Structure& structure, const ResidueMapOptions& choice) {
        return couplings::map_parts(source, parts, choice.row, choice.chain, structure);
    };
}

Result fit(const CouplingsOptions& options, const Alignment& alignment, std::vector<double> weights,
           const Context& context) {
    Result result = couplings::run(alignment, options.parameters, std::move(weights), context);
    if (result.stop_reason == couplings::StopReason::iteration_limit ||
        result.stop_reason == couplings::StopReason::stalled) {
        context.message(fmt::format("the fit ended early ({}): its certified gap is {:.1e}",
                                    name_of(result.stop_reason), result.relative_gap));
    }
    const std::string warning =
        couplings::depth_warning(result.effective_sequences, couplings::is_nucleic(alignment));
    if (options.parameters.apc && !warning.empty()) context.message(warning);
    return result;
}

/// A family as it is fitted.
struct FamilyInput {
    Alignment alignment;  ///< filtered
    std::optional<KnownStructure> known;
    ReferenceRow reference;
    couplings::Parts parts;  ///< empty: one
    std::optional<BasePairs> base_pairs;
};

/// The pairs of --secondary; nothing if it is not given.
std::optional<BasePairs> read_base_pairs(const CouplingsOptions& options, const FamilyInput& input,
                                         RunDirectory& run) {
    if (options.secondary.empty()) return std::nullopt;
    if (!couplings::is_nucleic(input.alignment))
        throw UsageError(fmt::format("--secondary is for nucleic acids, and {} has proteins",
                                     input.alignment.source.string()));
    const SecondaryStructure structure = read_secondary_structure(options.secondary);
    record_input(options.secondary, run);
    return couplings::given_base_pairs(structure, input.alignment, input.reference);
}

/// Reads and filters a family. The unfiltered rows are freed on return.
FamilyInput read_family(CouplingsOptions& options, RunDirectory& run, const Context& context) {
    check_structure_file(options.structure);
    check_couplings_options(options);
    check_readable({options.parameters.initial, options.parameters.weights, options.secondary});
    FamilyInput input;
    options.alignment.reading.keep_full_rows = true;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, &run);
    const Alignment& source = *read;
    Notes notes = source.notes;
    input.parts = couplings::choose_parts(options.parts, source, !options.structure.focus.empty(),
                                          options.shuffle_parts, notes);
    context.notes(notes);
    const FilterOptions filters = filter_options(options.alignment, options.structure, source);
    input.known = read_known_structure(options.structure, source, run, part_mapper(input.parts));
    input.reference = reference_row(options.structure, source, input.known, context);
    input.alignment = filter(source, filters);
    if (input.known) {
        measure(*input.known, input.alignment);
        warn_of_other_structure(options.structure, *input.known, context);
    }
    for (const std::string& file : {options.parameters.initial, options.parameters.weights})
        if (!file.empty()) record_input(file, run);
    input.base_pairs = read_base_pairs(options, input, run);
    return input;
}

JobDemand demand_of(const CouplingsOptions& options, const Alignment& alignment) {
    return {.gpu_bytes = couplings::gpu_memory_needed(alignment),
            .estimate = [&](const Context& context) {
                return couplings::estimate(alignment.sequence_count(), alignment.column_count(),
                                           alignment.alphabet->size(), options.parameters, context);
            }};
}

/// Chooses the context's device, and computes the weights before that, so that a GPU can start or
/// become free at the same time. Returns no weights if the GPU should compute them.
std::vector<double> weights_and_device(const CouplingsOptions& options, const JobTask& task,
                                       const Alignment& alignment, Context& context) {
    const bool may_use_a_gpu = may_use_gpu(options.run);
    // The weights of a large family take minutes, so memory is checked before, unless other
    // families of this process may free some until then.
    if (!may_use_a_gpu && !task.shares_process) {
        Context silent = context;  // the fit repeats the check and reports it
        silent.progress = nullptr;
        couplings::check_memory(alignment, options.parameters, silent);
    }
    std::vector<double> weights;
    if (!may_use_a_gpu || !couplings::weights_want_gpu(alignment, options.parameters, context))
        weights = couplings::sequence_weights(alignment, options.parameters, context);
    const std::string reason =
        task.choose_device
            ? task.choose_device(demand_of(options, alignment), context)
            : choose_device(options.run, couplings::gpu_memory_needed(alignment), context);
    if (options.run.verbose) context.message(reason);
    return weights;
}

/// Says how large the model will be, before the fit, and refuses what the disk has no room for.
void announce_files(const CouplingsOptions& options, const Alignment& alignment,
                    const RunDirectory& run, const Context& context) {
    constexpr std::int64_t kLarge = std::int64_t{100} << 20;
    const Index columns = alignment.column_count(), letters = alignment.alphabet->size();
    const std::int64_t models = couplings::bytes_of(options.models, columns, letters);
    if (models >= kLarge)
        context.message(
            fmt::format("the model's files ({}) will take {} of disk space",
                        names_of(options.models)[static_cast<std::size_t>(options.models)],
                        human_bytes(models)));
    run.require_space(fit_disk_space(options, columns, letters));
}

/// With parts: precision within the parts, and in the range "inter" that of the pairs between them
/// by their block-corrected scores.
ContactEvaluation evaluate(const KnownStructure& known, const Alignment& alignment,
                           const Result& result, const std::optional<ScoredParts>& parts) {
    const double cutoff = known.definition.cutoff;
    if (!parts)
        return couplings::evaluate(result.corrected, known.distances, alignment.columns, cutoff);
    return couplings::evaluate_parts(result, *parts, known.distances, alignment.columns, cutoff);
}

}  // namespace

std::vector<Field> fit_fields(CouplingsOptions& options) {
    std::vector<Field> all = couplings::fields(options.parameters);
    for (Field& field : all)
        if (field.name == "models")
            field = {.name = "models",
                     .target = &options.models,
                     .help =
                         "Files of the fitted model, which are large: npz, couplings.npz, "
                         "which 'pleat mutants' reads; plmc, model.plmc, which EVcouplings opens"};
    return all;
}

std::vector<Field> output_fields(CouplingsOptions& options) {
    return {{.name = "min-separation",
             .target = &options.min_separation,
             .help = "List pairs at least this many columns apart",
             .min = 1}};
}

std::vector<Field> structure_fields(CouplingsOptions& options) {
    std::vector<Field> all = fields(options.structure);
    all.push_back({.name = "secondary",
                   .target = &options.secondary,
                   .help = "Secondary structure of a nucleic acid, a Stockholm file (SS_cons) or "
                           "brackets and dots, one per column or per residue of the first row: "
                           "gives each pair its class",
                   .value_name = "FILE"});
    return all;
}

std::vector<Field> part_fields(CouplingsOptions& options) {
    return {
        {.name = "parts",
         .target = &options.parts,
         .help = "Chains side by side in the columns, by their lengths (218,310) or as "
                 "A:1-218,B:219-528: scores the pairs between them. --structure FILE:A,B then "
                 "names a chain for each. By default what the first line of a ColabFold file says",
         .value_name = "PARTS"},
        {.name = "shuffle-parts",
         .target = &options.shuffle_parts,
         .help = "Fit this many alignments in which the rows of the parts are paired at random, "
                 "for false discovery rates of pairs between parts",
         .min = 0,
         .max = 1000}};
}

void check_couplings_options(const CouplingsOptions& options) {
    check_structure_options(options.structure);
    couplings::parse_parts(options.parts);
    if (!options.parts.empty() && !options.structure.focus.empty())
        throw UsageError("--focus and --parts do not go together: parts count columns");
}

std::vector<Field> result_fields(CouplingsOptions& options) {
    return concatenated({fit_fields(options), fields(options.alignment), structure_fields(options),
                         part_fields(options), output_fields(options)});
}

std::int64_t fit_disk_space(const CouplingsOptions& options, Index columns, Index letters) {
    constexpr Index kScores = 16 + 12, kLine = 60;  // bytes per pair of columns
    return kScores * columns * columns + kLine * columns * (columns - 1) / 2 +
           couplings::bytes_of(options.models, columns, letters);
}

RunEstimate estimate_family(CouplingsOptions& options, SharedInputs& inputs) {
    options.alignment.inputs = &inputs;
    options.parameters.models = options.models != couplings::ModelFiles::none;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, nullptr);
    const Alignment alignment =
        filter(*read, filter_options(options.alignment, options.structure, *read));
    const Index sequences = alignment.sequence_count(), columns = alignment.column_count();
    return {.input = fmt::format("{} sequences, {} columns", sequences, columns),
            .may_use_gpu = true,
            .on = [=, bytes = fit_disk_space(options, columns, alignment.alphabet->size()),
                   fits = options.shuffle_parts, letters = alignment.alphabet->size(),
                   parameters = couplings::resolved(options.parameters, *alignment.alphabet)](
                      const Context& context) {
                require_one_device(context, "the fit of one alignment");
                Estimate all =
                    couplings::estimate(sequences, columns, letters, parameters, context);
                all.seconds *= static_cast<double>(1 + fits);
                all.disk_bytes = bytes;
                return all;
            }};
}

std::string fit_family(CouplingsOptions options, const JobTask& task,
                       const std::function<void(const Report&)>& written,
                       const std::function<void(const Alignment&, const ReferenceRow&)>& check) {
    Context context = make_context(options.run);
    options.alignment.inputs = task.inputs;
    options.parameters.models = options.models != couplings::ModelFiles::none;
    RunDirectory run(run_request("couplings", options.run, task));
    context.progress = &run.watch(task.shown);
    context.checkpoint = run.checkpoint();
    run.parameters(result_fields(options));
    for (const std::string_view key : couplings::citations(options.parameters)) run.cite(key);

    run.stage("read");
    FamilyInput input = read_family(options, run, context);
    if (check) check(input.alignment, input.reference);
    options.parameters = couplings::resolved(options.parameters, *input.alignment.alphabet);
    announce_files(options, input.alignment, run, context);
    std::vector<double> weights = weights_and_device(options, task, input.alignment, context);
    run.context(context);
    if (weights.empty())
        weights = couplings::sequence_weights(input.alignment, options.parameters, context);
    const Result result = fit(options, input.alignment, std::move(weights), context);
    if (task.computed) task.computed();

    const int threads = resolve_threads(context);
    if (!input.parts.empty())
        for (const char* key : {"Hopf2014", "Ovchinnikov2014"}) run.cite(key);
    if (options.shuffle_parts > 0) run.stage("shuffled fits");
    const auto [base_pairs, parts] = couplings::analyse(
        input.alignment, result, options.parameters,
        {.parts = input.parts,
         .base_pairs = std::move(input.base_pairs),
         .shuffled_fits = options.shuffle_parts,
         .checkpoint =
             [&](Index fit) {
                 return run.checkpoint(fmt::format("checkpoint-shuffled-{}.npz", fit));
             }},
        context);
    run.stage("write");
    const std::vector<RankedPair> pairs = couplings::rank_pairs(
        input.alignment, result,
        {.min_separation = options.min_separation,
         .is_calibrated =
             couplings::has_probabilities(options.parameters, *input.alignment.alphabet),
         .base_pairs = base_pairs ? &*base_pairs : nullptr,
         .part_of_column = parts ? parts->part_of_column : std::vector<Index>{},
         .threads = threads});
    std::optional<ContactEvaluation> evaluation;
    if (input.known) evaluation = evaluate(*input.known, input.alignment, result, parts);
    const Report report{.alignment = input.alignment,
                        .parameters = options.parameters,
                        .result = result,
                        .reference = input.reference,
                        .pairs = pairs,
                        .structure = input.known ? &*input.known : nullptr,
                        .evaluation = evaluation ? &*evaluation : nullptr,
                        .base_pairs = base_pairs ? &*base_pairs : nullptr,
                        .parts = parts ? &*parts : nullptr,
                        .models = options.models};
    couplings::write_results(run, report, threads);
    run.finish();
    if (written) written(report);
    return summary(report, run.path().string());
}

}  // namespace pleat::program
