// Cluster input: telling the three kinds of input apart, and superposing if there is no matrix.
#include "cluster/cluster_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "pleat/cluster/estimate.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/run/manifest.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/known_pairs.h"

namespace pleat::program {

namespace {

bool on_gpu(const Context& context) { return context.device.kind == Device::Kind::cuda; }

}  // namespace

Estimate estimate_superposing(const EnsembleSize& size, const cluster::Parameters& parameters,
                              const rmsd::Parameters& superposition, const Context& context) {
    rmsd::Parameters pairs = superposition;
    pairs.matrix = rmsd::MatrixLayout::none;
    const Estimate superposing =
        rmsd::estimate({.frames = size.frames, .atoms = size.atoms}, pairs, context);
    const double count =
        std::max(1.0, static_cast<double>(size.frames) * static_cast<double>(size.frames - 1) / 2);
    const bool reduces = on_gpu(context) && parameters.method == cluster::Method::gromos &&
                         context.lanes.empty() && !cluster::keeps_pairs(size.frames, false);
    Estimate all = cluster::estimate(
        size.frames, {.reduces = reduces, .pair_seconds = superposing.seconds / count}, parameters,
        context);
    all.host_bytes += superposing.host_bytes;
    if (!on_gpu(context)) return all;
    all.gpu_bytes = all.min_gpu_bytes =
        reduces ? rmsd::gromos_gpu_memory(size.frames, size.atoms, pairs) : superposing.gpu_bytes;
    return all;
}

namespace {

/// What one of several jobs asks for: on a GPU the bits of all pairs if it finds the clusters.
JobDemand demand_of(Index frames, Index atoms, const cluster::Parameters& parameters,
                    const rmsd::Parameters& superposition) {
    const auto estimate = [=](const Context& context) {
        return estimate_superposing({.frames = frames, .atoms = atoms}, parameters, superposition,
                                    context);
    };
    Context on_cuda;
    on_cuda.device = {Device::Kind::cuda, 0};
    return {.gpu_bytes = estimate(on_cuda).gpu_bytes, .estimate = estimate};
}

/// A parameter of an earlier run, which may have its earlier name.
std::string parameter_of(const EarlierRun& earlier, const std::string& name,
                         const std::string& old_name) {
    const std::string text = text_parameter(earlier, name);
    return text.empty() ? text_parameter(earlier, old_name) : text;
}

EnsembleSource source_of(const EarlierRun& earlier, const std::string& folder) {
    EnsembleSource source;
    // The paths are files, even if a name looks like a list (@NAME).
    for (const std::string& file : earlier.sources)
        source.sources.push_back(file.starts_with('@') ? "./" + file : file);
    source.topology = text_parameter(earlier, "topology");
    source.assembly = text_parameter(earlier, "assembly");
    source.select = text_parameter(earlier, "select");
    source.frames = text_parameter(earlier, "frames");
    source.weights = parameter_of(earlier, "atom-weights", "weights");
    const auto truncated = earlier.parameters.find("truncated");
    source.truncated = truncated != earlier.parameters.end() && truncated->second == "true";
    repeat_scores(earlier, source);
    // Versions without this option left molecules as they were.
    source.pbc = Pbc::none;
    Choice(&source.pbc).set(text_parameter(earlier, "pbc"));
    if (source.select.empty()) source.select = "all";
    if (source.frames.empty()) source.frames = "::";
    if (source.frames != "::" && !earlier.results.contains("frames_count_from"))
        throw InputError(
            folder, 0,
            fmt::format("expected frames {} counted from 0, found a run of a version that "
                        "counted them from 1: run 'pleat rmsd' again",
                        source.frames));
    return source;
}

/// Why the files of an earlier run cannot be read again as they were; empty if they can.
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

/// Checks that what was read again is what the run compared. If the run measured other atoms than
/// it fitted, their number is not that of the atoms read here.
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
    if (text_parameter(earlier, "measure").empty()) check("atoms", input.coordinates->atoms());
}

/// Throws UsageError for options of an ensemble with frames that were compared already.
void refuse_ensemble_options(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                             std::string_view kind) {
    const EnsembleSource plain;
    if (ensemble.topology != plain.topology || ensemble.assembly != plain.assembly ||
        ensemble.select != plain.select || ensemble.frames != plain.frames ||
        ensemble.weights != plain.weights || ensemble.truncated || has_scores(ensemble) ||
        ensemble.pbc != plain.pbc || parameters.precision != rmsd::Parameters().precision)
        throw UsageError(fmt::format(
            "leave --topology, --assembly, --select, --frames, --truncated, --pbc, --atom-weights, "
            "scores and also --precision out: '{}' is {}",
            ensemble.sources.front(), kind));
}

void refuse_symmetry(const SymmetryOptions& symmetry, const std::string& name,
                     std::string_view kind) {
    if (symmetry.has_chains())
        throw UsageError(fmt::format("leave --symmetry out: '{}' is {}", name, kind));
}

/// The metric of an earlier run, which must have compared all pairs of one set by distances.
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

rmsd::Precision precision_of(const EarlierRun& earlier) {
    return text_parameter(earlier, "precision") == "float64" ? rmsd::Precision::float64
                                                             : rmsd::Precision::mixed;
}

/// The number with this name, or its earlier one, in an earlier run; NaN if there is none.
double number_of(const std::map<std::string, std::string>& values, const std::string& name,
                 const std::string& old_name) {
    auto at = values.find(name);
    if (at == values.end()) at = values.find(old_name);
    double number = std::numeric_limits<double>::quiet_NaN();
    if (at != values.end())
        std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
    return number;
}

/// If the run listed the neighbours below a cutoff, they need not be found again.
void read_neighbours(ClusterInput& input, const EarlierRun& earlier, RunDirectory& run,
                     const Context& context) {
    const std::filesystem::path folder = input.name, list = folder / "neighbours.npz";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(list, ignored)) return;
    input.known = rmsd::read_known_pairs(
        folder, input.coordinates->frames(), number_of(earlier.parameters, "bin-width", "bin"),
        number_of(earlier.results, "min", "least"), number_of(earlier.results, "mean", "mean"),
        number_of(earlier.results, "max", "most"));
    record_input(list, run);
    context.message(
        fmt::format("{}: lists the pairs below {:g} angstrom, for gromos, gmx and "
                    "dbscan with a cutoff up to this one",
                    list.string(), input.known->cutoff));
}

/// Reads frames that will be superposed, into memory or, without symmetry, onto the disk.
Coordinates read_superposed(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                            const SymmetryOptions& symmetry, RunDirectory& run,
                            const Context& context) {
    if (symmetry.has_chains()) return read_coordinates(ensemble, run, context);
    return read_coordinates(ensemble, run, context, nullptr, [&](Index frames, Index atoms) {
        return rmsd::memory_needed(frames, atoms, parameters, {Device::Kind::cpu, 0});
    });
}

/// Finds the equal chains of the frames, and gives the frames one labelling if that is asked for.
void find_chains(ClusterInput& input, const Context& context) {
    input.chains = find_equal_chains(input.symmetry, *input.coordinates, context);
    rmsd::AtomSets sets = input.sets();
    sets.equal_chains = input.chains;
    rmsd::check(sets, input.coordinates->atoms());
    if (input.symmetry.relabel)
        relabel(input.symmetry, input.coordinates->xyz, input.coordinates->xyz[0],
                "the first frame", sets, context);
}

/// The symmetry of an earlier run.
SymmetryOptions symmetry_of(const EarlierRun& earlier) {
    SymmetryOptions symmetry;
    if (text_parameter(earlier, "symmetry") == "chains") symmetry.symmetry = Symmetry::chains;
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

/// A count among the results of a run; 0 if there is none.
Index whole_number(const std::map<std::string, std::string>& values, const std::string& name) {
    const double number = number_of(values, name, name);
    return std::isfinite(number) ? static_cast<Index>(number) : 0;
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
    const bool is_superposed =
        metric == rmsd::Metric::rmsd && text_parameter(earlier, "measure").empty();
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
    input.ensemble = source_of(earlier, input.name);
    input.superposition.precision = precision_of(earlier);
    input.symmetry = symmetry_of(earlier);
    input.coordinates = has_matrix ? read_coordinates(input.ensemble, run, context)
                                   : read_superposed(input.ensemble, input.superposition,
                                                     input.symmetry, run, context);
    check_size(input, earlier);
    find_chains(input, context);
    input.recomputes = has_matrix && is_superposed && !input.symmetry.is_of_pairs();
    if (!has_matrix) read_neighbours(input, earlier, run, context);
}

}  // namespace

ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const SymmetryOptions& symmetry, RunDirectory& run,
                                const Context& context) {
    ClusterInput input;
    input.name = ensemble.sources.front();
    input.ensemble = ensemble;
    input.superposition = parameters;
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
    input.coordinates = read_superposed(ensemble, parameters, symmetry, run, context);
    find_chains(input, context);
    return input;
}

RunEstimate estimate_clustering(const EnsembleSource& ensemble,
                                const cluster::Parameters& parameters,
                                const rmsd::Parameters& superposition) {
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
    if (size.frames == 0) size = measure_ensemble(ensemble);
    const bool is_stored = !matrix.empty();
    return {.input = is_stored ? fmt::format("{} items in {}", size.frames, matrix.string())
                               : fmt::format("{} frames, {} atoms", size.frames, size.atoms),
            .may_use_gpu = !is_stored,
            .on = [=](const Context& context) {
                if (!is_stored)
                    return estimate_superposing(size, parameters, superposition, context);
                Estimate all =
                    cluster::estimate(size.frames, {.is_stored = true}, parameters, context);
                // Of a run also the frames, for structures.
                all.host_bytes += 36 * size.frames * size.atoms;
                return all;
            }};
}

void choose_device(ClusterInput& input, const cluster::Parameters& parameters,
                   const RunOptions& options, const JobTask& task, Ranks& ranks, Context& context) {
    if (!input.matrix.empty()) return;
    const Coordinates& frames = *input.coordinates;
    if (input.symmetry.is_of_pairs()) {
        // An earlier run says so after the device was named.
        if (options.names_device() && on_gpu(context)) check_options(input.symmetry, options);
        if (!options.names_device()) context.device = {Device::Kind::cpu, 0};
        input.remark = "device cpu: GPUs do not try permutations";
        return;
    }
    // Neighbours on a GPU are those of all frames: several GPUs superpose alone, and so does one in
    // float64 with frames on disk, which it does not hold.
    const bool is_held =
        !frames.on_disk.is_on_disk() || input.superposition.precision == rmsd::Precision::mixed;
    const bool is_gromos =
        parameters.method == cluster::Method::gromos && context.lanes.empty() && is_held;
    if (task.choose_device) {
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
            rmsd::choose_clustering_device(frames.frames(), frames.atoms(), input.superposition,
                                           is_gromos, options.names_device(), context);
        input.remark = std::move(device.remark);
        input.reduces = device.reduces && context.lanes.empty();
    }
    rmsd::check({.fit = {},
                 .measured = {},
                 .weights = frames.weights,
                 .weights_file = input.ensemble.weights},
                frames.atoms());
}

std::unique_ptr<PairSource> distances_of(const ClusterInput& input, const Context& context) {
    if (input.matrix.empty() && input.symmetry.is_of_pairs())
        return rmsd::permuted_pairs(input.coordinates->xyz, input.sets(), input.superposition,
                                    context);
    if (input.matrix.empty())
        return rmsd::superposed_pairs(input.coordinates->store(), input.coordinates->weights,
                                      input.superposition, input.reduces, context);
    std::unique_ptr<PairSource> matrix = cluster::open_matrix(input.matrix);
    if (!input.coordinates) return matrix;
    if (matrix->count() != input.coordinates->frames())
        throw InputError(input.matrix.string(), 0,
                         fmt::format("expected the distances of {} frames, found those of {}",
                                     input.coordinates->frames(), matrix->count()));
    if (!input.recomputes) return matrix;
    return rmsd::recompute_near_cutoffs(std::move(matrix), input.coordinates->xyz,
                                        input.coordinates->weights, input.superposition, context);
}

void share(ClusterInput& input, Ranks& ranks) {
    if (ranks.size() == 1) return;
    ranks.share(input.name);
    ranks.share(input.matrix);
    std::vector<std::int64_t> numbers{input.coordinates.has_value(),
                                      input.known.has_value(),
                                      input.recomputes,
                                      static_cast<int>(input.superposition.precision),
                                      static_cast<int>(input.symmetry.symmetry),
                                      input.symmetry.relabel};
    ranks.share(numbers);
    input.recomputes = numbers[2] != 0;
    input.symmetry.symmetry = static_cast<Symmetry>(numbers[4]);
    input.symmetry.relabel = numbers[5] != 0;
    share(input.chains, ranks);
    input.superposition.precision = static_cast<rmsd::Precision>(numbers[3]);
    if (numbers[0] != 0 && !input.coordinates) input.coordinates.emplace();
    if (numbers[0] != 0) share(*input.coordinates, ranks);
    if (numbers[1] == 0) return;
    if (!input.known) input.known.emplace();
    cluster::KnownPairs& known = *input.known;
    ranks.share(known.starts);
    ranks.share(known.indices);
    ranks.share(known.values);
    const PairStatistics& pairs = known.statistics;
    std::vector<double> values{known.cutoff, pairs.bin_width(), pairs.sum(), pairs.min(),
                               pairs.max()};
    std::vector<std::int64_t> histogram = pairs.histogram();
    ranks.share(values);
    ranks.share(histogram);
    known.cutoff = values[0];
    known.statistics = {values[1], std::move(histogram), values[2], values[3], values[4]};
}

}  // namespace pleat::program
