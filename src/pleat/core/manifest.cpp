// Manifest: writing JSON, and reading what an earlier run left.
#include "pleat/core/manifest.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

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

/// Milliseconds are all that a timing means.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

}  // namespace

std::string to_json(const Manifest& m) {
    Json json = {{"program", "pleat"},
                 {"version", kVersion},
                 {"command", m.command},
                 {"arguments", m.arguments},
                 {"status", m.status},
                 {"resumed", m.resumed},
                 {"started", m.started},
                 {"finished", m.finished},
                 {"seconds", rounded(m.seconds)},
                 {"cpu_seconds", rounded(m.cpu_seconds)}};
    json["device"] = m.device;
    json["instruction_set"] = m.instruction_set;
    json["threads"] = m.threads;
    json["peak_memory_bytes"] = m.peak_memory;
    json["seed"] = m.seed;
    json["parameters"] = json_values(m.parameters);
    json["results"] = json_values(m.results);
    for (const char* list : {"inputs", "outputs", "timings", "citations"})
        json[list] = Json::array();
    for (const auto& input : m.inputs)
        json["inputs"].push_back(
            {{"path", input.path}, {"sha256", input.hash.sha256}, {"bytes", input.hash.bytes}});
    for (const auto& output : m.outputs)
        json["outputs"].push_back({{"file", output.file}, {"bytes", output.bytes}});
    for (const auto& timing : m.timings)
        json["timings"].push_back({{"stage", timing.stage},
                                   {"seconds", rounded(timing.seconds)},
                                   {"cpu_seconds", rounded(timing.cpu_seconds)}});
    for (const auto& [key, text] : m.citations)
        json["citations"].push_back({{"key", key}, {"text", text}});
    json["messages"] = m.messages;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

EarlierRun read_earlier_run(const std::filesystem::path& manifest) {
    EarlierRun run;
    std::ifstream file(manifest);
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object()) return run;
    const auto text = [&](const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    run.is_ours = text("program") == "pleat";
    run.command = text("command");
    run.status = text("status");
    const auto outputs = json.find("outputs");
    if (outputs == json.end() || !outputs->is_array()) return run;
    for (const Json& output : *outputs) {
        if (!output.is_object() || !output.contains("file") || !output["file"].is_string())
            continue;
        const std::string name = output["file"].get<std::string>();
        // A manifest must never be able to point outside its own folder.
        if (std::filesystem::path(name).filename() == name && name != "." && name != "..")
            run.outputs.push_back(name);
    }
    return run;
}

}  // namespace pleat
