// Run folder: reading the manifest and listing the files.
#include "pleat/report/run_folder.h"

#include <algorithm>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/report/table.h"

namespace pleat::report {

namespace {

constexpr const char* kManifest = "manifest.json";

}  // namespace

std::string folder_name(const std::filesystem::path& path) {
    if (path.empty()) return {};
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    const std::string last = whole.filename().string();
    return last.empty() ? whole.parent_path().filename().string() : last;
}

RunFolder::RunFolder(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    if (!is_folder(path))
        throw InputError(path.string(), 0, "expected the folder of a run, found none");
    if (!is_file(path / kManifest))
        throw InputError(path.string(), 0,
                         "expected the folder of a run with a manifest.json, found none");
    require_room(path / kManifest, kJsonRoom);
    manifest_ = parse_json(read_file(path / kManifest), path / kManifest);
    if (!manifest_.is_object() || manifest_.value("program", Json()) != "pleat")
        throw InputError((path / kManifest).string(), 0,
                         "expected a manifest of pleat, found other content");
    std::vector<std::string> others;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        const std::string file = entry.path().filename().string();
        if (entry.is_regular_file(ignored) && file != kManifest && !is_hidden_name(file) &&
            complete_name(file).empty())
            others.push_back(file);
    }
    std::sort(others.begin(), others.end());
    const auto list = [&](const std::string& file) {
        const auto entry = std::find(others.begin(), others.end(), file);
        if (entry == others.end()) return;
        files_.push_back(file);
        others.erase(entry);
    };
    if (const auto outputs = manifest_.find("outputs");
        outputs != manifest_.end() && outputs->is_array())
        for (const Json& output : *outputs)
            if (output.is_object() && output.value("file", Json()).is_string())
                list(output["file"]);
    files_.insert(files_.end(), others.begin(), others.end());
}

std::string RunFolder::parameter(std::string_view name) const {
    const auto parameters = manifest_.find("parameters");
    if (parameters == manifest_.end() || !parameters->is_object()) return {};
    const auto value = parameters->find(name);
    if (value == parameters->end()) return {};
    return value->is_string() ? value->get<std::string>() : value->dump();
}

bool RunFolder::has(std::string_view file) const {
    return std::find(files_.begin(), files_.end(), file) != files_.end();
}

const Json& RunFolder::inputs() const {
    static const Json kNone = Json::array();
    const auto inputs = manifest_.find("inputs");
    return inputs != manifest_.end() && inputs->is_array() ? *inputs : kNone;
}

}  // namespace pleat::report
