// Cluster run: reading, clustering, writing.
#include "cluster/cluster_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>

#include "cluster/cluster_assign.h"
#include "cluster/cluster_input.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/cluster/estimate.h"
#include "pleat/cluster/output.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/output.h"

namespace pleat::program {

namespace {

Trajectory trajectory_of(const ClusterInput& input, const ClusterOptions& options,
                         const Context& context) {
    if (!input.coordinates) {
        Trajectory items = trajectory_of({}, {input.name}, cluster::matrix_items(input.matrix),
                                         false, "::", options.trajectory, context);
        items.files = {"NA"};  // items of a matrix come from no file of frames
        return items;
    }
    const Coordinates& frames = *input.coordinates;
    return trajectory_of(frames.origins, frames.files, frames.frames(), frames.is_trajectory,
                         input.ensemble.frames, options.trajectory, context);
}

/// The atoms and weights of the RMSDs, for --assign; nothing if distances are others.
void record_superposition(RunDirectory& run, const ClusterInput& input) {
    const bool is_rmsd = input.matrix.empty() || input.recomputes;
    if (!input.coordinates || !is_rmsd || input.is_permuted() || input.symmetry.relabel ||
        input.coordinates->chains.are_chains())
        return;
    run.fact("select", std::string_view(input.ensemble.select));
    if (!input.ensemble.weights.empty() && input.ensemble.weights != kEqualWeights)
        run.fact("atom_weights", std::string_view(input.ensemble.weights));
}

void check_symmetry(const ClusterOptions& options) {
    check_options(options.symmetry);
    if (options.ensemble.each_chain &&
        (options.symmetry.symmetry != Symmetry::none || !options.symmetry.fit.empty()))
        throw UsageError("leave --symmetry and --fit out: --each-chain superposes single chains");
    const ComparedAtoms atoms = compared_atoms(options.symmetry, options.ensemble.select, {});
    if (!atoms.in_place && atoms.differ())
        throw UsageError(
            "--fit takes none or the atoms of --select here: to measure other atoms run 'pleat "
            "rmsd', and cluster its folder");
    if (atoms.in_place && options.symmetry.has_chains())
        throw UsageError("leave --fit out: --symmetry chains measures the superposed atoms");
}

/// What the user should know of the weights by `--method gmx`.
void note_weights(const ClusterOptions& options, const ClusterInput& input,
                  const Context& context) {
    if (options.parameters.method != cluster::Method::gmx) return;
    const bool are_masses = input.ensemble.weights == kGmxWeights;
    context.note({NoteKind::weights,
                  are_masses ? "atoms are weighted by mass, as by gmx cluster -s FILE.pdb, where "
                               "heavy atoms of amino acids include hydrogens"
                             : "atoms are not weighted as by gmx cluster -s FILE.pdb",
                  are_masses ? "--atom-weights mass, as by gmx cluster -s FILE.tpr" : ""});
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

/// "9 clusters by gromos"
std::string made_by(const ClusterOptions& options, const cluster::Result& result) {
    const std::size_t clusters = result.clusters.size();
    if (options.has_assign()) {
        const auto& assignment = result.clustering.assignment;
        return fmt::format("given to {} medoid{} of {}, {} to none", clusters,
                           clusters == 1 ? "" : "s", printable(options.assign),
                           std::count(assignment.begin(), assignment.end(), cluster::kNoise));
    }
    const cluster::Method method = options.parameters.method;
    return fmt::format("{} cluster{} by {}", clusters, clusters == 1 ? "" : "s",
                       names_of(method)[static_cast<std::size_t>(method)]);
}

/// "the items are the chains A = B of 10 frames"
std::string chain_line(const ChainItems& items) {
    if (!items.are_chains()) return {};
    return fmt::format("the items are the chains {} of {} frames: chains.tsv, combinations.tsv\n",
                       printable(fmt::format("{}", fmt::join(items.names, " = "))), items.frames);
}

std::string summary(const ClusterOptions& options, const cluster::Result& result,
                    const std::string& symmetry, const std::string& folder) {
    constexpr std::size_t kListed = 10;
    const auto items = result.clustering.assignment.size();
    std::string text = fmt::format(
        "{}{}: {} items, {}\n", printable(options.ensemble.sources.front()),
        options.ensemble.sources.size() > 1 ? " and more" : "", items, made_by(options, result));
    text += symmetry;
    if (!std::isnan(result.silhouette))
        text += fmt::format("mean silhouette {:.4f}\n", result.silhouette);
    if (!result.clusters.empty())
        text += fmt::format("\n{:>8}{:>9}{:>8}{:>9}{:>9}{:>9}\n", "cluster", "size", "share",
                            "medoid", "mean", "radius");
    for (std::size_t c = 0; c < std::min(kListed, result.clusters.size()); ++c) {
        const cluster::ClusterDescription& one = result.clusters[c];
        text += fmt::format("{:>8}{:>9}{:>8.4f}", c, one.size,
                            static_cast<double>(one.size) / static_cast<double>(items));
        text += one.size > 0
                    ? fmt::format("{:>9}{:>9.4f}{:>9.4f}\n", one.medoid, one.mean, one.radius)
                    : fmt::format("{:>9}{:>9}{:>9}\n", "NA", "NA", "NA");
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
    if (options.parameters.method != cluster::Method::gmx || options.has_assign()) return;
    EnsembleSource& ensemble = options.ensemble;
    const bool is_of_frames =
        !job_files(options).empty() && !cluster::is_matrix_file(ensemble.sources.front());
    if (ensemble.weights.empty() && is_of_frames && format_without_names(ensemble) != "NPY")
        ensemble.weights = kGmxWeights;
}

Field each_chain_field(ClusterOptions& options) {
    return {.name = "each-chain",
            .target = &options.ensemble.each_chain,
            .help =
                "Cluster the equal chains of all frames, each as a structure of its own: "
                "which shapes the chains take, and which frames combine which of them"};
}

std::vector<Field> precision_field(ClusterOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : rmsd::fields(options.superposition))
        if (field.name == "precision") chosen.push_back(field);
    return chosen;
}

std::vector<Field> result_fields(ClusterOptions& options) {
    return concatenated({cluster::fields(options.parameters),
                         precision_field(options),
                         fields(options.ensemble),
                         fields(options.symmetry),
                         fields(options.trajectory),
                         fields(options.structures),
                         {assign_field(options), each_chain_field(options)}});
}

std::vector<std::string> job_files(const ClusterOptions& options) {
    std::error_code ignored;
    const std::filesystem::path first = options.ensemble.sources.front();
    if (std::filesystem::exists(first / "manifest.json", ignored)) return {};
    std::vector<std::string> files = files_of(options.ensemble);
    if (options.has_assign())
        for (const std::string& file : medoid_files(options.assign)) files.push_back(file);
    return files;
}

void check_job(const ClusterOptions& options) {
    if (options.has_assign()) {
        check_assign_options(options);
        check_ensemble_job(options.ensemble);
        return;
    }
    cluster::check_options(options.parameters);
    check_options(options.structures);
    check_symmetry(options);
    if (!job_files(options).empty()) check_ensemble_job(options.ensemble);
}

namespace {

ClusterOutcome make_assignment(ClusterOptions& options, const JobTask& task, Ranks& ranks) {
    check_assign_options(options);
    Context context = make_context(options.run, ranks);
    if (!options.run.names_device()) context.device = {Device::Kind::cpu, 0};
    options.ensemble.inputs = task.inputs;
    std::optional<RunDirectory> run;
    ranks.lead([&] {
        run.emplace(run_request("cluster", options.run, task));
        run->parameters(assign_result_fields(options));
    });
    context.progress = run ? &run->watch(task.shown) : task.shown;
    if (!ranks.advice().empty()) context.message(ranks.advice());
    ranks.lead([&] {
        run->context(context);
        run->stage("assign");
    });
    AssignedFrames assigned = assign_frames(options, run ? &*run : nullptr, ranks, context);
    cluster::Result& result = assigned.result;
    if (task.computed) task.computed();
    std::string text;
    ranks.lead([&] {
        run->stage("write");
        for (const std::string_view key : rmsd::citations()) run->cite(key);
        cluster::write_results(*run, result, options.parameters, assigned.trajectory.lengths());
        write_trajectory(*run, result.clustering.assignment, assigned.trajectory,
                         options.trajectory);
        std::vector<Index> all(result.clusters.size());
        std::iota(all.begin(), all.end(), 0);
        write_frames(*run, "medoids", assigned.medoids, all, options.structures, context);
        cluster::record_facts(*run, result);
        record_superposition(*run, assigned.medoids);
        run->finish();
        text = summary(options, result, "", run->path().string());
    });
    return {std::move(result), std::move(text)};
}

void open_run(ClusterOptions& options, const JobTask& task, Context& context,
              std::optional<RunDirectory>& run) {
    run.emplace(run_request("cluster", options.run, task));
    run->parameters(result_fields(options));
    context.checkpoint = run->checkpoint("checkpoint.npz");
    for (const std::string& name :
         cluster::checkpoint_names(options.parameters, context.checkpoint))
        run->checkpoint(name);
}

}  // namespace

ClusterOutcome make_clusters(ClusterOptions& options, const JobTask& task, Ranks& ranks,
                             ClusterInput* read) {
    if (options.has_assign()) return make_assignment(options, task, ranks);
    choose_atoms(options);
    cluster::check_options(options.parameters);
    check_options(options.structures);
    check_symmetry(options);
    Context context = make_context(options.run, ranks);
    // If the user names no device, a GPU is started later, and only if one is needed.
    std::jthread device_start;
    if (options.run.names_device() && !task.choose_device)
        device_start = start_device(options.run, context, true);
    options.ensemble.inputs = task.inputs;
    std::optional<RunDirectory> run;
    ranks.lead([&] { open_run(options, task, context, run); });
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
    if (run) note_weights(options, input, context);
    if (run) run->stage("device");
    choose_device(input, options.parameters, options.run, task, ranks, context);
    if (run) run->stage("prepare");
    Trajectory trajectory;
    ranks.lead([&] {
        trajectory = trajectory_of(input, options, context);
        check_structures(input, options.structures, *run);
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
        const Coordinates none;
        const Coordinates& items = input.coordinates ? *input.coordinates : none;
        cluster::write_results(*run, result, options.parameters, trajectory.lengths(),
                               items.labels.scores, items.chains);
        write_trajectory(*run, result.clustering.assignment, trajectory, options.trajectory);
        if (input.coordinates) write_frames(*run, *input.coordinates, result.clustering.assignment);
        write_structures(*run, input, result, options.structures, context);
        cluster::record_facts(*run, result);
        record_superposition(*run, input);
        rmsd::AtomSets sets;
        sets.equal_chains = input.chains;
        sets.equal_orders = input.orders;
        sets.in_place = input.in_place;
        if (!input.chains.empty()) run->fact("permutations", rmsd::permutation_count(sets));
        if (input.symmetry.symmetry == Symmetry::ligand)
            run->fact("automorphisms", rmsd::order_count(sets));
        if (items.chains.are_chains()) run->fact("frames", items.chains.frames);
        text = summary(options, result,
                       symmetry_lines(input.symmetry, sets) + chain_line(items.chains),
                       run->path().string());
        run->finish();
    });
    return {std::move(result), std::move(text)};
}

}  // namespace pleat::program
