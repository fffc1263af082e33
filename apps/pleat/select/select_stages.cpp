// Select stages: keeping runs that agree, and making the others.
#include "select/select_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/read_file.h"
#include "pleat/core/run/manifest.h"
#include "pleat/report/table.h"
#include "pleat/workflows/select/contacts.h"

namespace pleat::program {

namespace {

report::Table whole_table(const std::filesystem::path& path) {
    return report::read_table(path, std::numeric_limits<Index>::max());
}

/// A number from the results in the manifest of a kept run.
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

/// Reads the clusters from a kept run of `pleat cluster`.
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

/// Reads chi^2 of each frame from a kept run of `pleat saxs`.
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

/// Makes a second folder of a finished run, with hard links to its files if possible.
void copy_run(const std::filesystem::path& from, const std::filesystem::path& to) {
    namespace fs = std::filesystem;
    const fs::path partial = to.parent_path() / ".pleat-stage";
    const auto copy = [&](fs::copy_options how, std::error_code& error) {
        std::error_code ignored;
        fs::remove_all(partial, ignored);
        fs::copy(from, partial, fs::copy_options::recursive | how, error);
    };
    std::error_code error;
    copy(fs::copy_options::create_hard_links, error);
    if (error) copy(fs::copy_options::copy_symlinks, error);
    if (!error) fs::rename(partial, to, error);
    if (error)
        throw OutputError(fmt::format("{}: cannot be copied to {}: {}", from.string(), to.string(),
                                      error.message()));
}

/// The superposed atoms of an ensemble, whose coordinates are `xyz`.
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
    return coordinates;
}

/// Versions until 0.1.0 counted frames from 1, and did not record which.
bool counts_frames_otherwise(const Stage& stage, const FinishedRun& run) {
    return run.results.count("frames_count_from") == 0 &&
           std::any_of(stage.fields.begin(), stage.fields.end(), [](const Field& field) {
               return field.name == "frames" && field.text() != EnsembleSource().frames;
           });
}

}  // namespace

FolderStages::FolderStages(const SelectOptions& options, const Ensemble& ensemble,
                           const std::vector<Index>& superposed, const ProfileFile* curve,
                           const JobTask& task, Ranks& ranks, RunDirectory& run)
    : select::Stages(options.run.names_device()),
      options_(options),
      ensemble_(ensemble),
      superposed_atoms_(superposed),
      curve_(curve),
      task_(task),
      ranks_(ranks),
      run_(run),
      marker_file_(run.checkpoint("checkpoint-stages.txt")) {}

JobTask FolderStages::task_of(const Stage& stage, const Context& context) const {
    return {.arguments = call_words(stage.command, stage.arguments, stage.fields, stage.defaults,
                                    options_.run, (run_.path() / stage.name).string()),
            .shown = context.progress,
            .shares_process = task_.shares_process,
            .choose_device = task_.choose_device};
}

std::vector<double> FolderStages::fit_frames(const Ensemble& ensemble, const Profile&,
                                             const Context& context) {
    SaxsOptions own = saxs_stage(options_), usual;
    Stage stage{.name = "saxs",
                .command = "saxs",
                .fields = result_fields(own),
                .defaults = result_fields(usual),
                .arguments = options_.ensemble.sources,
                .inputs = ensemble_inputs(options_.ensemble)};
    stage.inputs.emplace_back(options_.curve);
    std::vector<double> chi2;
    const StageRun made =
        make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            chi2 = select::frame_chi2(
                make_profiles(own, task_of(stage, context), ranks_,
                              {.components = std::span(&ensemble, 1), .curve = curve_})
                    .result);
        });
    return made.is_kept ? read_chi2(made.folder, ensemble.frame_count()) : chi2;
}

select::Clusters FolderStages::cluster_frames(View<const float, 3> xyz,
                                              const cluster::Parameters& parameters,
                                              const Context& context) {
    ClusterOptions own = clusters_stage(options_, parameters), usual;
    const Stage stage{.name = "clusters",
                      .command = "cluster",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = options_.ensemble.sources,
                      .inputs = ensemble_inputs(options_.ensemble)};
    superposed_.name = options_.ensemble.sources.front();
    superposed_.ensemble = options_.ensemble;
    superposed_.coordinates = coordinates_of(ensemble_, superposed_atoms_, xyz);
    select::Clusters clusters;
    const StageRun made =
        make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            clusters = select::clusters_of(
                make_clusters(own, task_of(stage, context), ranks_, &superposed_).result);
        });
    return made.is_kept ? read_clusters(made.folder, xyz.extent(0)) : clusters;
}

PredictedContacts FolderStages::fit_couplings(const Alignment& alignment,
                                              const std::vector<std::string>& full_rows,
                                              const std::string& row, const Context& context) {
    CouplingsOptions own = couplings_stage(options_, row), usual;
    const Stage stage{.name = "couplings",
                      .command = "couplings",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = {options_.alignment},
                      .inputs = {options_.alignment}};
    std::optional<PredictedContacts> predicted;
    const StageRun made =
        make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            fit_family(own, task_of(stage, context), [&](const couplings::Report& report) {
                predicted =
                    select::predicted_contacts(report.alignment, report.reference, report.pairs);
            });
        });
    return made.is_kept ? select::read_predicted(made.folder.string()) : std::move(*predicted);
}

std::optional<FinishedRun> FolderStages::find(const Stage& stage,
                                              const std::filesystem::path& folder) const {
    const auto look = [&](const std::filesystem::path& in) {
        std::optional<FinishedRun> run =
            find_finished_run(in, stage.command, stage.fields, stage.inputs);
        if (run && run->difference.empty() && counts_frames_otherwise(stage, *run))
            run->difference = "frames counted from 1";
        return run;
    };
    const std::filesystem::path earlier = run_.replaced() / stage.name;
    std::error_code none;
    if (run_.replaced().empty() || std::filesystem::exists(folder, none)) return look(folder);
    std::optional<FinishedRun> run = look(earlier);
    if (run && run->difference.empty()) copy_run(earlier, folder);
    return run;
}

bool FolderStages::work_once(const Stage& stage, const std::filesystem::path& folder,
                             const std::function<void()>& work) {
    std::string key = stage.command;
    for (const Field& field : stage.fields) key += '\n' + field.text();
    for (const std::filesystem::path& input : stage.inputs) key += '\n' + input.string();
    bool is_own = false;
    const auto first = shared_input<std::filesystem::path>(task_.inputs, key, [&] {
        work();
        is_own = true;
        return folder;
    });
    std::error_code gone;
    if (!is_own && std::filesystem::exists(*first / "manifest.json", gone) &&
        !std::filesystem::exists(folder, gone)) {
        copy_run(*first, folder);
        return false;
    }
    if (!is_own) work();
    return true;
}

FolderStages::StageRun FolderStages::make(
    const Stage& stage, const Context& context,
    const std::function<void(const std::filesystem::path& folder, bool force)>& work) {
    const std::filesystem::path folder = run_.stage_folder(stage.name);
    const auto mark = [&] {
        write_text(marker_file_, "stages of this selection are in folders here\n");
    };
    const std::string shown = (run_.path() / stage.name).string();
    run_.stage(stage.name);
    RunDirectory::tidy(folder);
    const std::optional<FinishedRun> run = find(stage, folder);
    bool is_kept = run && run->difference.empty();
    if (is_kept) {
        context.message(fmt::format("{}: unchanged, using the existing results", shown));
    } else {
        if (run) context.message(fmt::format("{}: replaced, it has {}", shown, run->difference));
        try {
            is_kept = !work_once(stage, folder, [&] { work(folder, run.has_value()); });
        } catch (...) {
            if (std::filesystem::exists(folder)) mark();
            throw;
        }
        if (task_.stage_ended) task_.stage_ended();
    }
    mark();
    cite(folder);
    return {folder, is_kept};
}

void FolderStages::cite(const std::filesystem::path& folder) {
    const std::vector<std::uint8_t> bytes = read_file(folder / "manifest.json");
    const nlohmann::json manifest = nlohmann::json::parse(bytes, nullptr, false);
    if (!manifest.is_object() || !manifest.contains("citations")) return;
    for (const nlohmann::json& paper : manifest["citations"])
        if (paper.is_object()) run_.cite(paper.value("key", ""));
}

}  // namespace pleat::program
