// Information: triples of columns against their pairs, and the errors of sampled null models.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "pleat/core/files/npy.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr Index kMaxTriples = 5000;

struct Quantity {
    const char *column, *title, *unit;
};
constexpr std::array<Quantity, 4> kQuantities = {{{"mi", "MI", " (bits)"},
                                                  {"z", "Z", ""},
                                                  {"sampled_z", "Z of shuffles", ""},
                                                  {"percentile", "Percentile", ""}}};

/// Values of pairs i < j, row by row, addressed by source column numbers.
class PairValues {
public:
    PairValues(const NpzReader& reader, const char* array) {
        const auto columns = reader.get("columns").as<std::int64_t>(reader.label("columns"));
        for (std::size_t n = 0; n < columns.size(); ++n)
            column_of_.emplace(static_cast<double>(columns[n] + 1), static_cast<Index>(n));
        values_ = reader.get(array).as<double>(reader.label(array));
        const auto size = static_cast<Index>(columns.size());
        if (static_cast<Index>(values_.size()) != size * (size - 1) / 2) values_.clear();
    }
    /// NaN for a pair that is not known.
    double operator()(double a, double b) const {
        const auto i = column_of_.find(std::min(a, b)), j = column_of_.find(std::max(a, b));
        if (values_.empty() || i == column_of_.end() || j == column_of_.end() || i == j)
            return std::numeric_limits<double>::quiet_NaN();
        const auto size = static_cast<Index>(column_of_.size());
        const Index row = i->second * size - i->second * (i->second + 1) / 2;
        return values_[row + j->second - i->second - 1];
    }

private:
    std::map<double, Index> column_of_;
    std::vector<double> values_;
};

/// A scatter plot with two dots per triple: over the largest and the smallest of its pairs.
Json plot_of(const Quantity& quantity, const Table& triples, const PairValues& pairs) {
    const std::vector<double> i = triples.numbers("i"), j = triples.numbers("j"),
                              k = triples.numbers("k"), value = triples.numbers(quantity.column);
    std::vector<double> across, up;
    Json labels = Json::array(), groups = Json::array(), numbers = Json::array();
    bool any = false;
    for (std::size_t row = 0; row < value.size(); ++row) {
        const std::array<double, 3> own = {pairs(i[row], j[row]), pairs(i[row], k[row]),
                                           pairs(j[row], k[row])};
        const auto [smallest, largest] = std::minmax_element(own.begin(), own.end());
        const bool known =
            std::none_of(own.begin(), own.end(), [](double x) { return !std::isfinite(x); });
        for (const int group : {0, 1}) {
            across.push_back(!known       ? std::numeric_limits<double>::quiet_NaN()
                             : group == 0 ? *largest
                                          : *smallest);
            up.push_back(value[row]);
            groups.push_back(group);
            numbers.push_back(row + 1);
            labels.push_back(fmt::format("columns {:.0f}, {:.0f}, {:.0f}, {} of their pairs",
                                         i[row], j[row], k[row],
                                         group == 0 ? "largest" : "smallest"));
        }
        any = any || (known && std::isfinite(value[row]));
    }
    if (!any) return nullptr;
    const std::string name = fmt::format("{}{}", quantity.title, quantity.unit);
    return {
        {"kind", "scatter"},
        {"title", fmt::format("{} of triples and of their pairs", quantity.title)},
        {"note", triples.total > static_cast<Index>(triples.rows.size())
                     ? fmt::format("The first {} of {} triples in triples.tsv.",
                                   triples.rows.size(), triples.total)
                     : ""},
        {"item", "triple"},
        {"numbers", numbers},
        {"labels", labels},
        {"columns",
         Json::array(
             {{{"name", "pair"}, {"label", name + " of a pair"}, {"values", finite(across)}},
              {{"name", "triple"}, {"label", name + " of the triple"}, {"values", finite(up)}}})},
        {"x", "pair"},
        {"y", "triple"},
        {"equal", true},
        {"group",
         {{"label", "pair"},
          {"values", groups},
          {"shown", Json::array({{{"value", 0}, {"name", "largest of its pairs"}},
                                 {{"value", 1}, {"name", "smallest of its pairs"}}})}}}};
}

}  // namespace

void draw_triples(Drawing& drawing) {
    const RunFolder& run = drawing.run;
    if (!run.has("triples.tsv") || !run.has("pairs.npz")) return;
    const Table triples = read_table(run.file("triples.tsv"), kMaxTriples);
    if (!triples.has({"i", "j", "k"})) return;
    constexpr std::int64_t kWide = 8;  // as read, and the values of a quantity
    require_room(run.file("pairs.npz"), kWide);
    const NpzReader reader(run.file("pairs.npz"));
    if (!reader.has("columns")) return;
    for (const Quantity& quantity : kQuantities) {
        if (!triples.has({quantity.column}) || !reader.has(quantity.column)) continue;
        Json plot = plot_of(quantity, triples, PairValues(reader, quantity.column));
        if (!plot.is_null()) drawing.add(std::move(plot));
    }
}

namespace {

/// Errors of one run, over its pairs.
struct NullError {
    double mean = 0;       ///< root mean square, in standard deviations of the exact null
    double deviation = 0;  ///< root mean square, relative to the exact standard deviation
};

/// The error of the sampled null model; nothing for a run without both null models.
std::optional<NullError> error_of(const std::filesystem::path& arrays) {
    constexpr std::int64_t kWide = 8;
    require_room(arrays, kWide);
    const NpzReader reader(arrays);
    std::vector<std::vector<double>> values;
    for (const char* name : {"mean", "variance", "sampled_mean", "sampled_variance"}) {
        if (!reader.has(name)) return std::nullopt;
        values.push_back(reader.get(name).as<double>(reader.label(name)));
        if (values.back().size() != values.front().size()) return std::nullopt;
    }
    NullError error;
    double pairs = 0;
    for (std::size_t n = 0; n < values[0].size(); ++n) {
        const double exact = std::sqrt(values[1][n]);
        const double mean = (values[2][n] - values[0][n]) / exact;
        const double deviation = std::sqrt(values[3][n]) / exact - 1;
        if (!(exact > 0) || !std::isfinite(mean) || !std::isfinite(deviation)) continue;
        error.mean += mean * mean;
        error.deviation += deviation * deviation;
        ++pairs;
    }
    if (pairs == 0) return std::nullopt;
    return NullError{std::sqrt(error.mean / pairs), std::sqrt(error.deviation / pairs)};
}

}  // namespace

Json null_error_section(const std::vector<SampledRun>& runs) {
    std::map<double, std::pair<NullError, double>> by_shuffles;  // sums, and the number of runs
    for (const SampledRun& run : runs) {
        std::error_code ignored;
        const std::filesystem::path arrays = run.folder / "pairs.npz";
        if (!(run.shuffles > 0) || !std::filesystem::is_regular_file(arrays, ignored)) continue;
        const std::optional<NullError> error = error_of(arrays);
        if (!error) continue;
        auto& [sum, count] = by_shuffles[run.shuffles];
        sum.mean += error->mean;
        sum.deviation += error->deviation;
        ++count;
    }
    if (by_shuffles.size() < 2) return nullptr;
    std::vector<double> shuffles, mean, deviation, expected;
    for (const auto& [number, entry] : by_shuffles) {
        const auto& [sum, count] = entry;
        shuffles.push_back(number);
        mean.push_back(sum.mean / count);
        deviation.push_back(sum.deviation / count);
        expected.push_back(1 / std::sqrt(number));
    }
    const auto series = [](const char* name, const char* style, const std::vector<double>& values) {
        return Json{{"name", name}, {"style", style}, {"values", finite(values)}};
    };
    return {{"kind", "curve"},
            {"title", "Error of the sampled null model"},
            {"note",
             "Root mean square over all pairs, against the exact null model, whose standard "
             "deviation is the unit."},
            {"x", {{"label", "shuffles"}, {"scale", "log"}}},
            {"y", {{"label", "error (standard deviations)"}, {"scale", "log"}}},
            {"positions", finite(shuffles)},
            {"series", Json::array({series("of the mean", "line", mean),
                                    series("of the standard deviation", "line", deviation),
                                    series("1 / sqrt(shuffles)", "line", expected)})}};
}

}  // namespace pleat::report
