// Ensemble options: flags of files, atoms, frames and symmetry, and reading frames by them.
#include "options/ensemble_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "options/common_options.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/name_of.h"
#include "pleat/rmsd/measures/permutations.h"

namespace pleat::program {

namespace {

bool are_masses(const std::string& weights) { return weights == "mass" || weights == kGmxWeights; }

Relaxation relaxation_of(const EnsembleSource& options) {
    return options.relaxed ? Relaxation::relaxed : Relaxation::unrelaxed;
}

/// Makes each of a frame's equal chains an item of its own.
void take_chains(Coordinates& coordinates, const Ensemble& ensemble, const Context& context) {
    const EqualChains chains = only_equal_chains(*ensemble.topology);
    const Index frames = ensemble.frame_count();
    coordinates.xyz = chain_by_chain(ensemble, chains, resolve_threads(context));
    coordinates.topology =
        std::make_shared<const Topology>(subset(*ensemble.topology, chains.atoms.front()));
    coordinates.origins.clear();
    std::vector<std::string> others = ensemble.topology->chains();
    for (const std::string& name : chains.names) {
        std::erase(others, name);
        coordinates.origins.insert(coordinates.origins.end(), ensemble.origins.begin(),
                                   ensemble.origins.end());
    }
    coordinates.chains = {chains.names, frames};
    if (!others.empty())
        context.message(
            fmt::format("left out, as they equal no other chain: '{}'", fmt::join(others, "', '")));
}

}  // namespace

std::vector<double> masses_of(const Topology& topology, const std::string& weights) {
    if (!topology.named)
        throw InputError(
            topology.source.string(), 0,
            fmt::format("expected atoms with names for --atom-weights {}, found coordinates only: "
                        "give --topology",
                        weights));
    std::vector<double> masses = gmx_masses(topology);
    std::vector<std::string> unknown;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        double& mass = masses[atom];
        if (weights != kGmxWeights) mass = topology.atoms[atom].mass;
        if (!(mass > 0)) unknown.push_back(topology.atom_label(atom));
    }
    if (unknown.empty()) return masses;
    constexpr std::size_t kMaxNamed = 5;
    const std::size_t count = unknown.size();
    unknown.resize(std::min(count, kMaxNamed));
    throw InputError(
        topology.source.string(), 0,
        fmt::format("expected elements for --atom-weights {}, found {} atom{} without: {}{}; "
                    "--atom-weights none weighs all atoms equally",
                    weights, count, count == 1 ? "" : "s", fmt::join(unknown, "; "),
                    count > kMaxNamed ? "; ..." : ""));
}

EnsembleOptions reading_options(const EnsembleSource& options) {
    EnsembleOptions reading{.topology = options.topology,
                            .assembly = options.assembly,
                            .common = options.common,
                            .select = options.select,
                            .range = parse_frame_range(options.frames),
                            .same_residues = options.same_residues,
                            .truncated = options.truncated,
                            .centre_each_frame = true,
                            .in_place = options.in_place,
                            .pbc = options.pbc,
                            .relaxed = options.relaxed};
    parse_score_sources(options.scores, reading.scores);
    reading.scores.column = options.score;
    reading.scores.best = options.best.value_or(0);
    reading.scores.lowest_is_best = options.lowest_is_best;
    if (!options.worst_left_out.empty())
        reading.scores.worst_share = parse_percentage(options.worst_left_out);
    return reading;
}

std::vector<std::string> files_of(const EnsembleSource& options) {
    return ensemble_files(options.sources, relaxation_of(options));
}

std::vector<std::string> score_files(const EnsembleSource& options) {
    ScoreOptions scores;
    parse_score_sources(options.scores, scores);
    std::vector<std::string> files = std::move(scores.tables);
    if (!scores.of_models) return files;
    for (const ModelFolder& folder :
         list_ensemble_files(options.sources, relaxation_of(options)).models) {
        if (!folder.scores.empty()) files.push_back(folder.scores);
        for (const PredictedModel& model : folder.models)
            if (!model.scores.empty()) files.push_back(model.scores);
    }
    return files;
}

std::vector<Field> score_fields(EnsembleSource& options) {
    return {
        {.name = "scores",
         .target = &options.scores,
         .help = "Scores of frames: tables with a column frame (from 0) or name (of files) and "
                 "columns of numbers, or the word folder for the scores that AlphaFold, "
                 "ColabFold, Boltz and Chai-1 write next to their models; separate several by "
                 "commas",
         .value_name = "FILE|folder"},
        {.name = "score",
         .target = &options.score,
         .help = "Score that ranks the frames; required only if there are several scores and the "
                 "program that predicted the models ranks by none of them",
         .value_name = "COLUMN"},
        {.name = "best",
         .target = &options.best,
         .help = "Keep this number of frames with the best scores, and read no others",
         .min = 1,
         .automatic = "all"},
        {.name = "least",
         .target = &options.lowest_is_best,
         .help = "Lower scores are better, as for energies"},
        {.name = "worst-left-out",
         .target = &options.worst_left_out,
         .help = "Leave out this percentage of the frames, those with the worst scores, such as "
                 "10%",
         .value_name = "PERCENT"},
        {.name = "relaxed",
         .target = &options.relaxed,
         .help = "If predicted models exist both relaxed and unrelaxed, read the relaxed ones"}};
}

std::vector<Field> frame_fields(EnsembleSource& options) {
    std::vector<Field> all = {
        {.name = "topology",
         .target = &options.topology,
         .help =
             "PDB, mmCIF, GRO, MOL2, PSF or PRMTOP file that names the atoms of trajectories; its "
             "coordinates are not read as a frame",
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
         .help = "Read the complete frames of a truncated file, such as one that a simulation is "
                 "still writing, with a warning; without this option such a file is refused"},
        {.name = "pbc",
         .target = &options.pbc,
         .help =
             "Molecules that are split by periodic boundaries: auto makes them whole if it can; "
             "whole stops with an error if it cannot; none leaves them split"}};
    for (Field& field : score_fields(options)) all.push_back(std::move(field));
    return all;
}

Field match_field(EnsembleSource& options) {
    return {.name = "match",
            .target = &options.match,
            .help =
                "How atoms are matched between files: names (chain, residue number and atom name) "
                "or sequence (pairs chains and aligns their sequences, for files with other "
                "numbers or chain names or with missing residues; uses only atoms that all files "
                "have)"};
}

void match_sources(EnsembleSource& options, const std::vector<std::string>& others,
                   const Context& context) {
    if (options.match == Matching::names) return;
    std::vector<std::string> files = files_of(options);
    if (!others.empty())
        for (const std::string& file : ensemble_files(others)) files.push_back(file);
    refuse_pipes(files, "--match sequence reads it twice");
    options.common = find_common_atoms(files, options.topology, options.assembly);
    options.files_to_match = others;
    context.notes(options.common->notes);
}

std::string format_without_names(const EnsembleSource& options) {
    if (!options.topology.empty()) return {};
    const std::string first = files_of(options).front();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(first, ignored)) return {};
    const std::string format(open_frames(first)->format());
    return format == "NPY" || format == "XYZ" ? format : std::string();
}

std::vector<Field> fields(EnsembleSource& options) {
    std::vector<Field> all = frame_fields(options);
    all.push_back(match_field(options));
    all.push_back(
        {.name = "atom-weights",
         .target = &options.weights,
         .help = "Weights of the selected atoms: mass (of the element), gmx (masses that GROMACS "
                 "assigns by atom names), an .npy file [atom], or none (equal weights)",
         .value_name = "FILE"});
    return all;
}

void record_ensemble(const EnsembleSource& options, const std::vector<std::string>& files,
                     RunDirectory& run, bool with_topology) {
    record_lists(options.sources, run);
    for (const std::string& file : files) record_input(file, run);
    for (const std::string& file : score_files(options)) record_input(file, run);
    if (with_topology) record_input(options.topology, run);
    for (const std::string& file : selection::index_files(options.select)) record_input(file, run);
}

std::string input_key(const EnsembleSource& options) {
    return fmt::format("{}\n\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}{}{}{}{}{}\n{}{}",
                       fmt::join(options.sources, "\n"), options.scores, options.score,
                       options.best.value_or(0), options.worst_left_out, options.topology,
                       options.assembly, options.select, options.frames, options.lowest_is_best,
                       options.relaxed, options.same_residues, options.truncated, options.in_place,
                       name_of(options.pbc), fmt::join(options.files_to_match, "\n"),
                       name_of(options.match));
}

void clear_score_options(EnsembleSource& options) {
    options.scores.clear();
    options.score.clear();
    options.best.reset();
    options.lowest_is_best = false;
    options.worst_left_out.clear();
}

bool has_scores(const EnsembleSource& options) {
    EnsembleSource given = options, usual;
    const std::vector<Field> fields = score_fields(given), defaults = score_fields(usual);
    for (std::size_t n = 0; n < fields.size(); ++n)
        if (fields[n].text() != defaults[n].text()) return true;
    return false;
}

void restore_score_options(const EarlierRun& earlier, EnsembleSource& options) {
    for (Field& field : score_fields(options)) {
        const auto value = earlier.parameters.find(field.name);
        if (value == earlier.parameters.end()) continue;
        const bool is_text = value->second.starts_with('"');
        field.set(is_text ? text_parameter(earlier, field.name) : value->second);
    }
}

void write_frames(RunDirectory& run, const Coordinates& coordinates,
                  std::span<const std::int32_t> clusters) {
    if (!coordinates.labels.has_table_columns()) return;
    std::vector<FrameOrigin> origins = coordinates.origins;
    if (coordinates.chains.are_chains()) {
        origins.resize(static_cast<std::size_t>(coordinates.chains.frames));
        clusters = {};
    }
    write_text(run.output("frames.tsv"),
               frames_table(coordinates.labels, origins, coordinates.files, clusters));
}

TemporaryFile::~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
}

void members(Packer& pack, Coordinates& coordinates) {
    std::filesystem::path path = coordinates.file ? coordinates.file->path : "";
    Index frames = coordinates.frames(), atoms = coordinates.atoms();
    pack(coordinates.name, coordinates.weights, path, frames, atoms);
    if (path.empty())
        pack(coordinates.xyz);
    else if (pack.reads())
        coordinates.on_disk = FrameStore(path, frames, atoms);
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
    const bool has_weights = !options.weights.empty() && options.weights != kEqualWeights;
    const bool reads_weights = has_weights && !are_masses(options.weights);
    if (atoms == nullptr) check_readable({options.topology});
    if (reads_weights) check_readable({options.weights});
    const bool reads_topology = atoms == nullptr && !options.topology.empty();
    EnsembleOptions reading = reading_options(options);
    reading.atoms = std::move(atoms);
    reading.threads = resolve_threads(context);
    // The key does not cover atoms of another ensemble, so these readings are not shared.
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
    for (const Note& note : ensemble.notes) {
        // If all atoms are selected the summary shows their number.
        if (options.select != "all" || note.kind != NoteKind::selection) context.note(note);
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
    if (!ensemble.on_disk.is_on_disk() && !options.each_chain)
        coordinates.xyz = atom_by_atom(ensemble, {}, resolve_threads(context));
    coordinates.name = options.sources.front();
    coordinates.topology = ensemble.topology;
    coordinates.all_atoms = ensemble.all_atoms;
    coordinates.origins = ensemble.origins;
    coordinates.files = ensemble.files;
    coordinates.labels = labels_of(ensemble);
    coordinates.is_trajectory = ensemble.is_trajectory;
    if (options.each_chain) take_chains(coordinates, ensemble, context);
    if (!has_weights) return coordinates;
    if (are_masses(options.weights)) {
        coordinates.weights = masses_of(*coordinates.topology, options.weights);
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

std::vector<Field> fields(SymmetryOptions& options) {
    return {{.name = "symmetry",
             .target = &options.symmetry,
             .help = "chains: chains with the same residues and atoms may change places, and the "
                     "RMSD of two frames is the minimum over all permutations; atoms: equivalent "
                     "atoms may change places, such as the two sides of the rings of PHE and TYR "
                     "and the oxygens of ASP and GLU; ligand: atoms of a ligand may change "
                     "places if its bonds (SDF, or CONECT of PDB) do not distinguish them"},
            {.name = "relabel",
             .target = &options.relabel,
             .help = "With --symmetry chains: relabel the chains of each frame once, so that it "
                     "is closest to the first frame (in rmsd, to --reference), instead of trying "
                     "all permutations for each pair"},
            {.name = "fit",
             .target = &options.fit,
             .help = "Atoms to superpose; the atoms of --select are then only measured; none: "
                     "measure without superposition [default those of --select; with --symmetry "
                     "ligand none]",
             .value_name = "ATOMS|none"}};
}

ComparedAtoms compared_atoms(const SymmetryOptions& options, const std::string& select,
                             const std::string& measure) {
    const std::string& fit = options.fit;
    const std::string& superposed = fit == kNoFit ? measure : fit;
    if (!fit.empty() && !measure.empty() && !select.empty() && select != superposed)
        throw UsageError("give two of --select, --fit and --measure, not all three");
    if (fit == kNoFit || (fit.empty() && options.symmetry == Symmetry::ligand && measure.empty()))
        return {.superposed = {}, .measured = measure.empty() ? select : measure, .in_place = true};
    if (fit.empty()) return {.superposed = select, .measured = measure.empty() ? select : measure};
    return {.superposed = fit, .measured = measure.empty() ? select : measure};
}

void check_options(const SymmetryOptions& options) {
    if (options.relabel && !options.has_chains())
        throw UsageError("--relabel needs --symmetry chains");
}

rmsd::FoundSymmetry find_symmetry(const SymmetryOptions& options, const Topology& all,
                                  const std::vector<Index>& read, const rmsd::AtomSets& sets,
                                  const Context& context) {
    rmsd::FoundSymmetry found = rmsd::find_symmetry(options.symmetry, all, read, sets);
    rmsd::AtomSets tried = sets;
    tried.equal_chains = found.equal_chains;
    tried.equal_orders = found.equal_orders;
    const bool is_searched = options.permutes_each_pair() && !rmsd::can_try_all(tried);
    if (!found.message.empty())
        context.message(found.message +
                        (is_searched ? ", too many to try all: searched on the CPU" : ""));
    return found;
}

void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context) {
    if (!options.relabel) return;
    Array<float, 2> copy(reference.extent(0), Index{3});
    std::copy(reference.begin(), reference.end(), copy.begin());
    const rmsd::Relabelled done = rmsd::relabel_chains(xyz, copy, sets, context);
    context.message(
        fmt::format("symmetry: chains changed places in {} of {} frames, towards {}{}",
                    done.changed, xyz.extent(0), name,
                    done.unproven == 0
                        ? ""
                        : fmt::format(" (in {} not proven to be the best places)", done.unproven)));
}

std::string symmetry_lines(const SymmetryOptions& options, const rmsd::AtomSets& sets,
                           Index unproven, Index count) {
    const std::string text =
        rmsd::symmetry_text(options.symmetry, sets, options.relabel, unproven, count);
    return fmt::format("{}{}", sets.in_place ? "in place, not superposed\n" : "",
                       text.empty() ? "" : fmt::format("symmetry: {}\n", text));
}

}  // namespace pleat::program
