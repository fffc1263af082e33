// pleat mi: mutual information of pairs and triples of columns against a null model.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "commands.h"
#include "common_options.h"
#include "help_format.h"
#include "mi_summary.h"
#include "options.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/mutual_information/citations.h"
#include "pleat/mutual_information/device_choice.h"
#include "pleat/mutual_information/output.h"
#include "standard_output.h"
#include "structure_choice.h"

namespace pleat::program {

namespace {

namespace mi = mutual_information;

constexpr const char* kDescription =
    "Measure the mutual information of columns of an alignment against shuffled columns.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat mi family.a3m.gz -o run\n"
    "  pleat mi family.a3m -o run --null exact --structure 1abc.pdb:A\n"
    "  pleat mi rna.sto -o run --order 3 --shuffles 1000\n"
    "  pleat mi family.a3m -o run --order 3 --null exact --by synergy --no-triple-variance\n"
    "  mpirun -n 4 pleat mi family.a3m -o run --order 3\n\n"
    "Gaps and unknown letters are symbols like all others: 22 of proteins, 6 of RNA.\n"
    "A column's MI with itself is its entropy, and its Z has no value: 0/0.\n\n"
    "The clique set C holds the triples whose percentile c is at least that of each of\n"
    "their pairs. Where most pairs reach c = 1, so do most triples, and C says little:\n"
    "C by exact Z does not saturate. Neither tests interactions of third order, since\n"
    "shuffling destroys pairs too: see synergy and excess.\n\n"
    "The same command resumes a run that was stopped or killed, also with another number\n"
    "of ranks: shuffles, triples and exact moments of pairs from their saved state.";

struct MiOptions {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    mi::Parameters parameters;
};

/// Distances are told, but no contacts are judged.
std::vector<Field> structure_fields(MiOptions& options) {
    std::vector<Field> all = fields(options.structure);
    std::erase_if(all, [](const Field& field) { return field.name == "contact-cutoff"; });
    return all;
}

std::vector<Field> result_fields(MiOptions& options) {
    std::vector<Field> all = mi::fields(options.parameters);
    for (const std::vector<Field>& more : {fields(options.alignment), structure_fields(options)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

void record_result(RunDirectory& run, const mi::Report& report) {
    const mi::Result& result = report.result;
    run.fact("alphabet", report.alignment.alphabet->name());
    run.fact("format", report.alignment.format);
    run.fact("sequences", report.alignment.sequence_count());
    run.fact("columns", report.alignment.column_count());
    run.fact("pairs", mi::pair_count(report.alignment.column_count()));
    run.fact("low_entropy_columns", static_cast<std::int64_t>(result.low_entropy.size()));
    if (result.shuffles > 0) run.fact("shuffles", result.shuffles);
    if (!result.weights.empty()) run.fact("effective_sequences", result.effective_sequences);
    run.fact("reference_row", report.reference.name);
    if (result.triples) {
        run.fact("triples", result.triples->count);
        run.fact("triples_ranked_by", result.triples->names[result.triples->key]);
        if (result.triples->cliques) run.fact("cliques", result.triples->cliques->size());
        if (result.triples->cliques_by_z)
            run.fact("cliques_by_z", result.triples->cliques_by_z->size());
    }
    if (result.gpu_seconds) {
        run.fact("gpu_seconds_pairs", result.gpu_seconds->pairs);
        if (result.triples) run.fact("gpu_seconds_triples", result.gpu_seconds->triples);
    }
    if (report.structure == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
}

/// What only the leading rank has: the folder, and the structure laid over the alignment.
struct Leading {
    std::optional<RunDirectory> run;
    std::optional<KnownStructure> known;
    ReferenceRow reference;
};

void open_run(MiOptions& options, const std::vector<std::string>& arguments, Context& context,
              Leading& leading) {
    leading.run.emplace(RunDirectory::Request{.path = options.run.output,
                                              .command = "mi",
                                              .arguments = arguments,
                                              .force = options.run.force});
    leading.run->parameters(result_fields(options));
    for (const Citation& citation : mi::citations(options.parameters)) leading.run->cite(citation);
    context.checkpoint = leading.run->checkpoint();
    for (const auto& path :
         {mi::triple_checkpoint(context.checkpoint), mi::exact_checkpoint(context.checkpoint)})
        leading.run->checkpoint(path.filename().string());
    leading.run->stage("read");
}

void lay_structure(const MiOptions& options, const Alignment& source, Leading& leading) {
    // Maps know gaps, but no unknown letters.
    const Alignment plain = without_unknown(source);
    leading.known = read_known_structure(options.structure, plain, *leading.run);
    leading.reference = reference_row(options.structure, source, {}, leading.known);
}

void write(MiOptions& options, const Alignment& alignment, const mi::Result& result,
           const Context& context, Leading& leading) {
    RunDirectory& run = *leading.run;
    run.stage("write");
    if (leading.known) measure(*leading.known, alignment);
    const mi::Report report{alignment, options.parameters, result, leading.reference,
                            leading.known ? &*leading.known : nullptr};
    mi::write_results(run, report, resolve_threads(context));
    record_result(run, report);
    run.finish();
    if (!options.run.quiet) print(summary(report, run.path().string()));
}

/// The device of the run, and why it is that. A GPU has started when this returns.
std::string settle_mi_device(const MiOptions& options, const Alignment& alignment, Ranks& ranks,
                             Context& context) {
    const bool is_open = !options.run.names_device();
    const std::optional<std::int64_t> demand =
        is_open ? mi::gpu_demand(alignment, options.parameters, resolve_threads(context))
                : std::nullopt;
    if (is_open && !demand) {
        context.device = {Device::Kind::cpu, 0};
        return "device cpu: there is no work for a GPU but shuffles with plain counts";
    }
    std::string remark = choose_device(options.run, demand.value_or(0), ranks, context);
    if (context.device.kind == Device::Kind::cuda && !options.parameters.counts_on_cpu())
        use_cuda_device(context.device.index);
    return remark;
}

void run_mi(MiOptions& options, const std::vector<std::string>& arguments, Ranks& ranks) {
    check_structure_options(options.structure);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    Context context = make_context(options.run, ranks);
    std::jthread device_start;
    if (options.run.names_device() || mi::has_gpu_work(options.parameters))
        device_start = start_device(options.run, context, true);
    const std::unique_ptr<Progress> shown = ranks.progress(options.run.quiet);
    Leading leading;
    ranks.lead([&] { open_run(options, arguments, context, leading); });
    ranks.share(context.checkpoint);
    context.progress = leading.run ? &leading.run->watch(shown.get()) : shown.get();
    if (!ranks.advice().empty()) context.message(ranks.advice());

    ranks.lead([&] { check_structure_file(options.structure); });
    options.alignment.keep_unknown = true;
    options.alignment.path = options.alignment.paths.front();
    const Alignment source =
        read_input(options.alignment, leading.run ? &*leading.run : nullptr, ranks);
    ranks.lead([&] { lay_structure(options, source, leading); });
    const Alignment alignment =
        filter(source, {options.alignment.most_gaps, options.alignment.least_coverage});
    if (leading.run) leading.run->stage("device");
    const std::string remark = settle_mi_device(options, alignment, ranks, context);
    if (leading.run) {
        leading.run->context(context);
        leading.run->stage("pairs");
    }
    if (options.run.verbose) context.message(remark);
    const mi::Result result = mi::run(alignment, options.parameters, context);
    ranks.lead([&] { write(options, alignment, result, context, leading); });
}

}  // namespace

Command mi_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("mi", kDescription);
    const auto options = std::make_shared<MiOptions>();
    add_alignment_options(*parser, options->alignment, false);
    add_run_options(*parser, options->run, true);
    add_fields(*parser, "Mutual information", mi::fields(options->parameters));
    add_fields(*parser, "Structure", structure_fields(*options));
    parser->footer(help_footer(kExamples));
    return {.parser = parser,
            .run =
                [options, &ranks](const std::vector<std::string>& arguments) {
                    run_mi(*options, arguments, ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
