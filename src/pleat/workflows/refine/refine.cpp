// Refine: from a structure and its linkers to frames, and whether the chains agree.
#include "pleat/workflows/refine/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "pleat/core/files/hash.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/workflows/refine/convergence/convergence.h"
#include "pleat/workflows/refine/fit/curve_fit.h"
#include "pleat/workflows/refine/run_setup.h"

namespace pleat::refine {

namespace {

std::string problem_of(const RunSetup& setup, const CurveInput& curve, const Parameters& parameters,
                       const Context& context) {
    const HeavyAtoms& heavy = setup.heavy;
    const PoolOptions& options = setup.options;
    const Mode mode = setup.mode;
    Sha256 hash;
    hash.field("refine 5").field(View<const float, 2>(heavy.xyz));
    for (Index atom = 0; atom < heavy.topology->atom_count(); ++atom)
        hash.field(heavy.topology->identity(atom));
    hash.field(parameters.linkers).field(parameters.rigid).field(parameters.group);
    hash.field(setup.found_options);
    if (setup.built_residues > 0)
        for (const Topology::Residue& residue : heavy.topology->residues) hash.field(residue.name);
    for (const Index number : {options.chains, options.rungs, options.moves, options.kept,
                               options.burn_in, options.replicas, options.together})
        hash.field(number);
    hash.field(static_cast<std::int64_t>(mode));
    if (mode != Mode::pool) {
        hash.field(static_cast<std::int64_t>(context.device.kind));
        for (const double number :
             {parameters.model_error, curve.q_max, curve.c2_min, curve.c2_max})
            hash.field(number);
        for (const auto* values : {&curve.curve->q, &curve.curve->intensity, &curve.curve->sigma})
            hash.field(View<const double, 1>(values->data(), static_cast<Index>(values->size())));
    }
    return hash.field(static_cast<std::int64_t>(context.seed)).hex();
}

/// Mass-weighted Rg of the atoms (unknown elements count as carbon).
double gyration_radius(const Topology& topology, View<const float, 2> xyz) {
    constexpr double kCarbon = 12.011;
    double mass = 0, sum[3] = {}, squares = 0;
    for (Index atom = 0; atom < xyz.extent(1); ++atom) {
        const double known = topology.atoms[atom].mass, one = known > 0 ? known : kCarbon;
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

/// The numbers of a frame; its quantities follow them.
enum FrameNumber : Index { kDiameter, kLogPrior, kClashEnergy, kCloseAtoms, kFrameNumbers };

/// Computes the columns of one frame's row from its coordinates.
void measure(const Conformation& conformation, View<const float, 2> xyz, const Moves& moves,
             Sterics& sterics, AtomOverlaps& overlaps, double* numbers) {
    const ChainModel& model = conformation.model();
    numbers[kDiameter] = diameter(conformation);
    numbers[kLogPrior] = moves.log_density(conformation);
    numbers[kClashEnergy] = sterics.overlap(conformation).energy;
    numbers[kCloseAtoms] = static_cast<double>(overlaps.count(conformation));
    double* quantity = numbers + kFrameNumbers;
    *quantity++ = gyration_radius(*model.topology, xyz);
    const auto centre = [&](const Domain& domain) {
        return conformation.piece(domain.piece)(domain.centre);
    };
    for (std::size_t a = 0; a < model.domains.size(); ++a)
        for (std::size_t b = a + 1; b < model.domains.size(); ++b)
            *quantity++ = distance(centre(model.domains[a]), centre(model.domains[b]));
}

/// The numbers of all frames, computed by all ranks, and the coordinates, on the first rank only.
Array<double, 2> measure_frames(const ChainModel& model, const Moves& moves, const Pool& pool,
                                Index numbers, const Context& context, Array<float, 3>& xyz) {
    const Index resting = resting_piece(model), frames = xyz.extent(0), atoms = xyz.extent(2);
    const RankRows own(context);
    const bool leads = own.rank == 0;
    if (!leads) xyz = {};
    const int threads = resolve_threads(context);
    std::vector<Sterics> sterics(static_cast<std::size_t>(threads), Sterics(model));
    std::vector<AtomOverlaps> overlaps(static_cast<std::size_t>(threads), AtomOverlaps(model));
    Array<float, 3> scratch(leads ? Index{0} : Index{threads}, Index{3}, atoms);
    Array<double, 2> rows(frames, numbers);
    constexpr Index kBlock = 256;
    for_each_block(
        context, "measure", frames, kBlock,
        [&](Index first, Index count) {
            parallel_for(threads, count, [&](Index n, int thread) {
                const Index frame = first + n, of_round = pool.angles.extent(1);
                const bool is_own = frame % own.ranks == own.rank;
                if (!leads && !is_own) return;
                const double* const angles =
                    pool.angles.view()[frame / of_round][frame % of_round].data;
                Conformation conformation(model);
                conformation.set_angles({angles, angles + model.hinge_count()});
                const View<float, 2> at = leads ? xyz.view()[frame] : scratch.view()[thread];
                conformation.write(at, resting);
                if (is_own)
                    measure(conformation, at, moves, sterics[thread], overlaps[thread],
                            rows.view()[frame].data);
            });
        },
        "frames");
    all_gather_rows(context, rows.view());
    return rows;
}

void measure_all(const ChainModel& model, const Moves& moves, const Pool& pool,
                 const PoolOptions& options, Index frames, const Context& context, Result& result) {
    prepare_quantities(model, static_cast<std::size_t>(frames), result);
    if (options.replicas > 1) result.replica.resize(static_cast<std::size_t>(frames));
    const Array<double, 2> numbers = measure_frames(
        model, moves, pool, kFrameNumbers + static_cast<Index>(result.quantities.size()), context,
        result.frames.xyz);
    for (Index frame = 0; frame < frames; ++frame) {
        const Index of_round = pool.angles.extent(1), round = frame / of_round,
                    at = frame % of_round;
        result.diameter[frame] = numbers(frame, kDiameter);
        result.log_prior[frame] = numbers(frame, kLogPrior);
        result.clash_energy[frame] = numbers(frame, kClashEnergy);
        result.close_atoms[frame] = static_cast<Index>(numbers(frame, kCloseAtoms));
        for (std::size_t n = 0; n < result.quantities.size(); ++n)
            result.quantities[n].values[frame] =
                numbers(frame, kFrameNumbers + static_cast<Index>(n));
        result.chain[frame] = at / options.replicas;
        if (!result.replica.empty()) result.replica[frame] = at % options.replicas;
        result.step[frame] = (options.burn_in + round + 1) * options.moves;
    }
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
                for (Index n = first; n < first + replicas; ++n) sum += quantity.values[n];
                by_chain(chain, draw) = sum / static_cast<double>(replicas);
            }
        quantity.convergence = assess_convergence(by_chain.view());
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
    result.arrivals = pool.arrivals;
    for (std::size_t rung = 0; rung + 1 < result.betas.size(); ++rung)
        result.swaps.push_back(pool.ladder.numbers[rung] > 0
                                   ? pool.ladder.sums[rung] / pool.ladder.numbers[rung]
                                   : 0.0);
}

}  // namespace

bool Result::is_converged() const {
    return std::all_of(quantities.begin(), quantities.end(),
                       [](const Quantity& quantity) { return quantity.convergence.is_reached(); });
}

Result run(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
           const Context& context) {
    const RunSetup ready = set_up(structure, curve, parameters, context);
    const ChainModel& model = ready.model;
    const PoolOptions& options = ready.options;
    const Index frames = ready.frames;
    Result result;
    result.mode = ready.mode;
    result.found_options = ready.found_options;
    result.built = ready.built;
    result.built_residues = ready.built_residues;
    result.notes = ready.notes;
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    result.notes.insert(result.notes.end(), moves.notes().begin(), moves.notes().end());
    std::optional<CurveFitSetup> setup;
    if (ready.mode != Mode::pool)
        setup.emplace(model, moves, curve, parameters, context, options.few_moves);
    const auto make_targets = [&](Index walkers, Index replicas) {
        if (setup) return setup->make_targets(walkers, replicas);
        TargetBatch targets;
        for (Index n = 0; n < walkers * replicas; ++n)
            targets.push_back(std::make_unique<StericTarget>(model));
        return targets;
    };
    const Pool pool = sample_pool(model, moves, make_targets, options,
                                  problem_of(ready, curve, parameters, context), context);
    result.frames.topology = result.frames.all_atoms = ready.heavy.topology;
    result.frames.xyz = Array<float, 3>::unset(frames, Index{3}, ready.heavy.xyz.extent(1));
    measure_all(model, moves, pool, options, frames, context, result);
    if (setup) add_fits(pool, options, frames, result);
    assess_all(options, frames, result);
    for (const Domain& domain : model.domains) result.domains.push_back(domain.name);
    result.linkers = model.linkers;
    result.hinges = model.hinge_count();
    if (setup) result.notes.insert(result.notes.end(), setup->notes.begin(), setup->notes.end());
    constexpr const char* kNames[kMoveKinds] = {"pivot", "redraw", "crankshaft", "distance"};
    for (std::size_t kind = 0; kind < kMoveKinds; ++kind)
        result.moves.push_back({kNames[kind], pool.proposed[kind], pool.accepted[kind]});
    return result;
}

}  // namespace pleat::refine
