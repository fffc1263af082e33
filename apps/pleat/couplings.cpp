// pleat couplings: from an alignment to contacts.
#include "pleat/couplings/couplings.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "commands.h"
#include "common_options.h"
#include "couplings_summary.h"
#include "help_format.h"
#include "options.h"
#include "pleat/bio/filter.h"
#include "pleat/core/instruction_set.h"
#include "pleat/core/parallel.h"
#include "pleat/core/progress_terminal.h"
#include "pleat/couplings/citations.h"
#include "pleat/couplings/output.h"
#include "standard_output.h"
#include "structure_choice.h"

namespace pleat::program {

namespace {

using couplings::ContactEvaluation;
using couplings::KnownStructure;
using couplings::RankedPair;
using couplings::Report;
using couplings::Result;

struct Options {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    couplings::Parameters parameters;
    std::int64_t least_separation = 6;
    bool models = true;
};

std::vector<Field> output_fields(Options& options) {
    return {{.name = "min-separation",
             .target = &options.least_separation,
             .help = "List pairs at least this many columns apart",
             .least = 1},
            {.name = "models",
             .target = &options.models,
             .help = "Write couplings.npz and model.plmc, which are large",
             .negated_flag = true}};
}

constexpr double kDoubtfulIdentity = 0.5;  // random sequences of a similar length reach 0.3

constexpr const char* kDescription =
    "Fit a Markov random field to an alignment and rank its pairs of columns as contacts.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat couplings family.a3m.gz -o run\n"
    "  pleat couplings family.a3m -o run --structure 1abc.pdb:A --max-gaps 0.7\n"
    "  zcat family.sto.gz | pleat couplings - -o run -t 4\n\n"
    "A run that was stopped or killed goes on when the same command is given again.";

void record_parameters(RunDirectory& run, Options& options) {
    run.parameters(couplings::fields(options.parameters));
    run.parameters(fields(options.alignment));
    run.parameters(fields(options.structure));
    run.parameters(output_fields(options));
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
    run.fact("ending", ending_name(result.ending));
    run.fact("reference_row", report.reference.name);
    if (report.evaluation == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
    run.fact("precision_L", report.evaluation->at("all", "L").precision);
}

std::int64_t gpu_memory_needed(const Alignment& alignment) {
    return couplings::memory_needed(alignment.sequence_count(), alignment.column_count(),
                                    alignment.alphabet->size(), {Device::Kind::cuda, 0}, 1);
}

void run_couplings(Options& options, const std::vector<std::string>& arguments) {
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    Context context = make_context(options.run);
    RunDirectory run({.path = options.run.output,
                      .command = "couplings",
                      .arguments = arguments,
                      .force = options.run.force});
    const std::unique_ptr<Progress> progress = make_progress(stderr, options.run.quiet);
    context.progress = &run.watch(progress.get());
    context.checkpoint = run.checkpoint();
    record_parameters(run, options);

    run.stage("read");
    const Alignment source = read_input(options.alignment, run);
    std::optional<KnownStructure> known = read_known_structure(options.structure, source, run);
    const couplings::ReferenceRow reference = reference_row(options.structure, source, known);
    const Alignment alignment = filter(source, {options.alignment.most_gaps,
                                                options.alignment.least_coverage});
    if (known) {
        measure(*known, alignment);
        if (known->map.identity < kDoubtfulIdentity) {
            context.message(fmt::format("{}: its chain {} has an identity of only {:.2f} to row '{}': "
                                        "is it a structure of this family?",
                                        options.structure.structure, known->map.chain_name,
                                        known->map.identity, known->map.row_name));
        }
    }
    if (!options.parameters.initial.empty()) record_input(options.parameters.initial, run);

    const std::string remark = settle_device(options.run, gpu_memory_needed(alignment), context);
    run.context(context);
    if (options.run.verbose) context.message(remark);
    const Result result = couplings::run(alignment, options.parameters, context);
    if (result.ending == couplings::Ending::iteration_limit ||
        result.ending == couplings::Ending::stalled) {
        context.message(fmt::format("the fit ended early ({}): its certified gap is {:.1e}",
                                    ending_name(result.ending), result.relative_gap));
    }

    run.stage("write");
    const std::vector<RankedPair> pairs =
        couplings::rank_pairs(alignment, result, options.least_separation, options.parameters.apc);
    std::optional<ContactEvaluation> evaluation;
    if (known) {
        evaluation = couplings::evaluate(result.corrected, known->distances, alignment.columns,
                                         known->definition.cutoff);
    }
    const Report report{alignment, options.parameters, result, reference, pairs,
                        known ? &*known : nullptr, evaluation ? &*evaluation : nullptr};
    couplings::write_results(run, report);
    if (options.models) couplings::write_models(run, report, resolve_threads(context));
    record_result(run, report);
    run.finish();
    if (!options.run.quiet) print(summary(report, run.path().string()));
}

}  // namespace

Command couplings_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("couplings", kDescription);
    const auto options = std::make_shared<Options>();
    add_alignment_options(*parser, options->alignment);
    add_run_options(*parser, options->run);
    add_fields(*parser, "Fit", couplings::fields(options->parameters));
    add_structure_options(*parser, options->structure);
    add_fields(*parser, "Output", output_fields(*options));
    parser->footer(help_footer(kExamples));
    return {parser, [options](const std::vector<std::string>& arguments) {
                run_couplings(*options, arguments);
            }};
}

}  // namespace pleat::program
