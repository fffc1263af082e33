// Refine: from a structure and its linkers to frames, and whether the chains agree.
#include "pleat/workflows/refine/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

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
    const Mode mode = setup.mode;
    Sha256 hash;
    hash.field("refine 7").field(View<const float, 2>(heavy.xyz));
    for (Index atom = 0; atom < heavy.topology->atom_count(); ++atom)
        hash.field(heavy.topology->identity(atom));
    hash.field(parameters.linkers).field(parameters.rigid).field(parameters.group);
    hash.field(setup.found_options);
    if (setup.model.copies > 1) hash.field(static_cast<std::int64_t>(setup.model.copies));
    if (setup.built_residues > 0)
        for (const Topology::Residue& residue : heavy.topology->residues) hash.field(residue.name);
    for (const Index number : {setup.pool.chains, setup.pool.moves, setup.pool.kept,
                               setup.pool.burn_in, setup.annealing.lineages, setup.annealing.moves,
                               setup.annealing.doublings, setup.annealing.conformations})
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

/// CA atoms of the first and last residue of the chain that has the first linker.
std::pair<Index, Index> chain_ends(const ChainModel& model) {
    const std::vector<ClashPoint>& points = model.points;
    const auto of_linker = std::find_if(points.begin(), points.end(), [&](const ClashPoint& point) {
        return point.atom == model.residues.front().ca;
    });
    const auto is_of_chain = [&](const ClashPoint& point) {
        return point.chain == of_linker->chain;
    };
    return {std::find_if(points.begin(), points.end(), is_of_chain)->atom,
            std::find_if(points.rbegin(), points.rend(), is_of_chain)->atom};
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
    if (model.domains.size() < 2) {
        const auto [first, last] = chain_ends(model);
        const auto label = [&](Index atom) {
            return residue_label(model.topology->residue_of(atom));
        };
        result.quantities.push_back(
            {"end_to_end",
             fmt::format("distance between CA of {} and of {}", label(first), label(last)),
             {},
             {}});
    }
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
    if (model.domains.size() >= 2) return;
    const auto [first, last] = chain_ends(model);
    *quantity = distance(conformation.atom(first), conformation.atom(last));
}

/// The numbers of all frames, computed by all ranks, and the coordinates, on the first rank only.
Array<double, 2> measure_frames(const ChainModel& model, const Moves& moves,
                                View<const double, 2> angles, Index numbers, const Context& context,
                                Array<float, 3>& xyz) {
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
                const Index frame = first + n;
                const bool is_own = frame % own.ranks == own.rank;
                if (!leads && !is_own) return;
                const double* const own_angles = angles[frame].data;
                Conformation conformation(model);
                conformation.set_angles({own_angles, own_angles + model.hinge_count()});
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

/// `angles` [conformation, hinge], of which the first frames are measured.
void measure_all(const ChainModel& model, const Moves& moves, View<const double, 2> angles,
                 Index frames, const Context& context, Result& result) {
    result.quantities.clear();
    prepare_quantities(model, static_cast<std::size_t>(frames), result);
    result.frames.xyz =
        Array<float, 3>::unset(frames, Index{3}, result.frames.topology->atom_count());
    const Array<double, 2> numbers = measure_frames(
        model, moves, angles, kFrameNumbers + static_cast<Index>(result.quantities.size()), context,
        result.frames.xyz);
    for (Index frame = 0; frame < frames; ++frame) {
        result.diameter[frame] = numbers(frame, kDiameter);
        result.log_prior[frame] = numbers(frame, kLogPrior);
        result.clash_energy[frame] = numbers(frame, kClashEnergy);
        result.close_atoms[frame] = static_cast<Index>(numbers(frame, kCloseAtoms));
        for (std::size_t n = 0; n < result.quantities.size(); ++n)
            result.quantities[n].values[frame] =
                numbers(frame, kFrameNumbers + static_cast<Index>(n));
    }
}

/// Chains of equal length: the frames of the last round count if all chains have one.
void assess_chains(Index chains, Result& result) {
    const Index draws = std::ssize(result.chain) / chains;
    Array<double, 2> by_chain(chains, draws);
    for (Quantity& quantity : result.quantities) {
        for (Index n = 0; n < by_chain.size(); ++n)
            by_chain(n % chains, n / chains) = quantity.values[static_cast<std::size_t>(n)];
        quantity.convergence = assess_convergence(by_chain.view());
    }
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// What mode fit says of the curve.
void add_fits(const Posterior& posterior, Index lineages, Result& result) {
    Quantity likelihood{"ln_likelihood", "ln of the likelihood of the curve", {}, {}};
    std::vector<double> squares, runs;
    result.chi2.clear();
    result.c2.clear();
    for (Index frame = 0; frame < std::ssize(result.chain); ++frame) {
        const double* const fit = &posterior.fits(frame, 0);
        likelihood.values.push_back(fit[kLogLikelihood]);
        result.chi2.push_back(fit[kChi2]);
        result.c2.push_back(fit[kC2]);
        squares.push_back(fit[kSquares]);
        runs.push_back(fit[kRuns]);
    }
    result.misfit = MisfitTest{median(std::move(squares)), median(std::move(runs))};
    result.quantities.push_back(std::move(likelihood));
    for (Quantity& quantity : result.quantities)
        quantity.convergence = assess_lineages(quantity.values, result.chain, lineages);
    ModelEvidence& evidence = result.evidence.emplace();
    evidence.log_evidence = posterior.log_evidence;
    evidence.error = evidence_error(result.chain, lineages);
    evidence.ancestors = posterior.ancestors;
    evidence.powers = posterior.powers;
}

MoveCounts sample(const RunSetup& ready, const CurveInput& curve, const Parameters& parameters,
                  const Moves& moves, const std::string& problem, const Context& context,
                  Result& result) {
    const ChainModel& model = ready.model;
    if (ready.mode == Mode::pool) {
        const PoolOptions& options = ready.pool;
        const Pool pool = sample_pool(model, moves, options, problem, context);
        measure_all(model, moves,
                    {pool.angles.data(), options.kept * options.chains, model.hinge_count()},
                    ready.frames, context, result);
        for (Index frame = 0; frame < ready.frames; ++frame) {
            result.chain[frame] = frame % options.chains;
            result.step[frame] = (options.burn_in + frame / options.chains + 1) * options.moves;
        }
        assess_chains(options.chains, result);
        return pool.moves;
    }
    const CurveFitSetup setup(model, moves, curve, parameters, context);
    result.notes.insert(result.notes.end(), setup.notes.begin(), setup.notes.end());
    // A stop is for the loop around it, which saves what was sampled.
    Context measuring = context;
    measuring.progress = nullptr;
    const auto judge = [&](const Posterior& posterior) {
        measure_all(model, moves, posterior.angles.view(), ready.frames, measuring, result);
        result.chain = posterior.lineages;
        std::fill(result.step.begin(), result.step.end(), posterior.moves);
        add_fits(posterior, ready.annealing.lineages, result);
        return result.is_converged();
    };
    const Posterior posterior = anneal(
        model, moves, [&](Index conformations) { return setup.make_targets(conformations); },
        ready.annealing, judge, problem, context);
    if (result.chain.empty()) judge(posterior);  // a run that had ended before it was resumed
    return posterior.counts;
}

}  // namespace

bool Result::is_converged() const {
    return (!evidence || evidence->is_reached()) &&
           std::all_of(quantities.begin(), quantities.end(),
                       [](const Quantity& quantity) { return quantity.convergence.is_reached(); });
}

Result run(const Ensemble& structure, const CurveInput& curve, const Parameters& parameters,
           const Context& context) {
    const RunSetup ready = set_up(structure, curve, parameters, context);
    const ChainModel& model = ready.model;
    Result result;
    result.mode = ready.mode;
    result.found_options = ready.found_options;
    result.built = ready.built;
    result.built_residues = ready.built_residues;
    result.notes = ready.notes;
    result.frames.topology = result.frames.all_atoms = ready.heavy.topology;
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    if (ready.mode == Mode::fit)
        result.notes.insert(result.notes.end(), moves.notes().begin(), moves.notes().end());
    const MoveCounts counts =
        sample(ready, curve, parameters, moves, problem_of(ready, curve, parameters, context),
               context, result);
    for (const Domain& domain : model.domains) result.domains.push_back(domain.name);
    result.linkers = model.linkers;
    result.hinges = model.angle_count();
    if (model.copies > 1) result.symmetry = fmt::format("c{}", model.copies);
    constexpr const char* kNames[kMoveKinds] = {"pivot", "redraw", "crankshaft", "distance"};
    for (std::size_t kind = 0; kind < kMoveKinds; ++kind)
        result.moves.push_back({kNames[kind], counts.proposed[kind], counts.accepted[kind]});
    return result;
}

}  // namespace pleat::refine
