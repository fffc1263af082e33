// Model folders: the coordinate files of a folder, the names that each program writes, its ranking
// and its scores.
#include "pleat/bio/ensemble/model_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/files/text.h"
#include "pleat/core/view.h"

namespace pleat {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits at the front of `text` and returns them without leading zeros.
std::string_view take_digits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
}

/// The file name without its folder and compression ending.
fs::path unpacked_name(const fs::path& path) {
    static const std::set<std::string> kPacked = {".gz", ".zst", ".zstd"};
    const fs::path name = path.filename();
    return kPacked.count(name.extension().string()) > 0 ? name.stem() : name;
}

}  // namespace

bool comes_before(const std::string& left, const std::string& right) {
    std::string_view a = left, b = right;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view m = take_digits(a), n = take_digits(b);
            if (m.size() != n.size()) return m.size() < n.size();
            if (m != n) return m < n;
        } else if (a.front() != b.front()) {
            return a.front() < b.front();
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) return a.empty();
    return left < right;
}

std::string name_without_endings(const fs::path& path) {
    return unpacked_name(path).stem().string();
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
    std::error_code problem;
    std::vector<fs::directory_entry> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
        entries.push_back(entry);
    if (problem)
        throw InputError(folder.string(), 0,
                         fmt::format("expected a readable folder, found: {}", problem.message()));
    return entries;
}

std::vector<std::string> files_in(const fs::path& folder, bool (*is_wanted)(const std::string&)) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : entries_of(folder)) {
        const fs::path& path = entry.path();
        const std::string ending = in_lower_case(unpacked_name(path).extension().string());
        if (path.filename().string().front() != '.' && !ending.empty() && is_wanted(ending) &&
            entry.is_regular_file())
            files.push_back(path.string());
    }
    std::ranges::sort(files, comes_before);
    return files;
}

std::vector<std::string> coordinate_files(const fs::path& folder) {
    return files_in(folder, is_coordinate_ending);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kNoRelaxed = "expected relaxed models, found none; leave --relaxed out";

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The number after the last `mark`; nothing if it is not a number.
std::optional<std::string> number_behind(std::string_view text, std::string_view mark) {
    const std::size_t at = text.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(at + mark.size());
    return is_number(number) ? std::optional(std::string(number)) : std::nullopt;
}

struct Listing {
    explicit Listing(const fs::path& from) : folder(from), files(coordinate_files(from)) {
        for (const fs::directory_entry& entry : entries_of(from)) {
            std::error_code ignored;
            if (entry.is_directory(ignored))
                folders.push_back(entry.path());
            else
                names.insert(entry.path().filename().string());
        }
        std::ranges::sort(folders, [](const fs::path& a, const fs::path& b) {
            return comes_before(a.string(), b.string());
        });
    }
    /// The path of a file; empty if there is none.
    std::string path_of(const std::string& name) const {
        return names.count(name) > 0 ? (folder / name).string() : std::string();
    }
    /// The path of the first file with this ending; empty if there is none.
    std::string ending_with(std::string_view ending) const {
        for (const std::string& name : names)
            if (name.ends_with(ending)) return (folder / name).string();
        return {};
    }

    fs::path folder;
    std::vector<std::string> files;  ///< of coordinates, sorted
    std::vector<fs::path> folders;   ///< sorted
    std::set<std::string> names;     ///< of all files
};

/// A model's file as its name describes it.
struct Found {
    PredictedModel model = {};
    double rank = 0;           ///< models are sorted by this, then by their names
    bool is_relaxed = false;   ///< the relaxed copy of a model
    std::string copy_of = {};  ///< the model of which it is a copy; empty: it has no copies
};
using Describe = std::function<std::optional<Found>(const std::string& file)>;

std::vector<std::string> names_of(const std::vector<std::string>& files) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const std::string& file : files) names.push_back(fs::path(file).filename().string());
    return names;
}

/// Of several copies of a model keeps the wanted one; ".cif" next to ".pdb" counts as one copy.
std::vector<Found> without_copies(std::vector<Found> all, Relaxation wanted, ModelFolder& folder) {
    std::set<std::string> seen;
    std::erase_if(all, [&](const Found& one) { return !seen.insert(one.model.name).second; });
    const bool has_copies =
        std::ranges::any_of(all, [](const Found& one) { return !one.copy_of.empty(); });
    const bool is_relaxed = wanted == Relaxation::relaxed;
    if (!has_copies && !is_relaxed) return all;
    std::set<std::string> models, kept;
    for (const Found& one : all) {
        models.insert(one.copy_of);
        if (one.is_relaxed == is_relaxed && !one.copy_of.empty()) kept.insert(one.copy_of);
    }
    if (kept.empty() && is_relaxed) throw InputError(folder.path, 0, kNoRelaxed);
    // Some pipelines keep only the relaxed copies.
    const bool takes_others = kept.empty();
    std::erase_if(all, [&](const Found& one) {
        return one.copy_of.empty() || (one.is_relaxed != is_relaxed && !takes_others);
    });
    if (takes_others) {
        folder.notes.push_back(
            {NoteKind::frames, fmt::format("{}: its models are relaxed", folder.path)});
    } else if (kept.size() < models.size()) {
        folder.notes.push_back(
            {NoteKind::frames, fmt::format("{}: left out {} of {} models that have no {} copy",
                                           folder.path, models.size() - kept.size(), models.size(),
                                           is_relaxed ? "relaxed" : "unrelaxed")});
    }
    return all;
}

/// Describes a folder as predicted models of `program`. Returns nothing if no coordinate file is a
/// model; throws InputError if only some are.
std::optional<ModelFolder> described(const Listing& listing, PredictionProgram program,
                                     Relaxation wanted, const Describe& describe) {
    ModelFolder folder{.path = listing.folder.string(), .program = program};
    std::vector<Found> all;
    std::vector<std::string> others;
    for (const std::string& file : listing.files) {
        std::optional<Found> one = describe(file);
        if (!one) {
            others.push_back(file);
            continue;
        }
        one->model.file = file;
        if (one->model.name.empty()) one->model.name = name_without_endings(file);
        all.push_back(std::move(*one));
    }
    if (all.empty()) return std::nullopt;
    if (!others.empty() && program == PredictionProgram::alphafold_database) return std::nullopt;
    if (!others.empty()) {
        constexpr std::size_t kNamed = 3;
        const std::size_t count = others.size();
        others.resize(std::min(count, kNamed));
        throw InputError(
            folder.path, 0,
            fmt::format("expected models of {} alone, found {} other coordinate file{}: {}{}; give "
                        "the files to read as a list, @FILE",
                        name_of(program), count, count == 1 ? "" : "s",
                        fmt::join(names_of(others), ", "), count > kNamed ? ", ..." : ""));
    }
    all = without_copies(std::move(all), wanted, folder);
    std::ranges::stable_sort(all, [](const Found& a, const Found& b) { return a.rank < b.rank; });
    for (Found& one : all) folder.models.push_back(std::move(one.model));
    return folder;
}

/// Ranks models by a column of their scores, the highest first.
void rank_by_scores(ModelFolder& folder, std::string_view column) {
    std::map<std::string, double> values;
    Index unknown = 0;
    for (const PredictedModel& model : folder.models) {
        const std::optional<double> value = model_score(folder, model, column);
        unknown += !value || std::isnan(*value);
        values[model.name] = value && !std::isnan(*value) ? *value : -HUGE_VAL;
    }
    std::ranges::stable_sort(folder.models, [&](const PredictedModel& a, const PredictedModel& b) {
        return values[a.name] > values[b.name];
    });
    folder.is_ranked = unknown < std::ssize(folder.models);
    if (unknown > 0)
        folder.notes.push_back(
            {NoteKind::scores,
             fmt::format(
                 "{}: {} of {} models have no {} and come last, in the order of their names",
                 folder.path, unknown, folder.models.size(), column)});
}

/// JOB_unrelaxed_rank_001_MODEL_seed_000.pdb, and its relaxed copy.
std::optional<ModelFolder> find_colabfold(const Listing& listing, Relaxation wanted) {
    return described(
        listing, PredictionProgram::colabfold, wanted,
        [&](const std::string& file) -> std::optional<Found> {
            const std::string name = name_without_endings(file);
            for (const std::string mark : {"_unrelaxed_", "_relaxed_"}) {
                const std::size_t at = name.find(mark);
                if (at == std::string::npos) continue;
                const std::string job = name.substr(0, at), model = name.substr(at + mark.size());
                const std::size_t rank = model.find("rank_");
                if (rank == std::string::npos) continue;
                std::string digits = model.substr(rank + 5);
                digits.resize(std::min(digits.find_first_not_of("0123456789"), digits.size()));
                if (!is_number(digits) || digits.size() > 9) continue;
                std::string scores = listing.path_of(fmt::format("{}_scores_{}.json", job, model));
                if (scores.empty())
                    scores =
                        listing.path_of(fmt::format("{}_unrelaxed_{}_scores.json", job, model));
                return Found{.model = {.scores = scores},
                             .rank = std::stod(digits),
                             .is_relaxed = mark == "_relaxed_",
                             .copy_of = fmt::format("{}\t{}", job, model)};
            }
            return std::nullopt;
        });
}

/// ranked_N.pdb, unrelaxed_model_1.pdb and relaxed_model_1.pdb, with ranking_debug.json.
std::optional<ModelFolder> find_alphafold2(const Listing& listing, Relaxation wanted) {
    const std::string ranking = listing.path_of("ranking_debug.json");
    const std::vector<std::string> order =
        ranking.empty() ? std::vector<std::string>() : model_order(ranking);
    const auto rank_of = [&](const std::string& key) {
        return static_cast<double>(std::ranges::find(order, key) - order.begin());
    };
    bool has_ranked = false, has_others = false;
    const auto describe = [&](const std::string& file) -> std::optional<Found> {
        const std::string name = name_without_endings(file);
        for (const std::string mark : {"unrelaxed_", "relaxed_"}) {
            const std::string key = name.substr(std::min(mark.size(), name.size()));
            if (!name.starts_with(mark) || !key.starts_with("model_")) continue;
            has_others = true;
            return Found{.model = {.key = key},
                         .rank = rank_of(key),
                         .is_relaxed = mark == "relaxed_",
                         .copy_of = key};
        }
        const std::optional<std::string> rank = number_behind(name, "ranked_");
        if (!rank || name != "ranked_" + *rank || rank->size() > 9) return std::nullopt;
        has_ranked = true;
        const auto at = static_cast<std::size_t>(std::stoul(*rank));
        return Found{.model = {.key = at < order.size() ? order[at] : std::string()},
                     .rank = std::stod(*rank)};
    };
    // The ranked models are copies of the others.
    Listing read = listing;
    for (const std::string& file : listing.files) describe(file);
    if (has_ranked && has_others) {
        const bool takes_ranked = order.empty() && wanted == Relaxation::unrelaxed;
        std::erase_if(read.files, [&](const std::string& file) {
            const std::optional<Found> one = describe(file);
            return one && one->copy_of.empty() != takes_ranked;
        });
    }
    std::optional<ModelFolder> folder =
        described(read, PredictionProgram::alphafold2, wanted, describe);
    if (!folder) return folder;
    folder->scores = ranking;
    if (folder->models.front().name.starts_with("ranked_")) return folder;
    const auto unknown = std::ranges::count_if(folder->models, [&](const PredictedModel& model) {
        return std::ranges::find(order, model.key) == order.end();
    });
    folder->is_ranked = unknown < std::ssize(folder->models);
    if (unknown > 0)
        folder->notes.push_back(
            {NoteKind::scores,
             fmt::format(
                 "{}: {} of {} models are not in {} and come last, in the order of their names",
                 folder->path, unknown, folder->models.size(),
                 ranking.empty() ? "ranking_debug.json, which is missing,"
                                 : "ranking_debug.json")});
    return folder;
}

/// JOB_model_K.cif with confidence_JOB_model_K.json.
std::optional<ModelFolder> find_boltz(const Listing& listing, Relaxation wanted) {
    return described(listing, PredictionProgram::boltz, wanted,
                     [&](const std::string& file) -> std::optional<Found> {
                         const std::string name = name_without_endings(file);
                         const auto number = number_behind(name, "_model_");
                         const std::string scores = listing.path_of("confidence_" + name + ".json");
                         if (!number || number->size() > 9 || scores.empty()) return std::nullopt;
                         return Found{.model = {.scores = scores}, .rank = std::stod(*number)};
                     });
}

/// Reads the models of all jobs in the folder `predictions` of Boltz's output, or of this folder.
std::optional<ModelFolder> find_boltz_jobs(const Listing& listing, Relaxation wanted) {
    std::optional<ModelFolder> all;
    std::error_code ignored;
    const fs::path predictions = listing.folder / "predictions";
    const std::vector<fs::path> jobs =
        fs::is_directory(predictions, ignored) ? Listing(predictions).folders : listing.folders;
    for (const fs::path& job : jobs) {
        std::optional<ModelFolder> one = find_boltz(Listing(job), wanted);
        if (!one) continue;
        if (!all)
            all = ModelFolder{.path = listing.folder.string(), .program = PredictionProgram::boltz};
        all->models.insert(all->models.end(), one->models.begin(), one->models.end());
        all->notes.insert(all->notes.end(), one->notes.begin(), one->notes.end());
    }
    return all;
}

/// pred.model_idx_K.cif with scores.model_idx_K.npz.
std::optional<ModelFolder> find_chai(const Listing& listing, Relaxation wanted) {
    std::optional<ModelFolder> folder = described(
        listing, PredictionProgram::chai, wanted,
        [&](const std::string& file) -> std::optional<Found> {
            const auto number = number_behind(name_without_endings(file), "pred.model_idx_");
            if (!number) return std::nullopt;
            return Found{
                .model = {.scores = listing.path_of("scores.model_idx_" + *number + ".npz")}};
        });
    if (folder) rank_by_scores(*folder, "aggregate_score");
    return folder;
}

/// fold_JOB_model_K.cif with fold_JOB_summary_confidences_K.json, as AlphaFold's server writes
/// them; or only the best model, JOB_model.cif with JOB_summary_confidences.json.
std::optional<ModelFolder> find_server(const Listing& listing, Relaxation wanted) {
    return described(
        listing, PredictionProgram::alphafold3, wanted,
        [&](const std::string& file) -> std::optional<Found> {
            const std::string name = name_without_endings(file);
            const auto number = number_behind(name, "_model_");
            const bool is_best = name.ends_with("_model");
            if ((!number || number->size() > 9) && !is_best) return std::nullopt;
            const std::string job = name.substr(0, name.rfind("_model"));
            const std::string scores = listing.path_of(
                fmt::format("{}_summary_confidences{}.json", job, is_best ? "" : "_" + *number));
            if (scores.empty()) return std::nullopt;
            return Found{.model = {.scores = scores}, .rank = is_best ? 0 : std::stod(*number)};
        });
}

bool names_model(const std::string& name) { return name == "model" || name.ends_with("_model"); }

/// seed-S_sample-K/JOB_seed-S_sample-K_model.cif, or seed-S_sample-K/model.cif of older versions.
/// The model in the top folder is a copy of the best one.
std::optional<ModelFolder> find_alphafold3(const Listing& listing) {
    ModelFolder folder{.path = listing.folder.string(), .program = PredictionProgram::alphafold3};
    for (const fs::path& sample : listing.folders) {
        const std::string name = sample.filename().string();
        const auto number = number_behind(name, "_sample-");
        const auto seed =
            number ? number_behind(name.substr(0, name.rfind("_sample-")), "seed-") : std::nullopt;
        if (!seed || name != fmt::format("seed-{}_sample-{}", *seed, *number)) continue;
        const Listing files(sample);
        for (const std::string& file : files.files) {
            const std::string model = name_without_endings(file);
            if (!names_model(model)) continue;
            const std::string job = model.substr(0, model.size() - std::string("model").size());
            folder.models.push_back({.name = name,
                                     .file = file,
                                     .scores = files.path_of(job + "summary_confidences.json"),
                                     .key = fmt::format("{}\t{}", *seed, *number)});
            break;
        }
    }
    if (folder.models.empty()) return std::nullopt;
    std::vector<std::string> others = names_of(listing.files);
    std::erase_if(others,
                  [](const std::string& name) { return names_model(name_without_endings(name)); });
    if (!others.empty())
        throw InputError(
            folder.path, 0,
            fmt::format("expected models of AlphaFold 3 alone, found other coordinate files too, "
                        "such as {}; give the files to read as a list, @FILE",
                        others.front()));
    folder.scores = listing.ending_with("ranking_scores.csv");
    rank_by_scores(folder, "ranking_score");
    return folder;
}

/// AF-ACCESSION-F1-model_v4.cif, each a protein or a fragment of one.
std::optional<ModelFolder> find_database(const Listing& listing, Relaxation wanted) {
    std::optional<ModelFolder> folder =
        described(listing, PredictionProgram::alphafold_database, wanted,
                  [&](const std::string& file) -> std::optional<Found> {
                      const std::string name = name_without_endings(file);
                      if (!name.starts_with("AF-") || !number_behind(name, "-model_v"))
                          return std::nullopt;
                      return Found{};
                  });
    if (folder) folder->is_ranked = false;
    return folder;
}

}  // namespace

std::string_view name_of(PredictionProgram program) {
    static constexpr std::string_view kNames[] = {"AlphaFold 2", "ColabFold", "AlphaFold 3",
                                                  "Boltz",       "Chai-1",    "AlphaFold DB"};
    return kNames[static_cast<std::size_t>(program)];
}

std::optional<ModelFolder> find_models(const fs::path& folder, Relaxation wanted) {
    const Listing listing(folder);
    std::optional<ModelFolder> found = find_alphafold3(listing);
    if (found && wanted == Relaxation::relaxed) throw InputError(found->path, 0, kNoRelaxed);
    if (!found) found = find_server(listing, wanted);
    if (!found) found = find_colabfold(listing, wanted);
    if (!found) found = find_alphafold2(listing, wanted);
    if (!found) found = find_boltz(listing, wanted);
    if (!found) found = find_chai(listing, wanted);
    if (!found) found = find_database(listing, wanted);
    if (!found && listing.files.empty()) found = find_boltz_jobs(listing, wanted);
    return found;
}

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

/// Mean predicted aligned error (PAE, angstrom) over all residue pairs and over pairs of different
/// chains, from ColabFold's matrix; NaN if the matrix does not have the size of the model.
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

/// Reads AlphaFold 3's table (seed, sample, ranking_score). Returns the scores of the model `key`:
/// seed and sample joined by a tab.
NamedScores csv_scores(const std::string& path, const std::string& key) {
    const std::vector<std::uint8_t> bytes = read_file(path, kMaxBytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const ListedLine& line : listed_lines(path, text)) {
        const std::vector<std::string_view> cells = split(stripped(line.text), ',');
        if (cells.size() < 3 || fmt::format("{}\t{}", cells[0], cells[1]) != key) continue;
        double value = 0;
        if (!parse_number(cells[2], value))
            throw InputError(path, line.number,
                             fmt::format("expected a ranking score, found '{}'", cells[2]));
        return {{"ranking_score", value}};
    }
    return {};
}

/// Reads AlphaFold 2's ranking_debug.json. Returns the scores of the model `key`.
NamedScores ranking_scores(const std::string& path, const std::string& key) {
    NamedScores scores;
    const Json json = read_object(path);
    for (const auto& [name, values] : json.items())
        if (values.is_object() && values.contains(key) && values[key].is_number())
            // Each is the mean of one model.
            scores.emplace_back(name == "plddts" ? "plddt" : name, values[key].get<double>());
    return scores;
}

/// Reads the scores of a model from the table of its folder.
NamedScores shared_scores(const ModelFolder& folder, const PredictedModel& model) {
    if (folder.scores.empty() || model.key.empty()) return {};
    return folder.program == PredictionProgram::alphafold2
               ? ranking_scores(folder.scores, model.key)
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
        sums[atom.residue] += atom.b_factor;
        ++counts[atom.residue];
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
    if (scores.empty() && folder.program != PredictionProgram::alphafold_database)
        throw InputError(model.file, 0,
                         fmt::format("expected a file of its scores, as {} writes it, found none",
                                     name_of(folder.program)));
    if (folder.program == PredictionProgram::colabfold && !model.scores.empty())
        add(pae_scores(model.scores, model.file));
    if (find(scores, "plddt") == nullptr && find(scores, "complex_plddt") == nullptr)
        scores.emplace_back("plddt", mean_b_factor(model.file));
    return scores;
}

std::string ranking_column(PredictionProgram program, const std::vector<std::string>& columns) {
    const auto has = [&](std::string_view name) {
        return std::ranges::find(columns, name) != columns.end();
    };
    switch (program) {
        case PredictionProgram::alphafold2: return has("iptm+ptm") ? "iptm+ptm" : "plddt";
        // For complexes, the sum of two columns, which no file contains.
        case PredictionProgram::colabfold: return has("iptm") || !has("plddt") ? "" : "plddt";
        case PredictionProgram::alphafold3: return has("ranking_score") ? "ranking_score" : "";
        case PredictionProgram::boltz: return has("confidence_score") ? "confidence_score" : "";
        case PredictionProgram::chai: return has("aggregate_score") ? "aggregate_score" : "";
        case PredictionProgram::alphafold_database: break;
    }
    return "plddt";
}

}  // namespace pleat
