// pleat select: conformations ranked by contacts, clusters and scattering together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "jobs/job_list.h"
#include "options/options.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/notes.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/saxs/saxs.h"
#include "pleat/workflows/select/contacts.h"
#include "pleat/workflows/select/output.h"
#include "pleat/workflows/select/ranking.h"
#include "process/ranks.h"
#include "select/select_options.h"
#include "select/select_stages.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Rank the conformations of an ensemble by contacts, clusters, scattering and scores together.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat select --ensemble models.pdb.gz --alignment family.a3m -o run\n"
    "  pleat select --ensemble models/ --alignment family.a3m --data curve.dat -o run\n"
    "  pleat select --ensemble md.xtc --topology protein.pdb --contacts contacts.rr -o run\n"
    "  pleat select --ensemble models.pdb --contacts couplings_run --weight-clusters 0.5 -o run\n"
    "  pleat report run -o page.html\n\n"
    "The folder of the run holds the runs of couplings, clusters and saxs that the selection is\n"
    "made from, in folders of these names. A run there is used again if its version, options and\n"
    "inputs are the same: a selection that was stopped resumes when the same command is given\n"
    "again, and one with other weights (--force) computes none of them again. Each frame has a\n"
    "rank from 0 (worst) to 1 (best) by contacts, density, chi^2 and the score that --score\n"
    "names; its joint score is their weighted mean. Frames and clusters are counted from 0 in\n"
    "files. For proteins only.";

/// All that is read before the computation.
struct SelectInput {
    Ensemble ensemble;
    std::vector<Index> superposed;  ///< atoms of the ensemble
    std::optional<Alignment> alignment;
    std::optional<PredictedContacts> contacts;
    std::optional<ProfileFile> curve;
    Notes notes;  ///< what reading said
};

/// Reads the atoms that the selection uses: all for a curve, those that are in contact for
/// contacts, and those that are superposed.
void read_frames(const SelectOptions& options, SelectInput& input) {
    const EnsembleSource& source = options.ensemble;
    EnsembleOptions reading = reading_options(source);
    reading.select = "all";
    reading.placed_by = source.select;
    const std::shared_ptr<const Topology> all = EnsembleReader(source.sources, reading).all_atoms();
    if (!options.curve.empty())
        reading.select = "all";
    else if (options.has_contacts() && all->named)
        reading.select = fmt::format("({}) or (name CA CB)", source.select);
    else
        reading.select = source.select;
    const std::vector<Index> superposed = select_atoms(*all, source.select);
    input.superposed = positions_among(superposed, select_atoms(*all, reading.select));
    input.ensemble = read_ensemble(source.sources, reading);
    if (source.common != nullptr && !options.curve.empty() &&
        all->atom_count() < source.common->all->atom_count())
        input.notes.push_back(
            {NoteKind::assumption, "scattering is that of the atoms in common alone", {}, true});
    for (const Note& note : input.ensemble.notes)
        if (note.kind != NoteKind::selection) input.notes.push_back(note);
    input.notes.push_back(
        {NoteKind::selection, fmt::format("superposed '{}': {} of {} atoms", source.select,
                                          superposed.size(), all->atom_count())});
}

SelectInput read_input(const SelectOptions& options) {
    SelectInput input;
    if (!options.contacts.empty()) input.contacts = select::read_predicted(options.contacts);
    if (!options.alignment.empty()) {
        ReadOptions reading = options.alignment_reading;
        reading.keep_full_rows = true;
        input.alignment = read_alignment(options.alignment, reading);
    }
    read_frames(options, input);
    if (!options.curve.empty()) {
        ProfileOptions reading = options.curve_reading;
        reading.structure_gyration = saxs::gyration_of_structure(input.ensemble, {});
        input.curve = read_profile(options.curve, reading);
        for (Note& note : with_source(input.curve->notes, options.curve))
            input.notes.push_back(std::move(note));
    }
    return input;
}

void write_selected(RunDirectory& run, const SelectOptions& options, const ClusterInput& superposed,
                    const select::Result& result, const Context& context) {
    std::vector<Index> best, medoids;
    for (const select::ClusterSummary& one : result.clusters) {
        if (one.selected == 0) continue;
        best.push_back(one.best_frame);
        medoids.push_back(result.medoids[static_cast<std::size_t>(one.cluster)]);
    }
    write_frames(run, "best", superposed, best, options.structures, context);
    write_frames(run, "medoids", superposed, medoids, options.structures, context);
}

std::string number(double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.4f}", value);
}

std::string summary(const SelectOptions& options, const select::Result& result,
                    const std::string& folder) {
    std::string text = fmt::format(
        "{}{}: {} frames, {} cluster{}\n\n{:>8}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>9}\n",
        printable(options.ensemble.sources.front()),
        options.ensemble.sources.size() > 1 ? " and more" : "", result.assignment.size(),
        result.clusters.size(), result.clusters.size() == 1 ? "" : "s", "selected", "cluster",
        "size", "best", "joint", "contacts", "added", "chi^2");
    for (const select::ClusterSummary& one : result.clusters)
        if (one.selected > 0)
            text += fmt::format("{:>8}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>9}\n", one.selected,
                                one.cluster, one.size, one.best_frame, number(one.joint_rank),
                                number(one.contacts), number(one.added), number(one.chi2));
    if (options.uses_score())
        text += fmt::format("\nframes are also ranked by their {}, with weight {:g}\n",
                            printable(options.ensemble.score), options.parameters.score_weight);
    return text + fmt::format(
                      "\nThe run is in {}: scores.tsv, clusters.tsv, manifest.json and more; "
                      "'pleat report {} -o page.html' draws it\n",
                      printable(folder), printable(folder));
}

/// Every file is looked at first, as stages take long; more than one of them reads each file.
void check_files(const SelectOptions& options) {
    constexpr const char* kReason = "several stages read it";
    std::vector<std::string> others = {options.ensemble.topology, options.alignment, options.curve};
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.contacts, ignored))
        others.push_back(options.contacts);
    refuse_ensemble_pipes(options.ensemble.sources, kReason);
    refuse_pipes(others, kReason);
    check_readable(others);
}

void record_inputs(const SelectOptions& options, RunDirectory& run) {
    record_lists(options.ensemble.sources, run);
    for (const std::filesystem::path& file : ensemble_inputs(options.ensemble))
        record_input(file, run);
    std::error_code ignored;
    for (const std::string& file : {options.alignment, options.contacts, options.curve}) {
        if (file.empty()) continue;
        const std::filesystem::path path = file;
        record_input(std::filesystem::is_directory(path, ignored) ? path / "contacts.rr" : path,
                     run);
    }
}

/// What is read, as one text: see SharedInputs.
std::string input_key(SelectOptions options) {
    std::string key = input_key(options.ensemble);
    for (const Field& field : evidence_fields(options)) key += '\n' + field.text();
    return key;
}

std::string make_selection(SelectOptions& options, const JobTask& task, Ranks& ranks) {
    Context context = make_context(options.run);
    // In a list each stage gets one of the devices; alone it has one.
    if (task.choose_device) context.lanes.clear();
    require_one_device(context, "select");
    RunDirectory run(run_request("select", options.run, task));
    context.progress = &run.watch(task.shown);
    run.parameters(result_fields(options));
    run.stage("read");
    check_files(options);
    record_inputs(options, run);
    match_sources(options.ensemble, {}, context);
    const auto shared = shared_input<SelectInput>(task.inputs, input_key(options),
                                                  [&] { return read_input(options); });
    const SelectInput& read = *shared;
    context.notes(read.notes);
    run.context(context);
    FolderStages stages(options, read.ensemble, read.superposed,
                        read.curve ? &*read.curve : nullptr, task, ranks, run);
    const select::Result result =
        select::run({.ensemble = &read.ensemble,
                     .superposed = read.superposed,
                     .alignment = read.alignment ? &*read.alignment : nullptr,
                     .contacts = read.contacts ? &*read.contacts : nullptr,
                     .curve = read.curve ? &read.curve->profile : nullptr,
                     .uses_score = options.uses_score(),
                     .device_is_named = options.run.names_device()},
                    options.parameters, context, stages);
    run.stage("write");
    if (!options.parameters.clustering.cutoff.is_set()) run.cite("Zhang2004");
    select::write_results(run, read.ensemble, result);
    write_selected(run, options, stages.superposed(), result, context);
    run.finish();
    return summary(options, result, run.path().string());
}

/// The largest of the stages, with the ensemble that is kept meanwhile.
RunEstimate estimate_selection(SelectOptions& options, SharedInputs& inputs) {
    check_options(options);
    check_files(options);
    match_sources(options.ensemble, {}, {});
    const EnsembleSize size = measure_ensemble(options.ensemble);
    cluster::Parameters clustering = options.parameters.clustering;
    if (select::wants_cutoff(clustering)) clustering.cutoff = select::usual_cutoff(size.atoms);
    ClusterOptions clusters = clusters_stage(options, clustering);
    clusters.ensemble.inputs = &inputs;
    std::vector<RunEstimate> stages = {
        estimate_clustering(clusters.ensemble, clusters.parameters, clusters.superposition)};
    if (!options.alignment.empty()) {
        CouplingsOptions couplings = couplings_stage(options, "");
        stages.push_back(estimate_family(couplings, inputs));
    }
    std::int64_t kept_bytes = 0;
    if (!options.curve.empty()) {
        SaxsOptions saxs = saxs_stage(options);
        stages.push_back(estimate_profiles(saxs));
        kept_bytes = 12 * size.frames * size.all_atoms->atom_count();
    }
    std::string input;
    for (const RunEstimate& stage : stages) input += (input.empty() ? "" : "; ") + stage.input;
    return {.input = input, .may_use_gpu = true, .on = [=](const Context& context) {
                require_one_device(context, "select");
                Estimate all;
                for (const RunEstimate& stage : stages) {
                    const Estimate one = stage.on(context);
                    all.host_bytes = std::max(all.host_bytes, one.host_bytes);
                    all.gpu_bytes = std::max(all.gpu_bytes, one.gpu_bytes);
                    all.min_gpu_bytes = std::max(all.min_gpu_bytes, one.min_gpu_bytes);
                    all.seconds += one.seconds;
                    all.disk_bytes += one.disk_bytes;
                }
                all.host_bytes += kept_bytes;
                return all;
            }};
}

JobFunctions<SelectOptions> job_functions(Ranks& ranks) {
    return {.command = "select",
            .input_column = "ensemble",
            .input_flag = "--ensemble",
            .joins_files = true,
            .uses_seed = true,
            .numbers = {"frames", "clusters", "selected", "cutoff", "best_frame", "first_cluster",
                        "contacts"},
            .of_one_rank = "select of one ensemble",
            .fields = [](SelectOptions& options) { return result_fields(options); },
            .set_input = set_ensemble<SelectOptions>,
            .check =
                [](const SelectOptions& options) {
                    check_options(options);
                    check_ensemble_job(options.ensemble);
                    check_files(options);
                },
            .input_files = files_of_ensemble<SelectOptions>,
            .run =
                [&ranks](SelectOptions& options, const JobTask& task) {
                    check_options(options);
                    return make_selection(options, task, ranks);
                },
            .estimate = estimate_selection};
}

}  // namespace

Command select_command(CLI::App& program, Ranks& ranks) {
    CLI::App* parser = program.add_subcommand("select", kDescription);
    const auto options = std::make_shared<SelectOptions>();
    parser->add_option("-e,--ensemble", options->ensemble.sources, kEnsembleFiles)
        ->type_name("ENSEMBLE ...")
        ->group("Input");
    add_fields(*parser, "Input", frame_fields(options->ensemble));
    add_fields(*parser, "Input", {match_field(options->ensemble)});
    add_fields(*parser, "Input", evidence_fields(*options));
    add_run_options(*parser, options->run, true);
    add_estimate_option(*parser, options->run);
    add_job_options(*parser, options->jobs, true);
    add_fields(*parser, "Selection", select::fields(options->parameters));
    add_fields(*parser, "Clustering", select::clustering_fields(options->parameters));
    add_fields(*parser, "Structures", structure_fields(*options));
    parser->footer(help_footer(std::string(kExamples) + kJobsHelp));
    return {.parser = parser,
            .run =
                [parser, options, &ranks](const std::vector<std::string>& arguments) {
                    run_jobs_or_one(*parser, *options, options->ensemble.sources, arguments,
                                    job_functions, true, "an --ensemble or a --list of ensembles",
                                    ranks);
                },
            .knows_ranks = true};
}

}  // namespace pleat::program
