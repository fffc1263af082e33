// Cluster: options of `pleat cluster`, its input, its output, and one clustering.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat {

/// The statistics of pairs, for Packer.
inline void members(Packer& pack, PairStatistics& pairs) {
    std::vector<std::int64_t> histogram = pairs.histogram();
    double width = pairs.bin_width(), sum = pairs.sum(), min = pairs.min(), max = pairs.max();
    pack(histogram, width, sum, min, max);
    if (pack.reads()) pairs = {width, std::move(histogram), sum, min, max};
}

}  // namespace pleat

namespace pleat::program {

struct ClusterInput {
    std::string name;                          ///< of the first source, for messages
    std::optional<cluster::KnownPairs> known;  ///< what an earlier run has listed of all pairs
    std::optional<Coordinates> coordinates;    ///< none if there is only a matrix
    EnsembleSource ensemble;                   ///< where these came from
    std::string remark;    ///< which device was chosen and why, if one was chosen
    bool reduces = false;  ///< the device counts and clusters pairs itself: see PairReductions
    bool by_rows = false;  ///< frames are compared with one at a time: see superposed_rows()

    // What distances_of() needs.
    std::filesystem::path matrix;  ///< empty: frames are superposed
    bool recomputes_near_cutoffs =
        false;  ///< pairs near a cutoff are recomputed from the coordinates
    rmsd::Parameters superposition;
    SymmetryOptions symmetry;  ///< asked for, or of the earlier run
    AtomGroups chains;         ///< with symmetry of chains
    AtomGroups orders;         ///< with symmetry of atoms or ligands
    bool in_place = false;     ///< frames are not superposed

    /// What the RMSD compares: atoms, weights, interchangeable atoms and chains, and whether frames
    /// are superposed.
    rmsd::AtomSets sets() const {
        rmsd::AtomSets all;
        all.weights = coordinates->weights;
        all.weights_file = ensemble.weights;
        all.equal_orders = orders;
        all.in_place = in_place;
        if (symmetry.permutes_each_pair()) all.equal_chains = chains;
        return all;
    }
    /// Whether atoms or chains are permuted, or frames are compared without superposition.
    bool is_permuted() const { return symmetry.permutes_each_pair() || in_place; }
};

/// Reads `ensemble`: the folder of a finished `pleat rmsd` (its matrix is used if it has one,
/// otherwise its ensemble is superposed again; the manifest names the ensemble), an .npy file of
/// one or two axes, or any input of `pleat rmsd`. `by_rows`: see ClusterInput. Throws InputError,
/// UsageError.
ClusterInput read_cluster_input(const EnsembleSource& ensemble, const rmsd::Parameters& parameters,
                                const SymmetryOptions& symmetry, bool by_rows, RunDirectory& run,
                                const Context& context);

/// Memory and time of clustering `ensemble` (as for read_cluster_input()), with this many bytes
/// written per frame and atom.
RunEstimate estimate_clustering(const EnsembleSource& ensemble,
                                const cluster::Parameters& parameters,
                                const rmsd::Parameters& superposition,
                                const SymmetryOptions& symmetry = {}, std::int64_t written = 0);

/// Memory and time of superposing and clustering frames of this size; `sets` says whether atoms are
/// permuted and whether frames are superposed.
Estimate estimate_superposing(const EnsembleSize& size, const cluster::Parameters& parameters,
                              const rmsd::Parameters& superposition, const Context& context,
                              const rmsd::AtomSets& sets = {});

/// Chooses the device of the context for these parameters if frames are superposed. A collective
/// call. Throws InputError, DeviceError.
void choose_device(ClusterInput& input, const cluster::Parameters& parameters,
                   const RunOptions& options, const JobTask& task, Ranks& ranks, Context& context);

/// Returns the distances of `input`. If they must be computed, the context's device superposes the
/// frames on demand. Throws InputError, DeviceError.
std::unique_ptr<PairSource> distances_of(const ClusterInput& input, const Context& context);

/// What distances_of() needs, for Packer.
void members(Packer& pack, ClusterInput& input);

struct TrajectoryOptions {
    std::int64_t lag = 1;            ///< frames
    std::optional<double> timestep;  ///< picoseconds between the frames of the files
};
std::vector<Field> fields(TrajectoryOptions& options);

/// Consecutive frames of one file, separated by equal steps, with no frame missing.
struct FrameSeries {
    Index first = 0, count = 0;         ///< frames of the run
    Index file = 0, frame_of_file = 0;  ///< where the first of them was read
};

/// Collects the series of frames and the time step between frames while they are read. Memory: the
/// series only.
class SeriesRecorder {
public:
    /// `step` of the frame range.
    explicit SeriesRecorder(Index step) : step_(step) {}
    void add(const FrameOrigin& origin);

    const std::vector<FrameSeries>& series() const { return series_; }
    /// Whether all frames have a time.
    bool has_times() const { return has_times_ && previous_origin_.has_value(); }
    /// Picoseconds between consecutive frames of a series; no value if frames have no times or
    /// uneven ones.
    std::optional<double> interval() const;

private:
    void add_time(double time);

    Index step_;
    std::vector<FrameSeries> series_;
    std::optional<FrameOrigin> previous_origin_;
    bool has_times_ = true, is_even_ = true;
    std::optional<double> first_time_step_;
    double summed_time_steps_ = 0.0;  ///< between neighbours
    Index intervals_ = 0;             ///< pairs of neighbours
};

/// How the frames of a run follow each other in time.
struct Trajectory {
    std::vector<FrameSeries> series;
    std::vector<std::string> files;  ///< that the series refer to
    Index step = 1;
    /// Whether frames are in order of time: a trajectory or --timestep, with several frames.
    bool is_ordered = false;
    std::optional<double> interval;  ///< picoseconds from one frame of the run to the next

    std::vector<Index> lengths() const;
};
/// Returns the trajectory that was read; `is_trajectory`: see EnsembleReader. Adds a message if
/// times in the files are ignored. Throws InputError for --lag without a trajectory.
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

/// The file format of medoids and members; automatic: PDB if names and coordinates fit, else mmCIF.
enum class StructureFormat { automatic, pdb, cif, none };
std::span<const std::string_view> names_of(StructureFormat);

struct StructureOutput {
    StructureFormat format = StructureFormat::automatic;
    std::string atoms;                        ///< empty: those that were superposed
    std::optional<std::int64_t> members = 0;  ///< clusters whose members are written; not set: all
};
std::vector<Field> fields(StructureOutput& options);

/// Throws UsageError for atoms or members to write with `--structures none`.
void check_options(const StructureOutput& options);

/// Checks early what would otherwise fail after the computation: selections without atoms,
/// structures that do not fit the PDB format, and too little disk space. Throws UsageError,
/// InputError, OutputError.
void check_structures(const ClusterInput& input, const StructureOutput& options,
                      const RunDirectory& run);

/// Bytes per frame and atom of the members' files if members of all clusters are written; else 0.
std::int64_t member_bytes(const StructureOutput& options);

/// Writes medoids.pdb (or .cif) with one model per cluster, each superposed onto that of the
/// largest cluster, and members-N.pdb of the clusters asked for, superposed onto their medoids.
/// Writes nothing without coordinates. Throws UsageError (atoms), InputError, OutputError,
/// Cancelled.
void write_structures(RunDirectory& run, const ClusterInput& input, const cluster::Result& result,
                      const StructureOutput& options, const Context& context);

/// Writes NAME.pdb (or .cif): one model for each of `frames`, superposed onto the first of them.
/// Throws as write_structures().
void write_frames(RunDirectory& run, const std::string& name, const ClusterInput& input,
                  const std::vector<Index>& frames, const StructureOutput& options,
                  const Context& context);

/// All options of `pleat cluster`.
struct ClusterOptions {
    RunOptions run;
    EnsembleSource ensemble;
    cluster::Parameters parameters;
    rmsd::Parameters superposition;
    SymmetryOptions symmetry;
    TrajectoryOptions trajectory;
    StructureOutput structures;
    std::string assign;  ///< a file of medoids or a finished run; empty: clusters are found
    JobListOptions jobs;

    bool has_assign() const { return !assign.empty(); }
};
/// Compares ligands by their heavy atoms unless the user selects others.
void choose_atoms(ClusterOptions& options);
/// The options that affect results, in the order of the manifest.
std::vector<Field> result_fields(ClusterOptions& options);

struct ClusterOutcome {
    cluster::Result result;
    std::string summary;  ///< for standard output; empty on all ranks but the leading one
};

/// Reads and clusters the input and writes the folder options.run.output. `read`: input with
/// coordinates that was read before; may be null. Throws every kind of Error.
ClusterOutcome make_clusters(ClusterOptions& options, const JobTask& task, Ranks& ranks,
                             ClusterInput* read = nullptr);

}  // namespace pleat::program
