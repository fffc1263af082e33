// Model scores: JSON, NPZ and CSV files beside predicted models.
#include "pleat/bio/ensemble/model_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/error.h"
#include "pleat/core/files/line_list.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/files/read_file.h"

namespace pleat {

namespace {

using Json = nlohmann::ordered_json;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;

Json read_object(const std::string& path) {
    Json json = require_json(read_file(path, kMaxBytes), path);
    if (!json.is_object())
        throw InputError(
            path, 0, fmt::format("expected a JSON object of scores, found {}", json.type_name()));
    return json;
}

/// The mean of a list of numbers; NaN if it is none.
double mean_of(const Json& list) {
    double sum = 0;
    for (const Json& value : list) {
        if (!value.is_number()) return kUnknown;
        sum += value.get<double>();
    }
    return list.empty() ? kUnknown : sum / static_cast<double>(list.size());
}

NamedScores json_scores(const std::string& path) {
    NamedScores scores;
    const Json json = read_object(path);
    for (const auto& [name, value] : json.items()) {
        if (value.is_number())
            scores.emplace_back(name, value.get<double>());
        else if (value.is_boolean())
            scores.emplace_back(name, value.get<bool>() ? 1 : 0);
        else if (value.is_null())
            scores.emplace_back(name, kUnknown);
        else if (name == "plddt" && value.is_array())
            scores.emplace_back(name, mean_of(value));
    }
    return scores;
}

/// The mean predicted aligned error, and that between residues of different chains, of ColabFold's
/// matrix in angstrom; NaN if it is not one of the residues of the model.
NamedScores pae_scores(const std::string& path, const std::string& model) {
    const Json json = read_object(path);
    const auto matrix = json.find("pae");
    if (matrix == json.end() || !matrix->is_array()) return {};
    const Topology topology = read_topology(model);
    const std::vector<Topology::Residue>& residues = topology.residues;
    const std::size_t count = residues.size();
    double all = 0, between = 0;
    Index pairs = 0;
    if (matrix->size() != count) return {{"mean_pae", kUnknown}};
    for (std::size_t i = 0; i < count; ++i) {
        const Json& row = (*matrix)[i];
        if (!row.is_array() || row.size() != count || std::isnan(mean_of(row)))
            return {{"mean_pae", kUnknown}};
        for (std::size_t j = 0; j < count; ++j) {
            const auto value = row[j].get<double>();
            all += value;
            if (residues[i].chain == residues[j].chain) continue;
            between += value;
            ++pairs;
        }
    }
    NamedScores scores = {{"mean_pae", all / static_cast<double>(count * count)}};
    if (pairs > 0) scores.emplace_back("inter_chain_pae", between / static_cast<double>(pairs));
    return scores;
}

NamedScores npz_scores(const std::string& path) {
    const NpzReader reader(path);
    NamedScores scores;
    for (const std::string& name : reader.names()) {
        const std::vector<Index> shape = reader.shape(name);
        if (shape.empty() || shape == std::vector<Index>{1})
            scores.emplace_back(name, reader.get(name).as<double>(reader.label(name)).front());
    }
    return scores;
}

/// AlphaFold 3's table: seed, sample, ranking_score. The scores of the model `key`, both numbers
/// joined by a tab.
NamedScores csv_scores(const std::string& path, const std::string& key) {
    const std::vector<std::uint8_t> bytes = read_file(path, kMaxBytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const ListedLine& line : listed_lines(path, text)) {
        const std::vector<std::string_view> cells = split(stripped(line.text), ',');
        if (cells.size() < 3 || fmt::format("{}\t{}", cells[0], cells[1]) != key) continue;
        double value = 0;
        const auto [end, problem] =
            std::from_chars(cells[2].data(), cells[2].data() + cells[2].size(), value);
        if (problem != std::errc() || end != cells[2].data() + cells[2].size())
            throw InputError(path, line.number,
                             fmt::format("expected a ranking score, found '{}'", cells[2]));
        return {{"ranking_score", value}};
    }
    return {};
}

/// AlphaFold 2's ranking_debug.json: the scores of all models by their names.
NamedScores ranking_scores(const std::string& path, const std::string& key) {
    NamedScores scores;
    const Json json = read_object(path);
    for (const auto& [name, values] : json.items())
        if (values.is_object() && values.contains(key) && values[key].is_number())
            // Each is the mean of one model.
            scores.emplace_back(name == "plddts" ? "plddt" : name, values[key].get<double>());
    return scores;
}

/// What the table of the whole folder says of a model.
NamedScores shared_scores(const ModelFolder& folder, const PredictedModel& model) {
    if (folder.scores.empty() || model.key.empty()) return {};
    return folder.program == Predictor::alphafold2 ? ranking_scores(folder.scores, model.key)
                                                   : csv_scores(folder.scores, model.key);
}

NamedScores own_scores(const PredictedModel& model) {
    if (model.scores.empty()) return {};
    return model.scores.ends_with(".npz") ? npz_scores(model.scores) : json_scores(model.scores);
}

const double* find(const NamedScores& scores, std::string_view name) {
    for (const auto& [column, value] : scores)
        if (column == name) return &value;
    return nullptr;
}

/// The mean over residues of the B factors.
double mean_b_factor(const std::string& file) {
    const Topology topology = read_topology(file);
    std::vector<double> sums(topology.residues.size());
    std::vector<Index> counts(topology.residues.size());
    for (const Topology::Atom& atom : topology.atoms) {
        sums[static_cast<std::size_t>(atom.residue)] += atom.b_factor;
        ++counts[static_cast<std::size_t>(atom.residue)];
    }
    double mean = 0;
    for (std::size_t n = 0; n < sums.size(); ++n) mean += sums[n] / static_cast<double>(counts[n]);
    return mean / static_cast<double>(sums.size());
}

}  // namespace

std::vector<std::string> model_order(const std::filesystem::path& ranking) {
    const Json json = read_object(ranking.string());
    const auto order = json.find("order");
    std::vector<std::string> names;
    if (order != json.end() && order->is_array())
        for (const Json& name : *order)
            if (name.is_string()) names.push_back(name.get<std::string>());
    if (names.empty())
        throw InputError(ranking.string(), 0,
                         "expected the names of models as 'order', found none");
    return names;
}

std::optional<double> model_score(const ModelFolder& folder, const PredictedModel& model,
                                  std::string_view column) {
    for (const auto& read : {shared_scores(folder, model), own_scores(model)})
        if (const double* value = find(read, column); value != nullptr) return *value;
    return std::nullopt;
}

NamedScores model_scores(const ModelFolder& folder, const PredictedModel& model) {
    NamedScores scores = own_scores(model);
    const auto add = [&](const NamedScores& others) {
        for (const auto& [name, value] : others)
            if (find(scores, name) == nullptr) scores.emplace_back(name, value);
    };
    add(shared_scores(folder, model));
    if (scores.empty() && folder.program != Predictor::alphafold_database)
        throw InputError(model.file, 0,
                         fmt::format("expected a file of its scores, as {} writes it, found none",
                                     name_of(folder.program)));
    if (folder.program == Predictor::colabfold && !model.scores.empty())
        add(pae_scores(model.scores, model.file));
    if (find(scores, "plddt") == nullptr && find(scores, "complex_plddt") == nullptr)
        scores.emplace_back("plddt", mean_b_factor(model.file));
    return scores;
}

std::string ranking_column(Predictor program, const std::vector<std::string>& columns) {
    const auto has = [&](std::string_view name) {
        return std::find(columns.begin(), columns.end(), name) != columns.end();
    };
    switch (program) {
        case Predictor::alphafold2: return has("iptm+ptm") ? "iptm+ptm" : "plddt";
        // Of complexes a sum of two columns, which no file has.
        case Predictor::colabfold: return has("iptm") || !has("plddt") ? "" : "plddt";
        case Predictor::alphafold3: return has("ranking_score") ? "ranking_score" : "";
        case Predictor::boltz: return has("confidence_score") ? "confidence_score" : "";
        case Predictor::chai: return has("aggregate_score") ? "aggregate_score" : "";
        case Predictor::alphafold_database: break;
    }
    return "plddt";
}

}  // namespace pleat
