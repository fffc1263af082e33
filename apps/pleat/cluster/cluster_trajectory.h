// Cluster trajectory: which frames follow each other in time, and the files about their clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

struct TrajectoryOptions {
    std::int64_t lag = 1;            ///< frames
    std::optional<double> timestep;  ///< picoseconds between the frames of the files
};
std::vector<Field> fields(TrajectoryOptions& options);

/// Frames of one file at equal distances: none is left out between them.
struct FrameSeries {
    Index first = 0, count = 0;         ///< frames of the run
    Index file = 0, frame_of_file = 0;  ///< where the first of them was read
};

/// Finds series and the time from one frame to the next while frames are read. Memory: that of the
/// series.
class SeriesRecorder {
public:
    /// `step` of the frame range.
    explicit SeriesRecorder(Index step) : step_(step) {}
    void add(const FrameOrigin& origin);

    const std::vector<FrameSeries>& series() const { return series_; }
    /// Whether all frames have a time.
    bool has_times() const { return has_times_ && previous_.has_value(); }
    /// Picoseconds from one frame of a series to the next, if all frames have times at equal
    /// distances.
    std::optional<double> interval() const;

private:
    void add_time(double time);

    Index step_;
    std::vector<FrameSeries> series_;
    std::optional<FrameOrigin> previous_;
    bool has_times_ = true, is_even_ = true;
    std::optional<double> first_interval_;
    double total_time_ = 0.0;  ///< between neighbours
    Index intervals_ = 0;      ///< pairs of neighbours
};

/// How the frames of a run follow each other in time.
struct Trajectory {
    std::vector<FrameSeries> series;
    std::vector<std::string> files;  ///< that the series refer to
    Index step = 1;
    /// Whether they do: files of simulations, or --timestep, and a file with several frames.
    bool is_ordered = false;
    std::optional<double> interval;  ///< picoseconds from one frame of the run to the next

    std::vector<Index> lengths() const;
};
/// What was read of an ensemble; `is_trajectory`: see EnsembleReader. A message says if times of
/// files are not used. Throws InputError for --lag without a trajectory.
Trajectory trajectory_of(const SeriesRecorder& recorder, const std::vector<std::string>& files,
                         bool is_trajectory, const std::string& frames,
                         const TrajectoryOptions& options, const Context& context);
/// The same of frames in memory, or (without origins) of the items of a matrix, which are one
/// series if --timestep is given.
Trajectory trajectory_of(std::span<const FrameOrigin> origins,
                         const std::vector<std::string>& files, Index items, bool is_trajectory,
                         const std::string& frames, const TrajectoryOptions& options,
                         const Context& context);

/// Writes series.tsv, and records whether frames are ordered; if they are, writes the files of
/// cluster::write_states(), too. Throws OutputError.
void write_trajectory(RunDirectory& run, const std::vector<std::int32_t>& assignment,
                      const Trajectory& trajectory, const TrajectoryOptions& options);

}  // namespace pleat::program
