// Cluster run: reading, clustering, writing.
#include "cluster/cluster_run.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <thread>

#include "cluster/cluster_input.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/cluster/output.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/printable.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/output.h"

namespace pleat::program {

namespace {

/// The file of each frame: steps from one file to the next are no transitions.
std::vector<Index> series_of(const ClusterInput& input) {
    std::vector<Index> series;
    if (input.coordinates)
        for (const FrameOrigin& origin : input.coordinates->origins) series.push_back(origin.file);
    return series;
}

void record_result(RunDirectory& run, const cluster::Result& result) {
    const cluster::SweepPoint* chosen = nullptr;
    for (const cluster::SweepPoint& point : result.sweep)
        if (chosen == nullptr || point.silhouette > chosen->silhouette ||
            (std::isnan(chosen->silhouette) && !std::isnan(point.silhouette)))
            chosen = &point;
    std::int64_t noise = 0;
    for (const std::int32_t cluster : result.clustering.assignment) noise += cluster < 0;
    run.fact("frames_count_from", std::int64_t{0});  // versions until 0.1.0 counted from 1
    run.fact("items", static_cast<std::int64_t>(result.clustering.assignment.size()));
    run.fact("clusters", static_cast<std::int64_t>(result.clusters.size()));
    run.fact("largest", result.clusters.empty() ? std::int64_t{0} : result.clusters.front().size);
    run.fact("noise", noise);
    if (!std::isnan(result.cutoff)) run.fact("cutoff", result.cutoff);
    if (chosen != nullptr) run.fact("chosen", chosen->value);
    if (!std::isnan(result.silhouette)) run.fact("silhouette", result.silhouette);
    run.fact("pairs", result.statistics.pairs());
    run.fact("min", result.statistics.min());
    run.fact("mean", result.statistics.mean());
    run.fact("max", result.statistics.max());
}

void check_symmetry(const ClusterOptions& options) {
    check_options(options.symmetry, options.run);
    const ComparedAtoms atoms = compared_atoms(options.symmetry, options.ensemble.select, {});
    if (!atoms.in_place && atoms.differ())
        throw UsageError(
            "--fit takes none or the atoms of --select here: to measure other atoms run 'pleat "
            "rmsd', and cluster its folder");
    if (atoms.in_place && options.symmetry.has_chains())
        throw UsageError("leave --fit out: --symmetry chains measures the superposed atoms");
}

/// Refuses pipes if other atoms are written than superposed, since they are read a second time.
void check_pipes(const ClusterOptions& options) {
    const EnsembleSource& ensemble = options.ensemble;
    const std::string& atoms = options.structures.atoms;
    if (atoms.empty() || atoms == ensemble.select) return;
    constexpr const char* kReason = "--write reads the frames a second time";
    refuse_ensemble_pipes(ensemble.sources, kReason);
    refuse_pipes({ensemble.topology}, kReason);
}

std::string_view name_of(cluster::Method method) {
    return names_of(method)[static_cast<std::size_t>(method)];
}

std::string summary(const ClusterOptions& options, const cluster::Result& result,
                    const std::string& symmetry, const std::string& folder) {
    constexpr std::size_t kListed = 10;
    const auto items = result.clustering.assignment.size();
    std::string text = fmt::format("{}{}: {} items, {} clusters by {}\n",
                                   printable(options.ensemble.sources.front()),
                                   options.ensemble.sources.size() > 1 ? " and more" : "", items,
                                   result.clusters.size(), name_of(options.parameters.method));
    text += symmetry;
    if (!std::isnan(result.silhouette))
        text += fmt::format("mean silhouette {:.4f}\n", result.silhouette);
    if (!result.clusters.empty())
        text += fmt::format("\n{:>8}{:>9}{:>8}{:>9}{:>9}{:>9}\n", "cluster", "size", "share",
                            "medoid", "mean", "radius");
    for (std::size_t c = 0; c < std::min(kListed, result.clusters.size()); ++c) {
        const cluster::ClusterDescription& one = result.clusters[c];
        text += fmt::format("{:>8}{:>9}{:>8.4f}{:>9}{:>9.4f}{:>9.4f}\n", c, one.size,
                            static_cast<double>(one.size) / static_cast<double>(items), one.medoid,
                            one.mean, one.radius);
    }
    if (result.clusters.size() > kListed)
        text += fmt::format("and {} more in clusters.tsv\n", result.clusters.size() - kListed);
    return text +
           fmt::format("\nThe run is in {}: assignment.npy, clusters.tsv, manifest.json and more\n",
                       printable(folder));
}

}  // namespace

void choose_atoms(ClusterOptions& options) {
    std::string& select = options.ensemble.select;
    if (options.symmetry.symmetry == Symmetry::ligand && select == EnsembleSource().select)
        select = "heavy";
}

std::vector<Field> precision_field(ClusterOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : rmsd::fields(options.superposition))
        if (field.name == "precision") chosen.push_back(field);
    return chosen;
}

std::vector<Field> result_fields(ClusterOptions& options) {
    std::vector<Field> all = cluster::fields(options.parameters);
    for (const std::vector<Field>& more : {precision_field(options), fields(options.ensemble),
                                           fields(options.symmetry), fields(options.structures)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::vector<std::string> job_files(const ClusterOptions& options) {
    std::error_code ignored;
    const std::filesystem::path first = options.ensemble.sources.front();
    if (std::filesystem::exists(first / "manifest.json", ignored)) return {};
    return files_of(options.ensemble);
}

void check_job(const ClusterOptions& options) {
    cluster::check_options(options.parameters);
    check_options(options.structures);
    check_symmetry(options);
    if (!job_files(options).empty()) check_ensemble_job(options.ensemble);
}

ClusterOutcome make_clusters(ClusterOptions& options, const JobTask& task, Ranks& ranks,
                             ClusterInput* read) {
    choose_atoms(options);
    cluster::check_options(options.parameters);
    check_options(options.structures);
    check_symmetry(options);
    Context context = make_context(options.run, ranks);
    // If the user names no device, a GPU is started later, and only if it is needed: a matrix needs
    // none.
    std::jthread device_start;
    if (options.run.names_device() && !task.choose_device)
        device_start = start_device(options.run, context, true);
    options.ensemble.inputs = task.inputs;
    std::optional<RunDirectory> run;
    ranks.lead([&] {
        run.emplace(RunDirectory::Request{.path = options.run.output,
                                          .command = "cluster",
                                          .arguments = task.arguments,
                                          .force = options.run.force,
                                          .shares_process = task.shares_process});
        run->parameters(result_fields(options));
        context.checkpoint = run->checkpoint("checkpoint.npz");
        for (const std::string& name :
             cluster::checkpoint_names(options.parameters, context.checkpoint))
            run->checkpoint(name);
    });
    ranks.share(context.checkpoint);
    context.progress = run ? &run->watch(task.shown) : task.shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());
    ClusterInput own;
    ClusterInput& input = read == nullptr ? own : *read;
    ranks.lead([&] {
        run->stage("read");
        check_pipes(options);
        if (read == nullptr)
            own = read_cluster_input(options.ensemble, options.superposition, options.symmetry,
                                     *run, context);
        else
            record_ensemble(options.ensemble, read->coordinates->files, *run,
                            !options.ensemble.topology.empty());
    });
    share(input, ranks);
    choose_device(input, options.parameters, options.run, task, ranks, context);
    ranks.lead([&] {
        check_structures(input, options.structures);
        run->context(context);
    });
    if (options.run.verbose && !input.remark.empty()) context.message(input.remark);
    cluster::Result result = first_of_lanes(context, [&](const Context& lane) {
        const std::unique_ptr<PairSource> distances = distances_of(input, lane);
        return cluster::run(*distances, options.parameters, lane,
                            input.known ? &*input.known : nullptr);
    });
    if (task.computed) task.computed();
    std::string text;
    ranks.lead([&] {
        run->stage("write");
        for (const std::string_view key :
             cluster::citations(options.parameters.method, !std::isnan(result.silhouette)))
            run->cite(key);
        if (input.coordinates)
            for (const std::string_view key : rmsd::citations()) run->cite(key);
        cluster::write_results(
            *run, result, options.parameters, series_of(input),
            input.coordinates ? input.coordinates->labels.scores : FrameScores());
        if (input.coordinates) write_frames(*run, *input.coordinates, result.clustering.assignment);
        write_structures(*run, input, result, options.structures, context);
        record_result(*run, result);
        rmsd::AtomSets sets;
        sets.equal_chains = input.chains;
        sets.equal_orders = input.orders;
        sets.in_place = input.in_place;
        if (!input.chains.empty()) run->fact("permutations", rmsd::permutation_count(sets));
        if (input.symmetry.symmetry == Symmetry::ligand)
            run->fact("automorphisms", rmsd::order_count(sets));
        run->finish();
        text = summary(options, result, symmetry_lines(input.symmetry, sets), run->path().string());
    });
    return {std::move(result), std::move(text)};
}

}  // namespace pleat::program
