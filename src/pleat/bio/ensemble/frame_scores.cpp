// Frame scores: options as texts, and the best frames.
#include "pleat/bio/ensemble/frame_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/files/line_list.h"

namespace pleat {

void parse_score_sources(std::string_view text, ScoreOptions& options) {
    options.tables.clear();
    options.of_models = false;
    if (text.empty()) return;
    for (const std::string_view source : split(text, ',')) {
        if (source.empty())
            throw UsageError(
                fmt::format("give --scores as FILE,FILE,... or folder, found '{}'", text));
        if (source == "folder")
            options.of_models = true;
        else
            options.tables.emplace_back(source);
    }
}

double parse_percentage(std::string_view text) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = problem == std::errc() && end == text.data() + text.size() - 1;
    if (!is_number || !text.ends_with('%') || !(value >= 0 && value < 100))
        throw UsageError(
            fmt::format("--worst-left-out: expected a percentage from 0% to below 100%, such as "
                        "10%, found '{}'",
                        text));
    return value / 100;
}

const std::vector<double>& FrameScores::ranking() const {
    static const std::vector<double> kNone;
    const auto at = std::find(columns.begin(), columns.end(), ranked_by);
    return at == columns.end() ? kNone : values[static_cast<std::size_t>(at - columns.begin())];
}

FrameScores FrameScores::of(const std::vector<Index>& frames) const {
    FrameScores some{
        .columns = columns, .values = {}, .ranked_by = ranked_by, .lowest_is_best = lowest_is_best};
    for (const std::vector<double>& column : values) {
        std::vector<double>& kept = some.values.emplace_back();
        kept.reserve(frames.size());
        for (const Index frame : frames) kept.push_back(column[static_cast<std::size_t>(frame)]);
    }
    return some;
}

std::vector<Index> best_frames(const std::vector<double>& values, bool lowest_is_best,
                               std::int64_t best, double worst_share) {
    std::vector<Index> order(values.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        const double x = values[static_cast<std::size_t>(a)],
                     y = values[static_cast<std::size_t>(b)];
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return lowest_is_best ? x < y : x > y;
    });
    const auto count = static_cast<double>(values.size());
    // 10 % of 30 are 3, though 0.1 in binary times 30 may be a little less.
    std::size_t kept =
        values.size() - static_cast<std::size_t>(std::floor(worst_share * count * (1 + 1e-12)));
    if (best > 0) kept = std::min(kept, static_cast<std::size_t>(best));
    order.resize(kept);
    std::sort(order.begin(), order.end());
    return order;
}

}  // namespace pleat
