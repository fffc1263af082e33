// pleat mi: mutual information of pairs and triples of columns against a null model.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "mi/mi_summary.h"
#include "options/common_options.h"
#include "options/options.h"
#include "options/structure_choice.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/estimate.h"
#include "pleat/mutual_information/output.h"

namespace pleat::program {

namespace {

namespace mi = mutual_information;

constexpr const char* kDescription =
    "Compute the mutual information of columns of an alignment, and compare it with shuffled "
    "columns.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat mi family.a3m.gz -o run\n"
    "  pleat mi family.a3m -o run --structure 1abc.pdb:A\n"
    "  pleat mi family.a3m -o run --shuffles 10000\n"
    "  pleat mi rna.sto -o run --order 3 --shuffles 1000\n"
    "  pleat mi family.a3m -o run --order 3 --rank-by synergy --no-triple-variance\n"
    "  pleat mi families/*.a3m -o runs --shuffles 1000 --sweep null=exact,sampled\n"
    "  mpirun -n 4 pleat mi family.a3m -o run --order 3\n\n"
    "Gaps and unknown letters count as symbols: 22 in proteins, 6 in RNA. The MI of a\n"
    "column with itself is its entropy; its Z is 0/0 and has no value.\n\n"
    "The null model is exact: mean and variance over all permutations of the columns give\n"
    "Z of pairs and triples, and a p of pairs (exact for conserved columns, else that of a\n"
    "gamma distribution). Percentiles, the family-wise p, and any p of triples\n"
    "need --shuffles N.\n\n"
    "The clique set C by percentiles holds the triples whose percentile c is at least that\n"
    "of each of their pairs. If most pairs reach c = 1, so do most triples, and C says\n"
    "little; C by exact Z does not saturate. Neither tests for third-order interactions,\n"
    "because shuffling also destroys pairs: see synergy and excess.\n\n"
    "If a run was stopped or killed, the same command resumes it, also on a different\n"
    "number of ranks.";

struct MiOptions {
    RunOptions run;
    AlignmentOptions alignment;
    StructureOptions structure;
    mi::Parameters parameters;
    JobListOptions jobs;
};

/// The options of a structure without the contact cutoff: the tables list distances, not contacts.
std::vector<Field> structure_fields(MiOptions& options) {
    std::vector<Field> all = fields(options.structure);
    std::erase_if(all, [](const Field& field) { return field.name == "contact-cutoff"; });
    return all;
}

std::vector<Field> result_fields(MiOptions& options) {
    return concatenated(
        {mi::fields(options.parameters), fields(options.alignment), structure_fields(options)});
}

void record_result(RunDirectory& run, const mi::Report& report) {
    const mi::Result& result = report.result;
    if (result.gpu_seconds) {
        run.fact("gpu_seconds_pairs", result.gpu_seconds->pairs);
        if (result.triples) run.fact("gpu_seconds_triples", result.gpu_seconds->triples);
    }
    if (report.structure == nullptr) return;
    run.fact("chain", report.structure->map.chain_name);
    run.fact("identity", report.structure->map.identity);
    run.fact("mapped_columns", report.structure->map.mapped);
}

/// The data that only rank 0 has: the run's folder, and the structure mapped to the columns.
struct LeadingRank {
    std::optional<RunDirectory> run;
    std::optional<KnownStructure> structure;
    ReferenceRow reference;
};

void open_run(MiOptions& options, const JobTask& task, Context& context, LeadingRank& leading) {
    leading.run.emplace(run_request("mi", options.run, task));
    leading.run->parameters(result_fields(options));
    for (const std::string_view key : mi::citations(options.parameters)) leading.run->cite(key);
    context.checkpoint = leading.run->checkpoint();
    for (const auto& path :
         {mi::triple_checkpoint(context.checkpoint), mi::exact_checkpoint(context.checkpoint)})
        leading.run->checkpoint(path.filename().string());
    leading.run->stage("read");
}

void align_structure(const MiOptions& options, const Alignment& source, LeadingRank& leading,
                     const Context& context) {
    context.notes(source.notes);
    // The structure is aligned with sequences in which unknown letters are gaps.
    const Alignment plain = without_unknown(source);
    leading.structure = read_known_structure(options.structure, plain, *leading.run);
    if (leading.structure) warn_of_other_structure(options.structure, *leading.structure, context);
    leading.reference = reference_row(options.structure, source, leading.structure, context);
}

std::string write(MiOptions& options, const Alignment& alignment, const mi::Result& result,
                  const Context& context, LeadingRank& leading) {
    RunDirectory& run = *leading.run;
    run.stage("write");
    if (leading.structure) measure(*leading.structure, alignment);
    const mi::Report report{alignment, options.parameters, result, leading.reference,
                            leading.structure ? &*leading.structure : nullptr};
    mi::write_results(run, report, resolve_threads(context));
    record_result(run, report);
    run.finish();
    return summary(report, run.path().string());
}

/// What the computation of one of several jobs asks for.
JobDemand demand_of(const MiOptions& options, const Alignment& alignment) {
    const int threads = resolve_threads(make_context(options.run));
    const std::optional<GpuDemand> gpu = mi::gpu_demand(alignment, options.parameters, threads);
    return {.gpu_bytes = gpu ? std::optional(gpu->bytes) : std::nullopt,
            .estimate = [&](const Context& context) {
                return mi::estimate(alignment, options.parameters, context);
            }};
}

/// Sets the device of the run, starts it if it is a GPU, and returns why it was chosen.
std::string choose_mi_device(const MiOptions& options, const JobTask& task,
                             const Alignment& alignment, Ranks& ranks, Context& context) {
    if (task.choose_device) return task.choose_device(demand_of(options, alignment), context);
    const bool is_automatic = !options.run.names_device();
    const std::optional<GpuDemand> demand =
        is_automatic ? mi::gpu_demand(alignment, options.parameters, resolve_threads(context))
                     : std::nullopt;
    if (is_automatic && !demand) {
        context.device = {Device::Kind::cpu, 0};
        return "using the CPU: GPUs compute shuffles with plain counts only";
    }
    std::string remark = choose_device(options.run, demand.value_or(GpuDemand{}), ranks, context);
    if (context.device.kind == Device::Kind::cuda && !options.parameters.counts_on_cpu())
        use_cuda_device(context.device.index);
    return remark;
}

/// Reads, computes and writes; returns the text for standard output.
std::string make_mi(MiOptions& options, const JobTask& task, Ranks& ranks) {
    check_structure_options(options.structure);
    Context context = make_context(options.run, ranks);
    std::jthread device_start;
    if (!task.choose_device && (options.run.names_device() || options.parameters.has_gpu_work()))
        device_start = start_device(options.run, context, true);
    LeadingRank leading;
    ranks.lead([&] { open_run(options, task, context, leading); });
    ranks.share(context.checkpoint);
    context.progress = leading.run ? &leading.run->watch(task.shown) : task.shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());

    ranks.lead([&] { check_structure_file(options.structure); });
    options.alignment.reading.keep_unknown = true;
    options.alignment.reading.keep_full_rows =
        !options.structure.focus.empty() || !options.structure.structure.empty();
    options.alignment.inputs = task.inputs;
    const std::shared_ptr<const Alignment> input =
        read_input(options.alignment, leading.run ? &*leading.run : nullptr, &ranks);
    const Alignment& source = *input;
    ranks.lead([&] { align_structure(options, source, leading, context); });
    const Alignment alignment =
        filter(source, filter_options(options.alignment, options.structure, source));
    if (leading.run) leading.run->stage("device");
    const std::string remark = choose_mi_device(options, task, alignment, ranks, context);
    if (leading.run) {
        leading.run->context(context);
        leading.run->require_space(mi::disk_needed(alignment, options.parameters));
        leading.run->stage("pairs");
    }
    if (options.run.verbose) context.message(remark);
    const mi::Result result = mi::run(alignment, options.parameters, context);
    if (task.computed) task.computed();
    std::string text;
    ranks.lead([&] { text = write(options, alignment, result, context, leading); });
    return text;
}

RunEstimate estimate_mi(MiOptions& options, SharedInputs& inputs) {
    options.alignment.reading.keep_unknown = true;
    options.alignment.inputs = &inputs;
    const std::shared_ptr<const Alignment> read = read_input(options.alignment, nullptr);
    const auto alignment = std::make_shared<const Alignment>(
        filter(*read, filter_options(options.alignment, options.structure, *read)));
    return {.input = fmt::format("{} sequences, {} columns", alignment->sequence_count(),
                                 alignment->column_count()),
            .may_use_gpu = options.parameters.has_gpu_work(),
            .on = [alignment, parameters = options.parameters](const Context& context) {
                return mi::estimate(*alignment, parameters, context);
            }};
}

JobFunctions<MiOptions> job_functions(Ranks& ranks) {
    return {.command = "mi",
            .input_column = "alignment",
            .uses_seed = true,
            .numbers = {"sequences", "columns", "effective_sequences", "shuffles", "pairs",
                        "triples", "cliques", "cliques_by_z"},
            .per_input = {"structure", "row", "focus"},
            .fields = result_fields,
            .set_input = set_input<MiOptions>,
            .check =
                [](const MiOptions& options) {
                    check_structure_options(options.structure);
                    check_alignment_job(options.alignment);
                    check_structure_file(options.structure);
                },
            .input_files = alignment_files<MiOptions>,
            .run = [&ranks](MiOptions& options,
                            const JobTask& task) { return make_mi(options, task, ranks); },
            .estimate = estimate_mi};
}

}  // namespace

Command mi_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("mi", kDescription);
    const auto options = std::make_shared<MiOptions>();
    add_alignment_options(*parser, options->alignment);
    add_run_options(*parser, options->run, true);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, false);
    add_fields(*parser, "Mutual information", mi::fields(options->parameters));
    add_fields(*parser, "Structure", structure_fields(*options));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_jobs_or_one(*parser, *options, options->alignment.paths, arguments,
                                    job_functions, false, "an ALIGNMENT or a --list of alignments",
                                    ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
