// Cluster input: detecting which of three kinds the input is, and superposing if there is no
// matrix.
#include "cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "pleat/bio/selection/selection.h"
#include "pleat/cluster/estimate.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/text.h"
#include "pleat/core/run/manifest.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/measures/permutations.h"
#include "pleat/rmsd/pairs/frame_pairs.h"

namespace pleat::cluster {

/// Packs the data of an earlier run's pairs that clustering needs.
static void members(Packer& pack, KnownPairs& known) {
    pack(known.starts, known.indices, known.values, known.cutoff, known.statistics);
}

}  // namespace pleat::cluster

namespace pleat::program {

namespace {

EnsembleSource source_of(const EarlierRun& earlier) {
    EnsembleSource source;
    // Treats the paths as files, even if one begins with @ like the name of a list.
    for (const std::string& file : earlier.sources)
        source.sources.push_back(file.starts_with('@') ? "./" + file : file);
    source.topology = text_parameter(earlier, "topology");
    source.assembly = text_parameter(earlier, "assembly");
    source.select = text_parameter(earlier, "select");
    source.frames = text_parameter(earlier, "frames");
    source.weights = text_parameter(earlier, "atom-weights");
    const auto truncated = earlier.parameters.find("truncated");
    source.truncated = truncated != earlier.parameters.end() && truncated->second == "true";
    restore_score_options(earlier, source);
    Choice(&source.pbc).set(text_parameter(earlier, "pbc"));
    Choice(&source.match).set(text_parameter(earlier, "match"));
    // Structures are superposed by the atoms that the earlier run fitted.
    if (const std::string fit = text_parameter(earlier, "fit"); !fit.empty() && fit != kNoFit)
        source.select = fit;
    if (source.select.empty()) source.select = "all";
    return source;
}

std::string obstacle(const EarlierRun& earlier) {
    if (earlier.sources.empty()) return "expected the files of its ensemble, found none listed";
    for (std::size_t n = 0; n < earlier.input_paths.size(); ++n) {
        const std::string& path = earlier.input_paths[n];
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error))
            return fmt::format("expected its input '{}', found none", path);
        if (hash_input(path).sha256 != earlier.input_hashes[n])
            return fmt::format("expected its input '{}' unchanged, found other content", path);
    }
    return {};
}

bool has_other_atoms(const EarlierRun& earlier) {
    const std::string fit = text_parameter(earlier, "fit");
    return !text_parameter(earlier, "measure").empty() ||
           (!fit.empty() && fit != kNoFit && fit != text_parameter(earlier, "select"));
}

rmsd::Metric metric_of(const EarlierRun& earlier, const std::string& folder) {
    const std::string name = text_parameter(earlier, "metric");
    const rmsd::Metric metric = name.empty() ? rmsd::Metric::rmsd : rmsd::metric_named(name);
    rmsd::require_distances(metric, folder);
    for (const char* option : {"against", "reference"})
        if (!text_parameter(earlier, option).empty())
            throw InputError(
                folder, 0,
                fmt::format("expected a run of all pairs of one set, found one with '{}'", option));
    return metric;
}

rmsd::FitPrecision precision_of(const EarlierRun& earlier) {
    return text_parameter(earlier, "precision") == "float64" ? rmsd::FitPrecision::float64
                                                             : rmsd::FitPrecision::mixed;
}

double number_of(const std::map<std::string, std::string>& values, const std::string& name) {
    const auto at = values.find(name);
    double number = std::numeric_limits<double>::quiet_NaN();
    if (at != values.end()) parse_number(at->second, number);
    return number;
}

SymmetryOptions symmetry_of(const EarlierRun& earlier) {
    SymmetryOptions symmetry;
    Choice(&symmetry.symmetry).set(text_parameter(earlier, "symmetry"));
    symmetry.fit = text_parameter(earlier, "fit");
    const auto relabel = earlier.parameters.find("relabel");
    symmetry.relabel = relabel != earlier.parameters.end() && relabel->second == "true";
    return symmetry;
}

void refuse_other_command(const EarlierRun& earlier, const std::string& folder) {
    if (earlier.command != "rmsd")
        throw InputError(folder, 0,
                         fmt::format("expected a run of 'pleat rmsd', found one of 'pleat {}'",
                                     earlier.command));
}

Index whole_number(const std::map<std::string, std::string>& values, const std::string& name) {
    const double number = number_of(values, name);
    return std::isfinite(number) ? static_cast<Index>(number) : 0;
}

/// Memory per frame of a method that compares frames with one at a time, besides coordinates.
constexpr std::int64_t kRowBytes = 100;

bool on_gpu(const Context& context) { return context.device.kind == Device::Kind::cuda; }

rmsd::ComparedSizes compared_sizes(Index frames, Index atoms, const rmsd::AtomSets& sets) {
    const bool is_permuted = !sets.are_plain();
    return {.frames = frames,
            .atoms = atoms,
            .has_sets = is_permuted,
            .pair_seconds = is_permuted ? rmsd::permuted_seconds(sets, atoms) : 0};
}

/// Memory demand of one of several jobs; on a GPU it includes that of finding the clusters if the
/// GPU does this.
JobDemand demand_of(Index frames, Index atoms, const cluster::Parameters& parameters,
                    const rmsd::Parameters& superposition, const rmsd::AtomSets& sets = {}) {
    const auto estimate = [=](const Context& context) {
        return estimate_superposing({.frames = frames, .atoms = atoms}, parameters, superposition,
                                    context, sets);
    };
    Context on_cuda;
    on_cuda.device = {Device::Kind::cuda, 0};
    return {.gpu_bytes = estimate(on_cuda).gpu_bytes, .estimate = estimate};
}

/// Throws InputError unless the frames read again match those of the earlier run. If that run
/// measured other atoms than it superposed, its number of atoms is not checked.
void check_size(const ClusterInput& input, const EarlierRun& earlier) {
    const auto check = [&](const char* what, Index found) {
        const auto recorded = earlier.results.find(what);
        const std::string expected = recorded == earlier.results.end() ? "none" : recorded->second;
        if (expected != std::to_string(found))
            throw InputError(
                input.name, 0,
                fmt::format("expected the {} {} that it recorded, found {} in its ensemble; "
                            "name the ensemble itself",
                            expected, what, found));
    };
    check("frames", input.coordinates->frames());
    if (!has_other_atoms(earlier)) check("atoms", input.coordinates->atoms());
}

/// Throws UsageError for options on reading an ensemble if a finished run has compared it.
void refuse_ensemble_options(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                             std::string_view kind) {
    const EnsembleSource plain;
    if (ensemble.topology != plain.topology || ensemble.assembly != plain.assembly ||
        ensemble.select != plain.select || ensemble.frames != plain.frames ||
        ensemble.weights != plain.weights || ensemble.truncated || has_scores(ensemble) ||
        ensemble.each_chain || ensemble.pbc != plain.pbc || ensemble.match != plain.match ||
        parameters.precision != rmsd::Parameters().precision)
        throw UsageError(fmt::format(
            "leave --topology, --assembly, --select, --frames, --truncated, --pbc, --match, "
            "--atom-weights, --each-chain, scores and also --precision out: '{}' is {}",
            ensemble.sources.front(), kind));
}

void refuse_symmetry(const SymmetryOptions& symmetry, const std::string& name,
                     std::string_view kind) {
    if (symmetry.symmetry != Symmetry::none || !symmetry.fit.empty())
        throw UsageError(fmt::format("leave --symmetry and --fit out: '{}' is {}", name, kind));
}

/// Reuses the neighbours below the cutoff if the earlier run stored them.
void read_neighbours(ClusterInput& input, const EarlierRun& earlier, RunDirectory& run,
                     const Context& context) {
    const std::filesystem::path folder = input.name, list = folder / "neighbours.npz";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(list, ignored)) return;
    input.known = rmsd::read_known_pairs(
        folder, input.coordinates->frames(), number_of(earlier.parameters, "bin-width"),
        number_of(earlier.results, "min"), number_of(earlier.results, "mean"),
        number_of(earlier.results, "max"));
    record_input(list, run);
    context.message(
        fmt::format("{}: lists the pairs below {:g} angstrom, for gromos, gmx and "
                    "dbscan with a cutoff up to this one",
                    list.string(), input.known->cutoff));
}

/// Reads the frames to compare: into memory or, if they do not fit and are superposed as named,
/// without symmetry, to the disk.
Coordinates read_superposed(const ClusterInput& input, RunDirectory& run, const Context& context) {
    const EnsembleSource& ensemble = input.ensemble;
    if (input.symmetry.symmetry != Symmetry::none || ensemble.in_place || ensemble.each_chain)
        return read_coordinates(ensemble, run, context);
    return read_coordinates(ensemble, run, context, nullptr, [&](Index frames, Index atoms) {
        return input.by_rows ? kRowBytes * frames
                             : rmsd::memory_needed(frames, atoms, input.superposition,
                                                   {Device::Kind::cpu, 0});
    });
}

/// Finds interchangeable atoms and chains and, with --relabel, gives all frames a consistent
/// labelling.
void find_symmetry(ClusterInput& input, const Context& context) {
    input.in_place = input.ensemble.in_place;
    const Topology& all = *input.coordinates->all_atoms;
    rmsd::FoundSymmetry found = find_symmetry(
        input.symmetry, all, select_atoms(all, input.ensemble.select), input.sets(), context);
    input.orders = std::move(found.equal_orders);
    input.chains = std::move(found.equal_chains);
    rmsd::AtomSets sets = input.sets();
    sets.equal_chains = input.chains;
    rmsd::check(sets, input.coordinates->atoms());
    if (input.symmetry.relabel)
        relabel(input.symmetry, input.coordinates->xyz, input.coordinates->xyz[0],
                "the first frame", sets, context);
}

void read_run(ClusterInput& input, const EarlierRun& earlier, RunDirectory& run,
              const Context& context) {
    const rmsd::Metric metric = metric_of(earlier, input.name);
    const std::filesystem::path matrix =
        std::filesystem::path(input.name) / fmt::format("{}.npy", rmsd::traits_of(metric).name);
    if (earlier.status != "finished")
        throw InputError(
            input.name, 0,
            fmt::format("expected a finished run, found one that is {}", earlier.status));
    std::error_code error;
    const bool has_matrix = std::filesystem::is_regular_file(matrix, error);
    const bool is_superposed = metric == rmsd::Metric::rmsd && !has_other_atoms(earlier);
    if (has_matrix) {
        input.matrix = matrix;
        record_input(matrix, run);
    }
    if (!has_matrix && !is_superposed)
        throw InputError(
            input.name, 0,
            fmt::format("expected {}, found none; only superposed atoms are measured again",
                        matrix.filename().string()));
    if (const std::string text = obstacle(earlier); !text.empty()) {
        if (!has_matrix)
            throw InputError(input.name, 0, fmt::format("{}; name the ensemble itself", text));
        context.message(fmt::format("{}: no structures are written: {}", input.name, text));
        return;
    }
    input.ensemble = source_of(earlier);
    match_sources(input.ensemble, {}, context);
    input.superposition.precision = precision_of(earlier);
    input.symmetry = symmetry_of(earlier);
    input.ensemble.in_place =
        compared_atoms(input.symmetry, input.ensemble.select, text_parameter(earlier, "measure"))
            .in_place;
    // Atoms that are only measured do not affect the superposition.
    if (has_other_atoms(earlier)) input.symmetry.symmetry = Symmetry::none;
    input.coordinates = has_matrix ? read_coordinates(input.ensemble, run, context)
                                   : read_superposed(input, run, context);
    check_size(input, earlier);
    find_symmetry(input, context);
    input.recomputes_near_cutoffs = has_matrix && is_superposed && !input.is_permuted();
    if (!has_matrix) read_neighbours(input, earlier, run, context);
}

/// Chooses the device for frames in place or over permutations; the CPU finds their clusters.
void choose_permuting_device(ClusterInput& input, const cluster::Parameters& parameters,
                             const RunOptions& options, const JobTask& task, Ranks& ranks,
                             Context& context) {
    const Index frames = input.coordinates->frames(), atoms = input.coordinates->atoms();
    const rmsd::AtomSets sets = input.sets();
    const std::optional<GpuDemand> demand =
        rmsd::gpu_demand(compared_sizes(frames, atoms, sets), sets, input.superposition);
    if (task.choose_device && demand) {
        input.remark = task.choose_device(
            demand_of(frames, atoms, parameters, input.superposition, sets), context);
    } else if (demand) {
        input.remark = choose_device(options, GpuDemand{demand->bytes}, ranks, context);
    } else {
        const bool is_named = options.names_device();
        if (!is_named) context.device = {Device::Kind::cpu, 0};
        input.remark =
            is_named ? fmt::format("device {}, as asked for", context.device.name())
                     : "device cpu: little work for a GPU, or more permutations than it tries";
    }
}

}  // namespace

Estimate estimate_superposing(const EnsembleSize& size, const cluster::Parameters& parameters,
                              const rmsd::Parameters& superposition, const Context& context,
                              const rmsd::AtomSets& sets) {
    const bool is_permuted = !sets.are_plain();
    rmsd::Parameters pairs = superposition;
    pairs.matrix = rmsd::MatrixLayout::none;
    if (parameters.method == cluster::Method::kcenters && !is_permuted) {
        // Measured: most of it is reading and centring a frame.
        const double seconds =
            (40e-9 + 6e-9 * static_cast<double>(size.atoms)) / resolve_threads(context);
        Estimate rows =
            cluster::estimate(size.frames, {.pair_seconds = seconds}, parameters, context);
        rows.host_bytes += kRowBytes * size.frames + 24 * size.frames * size.atoms;
        return rows;
    }
    const Estimate superposing =
        rmsd::estimate(compared_sizes(size.frames, size.atoms, sets), pairs, context, sets);
    const double count =
        std::max(1.0, static_cast<double>(size.frames) * static_cast<double>(size.frames - 1) / 2);
    const bool reduces = on_gpu(context) && !is_permuted &&
                         parameters.method == cluster::Method::gromos &&
                         !cluster::keeps_pairs(size.frames, false);
    Estimate all = cluster::estimate(
        size.frames, {.reduces = reduces, .pair_seconds = superposing.seconds / count}, parameters,
        context);
    all.host_bytes += superposing.host_bytes;
    if (!on_gpu(context)) return all;
    all.gpu_bytes = all.min_gpu_bytes =
        reduces ? rmsd::gromos_gpu_memory(size.frames, size.atoms, pairs) : superposing.gpu_bytes;
    return all;
}

ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const SymmetryOptions& symmetry, bool by_rows, RunDirectory& run,
                                const Context& context) {
    ClusterInput input;
    input.name = ensemble.sources.front();
    input.ensemble = ensemble;
    input.superposition = parameters;
    input.by_rows = by_rows;
    if (ensemble.sources.size() == 1) {
        const EarlierRun earlier =
            read_earlier_run(std::filesystem::path(input.name) / "manifest.json");
        if (earlier.is_ours) {
            refuse_other_command(earlier, input.name);
            refuse_ensemble_options(ensemble, parameters, "a finished run");
            refuse_symmetry(symmetry, input.name, "a finished run");
            read_run(input, earlier, run, context);
            return input;
        }
        if (cluster::is_matrix_file(input.name)) {
            refuse_ensemble_options(ensemble, parameters, "a matrix");
            refuse_symmetry(symmetry, input.name, "a matrix");
            input.matrix = input.name;
            record_input(input.name, run);
            return input;
        }
    }
    input.symmetry = symmetry;
    match_sources(input.ensemble, {}, context);
    input.ensemble.in_place = compared_atoms(symmetry, ensemble.select, {}).in_place;
    input.coordinates = read_superposed(input, run, context);
    find_symmetry(input, context);
    return input;
}

RunEstimate estimate_clustering(const EnsembleSource& ensemble,
                                const cluster::Parameters& parameters,
                                const rmsd::Parameters& superposition,
                                const SymmetryOptions& symmetry, std::int64_t written) {
    const std::filesystem::path first = ensemble.sources.front();
    std::filesystem::path matrix;
    EnsembleSize size;
    if (ensemble.sources.size() == 1) {
        const EarlierRun earlier = read_earlier_run(first / "manifest.json");
        if (earlier.is_ours) {
            refuse_other_command(earlier, first.string());
            const rmsd::Metric metric = metric_of(earlier, first.string());
            matrix = first / fmt::format("{}.npy", rmsd::traits_of(metric).name);
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(matrix, ignored)) matrix.clear();
            size = {.frames = whole_number(earlier.results, "frames"),
                    .atoms = whole_number(earlier.results, "atoms")};
        } else if (cluster::is_matrix_file(first)) {
            matrix = first;
            size.frames = cluster::matrix_items(first);
        }
    }
    rmsd::AtomSets sets;
    if (size.frames == 0) {
        EnsembleSource matched = ensemble;
        match_sources(matched, {}, {});
        size = measure_ensemble(matched);
        if (ensemble.each_chain) {
            const EqualChains chains = only_equal_chains(
                subset(*size.all_atoms, select_atoms(*size.all_atoms, ensemble.select)));
            size.frames *= static_cast<Index>(chains.names.size());
            size.atoms = static_cast<Index>(chains.atoms.front().size());
        }
        sets.in_place = compared_atoms(symmetry, ensemble.select, {}).in_place;
        rmsd::FoundSymmetry found = find_symmetry(
            symmetry, *size.all_atoms, select_atoms(*size.all_atoms, ensemble.select), sets, {});
        if (symmetry.permutes_each_pair()) {
            sets.equal_chains = std::move(found.equal_chains);
            sets.equal_orders = std::move(found.equal_orders);
        }
    }
    const bool is_stored = !matrix.empty();
    return {.input = is_stored ? fmt::format("{} items in {}", size.frames, matrix.string())
                               : fmt::format("{} frames, {} atoms", size.frames, size.atoms),
            .may_use_gpu = !is_stored && parameters.method != cluster::Method::kcenters &&
                           (sets.are_plain() || rmsd::can_try_all(sets)),
            .on = [=](const Context& context) {
                Estimate all =
                    is_stored
                        ? cluster::estimate(size.frames, {.is_stored = true}, parameters, context)
                        : estimate_superposing(size, parameters, superposition, context, sets);
                // Writing structures also needs the frames of the finished run.
                if (is_stored) all.host_bytes += 36 * size.frames * size.atoms;
                all.disk_bytes = written * size.frames * size.atoms;
                return all;
            }};
}

void choose_device(ClusterInput& input, const cluster::Parameters& parameters,
                   const RunOptions& options, const JobTask& task, Ranks& ranks, Context& context) {
    if (!input.matrix.empty()) return;
    const Coordinates& frames = *input.coordinates;
    if (input.is_permuted())
        return choose_permuting_device(input, parameters, options, task, ranks, context);
    // A GPU that finds neighbours compares all frames, and cannot hold them in float64 if they are
    // on disk. With several processes, GPUs only superpose.
    const bool is_held =
        !frames.on_disk.is_on_disk() || input.superposition.precision == rmsd::FitPrecision::mixed;
    const bool is_gromos = parameters.method == cluster::Method::gromos && is_held &&
                           (context.lanes.empty() || ranks.size() == 1);
    if (input.by_rows) {
        if (!options.names_device()) context.device = {Device::Kind::cpu, 0};
        input.remark = fmt::format("device {}: kcenters superposes on CPUs", context.device.name());
    } else if (task.choose_device) {
        input.remark = task.choose_device(
            demand_of(frames.frames(), frames.atoms(), parameters, input.superposition), context);
        input.reduces =
            rmsd::choose_clustering_device(frames.frames(), frames.atoms(), input.superposition,
                                           is_gromos, true, context)
                .reduces;
    } else if (ranks.size() > 1 && !options.names_device()) {
        const std::int64_t bytes = rmsd::memory_needed(
            frames.frames(), frames.atoms(), input.superposition, {Device::Kind::cuda, 0});
        input.remark = choose_device(options, GpuDemand{bytes}, ranks, context);
    } else {
        rmsd::ClusteringDevice device =
            rmsd::choose_clustering_gpus(frames.frames(), frames.atoms(), input.superposition,
                                         is_gromos, options.names_device(), context);
        input.remark = std::move(device.remark);
        input.reduces = device.reduces;
    }
    rmsd::check({.fit = {},
                 .measured = {},
                 .weights = frames.weights,
                 .weights_file = input.ensemble.weights},
                frames.atoms());
}

std::unique_ptr<PairSource> distances_of(const ClusterInput& input, const Context& context) {
    if (input.matrix.empty() && input.is_permuted())
        return rmsd::permuted_pairs(input.coordinates->xyz, input.sets(), input.superposition,
                                    context);
    if (input.matrix.empty() && input.by_rows)
        return rmsd::superposed_rows(input.coordinates->store(), input.coordinates->weights,
                                     input.superposition, context);
    if (input.matrix.empty())
        return rmsd::superposed_pairs(input.coordinates->store(), input.coordinates->weights,
                                      input.superposition, input.reduces, context);
    std::unique_ptr<PairSource> matrix = cluster::open_matrix(input.matrix);
    if (!input.coordinates) return matrix;
    if (matrix->count() != input.coordinates->frames())
        throw InputError(input.matrix.string(), 0,
                         fmt::format("expected the distances of {} frames, found those of {}",
                                     input.coordinates->frames(), matrix->count()));
    if (!input.recomputes_near_cutoffs) return matrix;
    return rmsd::recompute_near_cutoffs(std::move(matrix), input.coordinates->xyz,
                                        input.coordinates->weights, input.superposition, context);
}

void members(Packer& pack, ClusterInput& input) {
    pack(input.name, input.matrix, input.known, input.coordinates, input.recomputes_near_cutoffs,
         input.by_rows, input.in_place, input.superposition.precision, input.symmetry.symmetry,
         input.symmetry.relabel, input.chains, input.orders);
}

}  // namespace pleat::program
