// Frame choice: tables and models' scores by frame, and leaving frames out by them.
#include "pleat/bio/ensemble/frame_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "pleat/bio/ensemble/model_folder.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"

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
    const bool is_percentage =
        text.ends_with('%') && parse_number(text.substr(0, text.size() - 1), value);
    if (!is_percentage || !(value >= 0 && value < 100))
        throw UsageError(
            fmt::format("--worst-left-out: expected a percentage from 0% to below 100%, such as "
                        "10%, found '{}'",
                        text));
    return value / 100;
}

const std::vector<double>& FrameScores::ranking() const {
    static const std::vector<double> kNone;
    const auto at = std::ranges::find(columns, ranked_by);
    return at == columns.end() ? kNone : values[at - columns.begin()];
}

FrameScores FrameScores::of(const std::vector<Index>& frames) const {
    FrameScores some{
        .columns = columns, .values = {}, .ranked_by = ranked_by, .lowest_is_best = lowest_is_best};
    for (const std::vector<double>& column : values) {
        std::vector<double>& kept = some.values.emplace_back();
        kept.reserve(frames.size());
        for (const Index frame : frames) kept.push_back(column[frame]);
    }
    return some;
}

std::vector<Index> best_frames(const std::vector<double>& values, bool lowest_is_best,
                               std::int64_t best, double worst_share) {
    std::vector<Index> order(values.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) {
        const double x = values[a], y = values[b];
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return lowest_is_best ? x < y : x > y;
    });
    const auto count = static_cast<double>(values.size());
    // Avoids rounding down too far: 10 % of 30 is 3, but 0.1 * 30 may be slightly less in binary.
    std::size_t kept =
        values.size() - static_cast<std::size_t>(std::floor(worst_share * count * (1 + 1e-12)));
    if (best > 0) kept = std::min(kept, static_cast<std::size_t>(best));
    order.resize(kept);
    std::ranges::sort(order);
    return order;
}

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> cells_of(std::string_view line, char separator) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, separator)) cells.emplace_back(stripped(cell));
    return cells;
}

bool is_unknown(const std::string& cell) {
    return cell.empty() || cell == "NA" || cell == "NaN" || cell == "nan" || cell == "None" ||
           cell == "-nan";
}

}  // namespace

/// A table of scores as it is in its file.
struct FrameChoice::Table {
    std::string path;
    bool is_by_name = false;
    std::vector<std::string> columns;
    std::vector<std::int64_t> lines;          ///< [row]: in the file, from 1
    std::vector<std::string> keys;            ///< [row]: frame or name
    std::vector<std::vector<double>> values;  ///< [column][row]

    explicit Table(const std::string& file) : path(file) {
        constexpr std::size_t kMaxLines = 1'000'000'000;
        const std::vector<std::uint8_t> bytes = read_file(file);
        std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // of spreadsheets
        const std::vector<ListedLine> all = listed_lines(file, text, kMaxLines);
        const char separator =
            all.empty() || all[0].text.find('\t') != std::string_view::npos ? '\t' : ',';
        if (!all.empty()) columns = cells_of(all[0].text, separator);
        if (columns.size() < 2 || (columns[0] != "frame" && columns[0] != "name"))
            throw InputError(
                file, all.empty() ? 0 : all[0].number,
                fmt::format("expected a line of names: frame or name first, then the names of "
                            "scores, between tabs or commas; found {}",
                            all.empty() ? "none" : in_quotes(all[0].text)));
        is_by_name = columns[0] == "name";
        columns.erase(columns.begin());
        values.resize(columns.size());
        for (std::size_t n = 1; n < all.size(); ++n)
            add(all[n].number, cells_of(all[n].text, separator));
    }

    void add(std::int64_t line, const std::vector<std::string>& cells) {
        if (cells.size() != columns.size() + 1)
            throw InputError(
                path, line,
                fmt::format("expected {} cells, found {}", columns.size() + 1, cells.size()));
        lines.push_back(line);
        keys.push_back(cells[0]);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::string& cell = cells[c + 1];
            double value = kUnknown;
            if (!is_unknown(cell) && !parse_number(cell, value))
                throw InputError(
                    path, line,
                    fmt::format("expected a number or NA as {}, found '{}'", columns[c], cell));
            values[c].push_back(value);
        }
    }
};

namespace {

/// Finds the file of a name: a path, a file name with or without endings, or a model name.
class FileNames {
public:
    static constexpr Index kNone = -1, kSeveral = -2;
    explicit FileNames(const EnsembleFiles& files) {
        for (std::size_t n = 0; n < files.paths.size(); ++n) {
            const std::filesystem::path path = files.paths[n];
            const auto file = static_cast<Index>(n);
            for (const std::string& name :
                 {files.paths[n], files.names[n], path.filename().string(), path.stem().string()}) {
                const auto [at, is_new] = files_.try_emplace(name, file);
                if (!is_new && at->second != file) at->second = kSeveral;
            }
        }
    }
    Index find(const std::string& name) const {
        const auto at = files_.find(name);
        return at == files_.end() ? kNone : at->second;
    }

private:
    std::unordered_map<std::string, Index> files_;
};

}  // namespace

FrameChoice::FrameChoice(const ScoreOptions& options, const EnsembleFiles& files,
                         const FrameRange& range) {
    if (!options.are_read()) {
        if (options.leave_out() || !options.column.empty() || options.lowest_is_best)
            throw UsageError(
                "--score, --best, --least and --worst-left-out need --scores, a file or folder");
        return;
    }
    if (options.of_models) add_models(files);
    for (const std::string& path : options.tables) add_table(Table(path), files, range);
    choose_column(options, files);
    leave_out(options, range);
}

void FrameChoice::add_column(const std::string& source, const std::string& name,
                             std::vector<double> values) {
    if (source_.empty()) source_ = source;
    if (std::ranges::find(scores_.columns, name) != scores_.columns.end())
        throw InputError(source, 0,
                         fmt::format("expected each score once, found a second one called '{}'; "
                                     "rename one of them",
                                     name));
    scores_.columns.push_back(name);
    scores_.values.push_back(std::move(values));
}

void FrameChoice::add_models(const EnsembleFiles& files) {
    is_of_files_ = true;
    const std::size_t count = files.paths.size();
    std::vector<std::string> columns;
    std::vector<std::vector<double>> values;
    std::vector<std::size_t> next(files.models.size());  // the models are in the order of the files
    for (std::size_t file = 0; file < count; ++file) {
        const Index at = files.folders[file];
        if (at < 0)
            throw InputError(
                files.paths[file], 0,
                "expected a model of a folder as AlphaFold, ColabFold, Boltz or Chai-1 write it "
                "(--scores folder), found another file; give its scores as a table");
        const ModelFolder& folder = files.models[at];
        const PredictedModel& model = folder.models[next[at]++];
        for (const auto& [name, value] : model_scores(folder, model)) {
            auto column = std::ranges::find(columns, name) - columns.begin();
            if (column == static_cast<std::ptrdiff_t>(columns.size())) {
                columns.push_back(name);
                values.emplace_back(count, kUnknown);
            }
            values[column][file] = value;
        }
    }
    has_score_.assign(count, 1);
    for (std::size_t c = 0; c < columns.size(); ++c)
        add_column(files.models.front().path, columns[c], std::move(values[c]));
}

void FrameChoice::add_table(const Table& table, const EnsembleFiles& files,
                            const FrameRange& range) {
    constexpr Index kMaxFrames = Index{1} << 40;
    const FileNames names(table.is_by_name ? files : EnsembleFiles());
    is_of_files_ = is_of_files_ || table.is_by_name;
    std::vector<Index> frames;  // [row]; -1: a name of no file
    Index count = table.is_by_name ? std::ssize(files.paths) : 0;
    Index unknown = 0;
    for (std::size_t row = 0; row < table.keys.size(); ++row) {
        Index frame = 0;
        if (table.is_by_name) {
            frame = names.find(table.keys[row]);
            if (frame == FileNames::kSeveral)
                throw InputError(table.path, table.lines[row],
                                 fmt::format("expected the name of one file, found '{}', which "
                                             "several have; give paths",
                                             table.keys[row]));
            unknown += frame == FileNames::kNone;
        } else if (!parse_number(table.keys[row], frame) || frame < 0 || frame >= kMaxFrames) {
            throw InputError(
                table.path, table.lines[row],
                fmt::format("expected the number of a frame, from 0, found '{}'", table.keys[row]));
        }
        frames.push_back(frame);
        count = std::max(count, frame + 1);
    }
    // A table with few rows and a large frame number must be incomplete.
    if (count > 1000 * (std::ssize(frames) + 1000) && !table.is_by_name)
        throw InputError(table.path, 0,
                         fmt::format("expected scores of all frames, found {} rows up to frame {}",
                                     frames.size(), count - 1));
    std::vector<std::int64_t> line_of(count);
    std::vector<std::vector<double>> values(table.columns.size(),
                                            std::vector<double>(count, kUnknown));
    for (std::size_t row = 0; row < frames.size(); ++row) {
        if (frames[row] < 0) continue;
        const auto frame = static_cast<std::size_t>(frames[row]);
        if (line_of[frame] != 0)
            throw InputError(
                table.path, table.lines[row],
                fmt::format("expected each frame once, found {} '{}' again, as in "
                            "line {}",
                            table.is_by_name ? "name" : "frame", table.keys[row], line_of[frame]));
        line_of[frame] = table.lines[row];
        for (std::size_t c = 0; c < values.size(); ++c) values[c][frame] = table.values[c][row];
    }
    for (Index frame = 0; frame < count; ++frame) {
        if (line_of[frame] != 0 || !range.has(frame)) continue;
        throw InputError(
            table.path, 0,
            table.is_by_name
                ? fmt::format("expected scores of '{}' ({}), found none", files.names[frame],
                              files.paths[frame])
                : fmt::format("expected scores of frame {} (frames count from 0), found none",
                              frame));
    }
    if (unknown > 0)
        notes_.push_back(
            {NoteKind::frames, fmt::format("{}: {} row{} with names of no file left out",
                                           table.path, unknown, unknown == 1 ? "" : "s")});
    const bool is_first = scores_.empty();
    if (!is_first && has_score_.size() != static_cast<std::size_t>(count))
        throw InputError(table.path, 0,
                         fmt::format("expected scores of {} frames as in {}, found those of {}",
                                     has_score_.size(), source_, count));
    has_score_.resize(count, 1);
    for (std::size_t frame = 0; frame < has_score_.size(); ++frame)
        has_score_[frame] = has_score_[frame] && line_of[frame] != 0;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        add_column(table.path, table.columns[c], std::move(values[c]));
}

void FrameChoice::choose_column(const ScoreOptions& options, const EnsembleFiles& files) {
    scores_.lowest_is_best = options.lowest_is_best;
    scores_.ranked_by = options.column;
    const std::vector<std::string>& columns = scores_.columns;
    if (options.column.empty() && columns.size() == 1) scores_.ranked_by = columns.front();
    if (options.column.empty() && options.of_models && !options.lowest_is_best)
        scores_.ranked_by = ranking_column(files.models.front().program, columns);
    const bool is_known = std::ranges::find(columns, scores_.ranked_by) != columns.end();
    if (!options.column.empty() && !is_known)
        throw UsageError(fmt::format("--score: expected one of {}, found '{}'",
                                     fmt::join(columns, ", "), options.column));
    if (!is_known) scores_.ranked_by.clear();
    if (!is_known && (options.leave_out() || options.lowest_is_best))
        throw UsageError(
            fmt::format("say by which score with --score: {}", fmt::join(columns, ", ")));
}

void FrameChoice::leave_out(const ScoreOptions& options, const FrameRange& range) {
    std::vector<Index> frames;  // to choose from
    for (Index frame = 0; frame < std::ssize(has_score_); ++frame)
        if (range.has(frame)) frames.push_back(frame);
    notes_.push_back({NoteKind::scores, fmt::format("scores of {} frames: {}", frames.size(),
                                                    fmt::join(scores_.columns, ", "))});
    if (scores_.ranked_by.empty()) return;
    const std::vector<double> values = scores_.of(frames).ranking();
    const auto unknown =
        std::ranges::count_if(values, [](double value) { return std::isnan(value); });
    if (unknown > 0)
        notes_.push_back({NoteKind::scores,
                          fmt::format("{} of {} frames have no {}, and are worse than all others",
                                      unknown, frames.size(), scores_.ranked_by)});
    if (!options.leave_out()) return;
    const std::vector<Index> best =
        best_frames(values, options.lowest_is_best, options.best, options.worst_share);
    kept_.assign(has_score_.size(), 0);
    Index unknown_kept = 0;
    for (const Index at : best) {
        kept_[frames[at]] = 1;
        unknown_kept += std::isnan(values[at]);
    }
    notes_.push_back(
        {NoteKind::frames,
         fmt::format(
             "kept {} of {} frames by their {}, the {} first{}", best.size(), frames.size(),
             scores_.ranked_by, options.lowest_is_best ? "lowest" : "highest",
             unknown_kept > 0 ? fmt::format(", {} of them without one", unknown_kept) : "")});
}

bool FrameChoice::keeps(Index frame) const {
    const auto at = static_cast<std::size_t>(frame);
    return at >= kept_.size() || kept_[at] != 0;
}

void FrameChoice::require(Index frame) const {
    const auto at = static_cast<std::size_t>(frame);
    if (scores_.empty() || (at < has_score_.size() && has_score_[at] != 0)) return;
    throw InputError(source_, 0,
                     fmt::format("expected scores of frame {} (frames count from 0), found those "
                                 "of {} frames",
                                 frame, std::ranges::count(has_score_, 1)));
}

void FrameChoice::check_count(Index count) const {
    for (std::size_t frame = static_cast<std::size_t>(count); frame < has_score_.size(); ++frame)
        if (has_score_[frame] != 0)
            throw InputError(source_, 0,
                             fmt::format("expected scores of the {} frames of the ensemble, from "
                                         "0, found those of frame {}",
                                         count, frame));
}

}  // namespace pleat
