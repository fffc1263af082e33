// Cluster trajectory: series of frames, the time between them, and the files about their clusters.
#include "cluster/cluster_trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/cluster/output.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

namespace pleat::program {

namespace {

/// Intervals of a trajectory differ by less than this part of them, besides the rounding of times.
constexpr double kEven = 1e-3;

}  // namespace

std::vector<Field> fields(TrajectoryOptions& options) {
    return {
        {.name = "lag",
         .target = &options.lag,
         .help = "Frames from the begin to the end of a step between clusters, of which "
                 "transition_probabilities.tsv lists the probabilities",
         .min = 1,
         .max = 2e9},
        {.name = "timestep",
         .target = &options.timestep,
         .help = "Time from one frame of the files to the next, for dwell times; with it models "
                 "of PDB and mmCIF files, .npy files and matrices, too, are in order of time",
         .unit = "ps",
         .min = 0,
         .max = 1e15,
         .min_excluded = true,
         .automatic = "that of the files"}};
}

void SeriesRecorder::add(const FrameOrigin& origin) {
    const bool follows =
        previous_ && previous_->file == origin.file && origin.frame - previous_->frame == step_;
    if (!follows)
        series_.push_back({series_.empty() ? 0 : series_.back().first + series_.back().count, 0,
                           origin.file, origin.frame});
    ++series_.back().count;
    has_times_ = has_times_ && origin.time.has_value();
    if (has_times_ && follows) add_time(*origin.time);
    previous_ = origin;
}

void SeriesRecorder::add_time(double time) {
    const double interval = time - *previous_->time;
    // Files hold times as float32.
    const double rounding = std::ldexp(std::max(std::abs(time), std::abs(*previous_->time)), -22);
    if (!first_interval_) first_interval_ = interval;
    const double allowed = kEven * *first_interval_ + rounding;
    is_even_ = is_even_ && std::abs(interval - *first_interval_) <= allowed &&
               rounding < *first_interval_ / 2;
    total_time_ += interval;
    ++intervals_;
}

std::optional<double> SeriesRecorder::interval() const {
    if (!has_times() || !is_even_ || intervals_ == 0) return std::nullopt;
    return total_time_ / static_cast<double>(intervals_);
}

std::vector<Index> Trajectory::lengths() const {
    std::vector<Index> all;
    for (const FrameSeries& one : series) all.push_back(one.count);
    return all;
}

Trajectory trajectory_of(const SeriesRecorder& recorder, const std::vector<std::string>& files,
                         bool is_trajectory, const std::string& frames,
                         const TrajectoryOptions& options, const Context& context) {
    Trajectory found{.series = recorder.series(),
                     .files = files,
                     .step = parse_frame_range(frames).step,
                     .interval = recorder.interval()};
    const bool has_steps =
        std::ranges::any_of(found.series, [](const FrameSeries& one) { return one.count > 1; });
    found.is_ordered = has_steps && (is_trajectory || options.timestep);
    if (!found.is_ordered && (options.lag != TrajectoryOptions().lag || options.timestep))
        throw InputError(
            files.front(), 0,
            has_steps ? "expected a trajectory for --lag (DCD, XTC, TRR or AMBER NetCDF), found "
                        "other files: --timestep says that their frames are in order of time"
                      : "expected files with several frames for --lag and --timestep, found none");
    if (!found.is_ordered) return found;
    const auto longest = std::ranges::max(found.lengths());
    if (options.lag >= longest)
        throw InputError(
            files.front(), 0,
            fmt::format("expected a series of more than {} frames for --lag {}, found at most {} "
                        "frames in a row",
                        options.lag, options.lag, longest));
    if (options.timestep) {
        const double given = *options.timestep * static_cast<double>(found.step);
        if (found.interval && std::abs(*found.interval - given) > kEven * given)
            context.message(fmt::format(
                "warning: {}: {:g} ps from one frame to the next, by --timestep; by the files {:g}",
                files.front(), given, *found.interval));
        found.interval = given;
    } else if (recorder.has_times() && !found.interval) {
        context.message(
            fmt::format("{}: dwell times are in frames only, since the times in the files are not "
                        "at equal distances: --timestep says what they are",
                        files.front()));
    }
    return found;
}

Trajectory trajectory_of(std::span<const FrameOrigin> origins,
                         const std::vector<std::string>& files, Index items, bool is_trajectory,
                         const std::string& frames, const TrajectoryOptions& options,
                         const Context& context) {
    SeriesRecorder recorder(parse_frame_range(frames).step);
    for (Index item = 0; item < items && origins.empty(); ++item) recorder.add({0, item});
    for (const FrameOrigin& origin : origins) recorder.add(origin);
    return trajectory_of(recorder, files, is_trajectory, frames, options, context);
}

void write_trajectory(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                      const Trajectory& trajectory, const TrajectoryOptions& options) {
    run.fact("trajectory", std::string_view(trajectory.is_ordered ? "yes" : "no"));
    std::string text = "first\tframes\tfile\tframe_of_file\tstep\n";
    for (const FrameSeries& one : trajectory.series)
        text += fmt::format("{}\t{}\t{}\t{}\t{}\n", one.first, one.count,
                            table_cell(trajectory.files[static_cast<std::size_t>(one.file)]),
                            one.frame_of_file, trajectory.step);
    write_text(run.output("series.tsv"), text);
    if (!trajectory.is_ordered) return;
    if (trajectory.interval) run.fact("ps_per_frame", *trajectory.interval);
    cluster::write_states(run, assignment, trajectory.lengths(), options.lag, trajectory.interval);
}

}  // namespace pleat::program
