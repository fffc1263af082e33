// Cluster input: telling the three kinds of input apart, and superposing where there is no matrix.
#include "cluster_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "pleat/cluster/matrix_file.h"
#include "pleat/core/error.h"
#include "pleat/core/hash.h"
#include "pleat/core/manifest.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/metric.h"
#include "pleat/rmsd/superposed_pairs.h"

namespace pleat::program {

namespace {

void superpose(ClusterInput& input, const std::string& method, const rmsd::Parameters& parameters,
               const RunOptions& options, Context& context) {
    rmsd::ClusteringDevice device =
        rmsd::settle_clustering(input.coordinates->frames(), input.coordinates->atoms(), parameters,
                                method == "daura", options.device != "auto", context);
    input.remark = std::move(device.remark);
    try {
        input.distances = std::make_unique<rmsd::SuperposedPairs>(
            input.coordinates->xyz, input.coordinates->weights, parameters, device.in_place,
            context);
    } catch (const InputError& error) {
        throw InputError(input.name, 0, error.what());  // the library knows no files
    }
}

/// The files of an earlier run, but for those that its options name.
std::vector<std::string> ensemble_files(const EarlierRun& earlier) {
    std::vector<std::string> files = earlier.input_paths;
    for (const auto& [option, value] : earlier.parameters) {
        const std::string named = text_parameter(earlier, option);
        const auto at = std::find(files.rbegin(), files.rend(), named);
        if (!named.empty() && at != files.rend()) files.erase(std::next(at).base());
    }
    return files;
}

EnsembleSource source_of(const EarlierRun& earlier) {
    EnsembleSource source;
    source.sources = ensemble_files(earlier);
    source.topology = text_parameter(earlier, "topology");
    source.select = text_parameter(earlier, "select");
    source.frames = text_parameter(earlier, "frames");
    source.weights = text_parameter(earlier, "weights");
    if (source.select.empty()) source.select = "all";
    if (source.frames.empty()) source.frames = "::";
    return source;
}

/// What keeps the files of an earlier run from being read again as they were; empty: nothing.
std::string obstacle(const EarlierRun& earlier) {
    if (earlier.input_paths.empty()) return "expected the files of its ensemble, found none listed";
    for (std::size_t n = 0; n < earlier.input_paths.size(); ++n) {
        const std::string& path = earlier.input_paths[n];
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error))
            return fmt::format("expected its input '{}', found none", path);
        if (hash_file(path).sha256 != earlier.input_hashes[n])
            return fmt::format("expected its input '{}' unchanged, found other content", path);
    }
    return {};
}

void refuse_ensemble_options(const EnsembleSource& ensemble, std::string_view kind) {
    const EnsembleSource plain;
    if (ensemble.topology != plain.topology || ensemble.select != plain.select ||
        ensemble.frames != plain.frames || ensemble.weights != plain.weights)
        throw UsageError(
            fmt::format("expected no --topology, --select, --frames or --weights with {}, "
                        "found '{}' with one",
                        kind, ensemble.sources.front()));
}

/// Of a run of distances among the frames of one set; InputError for another.
std::string metric_of(const EarlierRun& earlier, const std::string& folder) {
    const std::string metric = text_parameter(earlier, "metric");
    try {
        rmsd::require_distances(metric);
    } catch (const InputError& error) {
        throw InputError(folder, 0, error.what());
    }
    for (const char* option : {"against", "reference"})
        if (!text_parameter(earlier, option).empty())
            throw InputError(
                folder, 0,
                fmt::format("expected a run of all pairs of one set, found one with '{}'", option));
    return metric.empty() ? "rmsd" : metric;
}

void read_run(ClusterInput& input, const EarlierRun& earlier, const std::string& method,
              rmsd::Parameters parameters, const RunOptions& options, RunDirectory& run, Context& context) {
    const std::string metric = metric_of(earlier, input.name);
    const std::filesystem::path matrix = std::filesystem::path(input.name) / (metric + ".npy");
    if (earlier.status != "finished")
        throw InputError(
            input.name, 0,
            fmt::format("expected a finished run, found one that is {}", earlier.status));
    std::error_code error;
    const bool has_matrix = std::filesystem::is_regular_file(matrix, error);
    if (has_matrix) {
        input.distances = cluster::open_matrix(matrix);
        record_input(matrix, run);
    }
    if (!has_matrix && (metric != "rmsd" || !text_parameter(earlier, "measure").empty()))
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
    input.coordinates = read_coordinates(input.ensemble, run, context);
    if (!has_matrix) {
        if (const std::string precision = text_parameter(earlier, "precision"); !precision.empty())
            parameters.precision = precision;
        return superpose(input, method, parameters, options, context);
    }
    if (input.distances->count() != input.coordinates->frames())
        throw InputError(matrix.string(), 0,
                         fmt::format("expected the distances of {} frames, found those of {}",
                                     input.coordinates->frames(), input.distances->count()));
}

}  // namespace

ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const std::string& method, const RunOptions& options,
                                RunDirectory& run, Context& context) {
    ClusterInput input{ensemble.sources.front(), nullptr, std::nullopt, ensemble, {}};
    if (ensemble.sources.size() == 1) {
        const EarlierRun earlier =
            read_earlier_run(std::filesystem::path(input.name) / "manifest.json");
        if (earlier.is_ours) {
            if (earlier.command != "rmsd")
                throw InputError(
                    input.name, 0,
                    fmt::format("expected a run of 'pleat rmsd', found one of 'pleat {}'",
                                earlier.command));
            refuse_ensemble_options(ensemble, "a finished run");
            read_run(input, earlier, method, parameters, options, run, context);
            return input;
        }
        if (cluster::is_matrix_file(input.name)) {
            refuse_ensemble_options(ensemble, "a matrix");
            input.distances = cluster::open_matrix(input.name);
            record_input(input.name, run);
            return input;
        }
    }
    input.coordinates = read_coordinates(ensemble, run, context);
    superpose(input, method, parameters, options, context);
    return input;
}

}  // namespace pleat::program
