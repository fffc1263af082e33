// Manifest: writing JSON, reading what an earlier run left, and comparing it with a command.
#include "pleat/core/run/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "pleat/core/files/input_file.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/hardware/embedded_file.h"
#include "pleat/core/version.h"

PLEAT_EMBED(pleat_citations, PLEAT_CITATIONS)

namespace pleat {

namespace {

using Json = nlohmann::ordered_json;

Json json_value(const ManifestValue& value) {
    if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number))
        return std::isnan(*number) ? "nan" : *number > 0 ? "inf" : "-inf";
    return std::visit([](const auto& v) { return Json(v); }, value);
}

Json json_values(const ManifestValues& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = json_value(value);
    return object;
}

/// The member with this key if it has this type; else null.
Json member(const Json& object, const char* key, bool (Json::*is_kind)() const noexcept) {
    const auto found = object.find(key);
    return found != object.end() && ((*found).*is_kind)() ? *found : Json();
}

std::string text_member(const Json& object, const char* key) {
    const Json value = member(object, key, &Json::is_string);
    return value.is_null() ? std::string() : value.get<std::string>();
}

std::string plain_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The texts of a list; other values become empty texts.
std::vector<std::string> texts(const Json& object, const char* key) {
    std::vector<std::string> found;
    for (const Json& value : member(object, key, &Json::is_array))
        found.push_back(value.is_string() ? value.get<std::string>() : std::string());
    return found;
}

void read_outputs(const Json& json, EarlierRun& run) {
    for (const Json& output : member(json, "outputs", &Json::is_array)) {
        if (!output.is_object()) continue;
        const std::string name = text_member(output, "file");
        const Json bytes = member(output, "bytes", &Json::is_number_integer);
        // A manifest must not refer to files outside its own folder.
        if (is_plain_name(name)) {
            run.outputs.push_back(name);
            run.output_bytes.push_back(bytes.is_null() ? -1 : bytes.get<std::int64_t>());
        }
    }
}

/// Rounds to milliseconds; more digits of a time mean nothing.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

}  // namespace

std::string to_json(const Manifest& m) {
    const auto of_process = [&](auto value) { return m.shares_process ? Json() : Json(value); };
    Json json = {{"program", "pleat"},
                 {"version", kVersion},
                 {"command", m.command},
                 {"arguments", m.arguments},
                 {"status", m.status},
                 {"resumed", m.resumed},
                 {"started", m.started},
                 {"finished", m.finished},
                 {"seconds", rounded(m.seconds)},
                 {"cpu_seconds", of_process(rounded(m.cpu_seconds))}};
    json["device"] = m.device;
    json["instruction_set"] = m.instruction_set;
    json["threads"] = m.threads;
    json["ranks"] = m.ranks;
    json["peak_memory_bytes"] = of_process(m.peak_memory);
    json["seed"] = m.seed;
    json["parameters"] = json_values(m.parameters);
    json["results"] = json_values(m.results);
    for (const char* list : {"inputs", "outputs", "timings", "citations"})
        json[list] = Json::array();
    for (const auto& input : m.inputs) {
        json["inputs"].push_back(
            {{"path", input.path}, {"sha256", input.hash.sha256}, {"bytes", input.hash.bytes}});
        if (!input.hash.of.empty()) json["inputs"].back()["sha256_of"] = input.hash.of;
    }
    if (!m.sources.empty()) json["sources"] = m.sources;
    for (const auto& output : m.outputs)
        json["outputs"].push_back({{"file", output.file}, {"bytes", output.bytes}});
    for (const auto& timing : m.timings)
        json["timings"].push_back({{"stage", timing.stage},
                                   {"seconds", rounded(timing.seconds)},
                                   {"cpu_seconds", of_process(rounded(timing.cpu_seconds))}});
    if (!m.stages.empty()) json["stages"] = m.stages;
    for (const auto& [key, text] : m.citations)
        json["citations"].push_back({{"key", key}, {"text", text}});
    json["notes"] = Json::array();
    for (const Note& note : m.notes) {
        json["notes"].push_back({{"kind", name_of(note.kind)}, {"text", note.text}});
        if (!note.option.empty()) json["notes"].back()["option"] = note.option;
        if (note.is_warning) json["notes"].back()["warning"] = true;
    }
    json["messages"] = m.messages;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ManifestValue manifest_value(const Field& field) {
    if (const auto* flag = std::get_if<bool*>(&field.target)) return **flag;
    if (field.is_automatic() || !field.is_number()) return field.text();
    if (const auto* count = std::get_if<std::int64_t*>(&field.target)) return **count;
    if (const auto* number = std::get_if<double*>(&field.target)) return **number;
    if (const auto* count = std::get_if<std::optional<std::int64_t>*>(&field.target))
        return (*count)->value();
    return std::get<std::optional<double>*>(field.target)->value();
}

std::string json_text(const ManifestValue& value) {
    return json_value(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_parameter(const EarlierRun& run, const std::string& name) {
    const auto found = run.parameters.find(name);
    if (found == run.parameters.end()) return {};
    const Json value = Json::parse(found->second, nullptr, false);
    return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && std::filesystem::path(name).filename() == name && name != "." &&
           name != "..";
}

EarlierRun read_earlier_run(const std::filesystem::path& manifest) {
    EarlierRun run;
    if (!is_file(manifest)) return run;
    const Json json = parse_json(read_file(manifest), manifest);
    if (!json.is_object()) return run;
    run.is_ours = text_member(json, "program") == "pleat";
    run.version = text_member(json, "version");
    run.command = text_member(json, "command");
    run.status = text_member(json, "status");
    run.device = text_member(json, "device");
    const Json seed = member(json, "seed", &Json::is_number_unsigned);
    if (!seed.is_null()) run.seed = seed.get<std::uint64_t>();
    read_outputs(json, run);
    for (const Json& input : member(json, "inputs", &Json::is_array)) {
        if (!input.is_object()) continue;
        run.input_hashes.push_back(text_member(input, "sha256"));
        run.input_paths.push_back(text_member(input, "path"));
    }
    run.sources = texts(json, "sources");
    run.arguments = texts(json, "arguments");
    run.stages = texts(json, "stages");
    std::erase_if(run.stages, [](const std::string& name) { return !is_plain_name(name); });
    const Json parameters = member(json, "parameters", &Json::is_object);
    for (const auto& [name, value] : parameters.items()) run.parameters[name] = value.dump();
    const Json results = member(json, "results", &Json::is_object);
    for (const auto& [name, value] : results.items()) run.results[name] = plain_text(value);
    const Json seconds = member(json, "seconds", &Json::is_number);
    if (!seconds.is_null()) run.seconds = seconds.get<double>();
    return run;
}

namespace {

/// The first option that differs; empty if none does.
std::string other_option(const EarlierRun& run, const std::vector<Field>& fields) {
    for (const Field& field : fields) {
        const std::string now = json_text(manifest_value(field));
        const auto before = run.parameters.find(field.name);
        if (before == run.parameters.end())
            return fmt::format("an option '{}' not known to it", field.name);
        if (before->second != now)
            return fmt::format("'{}' {} (now {})", field.name, before->second, now);
    }
    return {};
}

/// The first result file that is missing or has another size than recorded; empty if none.
std::string lost_output(const std::filesystem::path& folder, const EarlierRun& run) {
    if (run.outputs.empty()) return "no list of its results";
    for (std::size_t k = 0; k < run.outputs.size(); ++k) {
        std::error_code error;
        const auto bytes = std::filesystem::file_size(folder / run.outputs[k], error);
        if (error || static_cast<std::int64_t>(bytes) != run.output_bytes[k])
            return fmt::format("a {} that is missing or was changed", run.outputs[k]);
    }
    return {};
}

/// Compares everything except the inputs.
std::string other_command(const std::filesystem::path& folder, const EarlierRun& run,
                          std::string_view command, const std::vector<Field>& fields) {
    if (run.command != command) return fmt::format("the command '{}'", run.command);
    // Another version of pleat may compute other numbers or write other files.
    if (run.version != kVersion)
        return fmt::format("version '{}' (now '{}')", run.version, kVersion);
    if (std::string other = other_option(run, fields); !other.empty()) return other;
    return lost_output(folder, run);
}

bool has_inputs(const EarlierRun& run, const std::vector<std::filesystem::path>& inputs) {
    return std::equal(inputs.begin(), inputs.end(), run.input_hashes.begin(),
                      run.input_hashes.end(),
                      [](const std::filesystem::path& input, const std::string& hash) {
                          return hash_input(input).sha256 == hash;
                      });
}

template <class HasInputs>
std::optional<FinishedRun> compare(const std::filesystem::path& folder, std::string_view command,
                                   const std::vector<Field>& fields, const HasInputs& has) {
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    if (!run.is_ours || run.status != "finished") return std::nullopt;
    FinishedRun found{.difference = other_command(folder, run, command, fields),
                      .results = run.results,
                      .seconds = run.seconds};
    if (found.difference.empty() && !has(run)) found.difference = "other content of its input";
    return found;
}

}  // namespace

std::string InputHashes::of(const std::filesystem::path& file) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_hashes_.find(file); found != known_hashes_.end())
            return found->second;
    }
    std::string hash = hash_input(file).sha256;
    const std::lock_guard lock(mutex_);
    return known_hashes_[file] = std::move(hash);
}

std::optional<FinishedRun> find_finished_run(
    const std::filesystem::path& folder, std::string_view command, const std::vector<Field>& fields,
    const std::vector<std::string>& files, std::optional<std::uint64_t> seed, InputHashes& hashes) {
    std::uint64_t earlier_seed = 0;
    std::optional<FinishedRun> found = compare(folder, command, fields, [&](const EarlierRun& run) {
        earlier_seed = run.seed;
        for (const std::string& file : files) {
            const auto& listed = run.input_hashes;
            if (std::ranges::find(listed, hashes.of(file)) == listed.end()) return false;
        }
        for (std::size_t n = 0; n < run.input_paths.size(); ++n) {
            std::error_code ignored;
            const std::filesystem::path path = run.input_paths[n];
            if (std::filesystem::is_regular_file(path, ignored) &&
                hashes.of(path) != run.input_hashes[n])
                return false;
        }
        return true;
    });
    if (found && found->difference.empty() && seed && *seed != earlier_seed)
        found->difference = fmt::format("seed {} (now {})", earlier_seed, *seed);
    return found;
}

std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs) {
    return compare(folder, command, fields,
                   [&](const EarlierRun& run) { return has_inputs(run, inputs); });
}

Citation find_citation(std::string_view key) {
    const std::string_view all = pleat_citations();
    // An entry begins with "@kind{KEY," and ends with "}" on a line of its own. The line before it
    // is its text.
    const std::size_t name = all.find("{" + std::string(key) + ",\n");
    const std::size_t begin = name == all.npos ? name : all.rfind("\n@", name);
    if (begin == all.npos) throw std::logic_error("no citation with the key " + std::string(key));
    const std::size_t text = all.rfind('\n', begin - 1) + 1;
    const std::size_t end = all.find("\n}\n", name) + 3;
    return {std::string(key), std::string(all.substr(text, begin - text)),
            std::string(all.substr(begin + 1, end - begin - 1))};
}

}  // namespace pleat
