// Ensemble options: flags of the ensemble's files, atoms and frames, and reading them.
#include "options/ensemble_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "options/common_options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::program {

namespace {

/// Mass of each atom. Throws InputError that names atoms whose element is not known.
std::vector<double> masses(const Topology& topology) {
    std::vector<double> all;
    std::vector<std::string> unknown;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        all.push_back(topology.atoms[static_cast<std::size_t>(atom)].mass);
        if (!(all.back() > 0)) unknown.push_back(topology.label(atom));
    }
    if (!topology.named)
        throw InputError(
            topology.source.string(), 0,
            "expected atoms with names for --atom-weights mass, found coordinates only: "
            "give --topology");
    if (unknown.empty()) return all;
    constexpr std::size_t kMaxNamed = 5;
    const std::size_t count = unknown.size();
    unknown.resize(std::min(count, kMaxNamed));
    throw InputError(
        topology.source.string(), 0,
        fmt::format("expected elements for --atom-weights mass, found {} atom{} without: {}{}",
                    count, count == 1 ? "" : "s", fmt::join(unknown, "; "),
                    count > kMaxNamed ? "; ..." : ""));
}

EnsembleOptions reading_options(const EnsembleSource& options) {
    return {.topology = options.topology,
            .assembly = options.assembly,
            .select = options.select,
            .range = parse_frame_range(options.frames),
            .same_residues = options.same_residues,
            .truncated = options.truncated,
            .centre_each_frame = true,
            .pbc = options.pbc};
}

}  // namespace

std::vector<Field> frame_fields(EnsembleSource& options) {
    return {
        {.name = "topology",
         .target = &options.topology,
         .help = "PDB or mmCIF file that names the atoms of trajectories; its coordinates are not "
                 "read as a "
                 "frame",
         .value_name = "FILE"},
        {.name = "assembly",
         .target = &options.assembly,
         .help =
             "Build this biological assembly of PDB (REMARK 350) or mmCIF files; further copies of "
             "chain A are chains A-2, A-3, ...",
         .value_name = "NAME"},
        {.name = "select",
         .target = &options.select,
         .help = "Atoms to superpose and measure",
         .letter = 's',
         .value_name = "ATOMS"},
        {.name = "frames",
         .target = &options.frames,
         .help =
             "Frames to read, first:last:step, from 0 and without the last, as Python's slices: "
             "0:10, the first ten; -10:, the last ten; ::10, every tenth",
         .value_name = "RANGE"},
        {.name = "truncated",
         .target = &options.truncated,
         .help = "Keep the whole frames of a file that is cut short, such as one that a simulation "
                 "is still writing, and warn; without this option such a file is refused"},
        {.name = "pbc",
         .target = &options.pbc,
         .help =
             "Molecules that lie on both sides of the periodic cell of a frame: auto makes them "
             "whole; whole does too, and refuses frames where it cannot; none leaves them"}};
}

std::vector<Field> fields(EnsembleSource& options) {
    std::vector<Field> all = frame_fields(options);
    all.push_back(
        {.name = "atom-weights",
         .target = &options.weights,
         .help = "Weights of the selected atoms: mass (of their elements), or an .npy file [atom]",
         .value_name = "FILE",
         .old_names = {"weights"}});
    return all;
}

void record_ensemble(const EnsembleSource& options, const std::vector<std::string>& files,
                     RunDirectory& run, bool with_topology) {
    record_lists(options.sources, run);
    for (const std::string& file : files) record_input(file, run);
    if (with_topology) record_input(options.topology, run);
}

std::string input_key(const EnsembleSource& options) {
    return fmt::format("{}\n\n{}\n{}\n{}\n{}\n{}{}{}", fmt::join(options.sources, "\n"),
                       options.topology, options.assembly, options.select, options.frames,
                       options.same_residues, options.truncated,
                       names_of(options.pbc)[static_cast<std::size_t>(options.pbc)]);
}

TemporaryFile::~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
}

void share(Coordinates& coordinates, Ranks& ranks) {
    if (ranks.size() == 1) return;
    ranks.share(coordinates.weights);
    std::vector<std::int64_t> sizes{coordinates.on_disk.is_on_disk(), coordinates.frames(),
                                    coordinates.atoms()};
    ranks.share(sizes);
    if (sizes[0] == 0) return ranks.share(coordinates.xyz);
    std::filesystem::path path = coordinates.file ? coordinates.file->path : "";
    ranks.share(path);
    if (!ranks.is_leader()) coordinates.on_disk = FrameStore(path, sizes[1], sizes[2]);
}

EnsembleSize measure_ensemble(
    const EnsembleSource& options,
    const std::function<void(const EnsembleReader&, View<const float, 2>)>& visit,
    const std::shared_ptr<const Topology>& atoms) {
    check_readable({options.topology});
    const auto count = [&] {
        EnsembleOptions reading = reading_options(options);
        if (atoms != nullptr && atoms->named) reading.atoms = atoms;
        EnsembleReader reader(options.sources, reading);
        EnsembleSize size{.atoms = reader.atom_count(), .all_atoms = reader.all_atoms()};
        Array<float, 2> frame(3, size.atoms);
        for (; reader.next(frame); ++size.frames)
            if (visit) visit(reader, frame);
        size.files = reader.files();
        size.notes = reader.notes();
        size.is_trajectory = reader.is_trajectory();
        return size;
    };
    if (visit || atoms != nullptr) return count();
    return *shared_input<EnsembleSize>(options.inputs, "size\n" + input_key(options), count);
}

Coordinates read_coordinates(const EnsembleSource& options, RunDirectory& run,
                             const Context& context, std::shared_ptr<const Topology> atoms,
                             const std::function<std::int64_t(Index, Index)>& work_bytes) {
    const bool reads_weights = !options.weights.empty() && options.weights != "mass";
    if (atoms == nullptr) check_readable({options.topology});
    if (reads_weights) check_readable({options.weights});
    const bool reads_topology = atoms == nullptr && !options.topology.empty();
    EnsembleOptions reading = reading_options(options);
    reading.atoms = std::move(atoms);
    // Atoms of another ensemble are not named by a key.
    SharedInputs* const store = reading.atoms == nullptr ? options.inputs : nullptr;
    const std::filesystem::path file = run.checkpoint("checkpoint.frames.f32");
    const std::int64_t allowed = available_memory() / 2;
    const auto needed = [&](Index frames, Index count) {
        return 24 * frames * count + work_bytes(frames, count);
    };
    const FrameOverflow overflow{
        [&](Index frames, Index count) { return needed(frames, count) <= allowed; }, file};
    const bool may_overflow = work_bytes && options.inputs == nullptr;
    const auto shared = shared_input<Ensemble>(store, "centred\n" + input_key(options), [&] {
        return read_ensemble(options.sources, reading, may_overflow ? &overflow : nullptr);
    });
    const Ensemble& ensemble = *shared;
    record_ensemble(options, ensemble.files, run, reads_topology);
    for (const std::string& note : ensemble.notes) {
        // If all atoms are selected the summary shows their number.
        if (options.select != "all" || !note.starts_with("selection '")) context.message(note);
    }
    Coordinates coordinates;
    if (ensemble.on_disk.is_on_disk()) {
        coordinates.file = std::make_shared<TemporaryFile>(file);
        context.message(fmt::format(
            "{} frames of {} atoms need {} of memory, {} may be used (half of what is available): "
            "they are read in blocks from {} ({})",
            ensemble.frame_count(), ensemble.atom_count(),
            human_bytes(needed(ensemble.frame_count(), ensemble.atom_count())),
            human_bytes(allowed), file.string(), human_bytes(4 * ensemble.on_disk.size())));
    }
    coordinates.on_disk = ensemble.on_disk;
    if (!ensemble.on_disk.is_on_disk())
        coordinates.xyz = atom_by_atom(ensemble, {}, resolve_threads(context));
    coordinates.name = options.sources.front();
    coordinates.topology = ensemble.topology;
    coordinates.all_atoms = ensemble.all_atoms;
    coordinates.origins = ensemble.origins;
    coordinates.files = ensemble.files;
    coordinates.is_trajectory = ensemble.is_trajectory;
    if (options.weights.empty()) return coordinates;
    if (options.weights == "mass") {
        coordinates.weights = masses(*coordinates.topology);
        return coordinates;
    }
    const NpyArray array = read_npy(options.weights, (Index{1} << 16) + 8 * coordinates.atoms());
    if (array.shape != std::vector<Index>{coordinates.atoms()})
        throw InputError(options.weights, 0,
                         fmt::format("expected an array [{}], one weight per atom, found [{}]",
                                     coordinates.atoms(), fmt::join(array.shape, ", ")));
    coordinates.weights = array.as<double>(options.weights);
    record_input(options.weights, run);
    return coordinates;
}

}  // namespace pleat::program
