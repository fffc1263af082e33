// Run setup: from a structure and options to a chain model and the numbers of chains and frames.
#include "pleat/workflows/refine/run_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/core/error.h"
#include "pleat/workflows/refine/chain/predicted_domains.h"

namespace pleat::refine {

namespace {

constexpr Index kMinBurnIn = 20;  // frames of a chain

ChainOptions chain_options(const Parameters& parameters, const Topology& topology) {
    ChainOptions options;
    if (!parameters.linkers.empty()) options.linkers = parse_ranges(parameters.linkers, "linkers");
    if (!parameters.rigid.empty() && parameters.sequence.empty())
        options.linkers = linkers_between(topology, parse_ranges(parameters.rigid, "rigid"));
    std::string_view groups = parameters.group;
    while (!groups.empty()) {
        const std::size_t slash = groups.find('/');
        options.groups.push_back(parse_ranges(groups.substr(0, slash), "group"));
        groups.remove_prefix(slash == std::string_view::npos ? groups.size() : slash + 1);
    }
    return options;
}

/// chain_options() from predicted aligned errors; the domains that were found are added to `setup`.
ChainOptions predicted_options(const Parameters& parameters, const Context& context,
                               RunSetup& setup) {
    PredictedDomains found = predicted_domains(*setup.heavy.topology, parameters.pae, context);
    setup.found_options = found.options();
    setup.notes = std::move(found.notes);
    ChainOptions options;
    options.linkers = std::move(found.linkers);
    options.groups = std::move(found.groups);
    return options;
}

/// Adds what the structure lacks. Built residues that no range of `options` has are linkers of
/// their own.
void complete(const Parameters& parameters, std::uint64_t seed, ChainOptions& options,
              RunSetup& setup) {
    CompletedStructure completed =
        build_missing_residues(setup.heavy, parameters.sequence, options.groups, seed);
    setup.heavy = std::move(completed.heavy);
    setup.built = std::move(completed.built);
    setup.built_residues = completed.built_residues;
    setup.notes = std::move(completed.notes);
    options.units = std::move(completed.units);
    const Topology& topology = *setup.heavy.topology;
    if (!parameters.rigid.empty())
        options.linkers = linkers_between(topology, parse_ranges(parameters.rigid, "rigid"));
    options.linkers = add_ranges(topology, std::move(options.linkers), completed.linkers);
    if (options.linkers.empty())
        throw InputError(parameters.sequence, 0,
                         "expected residues that the structure lacks, found all of them; name "
                         "linkers with --linkers");
}

/// The first frame without hydrogens and water.
HeavyAtoms heavy_atoms(const Ensemble& structure) {
    if (structure.frame_count() < 1) throw UsageError("expected a structure, found no frame");
    const Topology& topology = *structure.topology;
    std::vector<Index> kept;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const std::string& element = topology.atoms[static_cast<std::size_t>(atom)].element;
        if (element != "H" && element != "D" &&
            !selection::is_water(topology.residue_of(atom).name))
            kept.push_back(atom);
    }
    HeavyAtoms heavy{std::make_shared<const Topology>(subset(topology, kept)),
                     Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            heavy.xyz(axis, static_cast<Index>(n)) = structure.xyz(0, axis, kept[n]);
    return heavy;
}

Mode mode_of(const Parameters& parameters, bool has_curve) {
    if (parameters.mode != Mode::automatic) return parameters.mode;
    return has_curve ? Mode::average : Mode::pool;
}

/// `frames`: the number to write.
PoolOptions pool_options(const Parameters& parameters, Mode mode, const Device& device,
                         Index& frames) {
    const bool fits = mode == Mode::fit, has_curve = mode != Mode::pool;
    frames = parameters.frames.value_or(fits ? 1000 : 10000);
    PoolOptions options;
    options.replicas = mode == Mode::average ? parameters.replicas : 1;
    options.chains = std::min<Index>(parameters.chains.value_or(has_curve ? 4 : 16),
                                     (frames + options.replicas - 1) / options.replicas);
    options.rungs = has_curve ? parameters.rungs.value_or(fits ? 8 : 1) : 1;
    options.moves = parameters.moves.value_or(has_curve ? 25 : 100);
    const Index of_round = options.chains * options.replicas;
    options.kept = (frames + of_round - 1) / of_round;
    options.burn_in = parameters.burn_in.value_or(std::max<Index>(options.kept / 2, kMinBurnIn));
    if (has_curve && device.kind == Device::Kind::cuda) options.divide_for_gpu();
    return options;
}

}  // namespace

void check_options(const Parameters& parameters, bool has_curve) {
    Parameters checked = parameters;
    check(fields(checked));
    const Mode mode = mode_of(parameters, has_curve);
    const auto given = [](const std::string& text) { return text.empty() ? 0 : 1; };
    const int divisions =
        given(parameters.linkers) + given(parameters.rigid) + given(parameters.pae);
    if (divisions > 1 || (divisions == 0 && parameters.sequence.empty()))
        throw UsageError(
            "give one of --linkers, --rigid and --pae, or --sequence for missing linkers");
    if (!parameters.pae.empty() && !parameters.sequence.empty())
        throw UsageError("give --sequence or --pae, not both: predicted models lack no residues");
    if (!parameters.pae.empty() && !parameters.group.empty())
        throw UsageError("give --linkers and --group, or --pae, which finds groups itself");
    if (mode != Mode::pool && !has_curve)
        throw UsageError(fmt::format("give a curve by --data for --mode {}",
                                     names_of(mode)[static_cast<std::size_t>(mode)]));
}

RunSetup set_up(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
                const Context& context) {
    const bool has_curve = curve.curve != nullptr;
    check_options(parameters, has_curve);
    RunSetup setup;
    setup.heavy = heavy_atoms(structure);
    ChainOptions options = parameters.pae.empty() ? chain_options(parameters, *setup.heavy.topology)
                                                  : predicted_options(parameters, context, setup);
    if (!parameters.sequence.empty()) complete(parameters, context.seed, options, setup);
    setup.model = make_chain_model(setup.heavy.topology, setup.heavy.xyz, options);
    setup.notes.insert(setup.notes.end(), setup.model.notes.begin(), setup.model.notes.end());
    setup.mode = mode_of(parameters, has_curve);
    setup.options = pool_options(parameters, setup.mode, context.device, setup.frames);
    return setup;
}

}  // namespace pleat::refine
