// Run setup: domains, missing residues and the chain model, and estimates by counting and by
// measured times.
#include "pleat/workflows/refine/run_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/bio/scattering/profile.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/name_of.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/model/scatterer_positions.h"
#include "pleat/workflows/refine/chain/predicted_domains.h"
#include "pleat/workflows/refine/chain/symmetry.h"
#include "pleat/workflows/refine/fit/curve_fit.h"

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

/// chain_options() from predicted aligned errors; adds the found domains to `setup`.
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

/// Builds missing residues. Built residues outside all ranges of `options` become linkers of their
/// own.
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
        const std::string& element = topology.atoms[atom].element;
        if (element != "H" && element != "D" &&
            !selection::is_water(topology.residue_of(atom).name))
            kept.push_back(atom);
    }
    if (kept.empty() && structure.atom_count() > 0)
        throw InputError(topology.source.string(), 0,
                         "expected atoms besides hydrogens and water, found none");
    HeavyAtoms heavy{std::make_shared<const Topology>(subset(topology, kept)),
                     Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            heavy.xyz(axis, static_cast<Index>(n)) = structure.xyz(0, axis, kept[n]);
    return heavy;
}

Mode mode_of(const Parameters& parameters) {
    return parameters.mode == Mode::automatic ? Mode::pool : parameters.mode;
}

void set_sizes(const Parameters& parameters, const Device& device, RunSetup& setup) {
    constexpr Index kUsualChains = 16, kUsualLineages = 64, kMinLineages = 4;
    const bool fits = setup.mode == Mode::fit;
    setup.frames = parameters.frames.value_or(fits ? 1000 : 10000);
    const Index chains = std::min<Index>(
                    parameters.chains.value_or(fits ? kUsualLineages : kUsualChains), setup.frames),
                of_each = (setup.frames + chains - 1) / chains;
    PoolOptions& pool = setup.pool;
    pool.chains = chains;
    pool.moves = parameters.moves.value_or(100);
    pool.kept = of_each;
    pool.burn_in = parameters.burn_in.value_or(std::max<Index>(of_each / 2, kMinBurnIn));
    if (!fits) return;
    if (chains < kMinLineages)
        throw UsageError(
            fmt::format("give --chains and --frames of at least {} in mode fit, whose "
                        "groups of conformations are compared",
                        kMinLineages));
    setup.annealing = {.conformations = setup.frames,
                       .lineages = chains,
                       .moves = parameters.moves.value_or(25),
                       .doublings = parameters.doublings};
    if (device.kind == Device::Kind::cuda) setup.annealing.divide_for_gpu();
}

constexpr double kResidueLength = 3.8;  // distance of neighbouring CA atoms, angstrom
constexpr std::int64_t kChannelPairs = 3;
constexpr Index kMaxBodies = 128;  // of profiles, see make_profile_model()

/// Two beads per residue, plus hydration sites, of which there are fewer than residues.
std::int64_t scatterers_of(const RunSize& size) { return 3 * size.residues; }

/// Bytes per moving conformation: positions, points that may overlap, and profile sums, each also
/// for the proposal.
std::int64_t conformation_bytes(const RunSize& size) {
    std::int64_t bytes = 1000 * size.hinges() + 500 * size.residues;
    if (size.grid == 0) return bytes;
    const std::int64_t bodies = std::min<Index>(size.hinges() + 2, kMaxBodies);
    bytes += 2 * 8 * kChannelPairs * size.grid * bodies * (bodies + 1) / 2;
    return bytes + 100 * scatterers_of(size);
}

/// Seconds per move: on one thread, or on a GPU including its host.
double move_seconds(const RunSize& size, bool has_gpu) {
    // Overlaps were measured with 556 and 4773 atoms. Profiles on a CPU took 0.27, 0.76, 0.79 and
    // 2.5 ms with 210, 660, 738 and 1809 scatterers, whatever the number of q (34 to 127); on an
    // H200 1.5, 17 and 19 us with 200, 1888 and 738, in 64 or more conformations.
    constexpr double kOverlaps = 8e-10, kOverlapsPower = 4.0 / 3;
    const double overlaps = kOverlaps * std::pow(static_cast<double>(size.atoms), kOverlapsPower);
    if (size.grid == 0) return overlaps;
    const double scatterer = has_gpu ? 1.2e-8 : 1.2e-6;
    return overlaps + scatterer * static_cast<double>(scatterers_of(size));
}

}  // namespace

void check_options(const Parameters& parameters, bool has_curve) {
    Parameters checked = parameters;
    check(fields(checked));
    symmetry_order(parameters.symmetry);
    const Mode mode = mode_of(parameters);
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
        throw UsageError(fmt::format("give a curve by --data for --mode {}", name_of(mode)));
}

RunSetup set_up(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
                const Context& context) {
    const bool has_curve = curve.curve != nullptr;
    check_options(parameters, has_curve);
    RunSetup setup;
    setup.heavy = heavy_atoms(structure);
    if (setup.heavy.topology->atoms.empty() &&
        (parameters.sequence.empty() || !parameters.linkers.empty() || !parameters.rigid.empty() ||
         !parameters.group.empty() || !parameters.symmetry.empty()))
        throw UsageError(
            "give a STRUCTURE; without one --sequence stands alone, whose residues are all "
            "flexible: leave out --linkers, --rigid, --group and --symmetry");
    ChainOptions options = parameters.pae.empty() ? chain_options(parameters, *setup.heavy.topology)
                                                  : predicted_options(parameters, context, setup);
    const Index order = symmetry_order(parameters.symmetry);
    if (order > 1) complete_groups(*setup.heavy.topology, order, options.groups);
    if (!parameters.sequence.empty()) complete(parameters, context.seed, options, setup);
    if (order > 1) setup.notes.push_back(make_symmetric(order, setup.heavy, options));
    setup.model = make_chain_model(setup.heavy.topology, setup.heavy.xyz, options);
    setup.notes.insert(setup.notes.end(), setup.model.notes.begin(), setup.model.notes.end());
    setup.mode = mode_of(parameters);
    set_sizes(parameters, context.device, setup);
    return setup;
}

RunSize size_of_run(const Ensemble& structure, const CurveInput& curve,
                    const Parameters& parameters, const Context& context) {
    const RunSetup setup = set_up(structure, curve, parameters, context);
    const ChainModel& model = setup.model;
    const bool fits = setup.mode == Mode::fit;
    const Index conformations = fits ? setup.annealing.conformations : setup.pool.chains;
    RunSize size{.mode = setup.mode,
                 .all_atoms = structure.atom_count(),
                 .atoms = model.atom_count(),
                 .residues = static_cast<Index>(setup.heavy.topology->residues.size()),
                 .domains = static_cast<Index>(model.domains.size()),
                 .angles = model.angle_count(),
                 .copies = model.copies,
                 .frames = setup.frames,
                 .conformations = conformations,
                 .kept = fits ? conformations : setup.pool.kept * setup.pool.chains,
                 .diameter = saxs::box_diagonal(setup.heavy.xyz.view()) +
                             kResidueLength * static_cast<double>(model.residues.size())};
    // A curve of a few percent takes some 12 powers; all doublings, 2^n - 1 times the first.
    constexpr double kPowers = 12;
    const double of_each =
        fits ? kPowers * static_cast<double>(setup.annealing.moves) *
                   (std::exp2(static_cast<double>(setup.annealing.doublings + 1)) - 1)
             : static_cast<double>((setup.pool.kept + setup.pool.burn_in) * setup.pool.moves);
    size.moves = of_each * static_cast<double>(conformations);
    if (setup.mode == Mode::pool) return size;
    const Profile fitted = saxs::cut_curve(*curve.curve, curve.q_max);
    size.curve_points = static_cast<Index>(fitted.size());
    size.grid = fitted.q.empty() ? 0 : grid_points(fitted.q.back(), size.diameter);
    return size;
}

Ensemble first_frame(const Ensemble& structure, const CurveInput& curve,
                     const Parameters& parameters, const Context& context) {
    const HeavyAtoms heavy = set_up(structure, curve, parameters, context).heavy;
    Ensemble frame;
    frame.topology = frame.all_atoms = heavy.topology;
    frame.xyz = Array<float, 3>(Index{1}, Index{3}, heavy.topology->atom_count());
    std::copy(heavy.xyz.begin(), heavy.xyz.end(), frame.xyz.begin());
    return frame;
}

Estimate estimate(const RunSize& size, const Context& context) {
    const bool has_gpu = context.device.kind == Device::Kind::cuda;
    if (has_gpu && size.mode == Mode::pool)
        throw UsageError("mode pool makes its moves on the CPU alone; give the device cpu");
    const int threads = resolve_threads(context);
    const Index columns = 10 + size.domains * (size.domains - 1) / 2;
    Estimate all;
    // The structure as read and its names; overlaps of atoms on each thread.
    all.host_bytes = 600 * size.all_atoms + (200 * size.atoms + (1 << 20)) * threads;
    // Angles, and once more in a checkpoint; coordinates; numbers, and their table.
    all.host_bytes += 2 * 8 * size.kept * size.hinges() + 12 * size.frames * size.atoms +
                      40 * size.frames * columns;
    all.disk_bytes =
        8 * size.kept * size.hinges() + 12 * size.frames * size.atoms + 12 * size.frames * columns;
    // In mode fit a thread moves one conformation at a time, with a GPU 64 (divide_for_gpu()).
    constexpr Index kOfThread = 64;
    const Index moving =
        size.mode == Mode::pool
            ? size.conformations
            : std::min<Index>(size.conformations, (has_gpu ? kOfThread : 1) * threads);
    all.host_bytes += moving * conformation_bytes(size) + 16 * size.conformations * size.hinges();
    // The covariance of the curve's points and the grid at 9 contrasts.
    all.host_bytes += 8 * 40 * size.curve_points * (size.curve_points + size.grid);
    if (has_gpu) {
        constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
        all.gpu_bytes = all.min_gpu_bytes = 256 * kMebibyte + moving * conformation_bytes(size);
    }
    if (context.device.kind == Device::Kind::reference) return all;
    constexpr double kFrame = 3e-7;  // per atom: overlaps of atoms, and writing
    const double usable = std::min<double>(threads, static_cast<double>(size.conformations));
    all.seconds =
        0.05 + size.moves * move_seconds(size, has_gpu) / (has_gpu ? 1 : usable) +
        kFrame * static_cast<double>(size.frames) * static_cast<double>(size.atoms) / threads;
    return all;
}

}  // namespace pleat::refine
