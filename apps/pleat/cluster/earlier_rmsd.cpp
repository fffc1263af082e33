// Earlier RMSDs: reading parameters, and checking that files are as they were.
#include "cluster/earlier_rmsd.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::program {

EnsembleSource source_of(const EarlierRun& earlier) {
    EnsembleSource source;
    // The paths are files, even if a name looks like a list (@NAME).
    for (const std::string& file : earlier.sources)
        source.sources.push_back(file.starts_with('@') ? "./" + file : file);
    source.topology = text_parameter(earlier, "topology");
    source.assembly = text_parameter(earlier, "assembly");
    source.select = text_parameter(earlier, "select");
    source.frames = text_parameter(earlier, "frames");
    source.weights = text_parameter(earlier, "atom-weights");
    const auto truncated = earlier.parameters.find("truncated");
    source.truncated = truncated != earlier.parameters.end() && truncated->second == "true";
    repeat_scores(earlier, source);
    Choice(&source.pbc).set(text_parameter(earlier, "pbc"));
    Choice(&source.match).set(text_parameter(earlier, "match"));
    // Structures are brought together by the superposed atoms.
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

rmsd::Precision precision_of(const EarlierRun& earlier) {
    return text_parameter(earlier, "precision") == "float64" ? rmsd::Precision::float64
                                                             : rmsd::Precision::mixed;
}

double number_of(const std::map<std::string, std::string>& values, const std::string& name) {
    const auto at = values.find(name);
    double number = std::numeric_limits<double>::quiet_NaN();
    if (at != values.end())
        std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
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

}  // namespace pleat::program
