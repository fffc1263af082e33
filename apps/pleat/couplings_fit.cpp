// Couplings fit: reading, fitting and writing one family.
#include "couplings_fit.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "couplings_summary.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/citations.h"
#include "pleat/couplings/contacts/calibration.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/output.h"

namespace pleat::program {

namespace {

using couplings::ContactEvaluation;
using couplings::RankedPair;
using couplings::Report;
using couplings::Result;

constexpr double kDoubtfulIdentity = 0.5;  // random sequences of a similar length reach 0.3

void record_parameters(RunDirectory& run, CouplingsOptions& options) {
    run.parameters(result_fields(options));
    for (const Citation& citation : couplings::citations(options.parameters)) run.cite(citation);
}

void record_result(RunDirectory& run, const Report& report) {
    const Result& result = report.result;
    run.fact("alphabet", report.alignment.alphabet->name());
    run.fact("format", report.alignment.format);
    run.fact("sequences", report.alignment.sequence_count());
    run.fact("columns", report.alignment.column_count());
    run.fact("effective_sequences", result.effective_sequences);
    run.fact("objective", result.objective);
    run.fact("relative_gap", result.relative_gap);
    run.fact("relative_gradient", result.relative_gradient);
    run.fact("iterations", result.iterations);
    run.fact("evaluations", result.evaluations);
    run.fact("stop_reason", std::string(name_of(result.stop_reason)));
    run.fact("reference_row", report.reference.name);
    if (report.evaluation == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
    run.fact("precision_L", report.evaluation->at("all", "L").precision);
}

void warn_of_other_structure(const StructureOptions& options, const KnownStructure& known,
                             const Context& context) {
    if (known.map.identity >= kDoubtfulIdentity) return;
    context.message(fmt::format(
        "{}: its chain {} has an identity of only {:.2f} to row '{}': is it a "
        "structure of this family?",
        options.structure, known.map.chain_name, known.map.identity, known.map.row_name));
}

void warn_of_few_sequences(const CouplingsOptions& options, const Alignment& alignment,
                           const Result& result, const Context& context) {
    const bool is_protein = alignment.alphabet->kind() == Alphabet::Kind::protein;
    const std::string warning = couplings::depth_warning(result.effective_sequences);
    if (is_protein && options.parameters.apc && !warning.empty()) context.message(warning);
}

Result fit(const CouplingsOptions& options, const Alignment& alignment, std::vector<double> weights,
           const Context& context) {
    Result result = couplings::run(alignment, options.parameters, std::move(weights), context);
    if (result.stop_reason == couplings::StopReason::iteration_limit ||
        result.stop_reason == couplings::StopReason::stalled) {
        context.message(fmt::format("the fit ended early ({}): its certified gap is {:.1e}",
                                    name_of(result.stop_reason), result.relative_gap));
    }
    warn_of_few_sequences(options, alignment, result, context);
    return result;
}

CouplingsOutcome outcome_of(const Report& report, const RunDirectory& run) {
    const Result& result = report.result;
    return {.sequences = report.alignment.sequence_count(),
            .columns = report.alignment.column_count(),
            .effective_sequences = result.effective_sequences,
            .relative_gap = result.relative_gap,
            .evaluations = result.evaluations,
            .stop_reason = result.stop_reason,
            .summary = summary(report, run.path().string())};
}

}  // namespace

std::vector<Field> output_fields(CouplingsOptions& options) {
    return {{.name = "min-separation",
             .target = &options.min_separation,
             .help = "List pairs at least this many columns apart",
             .min = 1}};
}

std::vector<Field> result_fields(CouplingsOptions& options) {
    std::vector<Field> all = couplings::fields(options.parameters);
    for (const std::vector<Field>& more :
         {fields(options.alignment), fields(options.structure), output_fields(options)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

CouplingsOutcome fit_family(CouplingsOptions options, const CouplingsTask& task) {
    Context context = make_context(options.run);
    if (task.threads > 0) context.threads = task.threads;
    RunDirectory run({.path = task.folder,
                      .command = "couplings",
                      .arguments = task.arguments,
                      .force = options.run.force,
                      .shares_process = task.shares_process});
    context.progress = &run.watch(task.shown);
    context.checkpoint = run.checkpoint();
    record_parameters(run, options);

    run.stage("read");
    check_structure_file(options.structure);
    check_readable({options.parameters.initial});
    std::vector<std::string> full_rows;
    const Alignment source = read_input(options.alignment, run, full_rows);
    std::optional<KnownStructure> known = read_known_structure(options.structure, source, run);
    const ReferenceRow reference = reference_row(options.structure, source, full_rows, known);
    const Alignment alignment =
        filter(source, {options.alignment.most_gaps, options.alignment.least_coverage});
    if (known) {
        measure(*known, alignment);
        warn_of_other_structure(options.structure, *known, context);
    }
    if (!options.parameters.initial.empty()) record_input(options.parameters.initial, run);

    // The weights of a large family take minutes. Beside others memory may become free meanwhile.
    if (!may_use_gpu(options.run) && !task.shares_process) {
        Context silent = context;  // the fit itself tells what it needs
        silent.progress = nullptr;
        couplings::check_memory(alignment, options.parameters, silent);
    }
    const bool wait = may_use_gpu(options.run) &&
                      couplings::weights_want_gpu(alignment, options.parameters, context);
    std::vector<double> weights;
    // Before the device is settled, so that a GPU may start, or become free, meanwhile.
    if (!wait) weights = couplings::sequence_weights(alignment, options.parameters, context);
    const std::string remark = task.settle(alignment, context);
    run.context(context);
    if (options.run.verbose) context.message(remark);
    if (wait) weights = couplings::sequence_weights(alignment, options.parameters, context);
    const Result result = fit(options, alignment, std::move(weights), context);
    if (task.fitted) task.fitted();

    run.stage("write");
    const std::vector<RankedPair> pairs =
        couplings::rank_pairs(alignment, result, options.min_separation, options.parameters.apc,
                              resolve_threads(context));
    std::optional<ContactEvaluation> evaluation;
    if (known) {
        evaluation = couplings::evaluate(result.corrected, known->distances, alignment.columns,
                                         known->definition.cutoff);
    }
    const Report report{alignment,
                        options.parameters,
                        result,
                        reference,
                        pairs,
                        known ? &*known : nullptr,
                        evaluation ? &*evaluation : nullptr};
    couplings::write_results(run, report, resolve_threads(context));
    record_result(run, report);
    run.finish();
    return outcome_of(report, run);
}

}  // namespace pleat::program
