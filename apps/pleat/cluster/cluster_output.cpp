// Cluster output: series of frames and the time between them, and structures moved onto each other.
#include "cluster/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/cluster/output.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/superposition/superposition.h"

namespace pleat::program {

namespace {

/// Intervals of a trajectory count as equal within this fraction, plus the rounding of times.
constexpr double kEven = 1e-3;

/// Opens the ensemble with the atoms to write; null if these are the superposed atoms.
std::unique_ptr<EnsembleReader> reader_of_written(const ClusterInput& input,
                                                  const StructureOutput& options) {
    const EnsembleSource& source = input.ensemble;
    if (options.atoms.empty() || options.atoms == source.select) return nullptr;
    EnsembleOptions reading = reading_options(source);
    reading.select = options.atoms;
    reading.placed_by = source.select;
    return std::make_unique<EnsembleReader>(source.sources, std::move(reading));
}

/// The atoms to write for one item: those of a frame, or of one of its equal chains.
struct WrittenAtoms {
    std::shared_ptr<const Topology> topology;
    std::vector<std::vector<Index>> atoms;  ///< [chain][atom] of those that are read
    Index frames = 0;
};

/// `read`: the atoms that the reader provides per frame.
WrittenAtoms written_atoms(const Coordinates& coordinates,
                           const std::shared_ptr<const Topology>& read) {
    const ChainItems& items = coordinates.chains;
    if (!items.are_chains()) {
        std::vector<Index> all(static_cast<std::size_t>(read->atom_count()));
        std::iota(all.begin(), all.end(), Index{0});
        return {read, {all}, coordinates.frames()};
    }
    for (EqualChains& chains : equal_chains(*read))
        if (chains.names == items.names)
            return {std::make_shared<const Topology>(subset(*read, chains.atoms.front())),
                    std::move(chains.atoms), items.frames};
    throw InputError(read->source.string(), 0,
                     fmt::format("expected atoms for --write that chains {} have alike, found "
                                 "chains that differ; select fewer",
                                 fmt::join(items.names, ", ")));
}

/// The maximum distance from the origin that atoms can reach when frames are rotated about the mean
/// of their superposed atoms and moved onto each other.
class Reach {
public:
    /// `superposed` [atom, axis]; `at(atom, axis)` of `atoms` written atoms of the same frame.
    template <class At>
    void add(View<const float, 2> superposed, const std::vector<double>& weights, Index atoms,
             const At& at) {
        double mean[3] = {}, total = 0.0;
        for (Index k = 0; k < superposed.extent(0); ++k) {
            const double weight = weights.empty() ? 1.0 : weights[k];
            total += weight;
            for (int axis = 0; axis < 3; ++axis) mean[axis] += weight * superposed(k, axis);
        }
        for (double& of_axis : mean) {
            of_axis /= total;
            min_ = std::min(min_, of_axis);
            max_ = std::max(max_, of_axis);
        }
        for (Index k = 0; k < atoms; ++k)
            radius_ = std::max(
                radius_, std::hypot(at(k, 0) - mean[0], at(k, 1) - mean[1], at(k, 2) - mean[2]));
    }
    /// Whether all possible coordinates fit the PDB columns, -999.999 to 9999.999.
    bool fits_pdb() const { return min_ - radius_ > -999.99 && max_ + radius_ < 9999.99; }

private:
    double min_ = 0.0, max_ = 0.0;  ///< of the means
    double radius_ = 0.0;
};

/// Copies atoms [axis, atom].
void gather(View<const float, 2> from, const std::vector<Index>& atoms, View<float, 2> to) {
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < atoms.size(); ++n)
            to(axis, static_cast<Index>(n)) = from(axis, atoms[n]);
}

class WrittenFrames {
public:
    WrittenFrames(const ClusterInput& input, const StructureOutput& options,
                  const std::vector<Index>& written)
        : coordinates_(*input.coordinates),
          topology_(input.coordinates->topology),
          sets_(input.sets()) {
        if (const auto reader = reader_of_written(input, options))
            read_again(*reader, input.name, written);
    }

    const Topology& topology() const { return *topology_; }

    /// Whether the PDB format can hold these frames when they are superposed onto any of them.
    bool fit_pdb(const std::vector<Index>& frames) const {
        Reach reach;
        for (const Index frame : frames) {
            const Array<float, 2> superposed = coordinates_.frame(frame);
            reach.add(superposed, coordinates_.weights, topology_->atom_count(),
                      [&](Index atom, Index axis) { return at(superposed, frame, axis, atom); });
        }
        return fits_pdb(*topology_) && reach.fits_pdb();
    }

    /// Brings frames onto this one.
    rmsd::Superposer superposer_onto(Index target) const {
        return {rmsd::to_double(coordinates_.frame(target)), {{}, {}, coordinates_.weights}};
    }

    /// Returns [axis, atom], moved by superposer_onto(`target`), or unmoved without superposition.
    /// Names of equal chains and atoms stay; the frame is moved by its best permutation.
    Array<float, 2> moved(Index frame, Index target, const rmsd::Superposer& superposer) const {
        const Array<float, 2> superposed = coordinates_.frame(frame);
        const bool is_permuted = !sets_.equal_chains.empty() || !sets_.equal_orders.empty();
        const rmsd::RigidMotion motion =
            is_permuted && !sets_.in_place ? permuted_target(target, superposed).motion(superposed)
                                           : superposer.motion(superposed);
        const Index atoms = topology_->atom_count();
        Array<float, 2> to(Index{3}, atoms);
        for (Index atom = 0; atom < atoms; ++atom) {
            double x[3];
            for (Index axis = 0; axis < 3; ++axis) x[axis] = at(superposed, frame, axis, atom);
            // A frame that is superposed onto itself is not changed.
            if (frame != target && !sets_.in_place) motion.move(x);
            for (Index axis = 0; axis < 3; ++axis) to(axis, atom) = static_cast<float>(x[axis]);
        }
        return to;
    }

private:
    /// Returns the superposition onto the target, whose chains are permuted to fit `frame` best.
    rmsd::Superposer permuted_target(Index target, const Array<float, 2>& frame) const {
        Array<float, 2> places = coordinates_.frame(target);
        const View<float, 3> one(places.data(), Index{1}, places.extent(0), Index{3});
        if (sets_.equal_chains.empty())
            rmsd::relabel_orders(one, frame, sets_, {});
        else
            rmsd::relabel_chains(one, frame, sets_, {});
        return {rmsd::to_double(places), {{}, {}, coordinates_.weights}};
    }

    double at(const Array<float, 2>& superposed, Index frame, Index axis, Index atom) const {
        return positions_.empty() ? superposed(atom, axis)
                                  : again_(positions_.at(frame), axis, atom);
    }

    void read_again(EnsembleReader& reader, const std::string& name,
                    const std::vector<Index>& written) {
        const WrittenAtoms of = written_atoms(coordinates_, reader.topology());
        topology_ = of.topology;
        for (const Index item : written)
            positions_.emplace(item, static_cast<Index>(positions_.size()));
        again_ = Array<float, 3>(static_cast<Index>(positions_.size()), Index{3},
                                 topology_->atom_count());
        Array<float, 2> frame(Index{3}, reader.atom_count());
        Index number = 0;
        // A file that is still being written may have more frames now.
        for (; number < of.frames && reader.next(frame); ++number) {
            const FrameOrigin& before = coordinates_.origins[number];
            const FrameOrigin& origin = reader.origin();
            if (before.file != origin.file || before.frame != origin.frame)
                throw InputError(name, 0, "expected the same frames as before, found others");
            for (std::size_t chain = 0; chain < of.atoms.size(); ++chain) {
                const auto position =
                    positions_.find(static_cast<Index>(chain) * of.frames + number);
                if (position != positions_.end())
                    gather(frame, of.atoms[chain], again_[position->second]);
            }
        }
        if (number != of.frames)
            throw InputError(
                name, 0, fmt::format("expected {} frames as before, found {}", of.frames, number));
    }

    const Coordinates& coordinates_;
    std::shared_ptr<const Topology> topology_;
    rmsd::AtomSets sets_;
    std::unordered_map<Index, Index> positions_;  // position of each frame in `again_`
    Array<float, 3> again_;
};

/// Whether all frames fit the PDB format; called before the frames to write are known.
bool all_fit_pdb(const Coordinates& coordinates, EnsembleReader* reader) {
    Reach reach;
    if (reader == nullptr) {
        if (!fits_pdb(*coordinates.topology)) return false;
        for (Index frame = 0; frame < coordinates.frames(); ++frame) {
            const Array<float, 2> superposed = coordinates.frame(frame);
            reach.add(superposed, coordinates.weights, coordinates.atoms(),
                      [&](Index atom, Index axis) { return double{superposed(atom, axis)}; });
        }
        return reach.fits_pdb();
    }
    const WrittenAtoms of = written_atoms(coordinates, reader->topology());
    if (!fits_pdb(*of.topology)) return false;
    Array<float, 2> again(Index{3}, reader->atom_count());
    // If there are fewer frames, the error is reported when they are read for writing.
    for (Index frame = 0; frame < of.frames && reader->next(again); ++frame)
        for (std::size_t chain = 0; chain < of.atoms.size(); ++chain) {
            const std::vector<Index>& atoms = of.atoms[chain];
            reach.add(coordinates.frame(static_cast<Index>(chain) * of.frames + frame),
                      coordinates.weights, static_cast<Index>(atoms.size()),
                      [&](Index atom, Index axis) { return double{again(axis, atoms[atom])}; });
        }
    return reach.fits_pdb();
}

void write_models(const std::filesystem::path& path, const WrittenFrames& frames,
                  const std::vector<Index>& models, Index target, const Context& context) {
    const rmsd::Superposer superposer = frames.superposer_onto(target);
    StructureWriter writer(path, frames.topology());
    for (const Index frame : models) {
        throw_if_cancelled(context, "structures", "this file was not kept");
        writer.add(frames.moved(frame, target, superposer));
    }
    writer.close();
}

const char* ending_of(const WrittenFrames& frames, const std::vector<Index>& written,
                      const StructureOutput& options) {
    const bool is_pdb = options.format == StructureFormat::pdb ||
                        (options.format == StructureFormat::automatic && frames.fit_pdb(written));
    return is_pdb ? "pdb" : "cif";
}

}  // namespace

std::vector<Field> fields(TrajectoryOptions& options) {
    return {{.name = "lag",
             .target = &options.lag,
             .help = "Number of frames between the start and the end of a transition in "
                     "transition_probabilities.tsv",
             .min = 1,
             .max = 2e9},
            {.name = "timestep",
             .target = &options.timestep,
             .help = "Time between consecutive frames of the files, for dwell times. It also says "
                     "that models of PDB and mmCIF files, .npy files and matrices are in order of "
                     "time",
             .unit = "ps",
             .min = 0,
             .max = 1e15,
             .min_excluded = true,
             .automatic = "that of the files"}};
}

void SeriesRecorder::add(const FrameOrigin& origin) {
    const bool follows = previous_origin_ && previous_origin_->file == origin.file &&
                         origin.frame - previous_origin_->frame == step_;
    if (!follows)
        series_.push_back({series_.empty() ? 0 : series_.back().first + series_.back().count, 0,
                           origin.file, origin.frame});
    ++series_.back().count;
    has_times_ = has_times_ && origin.time.has_value();
    if (has_times_ && follows) add_time(*origin.time);
    previous_origin_ = origin;
}

void SeriesRecorder::add_time(double time) {
    const double interval = time - *previous_origin_->time;
    // Files hold times as float32.
    const double rounding =
        std::ldexp(std::max(std::abs(time), std::abs(*previous_origin_->time)), -22);
    if (!first_time_step_) first_time_step_ = interval;
    const double allowed = kEven * *first_time_step_ + rounding;
    is_even_ = is_even_ && std::abs(interval - *first_time_step_) <= allowed &&
               rounding < *first_time_step_ / 2;
    summed_time_steps_ += interval;
    ++intervals_;
}

std::optional<double> SeriesRecorder::interval() const {
    if (!has_times() || !is_even_ || intervals_ == 0) return std::nullopt;
    return summed_time_steps_ / static_cast<double>(intervals_);
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
        text +=
            fmt::format("{}\t{}\t{}\t{}\t{}\n", one.first, one.count,
                        table_cell(trajectory.files[one.file]), one.frame_of_file, trajectory.step);
    write_text(run.output("series.tsv"), text);
    if (!trajectory.is_ordered) return;
    if (trajectory.interval) run.fact("ps_per_frame", *trajectory.interval);
    cluster::write_states(run, assignment, trajectory.lengths(), options.lag, trajectory.interval);
}

std::span<const std::string_view> names_of(StructureFormat) {
    static constexpr std::string_view kNames[] = {"auto", "pdb", "cif", "none"};
    return kNames;
}

std::vector<Field> fields(StructureOutput& options) {
    return {{.name = "structures",
             .target = &options.format,
             .help = "Format of medoids and members; auto: pdb if it can hold them, else cif"},
            {.name = "write",
             .target = &options.atoms,
             .help = "Atoms to write of medoids and members, as for --select; by default the "
                     "superposed ones",
             .value_name = "ATOMS"},
            {.name = "write-members",
             .target = &options.members,
             .help = "Write the members of this number of clusters, the largest first, or of 'all'",
             .min = 0,
             .max = 1e9,
             .automatic = "all"}};
}

void check_options(const StructureOutput& options) {
    if (options.format == StructureFormat::none && (!options.atoms.empty() || options.members != 0))
        throw UsageError(fmt::format("leave --{} out: --structures none writes nothing",
                                     options.atoms.empty() ? "write-members" : "write"));
}

std::int64_t member_bytes(const StructureOutput& options) {
    constexpr std::int64_t kLine = 81;
    return options.format == StructureFormat::none || options.members ? 0 : kLine;
}

void check_structures(const ClusterInput& input, const StructureOutput& options,
                      const RunDirectory& run) {
    if (!input.coordinates || options.format == StructureFormat::none) return;
    run.require_space(member_bytes(options) * input.coordinates->frames() *
                      input.coordinates->atoms());
    const auto reader = reader_of_written(input, options);
    if (reader != nullptr) written_atoms(*input.coordinates, reader->topology());
    if (options.format == StructureFormat::pdb && !all_fit_pdb(*input.coordinates, reader.get()))
        throw InputError(
            input.name, 0,
            "expected names and coordinates that fit the PDB format, found others: use "
            "--structures cif");
}

void write_structures(RunDirectory& run, const ClusterInput& input, const cluster::Result& result,
                      const StructureOutput& options, const Context& context) {
    if (!input.coordinates || options.format == StructureFormat::none || result.clusters.empty())
        return;
    const auto clusters = static_cast<Index>(result.clusters.size());
    const Index listed = std::min<Index>(options.members.value_or(clusters), clusters);
    const std::vector<std::vector<Index>> members = result.clustering.members();
    std::vector<Index> medoids, written;
    for (const cluster::ClusterDescription& one : result.clusters) medoids.push_back(one.medoid);
    written = medoids;
    for (Index c = 0; c < listed; ++c)
        written.insert(written.end(), members[c].begin(), members[c].end());
    const WrittenFrames frames(input, options, written);
    const char* const ending = ending_of(frames, written, options);
    write_models(run.output(fmt::format("medoids.{}", ending)), frames, medoids, medoids.front(),
                 context);
    for (Index c = 0; c < listed; ++c)
        write_models(run.output(fmt::format("members-{}.{}", c, ending)), frames, members[c],
                     medoids[c], context);
}

void write_frames(RunDirectory& run, const std::string& name, const ClusterInput& input,
                  const std::vector<Index>& frames, const StructureOutput& options,
                  const Context& context) {
    if (!input.coordinates || options.format == StructureFormat::none || frames.empty()) return;
    const WrittenFrames written(input, options, frames);
    const std::string file = fmt::format("{}.{}", name, ending_of(written, frames, options));
    write_models(run.output(file), written, frames, frames.front(), context);
}

}  // namespace pleat::program
