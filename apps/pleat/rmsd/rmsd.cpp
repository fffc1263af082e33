// pleat rmsd: frames compared with each other, another set or one structure.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/option_checks.h"
#include "options/options.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/output.h"
#include "process/ranks.h"
#include "rmsd/rmsd_reference.h"
#include "rmsd/rmsd_sets.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Compare frames with each other, another set or one structure: RMSD, dRMSD, TM-score, GDT_TS, "
    "lDDT.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat rmsd models.pdb.gz -o run --select ca\n"
    "  pleat rmsd run1.xtc run2.xtc --topology protein.pdb --select backbone -o run --frames "
    "100::10\n"
    "  pleat rmsd ensemble.npy -o run --matrix none --cutoff 2 --nearest 10\n"
    "  pleat rmsd decoys/ -o run --select ca --matrix full\n"
    "  pleat rmsd decoys/ -o run --select ca --metric tm --reference native.pdb\n"
    "  pleat rmsd run1.xtc --topology protein.pdb --against run2.xtc --select ca -o run\n"
    "  pleat rmsd run1.xtc --topology complex.pdb --select 'ca and A' --measure 'heavy and B' -o "
    "run\n"
    "  pleat rmsd models.pdb --select ca --measure all --rmsf --superposed pdb -o run\n"
    "  pleat rmsd tetramers.pdb --select ca --symmetry chains -o run\n"
    "  pleat rmsd poses.sdf --symmetry ligand --reference crystal.sdf -o run\n"
    "  pleat rmsd --each decoys/ -o runs --sweep metric=rmsd,tm\n"
    "  mpirun -n 4 pleat rmsd run1.xtc --topology protein.pdb --select ca -o run\n\n"
    "Several files, folders, and lists (@FILE, one path per line) are one ensemble. Frames count\n"
    "from 0 everywhere. Selections: protein, ca, backbone, heavy, name CA CB, resid 10 to 50, "
    "chain\n"
    "A, within 5 of resname HEM, A:10-50, joined by and, or, not and parentheses\n"
    "(docs/selections.md). The matrix is named after the metric: rmsd.npy, drmsd.npy, tm.npy,\n"
    "gdt_ts.npy, lddt.npy.\n\n"
    "A run that was stopped or killed resumes if the same command is given again, also with\n"
    "another number of ranks. While it runs it needs disk space for the matrix twice: its tiles,\n"
    "and the file. All ranks must see the run's folder.";

struct RmsdOptions {
    RunOptions run;
    EnsembleSource ensemble{
        .sources = {}, .topology = {}, .assembly = {}, .select = {}, .weights = {}};
    SetOptions sets;
    rmsd::Parameters parameters;
    JobListOptions jobs;
};

/// Which atoms are selected by default depends on the metric.
std::vector<Field> input_fields(RmsdOptions& options) {
    std::vector<Field> all = fields(options.ensemble);
    for (Field& field : all)
        if (field.name == "select")
            field.help +=
                " [default all; with --metric tm, gdt_ts or lddt ca, if atoms have names; with "
                "--symmetry ligand heavy]";
    return all;
}

std::vector<Field> result_fields(RmsdOptions& options) {
    return concatenated({rmsd::fields(options.parameters), input_fields(options),
                         fields(options.sets), fields(options.sets.symmetry)});
}

/// Throws UsageError for options that exclude each other or need another one.
void check_options(const RmsdOptions& options) {
    check_options(options.sets.symmetry);
    check_options(options.sets, options.ensemble.select, options.parameters.metric);
    if (options.sets.has_reference()) rmsd::check_with_reference(options.parameters);
    rmsd::check_cutoff(options.parameters);
}

/// The frames of --against, on every rank. `run`: that of the leading rank, which reads them.
Array<float, 3> share_others(const RmsdOptions& options, const ComparedFrames& compared,
                             Ranks& ranks, const Context& context,
                             std::optional<RunDirectory>& run) {
    Array<float, 3> xyz;
    ranks.lead([&] {
        Coordinates others =
            read_others(compared, options.sets.against, options.sets.against_frames,
                        compared.source.pbc, options.sets.any_residues, *run, context);
        run->fact("others", others.frames());
        if (options.sets.symmetry.relabel)
            relabel(options.sets.symmetry, others.xyz, compared.frames.xyz[0],
                    "the first frame of the ensemble", compared.with_chains(), context);
        xyz = std::move(others.xyz);
    });
    if (ranks.size() > 1) ranks.share(xyz);
    return xyz;
}

/// The selection of the atoms that were measured.
std::string measured_atoms(const RmsdOptions& options) {
    return options.sets.atoms(options.ensemble.select).measured;
}

std::string summary(const RmsdOptions& options, const rmsd::Result& result,
                    const std::string& symmetry, const std::string& folder) {
    const rmsd::MetricTraits& metric = rmsd::traits_of(options.parameters.metric);
    const bool has_reference = options.sets.has_reference();
    std::string text = fmt::format("{}{}: {} frames, {} atoms ({}), {} {}\n",
                                   printable(options.ensemble.sources.front()),
                                   options.ensemble.sources.size() > 1 ? " and more" : "",
                                   result.frames, result.atoms, printable(measured_atoms(options)),
                                   result.statistics.pairs(), has_reference ? "values" : "pairs");
    const PairStatistics& pairs = result.statistics;
    if (pairs.pairs() > 0)
        text +=
            fmt::format("{} from {:.4f} to {:.4f}, mean {:.4f}{}{}\n", metric.label, pairs.min(),
                        pairs.max(), pairs.mean(), metric.unit.empty() ? "" : " ", metric.unit);
    text += symmetry;
    if (options.parameters.cutoff)
        text += fmt::format("{} pairs {} {:g}{}{}\n", result.neighbours.pairs,
                            metric.is_score ? "above" : "below", *options.parameters.cutoff,
                            metric.unit.empty() ? "" : " ", metric.unit);
    const std::string first = has_reference ? "reference.tsv, "
                              : options.parameters.matrix == rmsd::MatrixLayout::none
                                  ? ""
                                  : fmt::format("{}.npy, ", metric.name);
    return text + fmt::format("\nThe run is in {}: {}histogram.tsv, manifest.json and more\n",
                              printable(folder), first);
}

/// The frames of --against, if they are compared, are counted later.
rmsd::ComparedSizes sizes_of(const RmsdOptions& options, const rmsd::AtomSets& sets, Index frames,
                             Index atoms) {
    const bool is_permuted = options.sets.symmetry.is_of_pairs() || sets.in_place;
    return {.frames = frames,
            .atoms = atoms,
            .has_reference = options.sets.has_reference(),
            .has_sets = options.sets.atoms(options.ensemble.select).differ() ||
                        options.sets.symmetry.is_of_pairs(),
            .pair_seconds = is_permuted ? rmsd::permuted_seconds(sets, atoms) : 0};
}

/// Bytes of the output files whose size depends on the number of frames.
std::int64_t disk_needed(const RmsdOptions& options, const rmsd::ComparedSizes& sizes) {
    constexpr Index kTextAtom = 81, kBinaryAtom = 12;
    const FrameFormat format = options.sets.superposed;
    const bool is_text = format == FrameFormat::pdb || format == FrameFormat::cif;
    const Index atom = format == FrameFormat::none ? 0 : is_text ? kTextAtom : kBinaryAtom;
    return rmsd::disk_needed(sizes, options.parameters) + atom * sizes.frames * sizes.atoms;
}

rmsd::Result compute(const RmsdOptions& options, ComparedFrames& compared, Ranks& ranks,
                     const Context& context, const std::filesystem::path& matrix,
                     std::optional<RunDirectory>& run) {
    const rmsd::Parameters& parameters = options.parameters;
    rmsd::ComparedSizes sizes =
        sizes_of(options, compared.sets, compared.frames.frames(), compared.frames.atoms());
    Array<float, 3> others;
    if (options.sets.has_against()) {
        others = share_others(options, compared, ranks, context, run);
        sizes.others = others.extent(0);
    }
    ranks.lead([&] { run->require_space(disk_needed(options, sizes)); });
    if (options.sets.has_reference())
        return run_reference(compared, options.sets, parameters, ranks, context, run);
    if (!options.sets.has_against())
        return rmsd::run(compared.frames.store(), compared.sets, parameters, context, matrix);
    return rmsd::run_against(compared.frames.xyz, others, compared.sets, parameters, context,
                             matrix);
}

/// If the frames to compare with are not read yet, their number is assumed to be the same.
std::string choose_rmsd_device(const RmsdOptions& options, const JobTask& task,
                               const ComparedFrames& compared, Ranks& ranks, Context& context) {
    rmsd::ComparedSizes sizes =
        sizes_of(options, compared.sets, compared.frames.frames(), compared.frames.atoms());
    if (options.sets.has_against()) sizes.others = sizes.frames;
    const std::optional<GpuDemand> demand =
        rmsd::gpu_demand(sizes, compared.sets, options.parameters);
    if (task.choose_device) {
        const auto estimate = [&](Context chosen) {
            // Without pairs for a GPU the job computes on the CPU.
            if (!demand && chosen.device.kind == Device::Kind::cuda)
                chosen.device = {Device::Kind::cpu, 0};
            return rmsd::estimate(sizes, options.parameters, chosen, compared.sets);
        };
        const auto gpu_bytes = demand ? std::optional(demand->bytes) : std::nullopt;
        return task.choose_device({.gpu_bytes = gpu_bytes, .estimate = estimate}, context);
    }
    if (!demand) {
        const bool is_named = options.run.names_device();
        if (!is_named) context.device = {Device::Kind::cpu, 0};
        return is_named ? fmt::format("device {}, as asked for", context.device.name())
                        : "device cpu: little work for a GPU, or none that GPUs do";
    }
    return fmt::format("{}; of a GPU's memory it needs {}",
                       choose_device(options.run, *demand, ranks, context),
                       human_bytes(demand->bytes));
}

/// Sets the default of --select; returns a line about it if it is not all atoms.
std::string choose_atoms(RmsdOptions& options) {
    if (!options.ensemble.select.empty()) return {};
    const rmsd::MetricTraits& metric = rmsd::traits_of(options.parameters.metric);
    std::string& select = options.ensemble.select;
    const SymmetryOptions& symmetry = options.sets.symmetry;
    if (!symmetry.fit.empty() && !options.sets.measure.empty()) {
        select = symmetry.fit == kNoFit ? options.sets.measure : symmetry.fit;
        return {};
    }
    if (symmetry.symmetry == Symmetry::ligand) {
        select = "heavy";
        return {};
    }
    select = rmsd::default_selection(options.parameters.metric);
    if (!symmetry.fit.empty() && symmetry.fit != kNoFit) {
        select = symmetry.fit;
        return {};
    }
    if (metric.is_score && !options.sets.measure.empty()) select = options.sets.measure;
    if (select == "all" || !options.sets.measure.empty()) return {};
    if (!format_without_names(options.ensemble).empty()) select = "all";
    return select == "all"
               ? fmt::format("{}: all atoms are compared, as they have no names", metric.label)
               : fmt::format(
                     "{}: CA atoms are compared, its default; --select all compares all atoms",
                     metric.label);
}

void open_run(RmsdOptions& options, const JobTask& task, Context& context,
              std::optional<RunDirectory>& run) {
    run.emplace(run_request("rmsd", options.run, task));
    run->parameters(result_fields(options));
    for (const std::string_view key : rmsd::citations(options.parameters.metric)) run->cite(key);
    context.checkpoint = run->checkpoint("checkpoint.tiles");
}

/// The leading rank reads the input and shares it with all ranks.
ComparedFrames read(const RmsdOptions& options, std::optional<RunDirectory>& run, Ranks& ranks,
                    const Context& context) {
    ComparedFrames compared;
    ranks.lead([&] {
        run->stage("read");
        check_other_files(options.sets);
        EnsembleSource source = options.ensemble;
        match_sources(source, other_files(options.sets), context);
        compared = read_compared(source, options.sets, options.parameters, *run, context);
    });
    share(compared, ranks);
    return compared;
}

/// Reads, compares and writes; returns the text for standard output.
std::string make_comparison(RmsdOptions& options, const JobTask& task, Ranks& ranks) {
    check_options(options);
    Context context = make_context(options.run, ranks);
    std::jthread device_start;
    if (!task.choose_device) device_start = start_device(options.run, context, true);
    options.ensemble.inputs = task.inputs;
    std::string remark_on_atoms;
    std::optional<RunDirectory> run;
    ranks.lead([&] {
        remark_on_atoms = choose_atoms(options);
        open_run(options, task, context, run);
    });
    ranks.share(context.checkpoint);
    context.progress = run ? &run->watch(task.shown) : task.shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());
    if (!remark_on_atoms.empty()) context.message(remark_on_atoms);
    ComparedFrames compared = read(options, run, ranks, context);
    const std::string remark = choose_rmsd_device(options, task, compared, ranks, context);
    if (run) run->context(context);
    if (options.run.verbose) context.message(remark);
    std::filesystem::path matrix;
    if (options.parameters.matrix != rmsd::MatrixLayout::none && !options.sets.has_reference()) {
        const std::string_view name = rmsd::traits_of(options.parameters.metric).name;
        ranks.lead([&] { matrix = run->output(fmt::format("{}.npy", name)); });
        ranks.share(matrix);
    }
    if (run) run->stage("prepare");
    const rmsd::Result result = compute(options, compared, ranks, context, matrix, run);
    if (task.computed) task.computed();
    std::string text;
    ranks.lead([&] {
        run->stage("write");
        rmsd::write_results(*run, result, options.parameters);
        write_frames(*run, compared.frames);
        record_symmetry(compared, options.sets, *run);
        run->finish();
        text = summary(options, result,
                       symmetry_lines(options.sets.symmetry, compared.with_chains(),
                                      compared.unproven, result.frames),
                       run->path().string());
    });
    return text;
}

RunEstimate estimate_comparison(RmsdOptions& options, SharedInputs& inputs) {
    check_options(options);
    check_other_files(options.sets);
    choose_atoms(options);
    EnsembleSource source = compared_source(options.ensemble, options.sets);
    source.inputs = &inputs;
    match_sources(source, other_files(options.sets), {});
    const EnsembleSize size = measure_ensemble(source);
    const rmsd::AtomSets sets = sets_of(*size.all_atoms, options.ensemble, options.sets, {});
    rmsd::ComparedSizes sizes = sizes_of(options, sets, size.frames, size.atoms);
    std::string input = fmt::format("{} frames, {} atoms", size.frames, size.atoms);
    if (options.sets.has_against()) {
        source.sources = {options.sets.against};
        source.frames = options.sets.against_frames;
        sizes.others = measure_ensemble(source, {}, size.all_atoms).frames;
        input += fmt::format(", against {} frames", sizes.others);
    }
    return {.input = input,
            .may_use_gpu = rmsd::gpu_demand(sizes, sets, options.parameters).has_value(),
            .on = [sizes, sets, parameters = options.parameters,
                   disk_bytes = disk_needed(options, sizes)](const Context& context) {
                Estimate all = rmsd::estimate(sizes, parameters, context, sets);
                all.disk_bytes = disk_bytes;
                return all;
            }};
}

JobFunctions<RmsdOptions> job_functions(Ranks& ranks) {
    return {.command = "rmsd",
            .input_column = "ensemble",
            .joins_files = true,
            .numbers = names_of_results(rmsd::columns({}, {})),
            .fields = result_fields,
            .set_input = set_ensemble<RmsdOptions>,
            .prepare = [](RmsdOptions& options) { choose_atoms(options); },
            .check =
                [](const RmsdOptions& options) {
                    check_options(options);
                    check_ensemble_job(options.ensemble);
                    check_other_files(options.sets);
                },
            .input_files = files_of_ensemble<RmsdOptions>,
            .run = [&ranks](RmsdOptions& options,
                            const JobTask& task) { return make_comparison(options, task, ranks); },
            .estimate = estimate_comparison};
}

}  // namespace

Command rmsd_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("rmsd", kDescription);
    const auto options = std::make_shared<RmsdOptions>();
    parser->add_option("ENSEMBLE", options->ensemble.sources, kEnsembleFiles);
    add_fields(*parser, "Input", input_fields(*options));
    add_run_options(*parser, options->run);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, true);
    add_fields(*parser, "Comparison", fields(options->sets));
    add_fields(*parser, "Comparison", fields(options->sets.symmetry));
    add_fields(*parser, "Measure", rmsd::fields(options->parameters));
    refuse_empty(*parser, {"measure", "fit", "against", "reference", "topology", "atom-weights"});
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_jobs_or_one(*parser, *options, options->ensemble.sources, arguments,
                                    job_functions, true, "an ENSEMBLE or a --list of ensembles",
                                    ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
