// Select stages: keeping runs that agree, and making the others.
#include "select/select_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/run/manifest.h"
#include "pleat/report/run_files.h"
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
    coordinates.labels = labels_of(ensemble);
    coordinates.is_trajectory = ensemble.is_trajectory;
    return coordinates;
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
      ranks_(ranks),
      stages_(options.run, task, run) {}

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
    const RunStages::StageRun made =
        stages_.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            chi2 = select::frame_chi2(
                make_profiles(own, stages_.task_of(stage, context), ranks_,
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
    superposed_.ensemble = own.ensemble;
    superposed_.coordinates = coordinates_of(ensemble_, superposed_atoms_, xyz);
    if (own.ensemble.weights == kGmxWeights)
        superposed_.coordinates->weights =
            masses_of(*superposed_.coordinates->topology, own.ensemble.weights);
    select::Clusters clusters;
    const RunStages::StageRun made =
        stages_.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            clusters = select::clusters_of(
                make_clusters(own, stages_.task_of(stage, context), ranks_, &superposed_).result);
        });
    return made.is_kept ? read_clusters(made.folder, xyz.extent(0)) : clusters;
}

PredictedContacts FolderStages::fit_couplings(const Alignment& alignment, const std::string& row,
                                              const Context& context) {
    CouplingsOptions own = couplings_stage(options_, row), usual;
    const Stage stage{.name = "couplings",
                      .command = "couplings",
                      .fields = result_fields(own),
                      .defaults = result_fields(usual),
                      .arguments = {options_.alignment},
                      .inputs = {options_.alignment}};
    std::optional<PredictedContacts> predicted;
    const RunStages::StageRun made =
        stages_.make(stage, context, [&](const std::filesystem::path& folder, bool force) {
            own.run.output = folder.string();
            own.run.force = force;
            fit_family(own, stages_.task_of(stage, context), [&](const couplings::Report& report) {
                predicted =
                    select::predicted_contacts(report.alignment, report.reference, report.pairs);
            });
        });
    return made.is_kept ? select::read_predicted(made.folder.string()) : std::move(*predicted);
}

}  // namespace pleat::program
