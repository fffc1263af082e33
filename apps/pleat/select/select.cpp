// pleat select: conformations ranked by contacts, clusters and scattering together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "commands.h"
#include "couplings/couplings.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/context.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/text.h"
#include "pleat/core/notes.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/report/run_files.h"
#include "pleat/saxs/saxs.h"
#include "pleat/workflows/select/contacts.h"
#include "pleat/workflows/select/output.h"
#include "pleat/workflows/select/ranking.h"
#include "pleat/workflows/select/select.h"
#include "pleat/workflows/select/stages.h"
#include "process/process.h"
#include "saxs/saxs.h"

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

/// All options of `pleat select`.
struct SelectOptions {
    RunOptions run;
    EnsembleSource ensemble;
    std::string alignment, contacts;  ///< at most one of them; empty: none
    ReadOptions alignment_reading;
    std::string curve;  ///< file; empty: none
    ProfileOptions curve_reading;
    StructureOutput structures;
    select::Parameters parameters;
    JobListOptions jobs;

    SelectOptions() {
        ensemble.select = "ca";
        structures.atoms = "all";
    }
    bool has_contacts() const { return !alignment.empty() || !contacts.empty(); }
    bool uses_score() const { return !ensemble.score.empty(); }
};

std::vector<Field> evidence_fields(SelectOptions& options) {
    std::vector<Field> all = {
        {.name = "alignment",
         .target = &options.alignment,
         .help = "Alignment of the protein's family. Couplings are fitted to it, and frames are "
                 "ranked by how many of the predicted contacts they form",
         .letter = 'a',
         .value_name = "FILE"},
        {.name = "contacts",
         .target = &options.contacts,
         .help = "Expected contacts instead of --alignment: a file in CASP's RR format, or the "
                 "folder of a 'pleat couplings' run",
         .value_name = "FILE.rr|RUN"},
        {.name = "data",
         .target = &options.curve,
         .help = "Measured scattering curve: q, intensity, error",
         .value_name = "CURVE"}};
    for (const Field& field : fields(options.curve_reading)) all.push_back(field);
    for (const Field& field : fields(options.alignment_reading))
        if (field.name == "insertions" || field.name == "record") all.push_back(field);
    return all;
}

/// All that is read before the computation.
struct SelectInput {
    Ensemble ensemble;
    std::vector<Index> superposed;  ///< atoms of the ensemble
    std::optional<Alignment> alignment;
    std::optional<PredictedContacts> contacts;
    std::optional<ProfileFile> curve;
    Notes notes;  ///< what reading said
};

std::vector<Field> structure_fields(SelectOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : fields(options.structures))
        if (field.name == "structures" || field.name == "write") chosen.push_back(field);
    return chosen;
}

std::vector<Field> result_fields(SelectOptions& options) {
    return concatenated({evidence_fields(options),
                         select::fields(options.parameters),
                         frame_fields(options.ensemble),
                         {match_field(options.ensemble)},
                         select::clustering_fields(options.parameters),
                         structure_fields(options)});
}

void check_options(const SelectOptions& options) {
    if (!options.alignment.empty() && !options.contacts.empty())
        throw UsageError("give either --alignment or --contacts, not both");
    if (!options.has_contacts() && options.curve.empty() && !options.uses_score())
        throw UsageError(
            "give --alignment, --contacts, --data or --score besides the ensemble; 'pleat cluster' "
            "needs an ensemble alone");
    for (const std::string& file : {options.alignment, options.contacts, options.curve})
        if (file == "-")
            throw UsageError("'-': give a file, since more than one stage may read it");
    select::check_weights(options.parameters, options.has_contacts(), !options.curve.empty(),
                          options.uses_score());
    if (!select::wants_cutoff(options.parameters.clustering))
        cluster::check_options(options.parameters.clustering);
}

std::vector<std::filesystem::path> ensemble_inputs(const EnsembleSource& ensemble) {
    std::vector<std::string> names = files_of(ensemble);
    for (std::string& file : score_files(ensemble)) names.push_back(std::move(file));
    if (!ensemble.topology.empty()) names.push_back(ensemble.topology);
    for (std::string& file : selection::index_files(ensemble.select))
        names.push_back(std::move(file));
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names)
        if (std::find(files.begin(), files.end(), name) == files.end()) files.emplace_back(name);
    return files;
}

CouplingsOptions couplings_stage(const SelectOptions& options, const std::string& row) {
    CouplingsOptions stage;
    stage.run = options.run;
    stage.alignment.path = options.alignment;
    stage.alignment.reading = options.alignment_reading;
    stage.structure.row = row;
    stage.parameters = select::score_parameters();
    return stage;
}

ClusterOptions clusters_stage(const SelectOptions& options, const cluster::Parameters& clustering) {
    ClusterOptions stage;
    stage.run = options.run;
    stage.ensemble = options.ensemble;
    stage.parameters = clustering;
    choose_atoms(stage);
    return stage;
}

SaxsOptions saxs_stage(const SelectOptions& options) {
    SaxsOptions stage;
    stage.run = options.run;
    stage.ensemble = options.ensemble;
    stage.ensemble.select = EnsembleSource().select;
    stage.models_are = saxs::ModelsAre::states;
    stage.data = options.curve;
    stage.curve = options.curve_reading;
    stage.parameters = select::frame_fit_parameters();
    return stage;
}

report::Table whole_table(const std::filesystem::path& path) {
    return report::read_table(path, std::numeric_limits<Index>::max());
}

/// Reads a number of the results in the manifest of a finished stage.
std::optional<double> number_among(const std::filesystem::path& folder, const std::string& name) {
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    const auto at = run.results.find(name);
    return at == run.results.end() ? std::nullopt : report::cell_number(at->second);
}

void check_frames(const std::filesystem::path& path, Index frames, std::size_t found) {
    if (static_cast<Index>(found) != frames)
        throw InputError(path.string(), 0,
                         fmt::format("expected {} frames, found {}", frames, found));
}

/// Reads the clusters of a finished `pleat cluster` stage.
select::Clusters read_clusters(const std::filesystem::path& folder, Index frames) {
    const std::filesystem::path assignment = folder / "assignment.npy";
    select::Clusters clusters{
        .assignment = read_npy(assignment).as<std::int32_t>(assignment.string()),
        .medoids = {},
        .cutoff = number_among(folder, "cutoff")};
    check_frames(assignment, frames, clusters.assignment.size());
    const std::filesystem::path table = folder / "clusters.tsv";
    for (const double medoid : whole_table(table).numbers("medoid")) {
        if (!(medoid >= 0 && medoid < static_cast<double>(frames)))
            throw InputError(table.string(), 0,
                             fmt::format("expected medoids below {}, found {}", frames, medoid));
        clusters.medoids.push_back(static_cast<Index>(medoid));
    }
    const auto count = static_cast<std::int32_t>(clusters.medoids.size());
    for (const std::int32_t cluster : clusters.assignment)
        if (cluster < -1 || cluster >= count)
            throw InputError(assignment.string(), 0,
                             fmt::format("expected clusters below {} as in clusters.tsv, found {}",
                                         count, cluster));
    return clusters;
}

/// Reads chi^2 of each frame from a finished `pleat saxs` stage.
std::vector<double> read_chi2(const std::filesystem::path& folder, Index frames) {
    if (frames == 1) {  // a run of one frame has no table of frames
        const std::optional<double> value = number_among(folder, "chi2");
        if (!value)
            throw InputError((folder / "manifest.json").string(), 0,
                             "expected chi2 of the frame, found none");
        return {*value};
    }
    const std::filesystem::path path = folder / "frames.tsv";
    std::vector<double> chi2 = whole_table(path).numbers("chi2");
    check_frames(path, frames, chi2.size());
    for (std::size_t frame = 0; frame < chi2.size(); ++frame)
        if (!std::isfinite(chi2[frame]))
            throw InputError(path.string(), static_cast<std::int64_t>(frame) + 2,
                             "expected a number as chi2, found none");
    return chi2;
}

/// Makes Coordinates from `xyz`, the coordinates of the superposed atoms of an ensemble.
Coordinates coordinates_of(const Ensemble& ensemble, const std::vector<Index>& superposed,
                           View<const float, 3> xyz) {
    Coordinates coordinates;
    coordinates.xyz = Array<float, 3>::unset(xyz.extent(0), xyz.extent(1), xyz.extent(2));
    std::copy(xyz.begin(), xyz.end(), coordinates.xyz.begin());
    coordinates.name = ensemble.files.front();
    coordinates.topology = std::make_shared<const Topology>(subset(*ensemble.topology, superposed));
    coordinates.all_atoms = ensemble.all_atoms;
    coordinates.origins = ensemble.origins;
    coordinates.files = ensemble.files;
    coordinates.labels = labels_of(ensemble);
    coordinates.is_trajectory = ensemble.is_trajectory;
    return coordinates;
}

/// The stages of a selection, run as `pleat saxs`, `cluster` and `couplings` in subfolders of its
/// folder: see RunStages. References must outlive this object.
class FolderStages final : public select::Stages {
public:
    /// `task`: the selection as a job.
    FolderStages(const SelectOptions& options, const SelectInput& read, const JobTask& task,
                 Ranks& ranks, RunDirectory& run)
        : select::Stages(options.run.names_device()),
          options_(options),
          read_(read),
          ranks_(ranks),
          stages_(options.run, task, run) {}

    std::vector<double> fit_frames(const Ensemble& ensemble, const Profile&,
                                   const Context& context) override {
        SaxsOptions own = saxs_stage(options_);
        Stage stage = stage_of("saxs", "saxs", own);
        stage.inputs.emplace_back(options_.curve);
        std::vector<double> chi2;
        const auto made = stages_.make(stage, own.run, context, [&](const JobTask& task) {
            chi2 = select::frame_chi2(
                make_profiles(own, task, ranks_,
                              {.components = std::span(&ensemble, 1), .curve = &*read_.curve})
                    .result);
        });
        return made.is_kept ? read_chi2(made.folder, ensemble.frame_count()) : chi2;
    }

    select::Clusters cluster_frames(View<const float, 3> xyz, const cluster::Parameters& parameters,
                                    const Context& context) override {
        ClusterOptions own = clusters_stage(options_, parameters);
        superposed_.name = options_.ensemble.sources.front();
        superposed_.ensemble = own.ensemble;
        superposed_.coordinates = coordinates_of(read_.ensemble, read_.superposed, xyz);
        if (own.ensemble.weights == kGmxWeights)
            superposed_.coordinates->weights =
                masses_of(*superposed_.coordinates->topology, own.ensemble.weights);
        select::Clusters clusters;
        const Stage stage = stage_of("clusters", "cluster", own);
        const auto made = stages_.make(stage, own.run, context, [&](const JobTask& task) {
            clusters = select::clusters_of(make_clusters(own, task, ranks_, &superposed_).result);
        });
        return made.is_kept ? read_clusters(made.folder, xyz.extent(0)) : clusters;
    }

    PredictedContacts fit_couplings(const Alignment& alignment, const std::string& row,
                                    const Context& context) override {
        CouplingsOptions own = couplings_stage(options_, row), usual;
        const Stage stage{.name = "couplings",
                          .command = "couplings",
                          .fields = result_fields(own),
                          .defaults = result_fields(usual),
                          .arguments = {options_.alignment},
                          .inputs = {options_.alignment}};
        std::optional<PredictedContacts> predicted;
        const auto made = stages_.make(stage, own.run, context, [&](const JobTask& task) {
            fit_family(own, task, [&](const couplings::Report& report) {
                predicted =
                    select::predicted_contacts(report.alignment, report.reference, report.pairs);
            });
        });
        return made.is_kept ? select::read_predicted(made.folder.string()) : std::move(*predicted);
    }

    /// The frames of the superposed atoms; valid after cluster_frames().
    const ClusterInput& superposed() const { return superposed_; }

private:
    /// Returns the stage of a command that reads the ensemble with the options `own`.
    template <class Options>
    Stage stage_of(const char* name, const char* command, Options& own) {
        static Options usual;
        return {.name = name,
                .command = command,
                .fields = result_fields(own),
                .defaults = result_fields(usual),
                .arguments = options_.ensemble.sources,
                .inputs = ensemble_inputs(options_.ensemble)};
    }

    const SelectOptions& options_;
    const SelectInput& read_;
    Ranks& ranks_;
    RunStages stages_;
    ClusterInput superposed_;
};

/// Reads the atoms that the selection needs: all atoms for a curve, the atoms that define contacts,
/// and the superposed atoms.
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
        medoids.push_back(result.medoids[one.cluster]);
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

/// Checks that all files can be read, since stages take long and several of them read each file.
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

/// A key that identifies the input: see SharedInputs.
std::string input_key(SelectOptions options) {
    std::string key = input_key(options.ensemble);
    for (const Field& field : evidence_fields(options)) key += '\n' + field.text();
    return key;
}

std::string make_selection(SelectOptions& options, const JobTask& task, Ranks& ranks) {
    check_options(options);
    OpenRun opened("select", options.run, result_fields(options), task, nullptr);
    auto& [context, run] = opened;
    // In a list of jobs each stage gets one of the devices; a single run has only one.
    if (task.choose_device) context.lanes.clear();
    require_one_device(context, "select");
    run.stage("read");
    check_files(options);
    record_inputs(options, run);
    match_sources(options.ensemble, {}, context);
    const auto shared = shared_input<SelectInput>(task.inputs, input_key(options),
                                                  [&] { return read_input(options); });
    const SelectInput& read = *shared;
    context.notes(read.notes);
    run.context(context);
    FolderStages stages(options, read, task, ranks, run);
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

/// The largest estimate of all stages, each with the ensemble in memory.
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

}  // namespace

Command select_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<SelectOptions> functions{
        .command = "select",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an --ensemble or a --list of ensembles",
        .input_column = "ensemble",
        .input_flag = "--ensemble",
        .joins_files = true,
        .uses_seed = true,
        .numbers = {"frames", "clusters", "selected", "cutoff", "best_frame", "first_cluster",
                    "contacts"},
        .single_rank_work = "select of one ensemble",
        .add_options =
            [](CLI::App& parser, SelectOptions& options) {
                add_texts(parser, "-e,--ensemble", options.ensemble.sources, kEnsembleFiles,
                          "ENSEMBLE ...", "Input");
                add_fields(parser, "Input", frame_fields(options.ensemble));
                add_fields(parser, "Input", {match_field(options.ensemble)});
                add_fields(parser, "Input", evidence_fields(options));
                add_job_options(parser, options.run, options.jobs, true, true);
                add_fields(parser, "Selection", select::fields(options.parameters));
                add_fields(parser, "Clustering", select::clustering_fields(options.parameters));
                add_fields(parser, "Structures", structure_fields(options));
            },
        .fields = result_fields,
        .check =
            [](const SelectOptions& options) {
                check_options(options);
                check_ensemble_job(options.ensemble);
                check_files(options);
            },
        .run = make_selection,
        .estimate = estimate_selection};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program
