// Manifest: writing JSON, and reading what an earlier run left.
#include "pleat/core/run/manifest.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "pleat/core/files/input_file.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/version.h"

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

/// The member of an object with this name if it has this type; else null.
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
        // A manifest must never be able to point outside its own folder.
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

}  // namespace pleat
