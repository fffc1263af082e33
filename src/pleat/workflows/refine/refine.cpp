// Refine: from a structure and its linkers to frames, and whether the chains agree.
#include "pleat/workflows/refine/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/saxs/model/hydrogens.h"
#include "pleat/workflows/refine/chain/predicted_domains.h"
#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/sampling/pool.h"

namespace pleat::refine {

namespace {

constexpr Index kMinBurnIn = 20;  // frames of a chain

/// The first frame without hydrogens and water.
struct HeavyAtoms {
    std::shared_ptr<const Topology> topology;
    Array<float, 2> xyz;  ///< [axis, atom]
};

HeavyAtoms heavy_atoms(const Ensemble& structure) {
    if (structure.frame_count() < 1) throw UsageError("expected a structure, found no frame");
    const Topology& topology = *structure.topology;
    std::vector<Index> kept;
    for (Index atom = 0; atom < topology.atom_count(); ++atom) {
        const std::string& element = topology.atoms[static_cast<std::size_t>(atom)].element;
        if (element != "H" && element != "D" && !saxs::is_water(topology.residue_of(atom).name))
            kept.push_back(atom);
    }
    HeavyAtoms heavy{std::make_shared<const Topology>(subset(topology, kept)),
                     Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            heavy.xyz(axis, static_cast<Index>(n)) = structure.xyz(0, axis, kept[n]);
    return heavy;
}

ChainOptions chain_options(const Parameters& parameters, const Topology& topology) {
    ChainOptions options;
    if (!parameters.linkers.empty()) options.linkers = parse_ranges(parameters.linkers, "linkers");
    if (!parameters.rigid.empty())
        options.linkers = linkers_between(topology, parse_ranges(parameters.rigid, "rigid"));
    std::string_view groups = parameters.group;
    while (!groups.empty()) {
        const std::size_t slash = groups.find('/');
        options.groups.push_back(parse_ranges(groups.substr(0, slash), "group"));
        groups.remove_prefix(slash == std::string_view::npos ? groups.size() : slash + 1);
    }
    return options;
}

Mode mode_of(const Parameters& parameters, const CurveInput& curve) {
    if (parameters.mode != Mode::automatic) return parameters.mode;
    return curve.curve != nullptr ? Mode::average : Mode::pool;
}

/// Walkers whose profiles one call of a GPU computes. It does not depend on the number of threads,
/// so results do not either.
Index walkers_together(Index walkers) {
    constexpr Index kCalls = 16, kMaxWalkers = 16;
    return std::clamp<Index>(walkers / kCalls, 1, kMaxWalkers);
}

/// chain_options() from predicted errors; what was found is added to `result`.
ChainOptions predicted_options(const Parameters& parameters, const Topology& topology,
                               const Context& context, Result& result) {
    PredictedDomains found = predicted_domains(topology, parameters.pae, context);
    result.found_options = found.options();
    result.notes = std::move(found.notes);
    ChainOptions options;
    options.linkers = std::move(found.linkers);
    options.groups = std::move(found.groups);
    return options;
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
    if (has_curve && device.kind == Device::Kind::cuda)
        options.together = walkers_together(options.chains * options.rungs);
    return options;
}

std::string problem_of(const HeavyAtoms& heavy, const CurveInput& curve,
                       const std::string& found_options, const Parameters& parameters, Mode mode,
                       const PoolOptions& options, const Context& context) {
    Sha256 hash;
    hash.field("refine 2").field(View<const float, 2>(heavy.xyz));
    for (Index atom = 0; atom < heavy.topology->atom_count(); ++atom)
        hash.field(heavy.topology->identity(atom));
    hash.field(parameters.linkers).field(parameters.rigid).field(parameters.group);
    hash.field(found_options);
    for (const Index number : {options.chains, options.rungs, options.moves, options.kept,
                               options.burn_in, options.replicas, options.together})
        hash.field(number);
    hash.field(static_cast<std::int64_t>(mode));
    if (mode != Mode::pool) {
        hash.field(context.device.name());
        for (const double number :
             {parameters.model_error, curve.q_max, curve.c2_min, curve.c2_max})
            hash.field(number);
        for (const auto* values : {&curve.curve->q, &curve.curve->intensity, &curve.curve->sigma})
            hash.field(View<const double, 1>(values->data(), static_cast<Index>(values->size())));
    }
    return hash.field(static_cast<std::int64_t>(context.seed)).hex();
}

/// Rg of the atoms, weighted by mass (carbon's for unknown elements).
double gyration_radius(const Topology& topology, View<const float, 2> xyz) {
    constexpr double kCarbon = 12.011;
    double mass = 0, sum[3] = {}, squares = 0;
    for (Index atom = 0; atom < xyz.extent(1); ++atom) {
        const double known = topology.atoms[static_cast<std::size_t>(atom)].mass,
                     one = known > 0 ? known : kCarbon;
        mass += one;
        for (Index axis = 0; axis < 3; ++axis) {
            const double x = xyz(axis, atom);
            sum[axis] += one * x;
            squares += one * x * x;
        }
    }
    const double centre = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / (mass * mass);
    return std::sqrt(std::max(squares / mass - centre, 0.0));
}

double diameter(const Conformation& conformation) {
    const ChainModel& model = conformation.model();
    std::vector<Vector> at;
    at.reserve(model.points.size());
    for (const ClashPoint& point : model.points) at.push_back(conformation.atom(point.atom));
    double largest = 0;
    for (std::size_t a = 0; a < at.size(); ++a)
        for (std::size_t b = a + 1; b < at.size(); ++b) {
            const Vector apart = at[a] - at[b];
            largest = std::max(largest, dot(apart, apart));
        }
    return std::sqrt(largest);
}

/// The piece that rests in frames: the largest domain, else the root.
Index resting_piece(const ChainModel& model) {
    const auto largest =
        std::max_element(model.domains.begin(), model.domains.end(),
                         [](const Domain& a, const Domain& b) { return a.residues < b.residues; });
    return largest == model.domains.end() ? 0 : largest->piece;
}

void prepare_quantities(const ChainModel& model, std::size_t frames, Result& result) {
    result.quantities.push_back({"rg", "radius of gyration of the atoms, by mass", {}, {}});
    for (std::size_t a = 0; a < model.domains.size(); ++a)
        for (std::size_t b = a + 1; b < model.domains.size(); ++b)
            result.quantities.push_back(
                {fmt::format("distance_{}_{}", a + 1, b + 1),
                 fmt::format("distance between the centres (CA) of {} and {}",
                             model.domains[a].name, model.domains[b].name),
                 {},
                 {}});
    for (Quantity& quantity : result.quantities) quantity.values.resize(frames);
    for (std::vector<double>* values : {&result.diameter, &result.log_prior, &result.clash_energy})
        values->resize(frames);
    for (std::vector<Index>* numbers : {&result.chain, &result.step, &result.close_atoms})
        numbers->resize(frames);
}

/// Fills in the numbers and coordinates of one frame.
void measure(const Conformation& conformation, const Moves& moves, Sterics& sterics,
             AtomOverlaps& overlaps, Index resting, Index frame, Result& result) {
    const ChainModel& model = conformation.model();
    const auto at = static_cast<std::size_t>(frame);
    const View<float, 2> xyz = result.frames.xyz.view()[frame];
    conformation.write(xyz, resting);
    result.quantities[0].values[at] = gyration_radius(*model.topology, xyz);
    std::size_t quantity = 1;
    const auto centre = [&](const Domain& domain) {
        return conformation.piece(domain.piece)(domain.centre);
    };
    for (std::size_t a = 0; a < model.domains.size(); ++a)
        for (std::size_t b = a + 1; b < model.domains.size(); ++b)
            result.quantities[quantity++].values[at] =
                distance(centre(model.domains[a]), centre(model.domains[b]));
    result.diameter[at] = diameter(conformation);
    result.log_prior[at] = moves.log_density(conformation);
    result.clash_energy[at] = sterics.overlap(conformation).energy;
    result.close_atoms[at] = overlaps.count(conformation);
}

void measure_all(const ChainModel& model, const Moves& moves, const Pool& pool,
                 const PoolOptions& options, Index frames, const Context& context, Result& result) {
    const Index resting = resting_piece(model);
    const int threads = resolve_threads(context);
    std::vector<Sterics> sterics(static_cast<std::size_t>(threads), Sterics(model));
    std::vector<AtomOverlaps> overlaps(static_cast<std::size_t>(threads), AtomOverlaps(model));
    prepare_quantities(model, static_cast<std::size_t>(frames), result);
    if (options.replicas > 1) result.replica.resize(static_cast<std::size_t>(frames));
    constexpr Index kBlock = 256;
    for_each_block(
        context, "measure", frames, kBlock,
        [&](Index first, Index count) {
            parallel_for(threads, count, [&](Index n, int thread) {
                const Index frame = first + n, of_round = pool.angles.extent(1),
                            round = frame / of_round, at = frame % of_round;
                Conformation conformation(model);
                const double* const angles = pool.angles.view()[round][at].data;
                conformation.set_angles({angles, angles + model.hinge_count()});
                measure(conformation, moves, sterics[static_cast<std::size_t>(thread)],
                        overlaps[static_cast<std::size_t>(thread)], resting, frame, result);
                result.chain[static_cast<std::size_t>(frame)] = at / options.replicas;
                if (!result.replica.empty())
                    result.replica[static_cast<std::size_t>(frame)] = at % options.replicas;
                result.step[static_cast<std::size_t>(frame)] =
                    (options.burn_in + round + 1) * options.moves;
            });
        },
        "frames");
}

/// Chains of equal length: the frames of the last round count if all chains have one. Replicas of a
/// chain are not independent, so their means are compared.
void assess_all(const PoolOptions& options, Index frames, Result& result) {
    const Index replicas = options.replicas, draws = frames / (options.chains * replicas);
    Array<double, 2> by_chain(options.chains, draws);
    for (Quantity& quantity : result.quantities) {
        for (Index draw = 0; draw < draws; ++draw)
            for (Index chain = 0; chain < options.chains; ++chain) {
                const Index first = (draw * options.chains + chain) * replicas;
                double sum = 0;
                for (Index n = first; n < first + replicas; ++n)
                    sum += quantity.values[static_cast<std::size_t>(n)];
                by_chain(chain, draw) = sum / static_cast<double>(replicas);
            }
        quantity.convergence = assess(by_chain.view());
    }
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// What the chains kept of the curve.
void add_fits(const Pool& pool, const PoolOptions& options, Index frames, Result& result) {
    Quantity likelihood{"ln_likelihood", "ln of the likelihood of the curve", {}, {}};
    std::vector<double> squares, runs;
    for (Index frame = 0; frame < frames; ++frame) {
        const Index of_round = pool.angles.extent(1);
        const double* const fit =
            &pool.fits(frame / of_round, frame % of_round / options.replicas, 0);
        likelihood.values.push_back(fit[kLogLikelihood]);
        result.chi2.push_back(fit[kChi2]);
        result.c2.push_back(fit[kC2]);
        squares.push_back(fit[kSquares]);
        runs.push_back(fit[kRuns]);
    }
    result.misfit = MisfitTest{median(std::move(squares)), median(std::move(runs))};
    result.quantities.push_back(std::move(likelihood));
    result.betas = pool.ladder.betas;
    for (std::size_t rung = 0; rung + 1 < result.betas.size(); ++rung)
        result.swaps.push_back(pool.ladder.numbers[rung] > 0
                                   ? pool.ladder.sums[rung] / pool.ladder.numbers[rung]
                                   : 0.0);
}

void check_options(const Parameters& parameters, const CurveInput& curve) {
    Parameters checked = parameters;
    check(fields(checked));
    const Mode mode = mode_of(parameters, curve);
    const auto given = [](const std::string& text) { return text.empty() ? 0 : 1; };
    if (given(parameters.linkers) + given(parameters.rigid) + given(parameters.pae) != 1)
        throw UsageError("give one of --linkers, --rigid and --pae");
    if (!parameters.pae.empty() && !parameters.group.empty())
        throw UsageError("give --linkers and --group, or --pae, which finds groups itself");
    if (mode != Mode::pool && curve.curve == nullptr)
        throw UsageError(fmt::format("give a curve by --data for --mode {}",
                                     names_of(mode)[static_cast<std::size_t>(mode)]));
}

}  // namespace

bool Result::is_converged() const {
    return std::all_of(quantities.begin(), quantities.end(),
                       [](const Quantity& quantity) { return quantity.convergence.is_reached(); });
}

Result run(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
           const Context& context) {
    check_options(parameters, curve);
    const HeavyAtoms heavy = heavy_atoms(structure);
    Result result;
    const ChainModel model = make_chain_model(
        heavy.topology, heavy.xyz,
        parameters.pae.empty() ? chain_options(parameters, *heavy.topology)
                               : predicted_options(parameters, *heavy.topology, context, result));
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    const Mode mode = mode_of(parameters, curve);
    Index frames = 0;
    const PoolOptions options = pool_options(parameters, mode, context.device, frames);
    std::optional<CurveFitSetup> setup;
    if (mode != Mode::pool) setup.emplace(model, moves, curve, parameters, context);
    const auto make_targets = [&](Index walkers, Index replicas) {
        if (setup) return setup->make_targets(walkers, replicas);
        TargetBatch targets;
        for (Index n = 0; n < walkers * replicas; ++n)
            targets.push_back(std::make_unique<StericTarget>(model));
        return targets;
    };
    const Pool pool = sample_pool(
        model, moves, make_targets, options,
        problem_of(heavy, curve, result.found_options, parameters, mode, options, context),
        context);
    result.mode = mode;
    result.frames.topology = result.frames.all_atoms = heavy.topology;
    result.frames.xyz = Array<float, 3>::unset(frames, Index{3}, heavy.xyz.extent(1));
    measure_all(model, moves, pool, options, frames, context, result);
    if (setup) add_fits(pool, options, frames, result);
    assess_all(options, frames, result);
    for (const Domain& domain : model.domains) result.domains.push_back(domain.name);
    result.linkers = model.linkers;
    result.hinges = model.hinge_count();
    result.notes.insert(result.notes.end(), model.notes.begin(), model.notes.end());
    if (setup) result.notes.insert(result.notes.end(), setup->notes.begin(), setup->notes.end());
    constexpr const char* kNames[kMoveKinds] = {"pivot", "redraw", "crankshaft"};
    for (std::size_t kind = 0; kind < kMoveKinds; ++kind)
        result.moves.push_back({kNames[kind], pool.proposed[kind], pool.accepted[kind]});
    return result;
}

}  // namespace pleat::refine
