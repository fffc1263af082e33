// pleat cluster: groups of similar frames of an ensemble, or of items by a matrix of distances.
#include "cluster/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/cluster/cluster.h"
#include "pleat/cluster/estimate.h"
#include "pleat/cluster/output.h"
#include "pleat/core/context.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/name_of.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/rmsd/assign/assignment.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Cluster the frames of an ensemble by their RMSD, or items by a matrix of distances.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat cluster md.xtc --topology protein.pdb --select backbone --cutoff 2.5 -o run\n"
    "  pleat cluster models.pdb.gz --select ca -m average --k 2:20 -o run --write-members 3\n"
    "  pleat cluster rmsd_run -m dbscan --cutoff 1.5 --min-neighbours 10 -o run\n"
    "  pleat cluster distances.npy -m kmedoids --k 8 -o run\n"
    "  pleat cluster md.xtc --topology protein.pdb -o runs --sweep cutoff=1.5,2,2.5\n"
    "  pleat cluster long.xtc --topology protein.pdb --assign run -o states\n"
    "  mpirun -n 4 pleat cluster md.xtc --topology protein.pdb --cutoff 2.5 -o run\n\n"
    "Input: an ensemble as for 'pleat rmsd'; the folder of a finished 'pleat rmsd'; or a matrix "
    "of\n"
    "distances, .npy, condensed as in SciPy or square. gromos, gmx, dbscan and density-peaks need\n"
    "no matrix, however many frames there are. Clusters and frames are counted from 0 in files,\n"
    "cluster 0 is the largest, and noise has the cluster -1.\n\n"
    "A run that was stopped or killed resumes if the same command is given again, also with\n"
    "another number of ranks. To cluster in several ways, run 'pleat rmsd' once and give its\n"
    "folder.";

struct AssignedFrames {
    cluster::Result result;
    ClusterInput medoids;
    Trajectory trajectory;
};

/// Where the medoids are, and which atoms and weights the run that found them superposed.
struct MedoidSource {
    std::string file = {}, select = "all", weights = {};
    bool is_run = false;
};

MedoidSource find_medoids(const std::string& assign) {
    const std::filesystem::path folder = assign;
    const EarlierRun earlier = read_earlier_run(folder / "manifest.json");
    if (!earlier.is_ours) return {.file = assign};
    if (earlier.command != "cluster")
        throw InputError(assign, 0,
                         fmt::format("expected a run of 'pleat cluster', found one of 'pleat {}'",
                                     earlier.command));
    if (earlier.status != "finished")
        throw InputError(
            assign, 0,
            fmt::format("expected a finished run, found one that is {}", earlier.status));
    const auto select = earlier.results.find("select");
    if (select == earlier.results.end())
        throw InputError(
            assign, 0,
            "expected a run that superposed frames, without --symmetry, --fit none and "
            "--each-chain, found another: give its medoids.pdb, and --select");
    MedoidSource found{.select = select->second, .is_run = true};
    if (const auto weights = earlier.results.find("atom_weights"); weights != earlier.results.end())
        found.weights = weights->second;
    for (const char* name : {"medoids.pdb", "medoids.cif"}) {
        std::error_code ignored;
        if (found.file.empty() && std::filesystem::is_regular_file(folder / name, ignored))
            found.file = (folder / name).string();
    }
    if (found.file.empty())
        throw InputError(assign, 0, "expected medoids.pdb or medoids.cif, found none");
    return found;
}

Field assign_field(ClusterOptions& options) {
    return {.name = "assign",
            .target = &options.assign,
            .help =
                "Assign every frame to the nearest of these structures instead of finding "
                "clusters: medoids.pdb of a run, any file of models, or the folder of a finished "
                "'pleat cluster', whose selection is then used. With --cutoff, frames farther than "
                "that from all of them are noise",
            .value_name = "MEDOIDS"};
}

/// The options on which the assignment of frames to given medoids depends.
std::vector<Field> assign_result_fields(ClusterOptions& options) {
    std::vector<Field> all;
    for (const Field& field : cluster::fields(options.parameters))
        if (field.name == "cutoff" || field.name == "bin-width") all.push_back(field);
    all.push_back(assign_field(options));
    for (const std::vector<Field>& more : {fields(options.ensemble), fields(options.trajectory)})
        all.insert(all.end(), more.begin(), more.end());
    for (const Field& field : fields(options.structures))
        if (field.name == "structures") all.push_back(field);
    return all;
}

/// Throws UsageError for options that have no effect with --assign, which gives the clusters.
void check_assign_options(const ClusterOptions& options) {
    ClusterOptions own = options, plain;
    const std::vector<Field> used = assign_result_fields(own);
    const std::vector<Field> given = result_fields(own), defaults = result_fields(plain);
    std::vector<std::string> useless;
    for (std::size_t n = 0; n < given.size(); ++n)
        if (std::ranges::none_of(used,
                                 [&](const Field& one) { return one.name == given[n].name; }) &&
            given[n].text() != defaults[n].text())
            useless.push_back("--" + given[n].name);
    if (!useless.empty())
        throw UsageError(fmt::format("leave {} out: with --assign the clusters are given",
                                     fmt::join(useless, ", ")));
    check(used);
    own.parameters.cutoff.check("cutoff");
    if (own.parameters.cutoff.values().size() > 1)
        throw UsageError("--assign: give one --cutoff, not several");
    const Context context = make_context(options.run);
    if (options.run.names_device() && context.device.kind == Device::Kind::cuda)
        throw UsageError("--assign computes on CPUs: leave --device out");
}

/// The files that --assign names, for the inputs of a job.
std::vector<std::string> medoid_files(const std::string& assign) {
    return ensemble_files({find_medoids(assign).file});
}

Field each_chain_field(ClusterOptions& options) {
    return {.name = "each-chain",
            .target = &options.ensemble.each_chain,
            .help =
                "Cluster the equal chains of all frames as separate structures, and list how often "
                "frames combine which clusters"};
}

std::vector<Field> precision_field(ClusterOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : rmsd::fields(options.superposition))
        if (field.name == "precision") chosen.push_back(field);
    return chosen;
}

std::vector<std::string> job_files(const ClusterOptions& options) {
    std::error_code ignored;
    const std::filesystem::path first = options.ensemble.sources.front();
    if (std::filesystem::exists(first / "manifest.json", ignored)) return {};
    std::vector<std::string> files = files_of(options.ensemble);
    if (options.has_assign())
        for (const std::string& file : medoid_files(options.assign)) files.push_back(file);
    return files;
}

void check_symmetry(const ClusterOptions& options) {
    check_options(options.symmetry);
    if (options.ensemble.each_chain &&
        (options.symmetry.symmetry != Symmetry::none || !options.symmetry.fit.empty()))
        throw UsageError("leave --symmetry and --fit out: --each-chain superposes single chains");
    const ComparedAtoms atoms = compared_atoms(options.symmetry, options.ensemble.select, {});
    if (!atoms.in_place && atoms.differ())
        throw UsageError(
            "--fit takes none or the atoms of --select here: to measure other atoms run 'pleat "
            "rmsd', and cluster its folder");
    if (atoms.in_place && options.symmetry.has_chains())
        throw UsageError("leave --fit out: --symmetry chains measures the superposed atoms");
}

/// Whether each frame is compared with one at a time, never all pairs.
bool is_by_rows(const ClusterOptions& options) {
    return options.parameters.method == cluster::Method::kcenters;
}

/// Throws UsageError for options that exclude each other.
void check_clustering(const ClusterOptions& options) {
    cluster::check_options(options.parameters);
    check_options(options.structures);
    check_symmetry(options);
    if (is_by_rows(options) && options.symmetry.symmetry == Symmetry::none &&
        options.symmetry.fit.empty() && options.run.names_device() &&
        make_context(options.run).device.kind == Device::Kind::cuda)
        throw UsageError("kcenters computes on CPUs: leave --device out");
}

/// Formats ascending atom indices as a selection: "index 0 to 5 8 10 to 12".
std::string index_selection(const std::vector<Index>& rising) {
    std::string text = "index";
    for (std::size_t first = 0; first < rising.size();) {
        std::size_t last = first;
        while (last + 1 < rising.size() && rising[last + 1] == rising[last] + 1) ++last;
        text += last == first ? fmt::format(" {}", rising[first])
                              : fmt::format(" {} to {}", rising[first], rising[last]);
        first = last + 1;
    }
    return text;
}

/// The atoms of the first medoid; null if the medoid file does not name atoms.
std::shared_ptr<const Topology> medoid_atoms(const std::string& file) {
    const std::string first = ensemble_files({file}).front();
    return open_frames(first)->topology();
}

void compare_names(const AtomMatch& match, const std::string& file, const std::string& ensemble) {
    const auto absent = std::count(match.atoms.begin(), match.atoms.end(), Index{-1});
    if (absent > 0)
        throw InputError(file, 0,
                         fmt::format("expected atoms that {} has, found {} of {} that it lacks, by "
                                     "chain, residue number and name; --select says which to use",
                                     ensemble, absent, match.atoms.size()));
    if (!match.is_plausible())
        throw InputError(
            file, 0,
            fmt::format("expected residues of the names in {}, found these names in {} of {} "
                        "residues that have their numbers",
                        ensemble, match.residues_of_name, match.residues));
}

/// Returns the selection of atoms to superpose; by default the atoms of the medoids. `all`: the
/// topology of the ensemble.
std::string choose_atoms(const Topology& all, const MedoidSource& medoids,
                         const std::string& ensemble, bool is_matched) {
    const std::shared_ptr<const Topology> named = medoid_atoms(medoids.file);
    if (is_matched || named == nullptr || !named->named || !all.named) return medoids.select;
    if (medoids.select != "all") {
        AtomMatch match = match_atoms(subset(all, select_atoms(all, medoids.select)), *named);
        // Atoms that the medoids lack are reported with their names when they are read.
        std::erase(match.atoms, Index{-1});
        compare_names(match, medoids.file, ensemble);
        return medoids.select;
    }
    AtomMatch match = match_atoms(*named, all);
    compare_names(match, medoids.file, ensemble);
    if (static_cast<Index>(match.atoms.size()) == all.atom_count()) return "all";
    std::sort(match.atoms.begin(), match.atoms.end());
    return index_selection(match.atoms);
}

/// Consecutive frames of an ensemble that one rank compared with medoids.
struct AssignedBlock {
    std::vector<FrameOrigin> origins;     ///< [frame]
    rmsd::Assignment::Compared compared;  ///< empty without frames

    Index frames() const { return static_cast<Index>(origins.size()); }
};

void members(Packer& pack, AssignedBlock& block) {
    rmsd::Assignment::Compared& compared = block.compared;
    pack(block.origins, compared.nearest.indices, compared.nearest.values, compared.statistics);
}

/// The options, the source of the medoids, and the atoms that ensemble and medoids have in common.
struct Superposed {
    MedoidSource medoids;
    EnsembleSource frames;
    std::shared_ptr<const Topology> all = nullptr;  ///< atoms of the ensemble
};

/// `frames`: after match_sources().
Superposed superposed(const ClusterOptions& options, const EnsembleSource& frames) {
    Superposed found{.medoids = find_medoids(options.assign), .frames = frames};
    if (found.medoids.is_run &&
        (options.ensemble.select != EnsembleSource().select || !options.ensemble.weights.empty()))
        throw UsageError(fmt::format(
            "leave --select and --atom-weights out: '{}' is a run, whose atoms are superposed",
            options.assign));
    if (!found.medoids.is_run) {
        found.medoids.select = options.ensemble.select;
        found.medoids.weights = options.ensemble.weights;
    }
    refuse_ensemble_pipes(options.ensemble.sources, "--assign opens the first file twice");
    refuse_pipes({options.ensemble.topology, options.assign}, "--assign opens it twice");
    EnsembleOptions everything;
    if (const std::string& source = options.ensemble.sources.front();
        read_earlier_run(std::filesystem::path(source) / "manifest.json").is_ours ||
        cluster::is_matrix_file(source))
        throw InputError(source, 0,
                         "expected an ensemble for --assign, found distances: give the files of "
                         "the frames");
    everything.topology = options.ensemble.topology;
    everything.assembly = options.ensemble.assembly;
    everything.common = frames.common;
    const EnsembleReader first(options.ensemble.sources, everything);
    found.all = first.all_atoms();
    found.medoids.select = choose_atoms(*found.all, found.medoids, options.ensemble.sources.front(),
                                        frames.common != nullptr);
    found.frames.select = found.medoids.select;
    found.frames.weights = found.medoids.weights;
    return found;
}

ClusterInput read_medoids(const Superposed& from, RunDirectory& run, const Context& context) {
    ClusterInput input;
    input.ensemble.sources = {from.medoids.file};
    input.ensemble.select = from.frames.select;
    input.ensemble.weights = from.frames.weights;
    input.ensemble.match = from.frames.match;
    input.ensemble.common = from.frames.common;
    input.ensemble.files_to_match = from.frames.sources;
    input.ensemble.pbc = from.frames.pbc == Pbc::none ? Pbc::none : Pbc::automatic;
    input.name = from.medoids.file;
    input.coordinates =
        read_coordinates(input.ensemble, run, context, from.all->named ? from.all : nullptr);
    const Index expected = static_cast<Index>(select_atoms(*from.all, from.frames.select).size());
    if (input.coordinates->atoms() != expected)
        throw InputError(input.name, 0,
                         fmt::format("expected {} atoms as in {}, found {}", expected,
                                     from.frames.sources.front(), input.coordinates->atoms()));
    return input;
}

/// Writes a row for each frame of a block.
void write_distances(OutputFile& file, const rmsd::Nearest& nearest, Index frames, Index first,
                     std::optional<double> cutoff) {
    std::string text;
    for (Index n = 0; n < frames; ++n) {
        const float distance = nearest.values(n, 0);
        const std::int32_t number = nearest.indices(n, 0);
        const bool is_near = !cutoff || distance < static_cast<float>(*cutoff);
        text += fmt::format("{}\t{}\t{}\t{:.6g}", first + n, is_near ? number : cluster::kNoise,
                            number, distance);
        text += nearest.values.extent(1) < 2
                    ? "\tNA\tNA\n"
                    : fmt::format("\t{}\t{:.6g}\n", nearest.indices(n, 1), nearest.values(n, 1));
    }
    file.write(text);
}

/// Reads the next block of frames [frame, atom, axis] and compares them with the medoids.
AssignedBlock compare_next(EnsembleReader& reader, const rmsd::Assignment& assignment,
                           Array<float, 3>& xyz) {
    AssignedBlock block;
    Array<float, 2> frame(Index{3}, xyz.extent(1));
    while (block.frames() < xyz.extent(0) && reader.next(frame)) {
        for (Index atom = 0; atom < xyz.extent(1); ++atom)
            for (Index axis = 0; axis < 3; ++axis)
                xyz(block.frames(), atom, axis) = frame(axis, atom);
        block.origins.push_back(reader.origin());
    }
    if (block.frames() > 0)
        block.compared = assignment.compare({xyz.data(), block.frames(), xyz.extent(1), Index{3}});
    return block;
}

/// Compares all frames with the medoids. With R ranks, each rank reads one of every R consecutive
/// blocks and skips the others; the leading rank passes all blocks to `collect` in order. Returns
/// the reader at the end of the ensemble.
EnsembleReader assign_blocks(const EnsembleSource& source, const rmsd::Assignment& assignment,
                             Index atoms, Ranks& ranks, const Context& context,
                             const std::function<void(const AssignedBlock&)>& collect) {
    check_readable({source.topology});
    EnsembleReader reader(source.sources, reading_options(source));
    auto xyz = Array<float, 3>::unset(assignment.block_frames(), atoms, Index{3});
    const auto make = [&](int own_rank) {
        throw_if_cancelled(context, "assign");
        AssignedBlock own;
        bool has_more = true;
        for (int rank = 0; rank < ranks.size() && has_more; ++rank) {
            if (rank == own_rank) {
                own = compare_next(reader, assignment, xyz);
                has_more = own.frames() == xyz.extent(0);
            } else {
                for (Index n = 0; n < xyz.extent(0) && has_more; ++n) has_more = reader.skip();
            }
        }
        return RoundPiece{Packer()(own).bytes, has_more};
    };
    collect_rounds(ranks.comm(), make, [&](const std::vector<std::vector<std::uint8_t>>& pieces) {
        bool has_ended = false;
        for (const std::vector<std::uint8_t>& bytes : pieces) {
            AssignedBlock block;
            Packer{bytes}(block);
            if (has_ended && block.frames() > 0)
                throw InputError(source.sources.front(), 0,
                                 "expected the same frames on all ranks, found more on one");
            if (block.frames() > 0) collect(block);
            has_ended = has_ended || block.frames() < xyz.extent(0);
        }
    });
    return reader;
}

/// Reads the medoids that options.assign names, then the frames, block by block, and gives each to
/// the nearest medoid; writes distances.tsv. Ranks read blocks in turn; the result is that of the
/// leading one. A collective call. Throws UsageError, InputError
/// (atoms that differ), OutputError, Cancelled.
AssignedFrames assign_frames(const ClusterOptions& options, RunDirectory& run, Ranks& ranks,
                             const Context& context) {
    Superposed from{.medoids = {}, .frames = options.ensemble};
    AssignedFrames assigned;
    match_sources(from.frames, medoid_files(options.assign), context);
    std::optional<OutputFile> distances;
    if (ranks.is_leader()) {
        from = superposed(options, from.frames);
        assigned.medoids = read_medoids(from, run, context);
        const Coordinates& medoids = *assigned.medoids.coordinates;
        rmsd::check({.fit = {},
                     .measured = {},
                     .weights = medoids.weights,
                     .weights_file = from.frames.weights},
                    medoids.atoms());
        distances.emplace(run.output("distances.tsv"));
        distances->write("frame\tcluster\tnearest\tdistance\tsecond\tsecond_distance\n");
    }
    ranks.share(from.frames.select, assigned.medoids);
    const Coordinates& medoids = *assigned.medoids.coordinates;
    std::optional<double> cutoff;
    if (options.parameters.cutoff.is_set()) cutoff = *options.parameters.cutoff.first;
    rmsd::Assignment assignment(medoids.xyz, medoids.weights, cutoff, options.parameters.bin_width,
                                context);
    SeriesRecorder recorder(parse_frame_range(from.frames.frames).step);
    Index done = 0;
    const EnsembleReader reader = assign_blocks(
        from.frames, assignment, medoids.atoms(), ranks, context, [&](const AssignedBlock& block) {
            assignment.collect(block.compared);
            write_distances(*distances, block.compared.nearest, block.frames(), done, cutoff);
            done += block.frames();
            for (const FrameOrigin& origin : block.origins) recorder.add(origin);
        });
    if (!ranks.is_leader()) return assigned;
    distances->close();
    for (const Note& note : reader.notes())
        if (note.kind != NoteKind::selection) context.note(note);
    record_ensemble(options.ensemble, reader.files(), run, !options.ensemble.topology.empty());
    assigned.result = assignment.finish();
    assigned.trajectory = trajectory_of(recorder, reader.files(), reader.is_trajectory(),
                                        from.frames.frames, options.trajectory, context);
    return assigned;
}

/// What an assignment needs.
RunEstimate estimate_assignment(const ClusterOptions& options) {
    EnsembleSource frames = options.ensemble;
    match_sources(frames, medoid_files(options.assign), {});
    const Superposed from = superposed(options, frames);
    const EnsembleSize size = measure_ensemble(from.frames);
    EnsembleSource medoids = from.frames;
    medoids.sources = {from.medoids.file};
    medoids.frames = "::";
    const EnsembleSize others = measure_ensemble(medoids, {}, from.all->named ? from.all : nullptr);
    return {.input = fmt::format("{} frames, {} atoms, {} medoids", size.frames, size.atoms,
                                 others.frames),
            .may_use_gpu = false,
            .on = [=](const Context& context) {
                constexpr std::int64_t kFrameBytes = 4, kBlockBytes = std::int64_t{64} << 20;
                rmsd::Parameters pairs;
                pairs.matrix = rmsd::MatrixLayout::none;
                pairs.precision = rmsd::FitPrecision::float64;
                const rmsd::ComparedSizes compared{
                    .frames = size.frames, .atoms = size.atoms, .others = others.frames};
                Estimate all = rmsd::estimate(compared, pairs, context);
                all.host_bytes =
                    kBlockBytes + kFrameBytes * size.frames + 48 * others.frames * size.atoms;
                return all;
            }};
}

Trajectory trajectory_of(const ClusterInput& input, const ClusterOptions& options,
                         const Context& context) {
    if (!input.coordinates) {
        Trajectory items = trajectory_of({}, {input.name}, cluster::matrix_items(input.matrix),
                                         false, "::", options.trajectory, context);
        items.files = {"NA"};  // items of a matrix come from no file of frames
        return items;
    }
    const Coordinates& frames = *input.coordinates;
    return trajectory_of(frames.origins, frames.files, frames.frames(), frames.is_trajectory,
                         input.ensemble.frames, options.trajectory, context);
}

/// Records atoms and weights of the RMSDs for --assign; nothing for other distances.
void record_superposition(RunDirectory& run, const ClusterInput& input) {
    const bool is_rmsd = input.matrix.empty() || input.recomputes_near_cutoffs;
    if (!input.coordinates || !is_rmsd || input.is_permuted() || input.symmetry.relabel ||
        input.coordinates->chains.are_chains())
        return;
    run.fact("select", std::string_view(input.ensemble.select));
    if (!input.ensemble.weights.empty() && input.ensemble.weights != kEqualWeights)
        run.fact("atom_weights", std::string_view(input.ensemble.weights));
}

/// A note for the user about the weights of `--method gmx`.
void note_weights(const ClusterOptions& options, const ClusterInput& input,
                  const Context& context) {
    if (options.parameters.method != cluster::Method::gmx) return;
    const bool are_masses = input.ensemble.weights == kGmxWeights;
    context.note({NoteKind::weights,
                  are_masses ? "atoms are weighted by mass, as by gmx cluster -s FILE.pdb, where "
                               "heavy atoms of amino acids include hydrogens"
                             : "atoms are not weighted as by gmx cluster -s FILE.pdb",
                  are_masses ? "--atom-weights mass, as by gmx cluster -s FILE.tpr" : ""});
}

/// Refuses pipes if the written atoms are not the superposed ones: frames are then read twice.
void check_pipes(const ClusterOptions& options) {
    const EnsembleSource& ensemble = options.ensemble;
    const std::string& atoms = options.structures.atoms;
    if (atoms.empty() || atoms == ensemble.select) return;
    constexpr const char* kReason = "--write reads the frames a second time";
    refuse_ensemble_pipes(ensemble.sources, kReason);
    refuse_pipes({ensemble.topology}, kReason);
}

/// "9 clusters by gromos"
std::string made_by(const ClusterOptions& options, const cluster::Result& result) {
    const std::size_t clusters = result.clusters.size();
    if (options.has_assign()) {
        const auto& assignment = result.clustering.assignment;
        return fmt::format("given to {} medoid{} of {}, {} to none", clusters,
                           clusters == 1 ? "" : "s", printable(options.assign),
                           std::count(assignment.begin(), assignment.end(), cluster::kNoise));
    }
    const cluster::Method method = options.parameters.method;
    return fmt::format("{} cluster{} by {}", clusters, clusters == 1 ? "" : "s", name_of(method));
}

/// "the items are the chains A = B of 10 frames"
std::string chain_line(const ChainItems& items) {
    if (!items.are_chains()) return {};
    return fmt::format("the items are the chains {} of {} frames: chains.tsv, combinations.tsv\n",
                       printable(fmt::format("{}", fmt::join(items.names, " = "))), items.frames);
}

std::string summary(const ClusterOptions& options, const cluster::Result& result,
                    const std::string& symmetry, const std::string& folder) {
    constexpr std::size_t kListed = 10;
    const auto items = result.clustering.assignment.size();
    std::string text = fmt::format(
        "{}{}: {} items, {}\n", printable(options.ensemble.sources.front()),
        options.ensemble.sources.size() > 1 ? " and more" : "", items, made_by(options, result));
    text += symmetry;
    if (!std::isnan(result.silhouette))
        text += fmt::format("mean silhouette {:.4f}\n", result.silhouette);
    if (!result.clusters.empty())
        text += fmt::format("\n{:>8}{:>9}{:>8}{:>9}{:>9}{:>9}\n", "cluster", "size", "share",
                            "medoid", "mean", "radius");
    for (std::size_t c = 0; c < std::min(kListed, result.clusters.size()); ++c) {
        const cluster::ClusterDescription& one = result.clusters[c];
        text += fmt::format("{:>8}{:>9}{:>8.4f}", c, one.size,
                            static_cast<double>(one.size) / static_cast<double>(items));
        text += one.size > 0
                    ? fmt::format("{:>9}{:>9.4f}{:>9.4f}\n", one.medoid, one.mean, one.radius)
                    : fmt::format("{:>9}{:>9}{:>9}\n", "NA", "NA", "NA");
    }
    if (result.clusters.size() > kListed)
        text += fmt::format("and {} more in clusters.tsv\n", result.clusters.size() - kListed);
    return text +
           fmt::format("\nThe run is in {}: assignment.npy, clusters.tsv, manifest.json and more\n",
                       printable(folder));
}

void check_job(const ClusterOptions& options) {
    if (options.has_assign()) {
        check_assign_options(options);
        check_ensemble_job(options.ensemble);
        return;
    }
    check_clustering(options);
    if (!job_files(options).empty()) check_ensemble_job(options.ensemble);
}

ClusterOutcome make_assignment(ClusterOptions& options, const JobTask& task, Ranks& ranks) {
    check_assign_options(options);
    options.ensemble.inputs = task.inputs;
    OpenRun opened("cluster", options.run, assign_result_fields(options), task, &ranks);
    auto& [context, run] = opened;
    if (!options.run.names_device()) context.device = {Device::Kind::cpu, 0};
    run.context(context);
    run.stage("assign");
    AssignedFrames assigned = assign_frames(options, run, ranks, context);
    cluster::Result& result = assigned.result;
    if (task.computed) task.computed();
    if (!ranks.is_leader()) return {std::move(result), {}};
    run.stage("write");
    run.cite(rmsd::citations());
    cluster::write_results(run, result, options.parameters, assigned.trajectory.lengths());
    write_trajectory(run, result.clustering.assignment, assigned.trajectory, options.trajectory);
    std::vector<Index> all(result.clusters.size());
    std::iota(all.begin(), all.end(), 0);
    write_frames(run, "medoids", assigned.medoids, all, options.structures, context);
    cluster::record_facts(run, result);
    record_superposition(run, assigned.medoids);
    run.finish();
    std::string text = summary(options, result, "", run.path().string());
    return {std::move(result), std::move(text)};
}

/// Writes the results of the leading rank and finishes the run; returns the summary.
std::string write(const ClusterOptions& options, const ClusterInput& input,
                  const Trajectory& trajectory, const cluster::Result& result,
                  const Context& context, RunDirectory& run) {
    run.stage("write");
    run.cite(cluster::citations(options.parameters.method, !std::isnan(result.silhouette)));
    if (input.coordinates) run.cite(rmsd::citations());
    const Coordinates none;
    const Coordinates& items = input.coordinates ? *input.coordinates : none;
    cluster::write_results(run, result, options.parameters, trajectory.lengths(),
                           items.labels.scores, items.chains);
    write_trajectory(run, result.clustering.assignment, trajectory, options.trajectory);
    if (input.coordinates) write_frames(run, items, result.clustering.assignment);
    write_structures(run, input, result, options.structures, context);
    cluster::record_facts(run, result);
    record_superposition(run, input);
    rmsd::AtomSets sets;
    sets.equal_chains = input.chains;
    sets.equal_orders = input.orders;
    sets.in_place = input.in_place;
    if (!input.chains.empty()) run.fact("permutations", rmsd::permutation_count(sets));
    if (input.symmetry.symmetry == Symmetry::ligand)
        run.fact("automorphisms", rmsd::order_count(sets));
    if (items.chains.are_chains()) run.fact("frames", items.chains.frames);
    run.finish();
    return summary(options, result, symmetry_lines(input.symmetry, sets) + chain_line(items.chains),
                   run.path().string());
}

RunEstimate estimate_job(ClusterOptions& options, SharedInputs& inputs) {
    choose_atoms(options);
    check_job(options);
    options.ensemble.inputs = &inputs;
    if (options.has_assign()) return estimate_assignment(options);
    return estimate_clustering(options.ensemble, options.parameters, options.superposition,
                               options.symmetry, member_bytes(options.structures));
}

}  // namespace

void choose_atoms(ClusterOptions& options) {
    std::string& select = options.ensemble.select;
    if (options.symmetry.symmetry == Symmetry::ligand && select == EnsembleSource().select)
        select = "heavy";
    if (options.parameters.method != cluster::Method::gmx || options.has_assign()) return;
    EnsembleSource& ensemble = options.ensemble;
    const bool is_of_frames =
        !job_files(options).empty() && !cluster::is_matrix_file(ensemble.sources.front());
    if (ensemble.weights.empty() && is_of_frames && format_without_names(ensemble) != "NPY")
        ensemble.weights = kGmxWeights;
}

std::vector<Field> result_fields(ClusterOptions& options) {
    return concatenated({cluster::fields(options.parameters),
                         precision_field(options),
                         fields(options.ensemble),
                         fields(options.symmetry),
                         fields(options.trajectory),
                         fields(options.structures),
                         {assign_field(options), each_chain_field(options)}});
}

ClusterOutcome make_clusters(ClusterOptions& options, const JobTask& task, Ranks& ranks,
                             ClusterInput* read) {
    if (options.has_assign()) return make_assignment(options, task, ranks);
    choose_atoms(options);
    check_clustering(options);
    options.ensemble.inputs = task.inputs;
    OpenRun opened("cluster", options.run, result_fields(options), task, &ranks, "checkpoint.npz");
    auto& [context, run] = opened;
    // If the user names no device, a GPU is started later, and only if one is needed.
    std::jthread device_start;
    if (options.run.names_device() && !task.choose_device)
        device_start = start_device(options.run, context, true);
    for (const std::string& name :
         cluster::checkpoint_names(options.parameters, context.checkpoint))
        run.checkpoint(name);
    run.stage("read");
    ClusterInput own;
    ClusterInput& input = read == nullptr ? own : *read;
    if (ranks.is_leader()) {
        check_pipes(options);
        if (read == nullptr)
            own = read_cluster_input(options.ensemble, options.superposition, options.symmetry,
                                     is_by_rows(options), run, context);
        else
            record_ensemble(options.ensemble, read->coordinates->files, run,
                            !options.ensemble.topology.empty());
    }
    ranks.share(input);
    if (ranks.is_leader()) note_weights(options, input, context);
    run.stage("device");
    choose_device(input, options.parameters, options.run, task, ranks, context);
    run.stage("prepare");
    Trajectory trajectory;
    if (ranks.is_leader()) {
        trajectory = trajectory_of(input, options, context);
        check_structures(input, options.structures, run);
    }
    run.context(context);
    if (options.run.verbose && !input.remark.empty()) context.message(input.remark);
    cluster::Result result = first_of_lanes(context, [&](const Context& lane) {
        const std::unique_ptr<PairSource> distances = distances_of(input, lane);
        return cluster::run(*distances, options.parameters, lane,
                            input.known ? &*input.known : nullptr);
    });
    if (task.computed) task.computed();
    if (!ranks.is_leader()) return {std::move(result), {}};
    std::string text = write(options, input, trajectory, result, context, run);
    return {std::move(result), std::move(text)};
}

Command cluster_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<ClusterOptions> functions{
        .command = "cluster",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an INPUT or a --list of inputs",
        .input_column = "ensemble",
        .joins_files = true,
        .uses_seed = true,
        .numbers = {"items", "clusters", "largest", "noise", "cutoff", "chosen", "silhouette",
                    "mean"},
        .add_options =
            [](CLI::App& parser, ClusterOptions& options) {
                add_texts(parser, "INPUT", options.ensemble.sources,
                          fmt::format("Folder of a finished 'pleat rmsd'; matrix .npy; or {}",
                                      kEnsembleFiles));
                add_fields(parser, "Input", fields(options.ensemble));
                add_job_options(parser, options.run, options.jobs, true, true);
                add_fields(parser, "Clustering", cluster::fields(options.parameters));
                add_fields(parser, "Clustering",
                           {assign_field(options), each_chain_field(options)});
                add_fields(parser, "Clustering", precision_field(options));
                add_fields(parser, "Clustering", fields(options.symmetry));
                add_fields(parser, "Trajectory", fields(options.trajectory));
                add_fields(parser, "Structures", fields(options.structures));
            },
        .fields = result_fields,
        .prepare = choose_atoms,
        .check = check_job,
        .input_files = job_files,
        .run = [](ClusterOptions& options, const JobTask& task,
                  Ranks& own) { return make_clusters(options, task, own).summary; },
        .estimate = estimate_job};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program
