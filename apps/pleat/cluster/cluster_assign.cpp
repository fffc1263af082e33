// Cluster assignment: finding medoids, matching their atoms, and reading frames block by block.
#include "cluster/cluster_assign.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "cluster/assigned_block.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/rounds.h"
#include "pleat/core/run/manifest.h"
#include "pleat/rmsd/assign/assignment.h"
#include "pleat/rmsd/estimate.h"

namespace pleat::program {

namespace {

/// The file of the medoids, and what a finished run superposed.
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

/// "index 0 to 5 8 10 to 12" of rising indices.
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

/// The atoms of the first medoid, if its file names them; else null.
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

/// The selection of the atoms that are superposed, of `all` atoms of the ensemble: by default those
/// of the medoids.
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

/// The options with the source of the medoids and the atoms that both have.
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
    input.ensemble.matched_with = from.frames.sources;
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

/// Reads the next frames of an ensemble, at most as many as the block holds [frame, atom, axis],
/// and compares them.
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

/// Each rank reads one of as many consecutive blocks as there are ranks and passes over the others;
/// the leading rank gives them to `collect` in their order. Returns the reader at its end.
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
        return RoundPiece{pack(own), has_more};
    };
    collect_rounds(ranks.comm(), make, [&](const std::vector<std::vector<std::uint8_t>>& pieces) {
        bool has_ended = false;
        for (const std::vector<std::uint8_t>& bytes : pieces) {
            const AssignedBlock block = unpack_block(bytes);
            if (has_ended && block.frames() > 0)
                throw InputError(source.sources.front(), 0,
                                 "expected the same frames on all ranks, found more on one");
            if (block.frames() > 0) collect(block);
            has_ended = has_ended || block.frames() < xyz.extent(0);
        }
    });
    return reader;
}

}  // namespace

Field assign_field(ClusterOptions& options) {
    return {.name = "assign",
            .target = &options.assign,
            .help =
                "Find no clusters, but give every frame to the nearest of these structures: "
                "medoids.pdb of a run or any file of models; or the folder of a finished "
                "'pleat cluster', whose atoms are superposed too. With --cutoff frames that "
                "are further from all of them are noise",
            .value_name = "MEDOIDS"};
}

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

std::vector<std::string> medoid_files(const std::string& assign) {
    return ensemble_files({find_medoids(assign).file});
}

AssignedFrames assign_frames(const ClusterOptions& options, RunDirectory* run, Ranks& ranks,
                             const Context& context) {
    Superposed from{.medoids = {}, .frames = options.ensemble};
    AssignedFrames assigned;
    match_sources(from.frames, medoid_files(options.assign), context);
    ranks.lead([&] {
        from = superposed(options, from.frames);
        assigned.medoids = read_medoids(from, *run, context);
        const Coordinates& medoids = *assigned.medoids.coordinates;
        rmsd::check({.fit = {},
                     .measured = {},
                     .weights = medoids.weights,
                     .weights_file = from.frames.weights},
                    medoids.atoms());
    });
    ranks.share(from.frames.select);
    share(assigned.medoids, ranks);
    const Coordinates& medoids = *assigned.medoids.coordinates;
    std::optional<double> cutoff;
    if (options.parameters.cutoff.is_set()) cutoff = *options.parameters.cutoff.first;
    rmsd::Assignment assignment(medoids.xyz, medoids.weights, cutoff, options.parameters.bin_width,
                                context);
    SeriesRecorder recorder(parse_frame_range(from.frames.frames).step);
    std::optional<OutputFile> distances;
    ranks.lead([&] {
        distances.emplace(run->output("distances.tsv"));
        distances->write("frame\tcluster\tnearest\tdistance\tsecond\tsecond_distance\n");
    });
    Index done = 0;
    const EnsembleReader reader = assign_blocks(
        from.frames, assignment, medoids.atoms(), ranks, context, [&](const AssignedBlock& block) {
            assignment.collect(block.compared);
            write_distances(*distances, block.compared.nearest, block.frames(), done, cutoff);
            done += block.frames();
            for (const FrameOrigin& origin : block.origins) recorder.add(origin);
        });
    ranks.lead([&] {
        distances->close();
        for (const Note& note : reader.notes())
            if (note.kind != NoteKind::selection) context.note(note);
        record_ensemble(options.ensemble, reader.files(), *run, !options.ensemble.topology.empty());
        assigned.result = assignment.finish();
        assigned.trajectory = trajectory_of(recorder, reader.files(), reader.is_trajectory(),
                                            from.frames.frames, options.trajectory, context);
    });
    return assigned;
}

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
                pairs.precision = rmsd::Precision::float64;
                const rmsd::ComparedSizes compared{
                    .frames = size.frames, .atoms = size.atoms, .others = others.frames};
                Estimate all = rmsd::estimate(compared, pairs, context);
                all.host_bytes =
                    kBlockBytes + kFrameBytes * size.frames + 48 * others.frames * size.atoms;
                return all;
            }};
}

}  // namespace pleat::program
