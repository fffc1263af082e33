// pleat rmsd: frames compared with each other, another set or one structure.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "jobs/job_list.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/name_of.h"
#include "pleat/rmsd/assign/assignment.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/estimate.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/output.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/superposition.h"
#include "process/process.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Compare frames with each other, another set or one structure: RMSD, dRMSD, TM-score, GDT_TS, "
    "lDDT.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat rmsd models.pdb.gz -o run --select ca\n"
    "  pleat rmsd run1.xtc run2.xtc --topology protein.pdb --select backbone -o run --frames "
    "100::10\n"
    "  pleat rmsd ensemble.npy -o run --matrix none --cutoff 2 --nearest 10\n"
    "  pleat rmsd decoys/ -o run --select ca --matrix full\n"
    "  pleat rmsd decoys/ -o run --select ca --metric tm --reference native.pdb\n"
    "  pleat rmsd run1.xtc --topology protein.pdb --against run2.xtc --select ca -o run\n"
    "  pleat rmsd run1.xtc --topology complex.pdb --select 'ca and A' --measure 'heavy and B' -o "
    "run\n"
    "  pleat rmsd models.pdb --select ca --measure all --rmsf --superposed pdb -o run\n"
    "  pleat rmsd tetramers.pdb --select ca --symmetry chains -o run\n"
    "  pleat rmsd poses.sdf --symmetry ligand --reference crystal.sdf -o run\n"
    "  pleat rmsd --each decoys/ -o runs --sweep metric=rmsd,tm\n"
    "  mpirun -n 4 pleat rmsd run1.xtc --topology protein.pdb --select ca -o run\n\n"
    "Several files, folders, and lists (@FILE, one path per line) are one ensemble. Frames count\n"
    "from 0 everywhere. Selections: protein, ca, backbone, heavy, name CA CB, resid 10 to 50, "
    "chain\n"
    "A, within 5 of resname HEM, A:10-50, joined by and, or, not and parentheses\n"
    "(docs/selections.md). The matrix is named after the metric: rmsd.npy, drmsd.npy, tm.npy,\n"
    "gdt_ts.npy, lddt.npy.\n\n"
    "A run that was stopped or killed resumes if the same command is given again, also with\n"
    "another number of ranks. While it runs it needs disk space for the matrix twice: its tiles,\n"
    "and the file. All ranks must see the run's folder.";

/// The format of superposed frames.
enum class FrameFormat { none, pdb, cif, dcd, npy };

/// Options of pleat rmsd for comparisons other than all pairs of frames over all selected atoms.
struct SetOptions {
    std::string measure;  ///< atoms; empty: those that are selected
    std::string against, against_frames = "::";
    std::string reference;  ///< a file, a frame's number from 0, or "mean"
    bool any_residues = false;
    bool rmsf = false;
    FrameFormat superposed = FrameFormat::none;
    SymmetryOptions symmetry;

    ComparedAtoms atoms(const std::string& select) const {
        return compared_atoms(symmetry, select, measure);
    }
    bool has_against() const { return !against.empty(); }
    /// Whether frames are compared with one structure instead of each other.
    bool has_reference() const {
        return !reference.empty() || rmsf || superposed != FrameFormat::none;
    }
};

/// What --reference names.
struct ReferenceChoice {
    enum class Kind { mean, frame, file };
    Kind kind = Kind::mean;
    std::string text;  ///< as the user wrote it: a file's path, or a frame's number
};

/// The frames with both the superposed and the measured atoms, and the indices of each.
struct ComparedFrames {
    Coordinates frames;
    rmsd::AtomSets sets;
    AtomGroups chains;      ///< with symmetry; in `sets` too if they are tried for each pair
    EnsembleSource source;  ///< what was read: both selections
    Index unproven = 0;     ///< values that are not proven to be the least over all permutations

    /// `sets` with the equal chains.
    rmsd::AtomSets with_chains() const {
        rmsd::AtomSets all = sets;
        all.equal_chains = chains;
        return all;
    }
};

std::span<const std::string_view> names_of(FrameFormat) {
    static constexpr std::string_view kNames[] = {"none", "pdb", "cif", "dcd", "npy"};
    return kNames;
}

std::vector<Field> fields(SetOptions& options) {
    return {
        {.name = "measure",
         .target = &options.measure,
         .help = "Atoms to measure after superposing the selected ones [default those of --select]",
         .value_name = "ATOMS"},
        {.name = "against",
         .target = &options.against,
         .help = "Compare every frame with every frame of this file, folder or @LIST",
         .value_name = "ENSEMBLE"},
        {.name = "against-frames",
         .target = &options.against_frames,
         .help = "Frames of --against to read, as for --frames",
         .value_name = "RANGE"},
        {.name = "reference",
         .target = &options.reference,
         .help =
             "Compare every frame with one structure: the first frame of a file; the frame with "
             "this number, counted from 0 (-1: the last); or the mean of all frames",
         .letter = 'r',
         .value_name = "FILE|N|mean"},
        {.name = "any-residues",
         .target = &options.any_residues,
         .help =
             "Compare with --reference or --against even if fewer than half of the residues have "
             "the same name"},
        {.name = "rmsf",
         .target = &options.rmsf,
         .help =
             "Write rmsf.tsv, the fluctuation of each atom and residue around its mean position, "
             "superposed on the reference (the mean if none is given)"},
        {.name = "superposed",
         .target = &options.superposed,
         .help =
             "Write the measured atoms of all frames, superposed on the reference or the mean"}};
}

/// Parses --reference; an empty `text`, as with --rmsf or --superposed alone, means the mean
/// structure.
ReferenceChoice parse_reference(const std::string& text) {
    if (text.empty() || text == "mean") return {ReferenceChoice::Kind::mean, text};
    const std::string_view digits = std::string_view(text).substr(text.starts_with('-'));
    const bool is_number =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    return {is_number ? ReferenceChoice::Kind::frame : ReferenceChoice::Kind::file, text};
}

/// Returns `source` with a selection of both the superposed and the measured atoms.
EnsembleSource compared_source(const EnsembleSource& source, const SetOptions& options) {
    EnsembleSource both = source;
    const ComparedAtoms atoms = options.atoms(source.select);
    both.in_place = atoms.in_place;
    both.select = atoms.measured;
    if (!atoms.differ() || atoms.in_place) return both;
    for (const std::string& text : {atoms.superposed, atoms.measured}) check_selection(text);
    both.select = fmt::format("({}) or ({})", atoms.superposed, atoms.measured);
    return both;
}

/// Packs coordinates, weights and atom sets.
void members(Packer& pack, ComparedFrames& compared) {
    rmsd::AtomSets& sets = compared.sets;
    pack(sets.weights, sets.fit, sets.measured, sets.residues, sets.equal_chains, sets.equal_orders,
         sets.in_place, compared.chains, compared.frames);
}

/// Reads the same atoms from another file or set of files. Throws InputError if atoms differ or,
/// unless `any_residues`, if most residues have other names.
Coordinates read_others(const ComparedFrames& compared, const std::string& file,
                        const std::string& frames, Pbc pbc, bool any_residues, RunDirectory& run,
                        const Context& context) {
    EnsembleSource source = compared.source;
    source.sources = {file};
    source.frames = frames;
    source.pbc = pbc;
    source.weights.clear();
    clear_score_options(source);
    source.same_residues = !any_residues;
    // All other ensembles use the atom names of the first one.
    const std::shared_ptr<const Topology>& atoms = compared.frames.all_atoms;
    Coordinates others = read_coordinates(source, run, context, atoms->named ? atoms : nullptr);
    if (others.atoms() != compared.frames.atoms())
        throw InputError(
            file, 0,
            fmt::format("expected {} atoms as in {}, found {}", compared.frames.atoms(),
                        compared.frames.name, others.atoms()));
    return others;
}

/// Throws UsageError for outputs that need consistent labels or do not support permutations.
void check_symmetry(const SetOptions& options, const std::string& select, rmsd::Metric metric) {
    const SymmetryOptions& symmetry = options.symmetry;
    const ComparedAtoms atoms = options.atoms(select);
    const bool has_symmetry = symmetry.symmetry != Symmetry::none;
    if (metric != rmsd::Metric::rmsd && (has_symmetry || !symmetry.fit.empty()))
        throw UsageError(
            fmt::format("{} needs --metric rmsd", has_symmetry ? "--symmetry" : "--fit"));
    if (!has_symmetry && !atoms.in_place) return;
    if (symmetry.has_chains() && atoms.differ())
        throw UsageError(
            "leave --measure and --fit out: --symmetry chains measures the superposed atoms");
    const bool is_mean = options.has_reference() &&
                         parse_reference(options.reference).kind == ReferenceChoice::Kind::mean;
    const bool is_of_all = is_mean || options.rmsf || options.superposed != FrameFormat::none;
    if (atoms.in_place && is_of_all)
        throw UsageError(
            fmt::format("a mean, --rmsf and --superposed superpose frames: {}",
                        has_symmetry ? "leave --symmetry out" : "leave --fit none out"));
    if (!symmetry.relabel && is_of_all)
        throw UsageError(fmt::format(
            "a mean, --rmsf and --superposed need one labelling of each frame: {}",
            symmetry.has_chains() ? "take --symmetry chains --relabel, or leave --symmetry out"
                                  : "leave --symmetry out"));
}

/// Parses a frame number: from 0 or, if negative, from the end.
Index parse_frame_number(const std::string& text, Index frames) {
    Index number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || number < -frames || number >= frames)
        throw UsageError(
            fmt::format("--reference: expected a frame from 0 to {}, found {}", frames - 1, text));
    return number < 0 ? number + frames : number;
}

/// [atom, axis]
Array<double, 2> find_reference(const ComparedFrames& compared, const SetOptions& options,
                                const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    const ReferenceChoice reference = parse_reference(options.reference);
    if (reference.kind == ReferenceChoice::Kind::mean) {
        rmsd::MeanStructure mean = rmsd::mean_structure(input.store(), compared.sets, context);
        run.fact("mean_rounds", static_cast<std::int64_t>(mean.rounds));
        run.fact("mean_change", mean.change);
        write_npy(run.output("mean.npy"), mean.xyz.data(), {input.atoms(), 3});
        return std::move(mean.xyz);
    }
    if (reference.kind == ReferenceChoice::Kind::frame)
        return rmsd::to_double(input.frame(parse_frame_number(reference.text, input.frames())));
    // Crystal structures and predicted models have no simulation cell that could split molecules.
    const Pbc pbc = compared.source.pbc == Pbc::none ? Pbc::none : Pbc::automatic;
    return rmsd::to_double(
        read_others(compared, reference.text, "0", pbc, options.any_residues, run, context).xyz[0]);
}

/// Writes frames [axis, atom] in the format of the file name's extension.
class FrameFile {
public:
    FrameFile(const std::filesystem::path& path, const Topology& topology, Index frames) {
        if (path.extension() == ".npy") {
            array_ = std::make_unique<OutputFile>(path);
            array_->write(npy_header("<f4", {frames, topology.atom_count(), 3}));
        } else if (path.extension() == ".dcd") {
            trajectory_ = std::make_unique<DcdWriter>(path, topology.atom_count());
        } else {
            models_ = std::make_unique<StructureWriter>(path, topology);
        }
    }
    void add(View<const float, 2> frame) {
        if (models_) models_->add(frame);
        if (trajectory_) trajectory_->add(frame);
        for (Index k = 0; array_ && k < frame.extent(1); ++k) {
            const float atom[3] = {frame(0, k), frame(1, k), frame(2, k)};
            array_->write(atom, sizeof(atom));
        }
    }
    void close() {
        if (models_) models_->close();
        if (trajectory_) trajectory_->close();
        if (array_) array_->close();
    }

private:
    std::unique_ptr<StructureWriter> models_;
    std::unique_ptr<DcdWriter> trajectory_;
    std::unique_ptr<OutputFile> array_;
};

Array<float, 2> narrowed(const Array<double, 2>& reference) {
    Array<float, 2> narrow(reference.extent(0), Index{3});
    std::copy(reference.begin(), reference.end(), narrow.begin());
    return narrow;
}

Topology measured_topology(const ComparedFrames& compared) {
    const Topology& all = *compared.frames.topology;
    return compared.sets.measured.empty() ? all : subset(all, compared.sets.measured);
}

template <class T>
std::vector<T> measured_of(const ComparedFrames& compared, const std::vector<T>& values) {
    if (values.empty() || compared.sets.measured.empty()) return values;
    std::vector<T> some;
    for (const Index atom : compared.sets.measured) some.push_back(values[atom]);
    return some;
}

void write_superposed(const ComparedFrames& compared, const Array<double, 2>& reference,
                      FrameFormat format, const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    const Topology topology = measured_topology(compared);
    const rmsd::Superposer superposer(reference, compared.sets);
    Array<double, 2> moved(input.atoms(), Index{3});
    Array<float, 2> written(Index{3}, topology.atom_count());
    const std::string_view ending = name_of(format);
    FrameFile file(run.output(fmt::format("superposed.{}", ending)), topology, input.frames());
    for_each_frame(context, "superposed", input.frames(), [&](Index i) {
        superposer(input.frame(i), moved);
        for (Index k = 0; k < topology.atom_count(); ++k) {
            const Index atom = compared.sets.measured.empty() ? k : compared.sets.measured[k];
            for (int axis = 0; axis < 3; ++axis)
                written(axis, k) = static_cast<float>(moved(atom, axis));
        }
        file.add(written);
    });
    file.close();
}

/// Work of the leading rank before frames are compared: finds the reference structure [atom, axis]
/// and, with --relabel, labels the equal chains of all frames consistently.
Array<double, 2> prepare_reference(ComparedFrames& compared, const SetOptions& options,
                                   const Context& context, RunDirectory& run) {
    Coordinates& input = compared.frames;
    const bool needs_names =
        options.superposed == FrameFormat::pdb || options.superposed == FrameFormat::cif;
    if (!input.topology->named && needs_names)
        throw InputError(
            input.name, 0,
            "expected atoms with names for --superposed pdb and cif, found coordinates "
            "only: give --topology, or take --superposed npy");
    // A mean needs frames of one labelling.
    const bool is_mean = parse_reference(options.reference).kind == ReferenceChoice::Kind::mean;
    if (is_mean && options.symmetry.relabel)
        relabel(options.symmetry, input.xyz, input.xyz[0], "the first frame",
                compared.with_chains(), context);
    Array<double, 2> reference = find_reference(compared, options, context, run);
    if (!is_mean && options.symmetry.relabel)
        relabel(options.symmetry, input.xyz, narrowed(reference), "the reference",
                compared.with_chains(), context);
    return reference;
}

void write_compared(const ComparedFrames& compared, const SetOptions& options,
                    const rmsd::Result& result, const rmsd::Parameters& parameters,
                    const Array<double, 2>& reference, const Context& context, RunDirectory& run) {
    const Coordinates& input = compared.frames;
    rmsd::write_reference(run, result, parameters, input.origins, input.files,
                          measured_topology(compared),
                          rmsd::residues_in_order(compared.sets, input.atoms()));
    if (options.rmsf) {
        rmsd::Fluctuations all =
            rmsd::fluctuations(input.store(), reference, compared.sets, context);
        all.rmsf = measured_of(compared, all.rmsf);
        all.distance = measured_of(compared, all.distance);
        rmsd::write_rmsf(run, measured_topology(compared), all,
                         measured_of(compared, compared.sets.weights));
    }
    if (options.superposed != FrameFormat::none)
        write_superposed(compared, reference, options.superposed, context, run);
}

/// Throws UsageError for options that exclude each other, or that the metric does not have.
void check_options(const SetOptions& options, const std::string& select, rmsd::Metric metric) {
    if (!options.has_against() && options.against_frames != SetOptions().against_frames)
        throw UsageError("--against-frames needs --against");
    if (options.any_residues && !options.has_against() && options.reference.empty())
        throw UsageError("--any-residues needs --against or --reference");
    check_symmetry(options, select, metric);
    if (options.has_reference() && options.has_against())
        throw UsageError("give either --against or one of --reference, --rmsf and --superposed");
}

/// The files of --against or --reference; none if there are no such files.
std::vector<std::string> other_files(const SetOptions& options) {
    if (options.has_against()) return {options.against};
    const ReferenceChoice reference = parse_reference(options.reference);
    if (reference.kind == ReferenceChoice::Kind::file) return {reference.text};
    return {};
}

/// Throws InputError if a file of --against or --reference does not exist or may not be read.
void check_other_files(const SetOptions& options) {
    const std::vector<std::string> files = other_files(options);
    if (!files.empty()) check_ensemble_files(files);
}

/// Finds superposed, measured and interchangeable atoms among those that compared_source() selects
/// from `all`.
rmsd::AtomSets sets_of(const Topology& all, const EnsembleSource& source, const SetOptions& options,
                       const Context& context) {
    const ComparedAtoms atoms = options.atoms(source.select);
    const std::vector<Index> both = select_atoms(all, compared_source(source, options).select);
    rmsd::AtomSets sets;
    sets.in_place = atoms.in_place;
    if (atoms.differ() && !atoms.in_place) {
        const std::vector<Index> fit = select_atoms(all, atoms.superposed);
        const std::vector<Index> measured = select_atoms(all, atoms.measured);
        if (fit.size() < both.size()) sets.fit = positions_among(fit, both);
        if (measured.size() < both.size()) sets.measured = positions_among(measured, both);
        context.message(fmt::format("superposed '{}': {} atoms; measured '{}': {} atoms",
                                    atoms.superposed, fit.size(), atoms.measured, measured.size()));
    }
    rmsd::FoundSymmetry found = find_symmetry(options.symmetry, all, both, sets, context);
    sets.equal_chains = std::move(found.equal_chains);
    sets.equal_orders = std::move(found.equal_orders);
    return sets;
}

/// Reads the frames to compare; for RMSDs by all atoms to disk if necessary (read_coordinates()).
ComparedFrames read_compared(const EnsembleSource& source, const SetOptions& options,
                             const rmsd::Parameters& parameters, RunDirectory& run,
                             const Context& context) {
    ComparedFrames compared;
    compared.source = compared_source(source, options);
    const bool is_split = options.atoms(source.select).differ();
    std::function<std::int64_t(Index, Index)> work_bytes;
    const bool has_symmetry = options.symmetry.symmetry != Symmetry::none;
    if (parameters.metric == rmsd::Metric::rmsd && !is_split && !has_symmetry &&
        !options.has_against())
        work_bytes = [&](Index frames, Index count) {
            if (options.has_reference()) return 100 * frames;  // values and origins
            return rmsd::memory_needed(frames, count, parameters, {Device::Kind::cpu, 0});
        };
    compared.frames = read_coordinates(compared.source, run, context, nullptr, work_bytes);
    run.sources(compared.frames.labels.are_models ? source.sources : compared.frames.files);
    compared.sets.weights = compared.frames.weights;
    compared.sets.weights_file = source.weights;
    rmsd::AtomSets sets = sets_of(*compared.frames.all_atoms, source, options, context);
    compared.chains = std::move(sets.equal_chains);
    sets.equal_chains.clear();
    sets.weights = std::move(compared.sets.weights);
    sets.weights_file = std::move(compared.sets.weights_file);
    compared.sets = std::move(sets);
    if (parameters.metric == rmsd::Metric::lddt)
        compared.sets.residues = rmsd::residues_of(*compared.frames.topology);
    rmsd::check(compared.with_chains(), compared.frames.atoms());
    if (options.symmetry.permutes_each_pair()) compared.sets.equal_chains = compared.chains;
    if (!options.has_reference() && options.symmetry.relabel)
        relabel(options.symmetry, compared.frames.xyz, compared.frames.xyz[0], "the first frame",
                compared.with_chains(), context);
    return compared;
}

/// Records permutations, automorphisms, and the number of values not proven minimal.
void record_symmetry(const ComparedFrames& compared, const SetOptions& options, RunDirectory& run) {
    if (!compared.chains.empty())
        run.fact("permutations", rmsd::permutation_count(compared.with_chains()));
    if (options.symmetry.symmetry == Symmetry::ligand)
        run.fact("automorphisms", rmsd::order_count(compared.sets));
    if (options.symmetry.symmetry != Symmetry::none && options.has_reference())
        run.fact("unproven", compared.unproven);
}

/// Compares frames on disk with a structure block by block, on the leading rank.
rmsd::Result compare_blocks(const Coordinates& input, const Array<float, 2>& reference,
                            const rmsd::AtomSets& sets, double bin_width, const Context& context) {
    rmsd::Result all;
    all.frames = input.frames();
    all.atoms = input.atoms();
    all.statistics = PairStatistics(all.frames, bin_width);
    if (context.rank() > 0) return all;
    const View<const float, 3> only(reference.data(), Index{1}, all.atoms, Index{3});
    rmsd::Assignment assignment(only, sets.weights, std::nullopt, bin_width, context);
    auto xyz = Array<float, 3>::unset(assignment.block_frames(), all.atoms, Index{3});
    for_each_block(context, "reference", all.frames, xyz.extent(0), [&](Index first, Index count) {
        input.on_disk.read(first * 3 * all.atoms, count * 3 * all.atoms, xyz.data());
        const rmsd::Nearest found = assignment.add({xyz.data(), count, all.atoms, Index{3}});
        all.values.insert(all.values.end(), found.values.begin(), found.values.end());
    });
    const auto value = [&](Index row) { return all.values.data() + row; };
    all.statistics.add_rows({0, all.frames}, 1, value, [](Index) { return 1; });
    return all;
}

/// Compares, over all ranks; the leading one writes reference.tsv and what else is asked for, and
/// returns the values' summary. With --relabel the chains of the frames change places.
rmsd::Result run_reference(ComparedFrames& compared, const SetOptions& options,
                           const rmsd::Parameters& parameters, Ranks& ranks, const Context& context,
                           RunDirectory& run) {
    // Only the leading rank computes the mean, fluctuations and superposed frames.
    Context alone = context;
    alone.comm = nullptr;
    Array<double, 2> reference;
    Array<float, 2> narrow;
    if (ranks.is_leader()) {
        reference = prepare_reference(compared, options, alone, run);
        narrow = narrowed(reference);
    }
    ranks.share(narrow);
    if (options.symmetry.relabel) ranks.share(compared.frames.xyz);
    rmsd::Result result =
        compared.frames.on_disk.is_on_disk()
            ? compare_blocks(compared.frames, narrow, compared.sets, parameters.bin_width, context)
            : rmsd::run_reference(compared.frames.xyz, narrow, compared.sets, parameters, context);
    compared.unproven = result.unproven;
    if (ranks.is_leader())
        write_compared(compared, options, result, parameters, reference, alone, run);
    return result;
}

struct RmsdOptions {
    RunOptions run;
    EnsembleSource ensemble{
        .sources = {}, .topology = {}, .assembly = {}, .select = {}, .weights = {}};
    SetOptions sets;
    rmsd::Parameters parameters;
    JobListOptions jobs;
};

/// Which atoms are selected by default depends on the metric.
std::vector<Field> input_fields(RmsdOptions& options) {
    std::vector<Field> all = fields(options.ensemble);
    for (Field& field : all)
        if (field.name == "select")
            field.help +=
                " [default all; with --metric tm, gdt_ts or lddt ca, if atoms have names; with "
                "--symmetry ligand heavy]";
    return all;
}

std::vector<Field> result_fields(RmsdOptions& options) {
    return concatenated({rmsd::fields(options.parameters), input_fields(options),
                         fields(options.sets), fields(options.sets.symmetry)});
}

/// Throws UsageError for options that exclude each other or need another one.
void check_options(const RmsdOptions& options) {
    check_options(options.sets.symmetry);
    check_options(options.sets, options.ensemble.select, options.parameters.metric);
    if (options.sets.has_reference()) rmsd::check_with_reference(options.parameters);
    rmsd::check_cutoff(options.parameters);
}

/// Shares the frames of --against with every rank; the leading rank reads them.
Array<float, 3> share_others(const RmsdOptions& options, const ComparedFrames& compared,
                             Ranks& ranks, const Context& context, RunDirectory& run) {
    Array<float, 3> xyz;
    if (ranks.is_leader()) {
        Coordinates others =
            read_others(compared, options.sets.against, options.sets.against_frames,
                        compared.source.pbc, options.sets.any_residues, run, context);
        run.fact("others", others.frames());
        if (options.sets.symmetry.relabel)
            relabel(options.sets.symmetry, others.xyz, compared.frames.xyz[0],
                    "the first frame of the ensemble", compared.with_chains(), context);
        xyz = std::move(others.xyz);
    }
    ranks.share(xyz);
    return xyz;
}

std::string summary(const RmsdOptions& options, const rmsd::Result& result,
                    const std::string& symmetry, const std::string& folder) {
    const rmsd::MetricTraits& metric = rmsd::traits_of(options.parameters.metric);
    const bool has_reference = options.sets.has_reference();
    std::string text = fmt::format(
        "{}{}: {} frames, {} atoms ({}), {} {}\n", printable(options.ensemble.sources.front()),
        options.ensemble.sources.size() > 1 ? " and more" : "", result.frames, result.atoms,
        printable(options.sets.atoms(options.ensemble.select).measured), result.statistics.pairs(),
        has_reference ? "values" : "pairs");
    const PairStatistics& pairs = result.statistics;
    if (pairs.pairs() > 0)
        text +=
            fmt::format("{} from {:.4f} to {:.4f}, mean {:.4f}{}{}\n", metric.label, pairs.min(),
                        pairs.max(), pairs.mean(), metric.unit.empty() ? "" : " ", metric.unit);
    text += symmetry;
    if (options.parameters.cutoff)
        text += fmt::format("{} pairs {} {:g}{}{}\n", result.neighbours.pairs,
                            metric.is_score ? "above" : "below", *options.parameters.cutoff,
                            metric.unit.empty() ? "" : " ", metric.unit);
    const std::string first = has_reference ? "reference.tsv, "
                              : options.parameters.matrix == rmsd::MatrixLayout::none
                                  ? ""
                                  : fmt::format("{}.npy, ", metric.name);
    return text + fmt::format("\nThe run is in {}: {}histogram.tsv, manifest.json and more\n",
                              printable(folder), first);
}

/// The sizes without frames of --against, which are counted later.
rmsd::ComparedSizes sizes_of(const RmsdOptions& options, const rmsd::AtomSets& sets, Index frames,
                             Index atoms) {
    const bool is_permuted = options.sets.symmetry.permutes_each_pair() || sets.in_place;
    return {.frames = frames,
            .atoms = atoms,
            .has_reference = options.sets.has_reference(),
            .has_sets = options.sets.atoms(options.ensemble.select).differ() ||
                        options.sets.symmetry.permutes_each_pair(),
            .pair_seconds = is_permuted ? rmsd::permuted_seconds(sets, atoms) : 0};
}

/// Bytes of the output files whose size depends on the number of frames.
std::int64_t disk_needed(const RmsdOptions& options, const rmsd::ComparedSizes& sizes) {
    constexpr Index kTextAtom = 81, kBinaryAtom = 12;
    const FrameFormat format = options.sets.superposed;
    const bool is_text = format == FrameFormat::pdb || format == FrameFormat::cif;
    const Index atom = format == FrameFormat::none ? 0 : is_text ? kTextAtom : kBinaryAtom;
    return rmsd::disk_needed(sizes, options.parameters) + atom * sizes.frames * sizes.atoms;
}

rmsd::Result compute(const RmsdOptions& options, ComparedFrames& compared, Ranks& ranks,
                     const Context& context, const std::filesystem::path& matrix,
                     RunDirectory& run) {
    const rmsd::Parameters& parameters = options.parameters;
    rmsd::ComparedSizes sizes =
        sizes_of(options, compared.sets, compared.frames.frames(), compared.frames.atoms());
    Array<float, 3> others;
    if (options.sets.has_against()) {
        others = share_others(options, compared, ranks, context, run);
        sizes.others = others.extent(0);
    }
    run.require_space(disk_needed(options, sizes));
    if (options.sets.has_reference())
        return run_reference(compared, options.sets, parameters, ranks, context, run);
    if (!options.sets.has_against())
        return rmsd::run(compared.frames.store(), compared.sets, parameters, context, matrix);
    return rmsd::run_against(compared.frames.xyz, others, compared.sets, parameters, context,
                             matrix);
}

/// If the frames of --against are not read yet, their number is assumed to be the same.
std::string choose_rmsd_device(const RmsdOptions& options, const JobTask& task,
                               const ComparedFrames& compared, Ranks& ranks, Context& context) {
    rmsd::ComparedSizes sizes =
        sizes_of(options, compared.sets, compared.frames.frames(), compared.frames.atoms());
    if (options.sets.has_against()) sizes.others = sizes.frames;
    const std::optional<GpuDemand> demand =
        rmsd::gpu_demand(sizes, compared.sets, options.parameters);
    const auto estimate = [&](Context chosen) {
        // If a GPU has no pairs to compute, the job runs on the CPU.
        if (!demand && chosen.device.kind == Device::Kind::cuda)
            chosen.device = {Device::Kind::cpu, 0};
        return rmsd::estimate(sizes, options.parameters, chosen, compared.sets);
    };
    const std::string remark =
        choose_device(options.run, task, demand, estimate,
                      "device cpu: little work for a GPU, or none that GPUs do", ranks, context);
    if (task.choose_device || !demand) return remark;
    return fmt::format("{}; of a GPU's memory it needs {}", remark, human_bytes(demand->bytes));
}

/// Sets the default of --select; returns a line that explains it unless all atoms are selected.
std::string choose_atoms(RmsdOptions& options) {
    if (!options.ensemble.select.empty()) return {};
    const rmsd::MetricTraits& metric = rmsd::traits_of(options.parameters.metric);
    std::string& select = options.ensemble.select;
    const SymmetryOptions& symmetry = options.sets.symmetry;
    if (!symmetry.fit.empty() && !options.sets.measure.empty()) {
        select = symmetry.fit == kNoFit ? options.sets.measure : symmetry.fit;
        return {};
    }
    if (symmetry.symmetry == Symmetry::ligand) {
        select = "heavy";
        return {};
    }
    select = rmsd::default_selection(options.parameters.metric);
    if (!symmetry.fit.empty() && symmetry.fit != kNoFit) {
        select = symmetry.fit;
        return {};
    }
    if (metric.is_score && !options.sets.measure.empty()) select = options.sets.measure;
    if (select == "all" || !options.sets.measure.empty()) return {};
    if (!format_without_names(options.ensemble).empty()) select = "all";
    return select == "all"
               ? fmt::format("{}: all atoms are compared, as they have no names", metric.label)
               : fmt::format(
                     "{}: CA atoms are compared, its default; --select all compares all atoms",
                     metric.label);
}

/// Reads, compares and writes; returns the text for standard output.
std::string make_comparison(RmsdOptions& options, const JobTask& task, Ranks& ranks) {
    check_options(options);
    options.ensemble.inputs = task.inputs;
    const std::string remark_on_atoms = ranks.is_leader() ? choose_atoms(options) : "";
    OpenRun opened("rmsd", options.run, result_fields(options), task, &ranks, "checkpoint.tiles");
    auto& [context, run] = opened;
    std::jthread device_start;
    if (!task.choose_device) device_start = start_device(options.run, context, true);
    run.cite(rmsd::citations(options.parameters.metric));
    if (!remark_on_atoms.empty()) context.message(remark_on_atoms);
    run.stage("read");
    ComparedFrames compared;
    if (ranks.is_leader()) {
        check_other_files(options.sets);
        EnsembleSource source = options.ensemble;
        match_sources(source, other_files(options.sets), context);
        compared = read_compared(source, options.sets, options.parameters, run, context);
    }
    ranks.share(compared);
    const std::string remark = choose_rmsd_device(options, task, compared, ranks, context);
    run.context(context);
    if (options.run.verbose) context.message(remark);
    std::filesystem::path matrix;
    if (options.parameters.matrix != rmsd::MatrixLayout::none && !options.sets.has_reference())
        matrix = run.output(fmt::format("{}.npy", rmsd::traits_of(options.parameters.metric).name));
    run.stage("prepare");
    const rmsd::Result result = compute(options, compared, ranks, context, matrix, run);
    if (task.computed) task.computed();
    if (!ranks.is_leader()) return {};
    run.stage("write");
    rmsd::write_results(run, result, options.parameters);
    write_frames(run, compared.frames);
    record_symmetry(compared, options.sets, run);
    run.finish();
    return summary(options, result,
                   symmetry_lines(options.sets.symmetry, compared.with_chains(), compared.unproven,
                                  result.frames),
                   run.path().string());
}

RunEstimate estimate_comparison(RmsdOptions& options, SharedInputs& inputs) {
    check_options(options);
    check_other_files(options.sets);
    choose_atoms(options);
    EnsembleSource source = compared_source(options.ensemble, options.sets);
    source.inputs = &inputs;
    match_sources(source, other_files(options.sets), {});
    const EnsembleSize size = measure_ensemble(source);
    const rmsd::AtomSets sets = sets_of(*size.all_atoms, options.ensemble, options.sets, {});
    rmsd::ComparedSizes sizes = sizes_of(options, sets, size.frames, size.atoms);
    std::string input = fmt::format("{} frames, {} atoms", size.frames, size.atoms);
    if (options.sets.has_against()) {
        source.sources = {options.sets.against};
        source.frames = options.sets.against_frames;
        sizes.others = measure_ensemble(source, {}, size.all_atoms).frames;
        input += fmt::format(", against {} frames", sizes.others);
    }
    return {.input = input,
            .may_use_gpu = rmsd::gpu_demand(sizes, sets, options.parameters).has_value(),
            .on = [sizes, sets, parameters = options.parameters,
                   disk_bytes = disk_needed(options, sizes)](const Context& context) {
                Estimate all = rmsd::estimate(sizes, parameters, context, sets);
                all.disk_bytes = disk_bytes;
                return all;
            }};
}

}  // namespace

Command rmsd_command(CLI::App& program, Ranks& ranks) {
    static const JobFunctions<RmsdOptions> functions{
        .command = "rmsd",
        .description = kDescription,
        .examples = kExamples,
        .wanted = "an ENSEMBLE or a --list of ensembles",
        .input_column = "ensemble",
        .joins_files = true,
        .numbers = names_of_results(rmsd::columns({}, {})),
        .add_options =
            [](CLI::App& parser, RmsdOptions& options) {
                add_texts(parser, "ENSEMBLE", options.ensemble.sources, kEnsembleFiles);
                add_fields(parser, "Input", input_fields(options));
                add_job_options(parser, options.run, options.jobs, false, true);
                add_fields(parser, "Comparison", fields(options.sets));
                add_fields(parser, "Comparison", fields(options.sets.symmetry));
                add_fields(parser, "Measure", rmsd::fields(options.parameters));
                refuse_empty_values(
                    parser, {"measure", "fit", "against", "reference", "topology", "atom-weights"});
            },
        .fields = result_fields,
        .prepare = [](RmsdOptions& options) { choose_atoms(options); },
        .check =
            [](const RmsdOptions& options) {
                check_options(options);
                check_ensemble_job(options.ensemble);
                check_other_files(options.sets);
            },
        .run = make_comparison,
        .estimate = estimate_comparison};
    return job_command(program, ranks, functions);
}

}  // namespace pleat::program
