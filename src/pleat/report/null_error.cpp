// Null error: how far the sampled null model is from the exact one, by the number of shuffles, over
// the runs of a sweep.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "pleat/core/files/npy.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// Errors of one run, over its pairs.
struct NullError {
    double mean = 0;       ///< root mean square, in standard deviations of the exact null
    double deviation = 0;  ///< root mean square, relative to the exact standard deviation
};

/// Nothing for a run without both null models.
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
