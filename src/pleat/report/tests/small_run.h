// Small runs: folders with a manifest and files that tests write, and what draw() makes of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/report/reduced_data.h"
#include "pleat/report/report.h"

namespace pleat::report::testing {

using pleat::test::spill;
using pleat::test::TemporaryFolder;

/// A folder with the manifest of a finished run, to which a test adds files.
class SmallRun {
public:
    explicit SmallRun(const Json& more = Json::object()) {
        Json manifest = {{"program", "pleat"}, {"command", "test"}, {"status", "finished"}};
        manifest.update(more);
        add("manifest.json", manifest.dump());
    }
    void add(const std::string& name, const std::string& text) { spill(folder_ / name, text); }
    std::filesystem::path file(const std::string& name) const { return folder_ / name; }
    const std::filesystem::path& path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

/// The text between the page's data marks.
inline std::string data_text(const std::string& html) {
    const std::string begin = "id=\"pleat-data\">";
    const std::size_t start = html.find(begin) + begin.size();
    return html.substr(start, html.find("</script>", start) - start);
}

/// The first run of a page, as its script reads it.
inline Json drawn_run(const std::filesystem::path& run, const Parameters& parameters = {}) {
    return Json::parse(data_text(draw({run}, parameters).html))["runs"][0];
}

/// The section of that title; null where there is none.
inline Json section(const Json& run, const std::string& title) {
    for (const Json& one : run["sections"])
        if (one["title"] == title) return one;
    return nullptr;
}

/// The numbers of a packed matrix, by its own description; NaN for what is missing.
inline std::vector<double> unpacked(const Json& packed) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    std::uint32_t group = 0;
    int bits = 0;
    for (const char c : packed["data"].get<std::string>()) {
        if (c == '=') break;
        group = group << 6 | static_cast<std::uint32_t>(digits.find(c));
        bits += 6;
        if (bits >= 8) bytes.push_back(static_cast<std::uint8_t>(group >> (bits -= 8) & 255));
    }
    const double min = packed["least"], max = packed["most"];
    std::vector<double> values;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
        const int step = bytes[at] | bytes[at + 1] << 8;
        values.push_back(step == 65535 ? std::numeric_limits<double>::quiet_NaN()
                                       : min + step / 65534.0 * (max - min));
    }
    return values;
}

}  // namespace pleat::report::testing
