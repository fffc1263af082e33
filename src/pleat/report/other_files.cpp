// Other files: tables and JSON that no other reader has drawn, as tables of texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/parse_json.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// "name_of_file.tsv" as a title: "Name of file".
std::string title_of(const std::string& file) {
    std::string title = file.substr(0, file.rfind('.'));
    std::replace(title.begin(), title.end(), '_', ' ');
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
        title[0] = static_cast<char>(title[0] - 'a' + 'A');
    return title;
}

/// Appends the scalars of nested objects as rows {"a.b", value}.
void flatten(const Json& value, const std::string& name, Json& rows) {
    if (value.is_structured()) {
        std::size_t number = 0;
        for (const auto& [key, member] : value.items()) {
            std::string path = name.empty() ? std::string() : name + '.';
            path += value.is_object() ? key : std::to_string(++number);
            flatten(member, path, rows);
        }
        return;
    }
    const std::string text = value.is_string() ? value.get<std::string>()
                             : value.is_null() ? "NA"
                                               : value.dump();
    rows.push_back({name, text});
}

void draw_json(Drawing& drawing, const std::string& file) {
    const std::filesystem::path path = drawing.run.file(file);
    require_room(path, kJsonRoom);
    const Json json = require_json(read_file(path), path);
    Json rows = Json::array();
    flatten(json, "", rows);
    const auto total = rows.size();
    if (total > static_cast<std::size_t>(drawing.limits.rows))
        rows.erase(rows.begin() + drawing.limits.rows, rows.end());
    drawing.add({{"kind", "table"},
                 {"title", title_of(file)},
                 {"file", file},
                 {"columns", {"name", "value"}},
                 {"rows", rows},
                 {"total", total}});
}

}  // namespace

bool Drawing::claim_file(const std::string& file) {
    return run.has(file) && drawn.insert(file).second;
}

void Drawing::add_table(const std::string& file, const std::string& title) {
    if (claim_file(file)) add(table_section(title, read_table(run.file(file), limits.rows)));
}

Json table_section(const std::string& title, const Table& table) {
    return {
        {"kind", "table"},          {"title", title},     {"file", table.path.filename().string()},
        {"columns", table.columns}, {"rows", table.rows}, {"total", table.total}};
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json finite(const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(finite(value));
    return list;
}

void draw_other_files(Drawing& drawing) {
    for (const std::string& file : drawing.run.files()) {
        if (drawing.drawn.contains(file)) continue;
        if (file.ends_with(".tsv")) {
            drawing.add(table_section(title_of(file),
                                      read_table(drawing.run.file(file), drawing.limits.rows)));
        } else if (file.ends_with(".json")) {
            draw_json(drawing, file);
        } else {
            continue;
        }
        drawing.claim_file(file);
    }
}

}  // namespace pleat::report
