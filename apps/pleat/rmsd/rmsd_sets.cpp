// Sets of pleat rmsd: flags, two selections read as one, and files of the same atoms.
#include "rmsd/rmsd_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"

namespace pleat::program {

namespace {

/// Positions of the atoms of `some` among those of `all`; empty if they are all.
std::vector<Index> positions(const std::vector<Index>& some, const std::vector<Index>& all) {
    return some.size() == all.size() ? std::vector<Index>() : positions_among(some, all);
}

/// What needs one labelling of each frame, or does not know permutations.
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

}  // namespace

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

ReferenceChoice parse_reference(const std::string& text) {
    if (text.empty() || text == "mean") return {ReferenceChoice::Kind::mean, text};
    const std::string_view digits = std::string_view(text).substr(text.starts_with('-'));
    const bool is_number =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    return {is_number ? ReferenceChoice::Kind::frame : ReferenceChoice::Kind::file, text};
}

void check_options(const SetOptions& options, const std::string& select, rmsd::Metric metric) {
    if (!options.has_against() && options.against_frames != SetOptions().against_frames)
        throw UsageError("--against-frames needs --against");
    if (options.any_residues && !options.has_against() && options.reference.empty())
        throw UsageError("--any-residues needs --against or --reference");
    check_symmetry(options, select, metric);
    if (options.has_reference() && options.has_against())
        throw UsageError("give either --against or one of --reference, --rmsf and --superposed");
}

std::vector<std::string> other_files(const SetOptions& options) {
    if (options.has_against()) return {options.against};
    const ReferenceChoice reference = parse_reference(options.reference);
    if (reference.kind == ReferenceChoice::Kind::file) return {reference.text};
    return {};
}

void check_other_files(const SetOptions& options) {
    const std::vector<std::string> files = other_files(options);
    if (!files.empty()) check_ensemble_files(files);
}

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

rmsd::AtomSets sets_of(const Topology& all, const EnsembleSource& source, const SetOptions& options,
                       const Context& context) {
    const ComparedAtoms atoms = options.atoms(source.select);
    const std::vector<Index> both = select_atoms(all, compared_source(source, options).select);
    rmsd::AtomSets sets;
    sets.in_place = atoms.in_place;
    if (atoms.differ() && !atoms.in_place) {
        const std::vector<Index> fit = select_atoms(all, atoms.superposed);
        const std::vector<Index> measured = select_atoms(all, atoms.measured);
        sets.fit = positions(fit, both);
        sets.measured = positions(measured, both);
        context.message(fmt::format("superposed '{}': {} atoms; measured '{}': {} atoms",
                                    atoms.superposed, fit.size(), atoms.measured, measured.size()));
    }
    rmsd::FoundSymmetry found = find_symmetry(options.symmetry, all, both, sets, context);
    sets.equal_chains = std::move(found.equal_chains);
    sets.equal_orders = std::move(found.equal_orders);
    return sets;
}

ComparedFrames read_compared(const EnsembleSource& source, const SetOptions& options,
                             const rmsd::Parameters& parameters, RunDirectory& run,
                             const Context& context) {
    ComparedFrames compared;
    compared.source = compared_source(source, options);
    const bool is_split = options.atoms(source.select).differ();
    std::function<std::int64_t(Index, Index)> work_bytes;
    const bool has_symmetry = options.symmetry.symmetry != Symmetry::none;
    if (parameters.metric == rmsd::Metric::rmsd && !is_split && !has_symmetry &&
        !options.has_reference() && !options.has_against())
        work_bytes = [&](Index frames, Index count) {
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
    if (options.symmetry.is_of_pairs()) compared.sets.equal_chains = compared.chains;
    if (!options.has_reference() && options.symmetry.relabel)
        relabel(options.symmetry, compared.frames.xyz, compared.frames.xyz[0], "the first frame",
                compared.with_chains(), context);
    return compared;
}

void record_symmetry(const ComparedFrames& compared, const SetOptions& options, RunDirectory& run) {
    if (!compared.chains.empty())
        run.fact("permutations", rmsd::permutation_count(compared.with_chains()));
    if (options.symmetry.symmetry == Symmetry::ligand)
        run.fact("automorphisms", rmsd::order_count(compared.sets));
    if (options.symmetry.symmetry != Symmetry::none && options.has_reference())
        run.fact("unproven", compared.unproven);
}

void share(ComparedFrames& compared, Ranks& ranks) {
    if (ranks.size() == 1) return;
    ranks.share(compared.frames.name);
    ranks.share(compared.sets.weights);
    ranks.share(compared.sets.fit);
    ranks.share(compared.sets.measured);
    ranks.share(compared.sets.residues);
    share(compared.chains, ranks);
    share(compared.sets.equal_chains, ranks);
    share(compared.sets.equal_orders, ranks);
    std::vector<std::int64_t> flags{compared.sets.in_place};
    ranks.share(flags);
    compared.sets.in_place = flags[0] != 0;
    share(compared.frames, ranks);
}

Coordinates read_others(const ComparedFrames& compared, const std::string& file,
                        const std::string& frames, Pbc pbc, bool any_residues, RunDirectory& run,
                        const Context& context) {
    EnsembleSource source = compared.source;
    source.sources = {file};
    source.frames = frames;
    source.pbc = pbc;
    source.weights.clear();
    leave_scores_out(source);
    source.same_residues = !any_residues;
    // The atoms of the first ensemble name those of every other.
    const std::shared_ptr<const Topology>& atoms = compared.frames.all_atoms;
    Coordinates others = read_coordinates(source, run, context, atoms->named ? atoms : nullptr);
    if (others.atoms() != compared.frames.atoms())
        throw InputError(
            file, 0,
            fmt::format("expected {} atoms as in {}, found {}", compared.frames.atoms(),
                        compared.frames.name, others.atoms()));
    return others;
}

}  // namespace pleat::program
