// Cluster input: telling the three kinds of input apart, and superposing where there is no matrix.
#include "cluster_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "pleat/cluster/distances/matrix_file.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/run/manifest.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/pairs/atom_sets.h"
#include "pleat/rmsd/pairs/listed_pairs.h"
#include "pleat/rmsd/pairs/settled_matrix.h"
#include "pleat/rmsd/pairs/superposed_pairs.h"

namespace pleat::program {

namespace {

void superpose(ClusterInput& input, const std::string& method, const rmsd::Parameters& parameters,
               const RunOptions& options, Context& context) {
    rmsd::ClusteringDevice device =
        rmsd::settle_clustering(input.coordinates->frames(), input.coordinates->atoms(), parameters,
                                method == "daura", options.names_device(), context);
    input.remark = std::move(device.remark);
    const Coordinates& coordinates = *input.coordinates;
    rmsd::check({.fit = {},
                 .measured = {},
                 .weights = coordinates.weights,
                 .weights_file = input.ensemble.weights},
                coordinates.atoms());
    input.distances = std::make_unique<rmsd::SuperposedPairs>(coordinates.xyz, coordinates.weights,
                                                              parameters, device.in_place, context);
}

EnsembleSource source_of(const EarlierRun& earlier, const std::string& folder) {
    EnsembleSource source;
    // These are files, also where a name looks like that of a list.
    for (const std::string& file : earlier.sources)
        source.sources.push_back(file.starts_with('@') ? "./" + file : file);
    source.topology = text_parameter(earlier, "topology");
    source.assembly = text_parameter(earlier, "assembly");
    source.select = text_parameter(earlier, "select");
    source.frames = text_parameter(earlier, "frames");
    source.weights = text_parameter(earlier, "weights");
    const auto truncated = earlier.parameters.find("truncated");
    source.truncated = truncated != earlier.parameters.end() && truncated->second == "true";
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

/// What keeps the files of an earlier run from being read again as they were; empty: nothing.
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

/// What was read again must be what the run compared. Where it measured other atoms than it fitted,
/// their number is not that of the atoms read here.
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

/// What was compared already is compared as it was.
void refuse_ensemble_options(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                             std::string_view kind) {
    const EnsembleSource plain;
    if (ensemble.topology != plain.topology || ensemble.assembly != plain.assembly ||
        ensemble.select != plain.select || ensemble.frames != plain.frames ||
        ensemble.weights != plain.weights || ensemble.truncated ||
        parameters.precision != rmsd::Parameters().precision)
        throw UsageError(fmt::format(
            "expected no --topology, --assembly, --select, --frames, --truncated, --weights "
            "or --precision with {}, "
            "found '{}' with one",
            kind, ensemble.sources.front()));
}

/// Of a run of distances among the frames of one set; InputError for another.
std::string metric_of(const EarlierRun& earlier, const std::string& folder) {
    const std::string metric = text_parameter(earlier, "metric");
    rmsd::require_distances(metric, folder);
    for (const char* option : {"against", "reference"})
        if (!text_parameter(earlier, option).empty())
            throw InputError(
                folder, 0,
                fmt::format("expected a run of all pairs of one set, found one with '{}'", option));
    return metric.empty() ? "rmsd" : metric;
}

std::string precision_of(const EarlierRun& earlier) {
    const std::string precision = text_parameter(earlier, "precision");
    return precision.empty() ? rmsd::Parameters().precision : precision;
}

/// A number among the results or parameters of an earlier run; NaN for anything else.
double number_of(const std::map<std::string, std::string>& values, const std::string& name) {
    const auto at = values.find(name);
    double number = std::numeric_limits<double>::quiet_NaN();
    if (at != values.end())
        std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
    return number;
}

/// Where the run listed the neighbours below a cutoff they need not be found again.
void use_neighbours(ClusterInput& input, const EarlierRun& earlier, RunDirectory& run,
                    const Context& context) {
    const std::filesystem::path folder = input.name, list = folder / "neighbours.npz";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(list, ignored)) return;
    rmsd::PairList pairs = rmsd::read_pair_list(
        folder, input.coordinates->frames(), number_of(earlier.parameters, "bin"),
        number_of(earlier.results, "least"), number_of(earlier.results, "mean"),
        number_of(earlier.results, "most"));
    record_input(list, run);
    context.message(
        fmt::format("{}: has the pairs below {:g} angstrom, for daura, gromacs and dbscan "
                    "with a cutoff up to this one",
                    list.string(), pairs.cutoff));
    input.distances =
        std::make_unique<rmsd::ListedPairs>(std::move(input.distances), std::move(pairs));
}

void read_run(ClusterInput& input, const EarlierRun& earlier, const std::string& method,
              rmsd::Parameters parameters, const RunOptions& options, RunDirectory& run,
              Context& context) {
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
    input.ensemble = source_of(earlier, input.name);
    input.coordinates = read_coordinates(input.ensemble, run, context);
    check_size(input, earlier);
    if (!has_matrix) {
        parameters.precision = precision_of(earlier);
        superpose(input, method, parameters, options, context);
        use_neighbours(input, earlier, run, context);
        return;
    }
    if (input.distances->count() != input.coordinates->frames())
        throw InputError(matrix.string(), 0,
                         fmt::format("expected the distances of {} frames, found those of {}",
                                     input.coordinates->frames(), input.distances->count()));
    if (metric != "rmsd" || !text_parameter(earlier, "measure").empty()) return;
    parameters.precision = precision_of(earlier);
    input.distances =
        std::make_unique<rmsd::SettledMatrix>(std::move(input.distances), input.coordinates->xyz,
                                              input.coordinates->weights, parameters, context);
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
            refuse_ensemble_options(ensemble, parameters, "a finished run");
            read_run(input, earlier, method, parameters, options, run, context);
            return input;
        }
        if (cluster::is_matrix_file(input.name)) {
            refuse_ensemble_options(ensemble, parameters, "a matrix");
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
