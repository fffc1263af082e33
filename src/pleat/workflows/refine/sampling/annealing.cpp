// Annealing: a pilot that finds powers and widths of moves, then all conformations with these.
#include "pleat/workflows/refine/sampling/annealing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/session/session_sums.h"
#include "pleat/workflows/refine/convergence/convergence.h"

namespace pleat::refine {

namespace {

constexpr Index kPilot = 128;         // its conformations
constexpr Index kPilotBlocks = 5;     // at least, after each of which widths adapt
constexpr Index kBlock = 100;         // moves, after which a run may stop and resume
constexpr Index kMaxSteps = 1 << 20;  // of iterate()
constexpr double kKeptShare = 0.5;    // effective size after a rise of the power, of the whole

/// A power of the likelihood, and how conformations move there.
struct Power {
    double beta = 0;
    MoveSettings settings;
};

double log_mean_weight(std::span<const double> log_likelihoods, double rise) {
    const double largest = *std::max_element(log_likelihoods.begin(), log_likelihoods.end());
    double sum = 0;
    for (const double one : log_likelihoods) sum += std::exp(rise * (one - largest));
    return rise * largest + std::log(sum / static_cast<double>(log_likelihoods.size()));
}

/// The share of conformations that count after a rise of the power: (sum w)^2 / (n sum w^2).
double share_after(std::span<const double> log_likelihoods, double rise) {
    return std::exp(2 * log_mean_weight(log_likelihoods, rise) -
                    log_mean_weight(log_likelihoods, 2 * rise));
}

/// The largest power up to 1 at which kKeptShare count.
double next_power(std::span<const double> log_likelihoods, double beta) {
    if (share_after(log_likelihoods, 1 - beta) >= kKeptShare) return 1;
    double low = beta, high = 1;
    for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (share_after(log_likelihoods, middle - beta) >= kKeptShare ? low : high) = middle;
    }
    return high;
}

/// Systematic resampling (Kitagawa, J. Comput. Graph. Stat. 5:1, 1996): the conformation of which
/// each place takes a copy, from one random number in [0, 1).
std::vector<Index> resampled(std::span<const double> log_likelihoods, double rise, double random) {
    const auto count = static_cast<double>(log_likelihoods.size());
    const double log_mean = log_mean_weight(log_likelihoods, rise);
    std::vector<Index> from;
    double sum = 0;
    for (std::size_t n = 0; n < log_likelihoods.size(); ++n) {
        sum += std::exp(rise * log_likelihoods[n] - log_mean);
        while (from.size() < log_likelihoods.size() &&
               static_cast<double>(from.size()) + random < sum)
            from.push_back(static_cast<Index>(n));
    }
    from.resize(static_cast<std::size_t>(count), static_cast<Index>(log_likelihoods.size()) - 1);
    return from;
}

class AnnealingState final : public State {
public:
    AnnealingState(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
                   const AnnealingOptions& options, std::function<bool(const Posterior&)> is_enough,
                   std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          make_targets_(make_targets),
          options_(options),
          is_enough_(std::move(is_enough)),
          problem_(std::move(problem)),
          context_(context),
          threads_(threads_of(options, context)),
          batches_(static_cast<std::size_t>(threads_)),
          hinges_(model.hinge_count()),
          powers_{{0, {.distance_share = kDistanceShare}}} {}

    /// One power of the pilot, or moves of all conformations.
    Step advance() {
        if (repeat_ < 0) {
            advance_pilot();
            return {.note = fmt::format("pilot, power {:.2g}", powers_.back().beta)};
        }
        const std::size_t last = powers_.size();
        const auto stage = static_cast<std::size_t>(stage_);
        const double beta = stage == 0 ? 0.0 : powers_[std::min(stage, last - 1)].beta;
        advance_all(stage, last);
        Step step{.note = fmt::format("power {:.2g} of {} moves", beta, moves_of_power())};
        if (made_ < moves_of_power()) return step;
        made_ = 0;
        if (stage_++ < static_cast<Index>(last)) return step;
        collect();
        const bool is_enough = is_enough_(posterior_);
        step.finished = is_enough || repeat_ == options_.doublings;
        if (step.finished) return step;
        ++repeat_;
        stage_ = 0;
        return step;
    }

    Posterior finish() {
        if (posterior_.powers.empty()) collect();
        return std::move(posterior_);
    }

    std::string problem() const override { return problem_; }
    bool reaches_limit() const override { return false; }
    std::int64_t bytes() const override { return static_cast<std::int64_t>(rows_.bytes()); }
    void save(NpzWriter& file) const override {
        std::vector<double> powers, settings(powers_.size() * kMoveWidths);
        for (std::size_t n = 0; n < powers_.size(); ++n) {
            powers.push_back(powers_[n].beta);
            write_settings(powers_[n].settings, &settings[n * kMoveWidths]);
        }
        const std::vector<std::int64_t> counts = {counts_.proposed.begin(), counts_.proposed.end()},
                                        accepted = {counts_.accepted.begin(),
                                                    counts_.accepted.end()};
        const auto add = [&](const char* name, const auto& values) {
            file.add(name, values.data(), {static_cast<Index>(values.size())});
        };
        file.add_scalar("repeat", repeat_);
        file.add_scalar("stage", stage_);
        file.add_scalar("made", made_);
        file.add("log_evidence", &log_evidence_, {1});
        add("powers", powers);
        add("settings", settings);
        add("proposed", counts);
        add("accepted", accepted);
        add("ancestors", ancestors_);
        file.add("rows", rows_.data(), {rows_.extent(0), rows_.extent(1)});
    }
    void load(const NpzReader& file) override {
        repeat_ = file.integer("repeat");
        stage_ = file.integer("stage");
        made_ = file.integer("made");
        const auto powers = file.get("powers").as<double>("powers"),
                   settings = file.get("settings").as<double>("settings"),
                   rows = file.get("rows").as<double>("rows");
        const auto proposed = file.get("proposed").as<std::int64_t>("proposed"),
                   accepted = file.get("accepted").as<std::int64_t>("accepted");
        const auto log_evidence = file.get("log_evidence").as<double>("log_evidence");
        ancestors_ = file.get("ancestors").as<Index>("ancestors");
        // Before all are drawn, the pilot's conformations are still there.
        const bool is_pilot = repeat_ < 0 || (repeat_ == 0 && stage_ == 0);
        const Index count = is_pilot ? kPilot : options_.conformations;
        if (powers.empty() || settings.size() != powers.size() * kMoveWidths ||
            proposed.size() != kMoveKinds || accepted.size() != kMoveKinds ||
            std::ssize(rows) != count * (hinges_ + kNumbers) || std::ssize(ancestors_) != count ||
            stage_ < 0 || made_ < 0 || repeat_ < -1 || repeat_ > options_.doublings ||
            (repeat_ >= 0 && (stage_ > std::ssize(powers) + 1 || powers.back() != 1)) ||
            !std::is_sorted(powers.begin(), powers.end()) || log_evidence.size() != 1 ||
            !std::all_of(ancestors_.begin(), ancestors_.end(),
                         [&](Index one) { return one >= 0 && one < count; }))
            throw InputError(
                "expected the state of as many conformations and angles, found another");
        log_evidence_ = log_evidence[0];
        powers_.resize(powers.size());
        for (std::size_t n = 0; n < powers.size(); ++n) {
            powers_[n] = {powers[n], read_settings(&settings[n * kMoveWidths])};
            powers_[n].settings.distance_share = kDistanceShare;
        }
        std::copy(proposed.begin(), proposed.end(), counts_.proposed.begin());
        std::copy(accepted.begin(), accepted.end(), counts_.accepted.begin());
        rows_ = Array<double, 2>(count, hinges_ + kNumbers);
        std::copy(rows.begin(), rows.end(), rows_.begin());
    }

private:
    /// A thread has sessions of its own on a GPU, of which there are at most kMaxSharedSessions.
    static int threads_of(const AnnealingOptions& options, const Context& context) {
        const int threads = resolve_threads(context);
        if (context.device.kind != Device::Kind::cuda) return threads;
        return std::min(threads, static_cast<int>(saxs::kMaxSharedSessions / options.in_turn));
    }
    /// The numbers of a conformation behind its angles: counts of its last moves and its fit.
    static constexpr Index kCounts = MoveCounts::kNumbers, kNumbers = kCounts + kFitNumbers;

    Index moves_of_power() const { return options_.moves << std::max<Index>(repeat_, 0); }
    double* numbers(Index n) { return &rows_(n, 0) + hinges_; }
    double& log_likelihood(Index n) { return numbers(n)[kCounts + kLogLikelihood]; }
    std::vector<double> log_likelihoods() {
        std::vector<double> all;
        for (Index n = 0; n < rows_.extent(0); ++n) all.push_back(log_likelihood(n));
        return all;
    }

    void advance_pilot() {
        if (stage_ == 0) {
            draw_all(kPilot);
            stage_ = 1;
            return;
        }
        if (made_ == 0) {
            Power next = powers_.back();
            next.beta = next_power(log_likelihoods(), next.beta);
            resample(next.beta - powers_.back().beta);
            powers_.push_back(next);
            counts_ = {};
        }
        Power& power = powers_.back();
        const Index blocks = std::max(kPilotBlocks, (options_.moves + kBlock - 1) / kBlock),
                    block = std::max<Index>(options_.moves / blocks, 1);
        move_all(power, (stage_ * blocks + made_) * block, block, false, counts_);
        adapt(power.settings, counts_);
        if (++made_ < blocks) return;
        made_ = 0;
        stage_ = power.beta < 1 ? stage_ + 1 : 0;
        if (power.beta == 1) repeat_ = 0;
    }

    /// Stage 0 draws from the prior, `last` moves on at power 1; those between raise the power.
    void advance_all(std::size_t stage, std::size_t last) {
        if (stage == 0) {
            draw_all(options_.conformations);
            log_evidence_ = 0;
            counts_ = {};
            made_ = moves_of_power();
            return;
        }
        const Power& power = powers_[std::min(stage, last - 1)];
        if (stage < last && made_ == 0)
            log_evidence_ += resample(power.beta - powers_[stage - 1].beta);
        const Index moves = std::min(kBlock, moves_of_power() - made_);
        const bool is_last = stage == last && made_ + moves == moves_of_power();
        move_all(power, stage_ * moves_of_power() + made_, moves, is_last, counts_);
        made_ += moves;
    }

    /// Returns the logarithm of the mean weight. Conformations stay in the order of their
    /// ancestors, so that of each lineage as many remain as its weights add up to, but for one.
    double resample(double rise) {
        const std::vector<double> all = log_likelihoods();
        Random random(context_.seed, chain_of(0), step_of(stage_), Random::kResample);
        const std::vector<Index> from = resampled(all, rise, random.uniform());
        const Array<double, 2> before = rows_;
        const std::vector<Index> ancestors = ancestors_;
        for (std::size_t n = 0; n < from.size(); ++n) {
            std::copy_n(&before(from[n], 0), rows_.extent(1), &rows_(static_cast<Index>(n), 0));
            ancestors_[n] = ancestors[from[n]];
        }
        return log_mean_weight(all, rise);
    }

    /// Random numbers of the pilot are those of conformations behind the others.
    Index chain_of(Index n) const { return repeat_ < 0 ? options_.conformations + n : n; }
    Index step_of(Index step) const { return step + (std::max<Index>(repeat_, 0) << 33); }

    /// Conformations of the prior without overlaps, and their likelihoods.
    void draw_all(Index count) {
        rows_ = Array<double, 2>(count, hinges_ + kNumbers);
        ancestors_.resize(static_cast<std::size_t>(count));
        std::iota(ancestors_.begin(), ancestors_.end(), Index{0});
        const RankRows own(context_);
        parallel_for(threads_, own.count_of(count), [&](Index n, int) {
            const std::vector<double> angles = draw(chain_of(own.row(n)));
            std::copy(angles.begin(), angles.end(), &rows_(own.row(n), 0));
        });
        all_gather_rows(context_, rows_.view());
        MoveCounts none;
        move_all({}, 0, 0, false, none);
    }
    std::vector<double> draw(Index chain) const {
        constexpr Index kDraws = 300, kMoves = 2000;
        StericTarget target(model_);
        Sterics sterics(model_);
        Conformation drawn(model_);
        for (Index n = 0; n < kDraws; ++n) {
            Random random(context_.seed, chain, step_of(n), Random::kPrior);
            drawn.set_angles(moves_.draw_prior(random));
            const OverlapEnergy overlap = sterics.overlap(drawn);
            if (overlap.hard_pairs == 0 && random.uniform() < std::exp(-overlap.energy))
                return drawn.angles();
        }
        // The prior overlaps almost always: a Monte Carlo chain of its own.
        Sampler sampler(moves_, target, model_, context_.seed, chain);
        sampler.start(find_start(
            model_, moves_, StericOptions{}, context_.seed,
            chain + std::max<Index>(repeat_, 0) * 2 * (options_.conformations + kPilot)));
        sampler.run(step_of(Index{1} << 32), kMoves);
        return sampler.conformation().angles();
    }

    /// Moves all conformations at a power, and computes their fits, all numbers of them if
    /// `has_fits`. Adds the moves made to `counts`.
    void move_all(const Power& power, Index first_step, Index moves, bool has_fits,
                  MoveCounts& counts) {
        const Index count = rows_.extent(0), size = options_.together * options_.in_turn;
        const RankRows own(context_);
        const Index units = (count + size - 1) / size;
        std::vector<std::uint8_t> has_row(static_cast<std::size_t>(count));
        parallel_for(threads_, own.count_of(units), [&](Index n, int thread) {
            const Index first = own.row(n) * size, here = std::min(size, count - first);
            std::fill_n(has_row.begin() + first, here, std::uint8_t{1});
            move_unit(power, first, here, first_step, moves, has_fits,
                      batches_[static_cast<std::size_t>(thread)]);
        });
        all_gather_rows(context_, rows_.view(), has_row);
        for (Index n = 0; n < count; ++n) counts.add(numbers(n));
    }

    /// Conformations [first, first + count), in parts that are computed together.
    void move_unit(const Power& power, Index first, Index count, Index first_step, Index moves,
                   bool has_fits, std::vector<TargetBatch>& batches) {
        while (std::ssize(batches) * options_.together < count)
            batches.push_back(make_targets_(options_.together));
        std::vector<std::vector<Sampler>> parts;
        for (Index part = 0; part * options_.together < count; ++part) {
            std::vector<Sampler>& samplers = parts.emplace_back();
            for (Index n = 0; n < options_.together; ++n) {
                // A part that is not full moves copies of its first conformation, which are lost.
                const Index at = part * options_.together + n, row = first + (at < count ? at : 0);
                SamplingTarget& target = *batches[static_cast<std::size_t>(part)][n];
                target.set_beta(power.beta);
                samplers.emplace_back(moves_, target, model_, context_.seed, chain_of(row));
                samplers.back().settings = power.settings;
                samplers.back().start({&rows_(row, 0), &rows_(row, 0) + hinges_});
            }
        }
        make_moves(parts, step_of(first_step), moves);
        for (Index n = 0; n < count; ++n)
            write_row(parts[n / options_.together][n % options_.together], has_fits,
                      &rows_(first + n, 0));
    }

    /// Moves of one part are prepared while those of other parts are computed.
    static void make_moves(std::vector<std::vector<Sampler>>& parts, Index first, Index count) {
        std::vector<std::vector<Sampler*>> proposing(parts.size());
        const auto accept_or_reject = [](std::vector<Sampler*>& samplers) {
            for (Sampler* const sampler : samplers) sampler->accept_or_reject();
            samplers.clear();
        };
        for (Index step = first; step < first + count; ++step)
            for (std::size_t part = 0; part < parts.size(); ++part) {
                accept_or_reject(proposing[part]);
                for (Sampler& sampler : parts[part])
                    if (sampler.propose(step)) proposing[part].push_back(&sampler);
                if (!proposing[part].empty()) proposing[part].front()->target().begin();
            }
        for (std::vector<Sampler*>& samplers : proposing) accept_or_reject(samplers);
    }

    void write_row(const Sampler& sampler, bool has_fits, double* to) const {
        SamplingTarget& target = sampler.target();
        to = std::copy(sampler.conformation().angles().begin(),
                       sampler.conformation().angles().end(), to);
        to = sampler.counts.write(to);
        to[kLogLikelihood] = target.log_likelihood();
        if (!has_fits) return;
        const CurveFit fit = target.fit();
        const ResidualTest test = target.residual_test();
        to[kChi2] = fit.chi2;
        to[kC2] = fit.c2;
        to[kSquares] = test.squares;
        to[kRuns] = test.runs;
    }

    void collect() {
        posterior_ = {};
        const Index count = options_.conformations;
        posterior_.angles = Array<double, 2>(count, hinges_);
        posterior_.fits = Array<double, 2>(count, Index{kFitNumbers});
        // Steps of about the golden section, so that each part of the frames has all lineages.
        Index step = std::max<Index>(static_cast<Index>(0.618 * static_cast<double>(count)), 1);
        while (std::gcd(step, count) > 1) ++step;
        for (Index n = 0, at = 0; n < count; ++n, at = (at + step) % count) {
            std::copy_n(&rows_(at, 0), hinges_, &posterior_.angles(n, 0));
            std::copy_n(numbers(at) + kCounts, Index{kFitNumbers}, &posterior_.fits(n, 0));
            posterior_.lineages.push_back(lineage_of(ancestors_[at], count, options_.lineages));
        }
        for (const Power& power : powers_) posterior_.powers.push_back(power.beta);
        posterior_.log_evidence = log_evidence_;
        posterior_.ancestors = std::ssize(std::set<Index>(ancestors_.begin(), ancestors_.end()));
        posterior_.moves = moves_of_power() * std::ssize(powers_);
        posterior_.counts = counts_;
    }

    const ChainModel& model_;
    const Moves& moves_;
    const TargetFactory& make_targets_;
    const AnnealingOptions options_;
    const std::function<bool(const Posterior&)> is_enough_;
    const std::string problem_;
    const Context& context_;
    const int threads_;
    std::vector<std::vector<TargetBatch>> batches_;  ///< [thread][part]
    const Index hinges_;
    std::vector<Power> powers_;      ///< those found; the first is 0
    Index repeat_ = -1, stage_ = 0;  ///< what comes next; -1: the pilot
    Index made_ = 0;                 ///< moves at this stage; of the pilot: blocks
    Array<double, 2> rows_;          ///< [conformation, angles and numbers]
    std::vector<Index> ancestors_;   ///< [conformation]: the draw of the prior
    double log_evidence_ = 0;
    MoveCounts counts_;
    Posterior posterior_;
};

}  // namespace

void AnnealingOptions::divide_for_gpu() {
    constexpr Index kThreads = 16, kMaxInTurn = 4, kMaxTogether = 16;
    in_turn = std::clamp<Index>(conformations / kThreads, 1, kMaxInTurn);
    const Index at_once = in_turn * kThreads;
    together = std::clamp<Index>((conformations + at_once - 1) / at_once, 1, kMaxTogether);
}

Posterior anneal(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
                 const AnnealingOptions& options,
                 const std::function<bool(const Posterior&)>& is_enough, const std::string& problem,
                 const Context& context) {
    AnnealingState state(model, moves, make_targets, options, is_enough, problem, context);
    iterate(context, "sample", state, kMaxSteps, [&](std::int64_t) { return state.advance(); });
    return state.finish();
}

}  // namespace pleat::refine
