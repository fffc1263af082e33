// Pool: chains of replicas at each power, exchanges between them, and what is written of them.
#include "pleat/workflows/refine/sampling/pool.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/session/session_sums.h"
#include "pleat/workflows/refine/sampling/steps_ahead.h"

namespace pleat::refine {

namespace {

/// The replicas of a chain at one rung. Swaps exchange rungs, not conformations. One rank moves the
/// replicas; the data that all ranks have about them is updated after each round.
struct Walker {
    std::vector<Sampler> replicas;             ///< empty on other ranks
    std::vector<std::vector<Sampler>> copies;  ///< of the replicas, for other threads
    std::unique_ptr<StepsAhead> ahead;         ///< if there are copies
    Index rung = 0;
    bool comes_from_prior = false;  ///< since it was last at power 1
    MoveSettings settings;
    MoveCounts counts;  ///< of all replicas
    double log_likelihood = 0;
    std::vector<double> angles;  ///< [replica, hinge]

    SamplingTarget& target() const { return replicas.front().target(); }
    void set_beta(double beta) {
        for (Sampler& replica : replicas) replica.target().set_beta(beta);
    }
    /// Copies settings and counts of moves to the replicas; only the first one keeps the counts.
    void set_replicas() {
        for (Sampler& replica : replicas) {
            replica.settings = settings;
            replica.counts = {};
        }
        if (!replicas.empty()) replicas.front().counts = counts;
    }
    /// Moves the counts of all replicas and their copies to the first.
    void add_counts() {
        MoveCounts& sum = replicas.front().counts;
        for (std::size_t n = 1; n < replicas.size(); ++n) sum.take(replicas[n].counts);
        if (ahead) ahead->take_counts(sum);
    }
    /// Sampler::refresh(), and computes what copies adopt.
    void refresh() {
        for (Sampler& replica : replicas) replica.refresh();
        target().log_likelihood();
    }
};

constexpr double kLowest = 0.001;  // the lowest power above 0, before they adapt

/// The numbers that ranks exchange about a walker; its angles follow.
enum WalkerNumber : std::size_t {
    kWalkerLikelihood,
    kPivotWidth,
    kCrankshaftWidth,
    kDistanceWidth,
    kProposed,
    kAccepted = kProposed + kMoveKinds,
    kWalkerNumbers = kAccepted + kMoveKinds
};

class PoolState final : public State {
public:
    PoolState(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
              const PoolOptions& options, std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          options_(options),
          problem_(std::move(problem)),
          context_(context),
          threads_(resolve_threads(context)),
          walkers_(static_cast<std::size_t>(options.chains * options.rungs)),
          is_own_(walkers_.size(), 0) {
        for (std::size_t n = 0; n < walkers_.size(); ++n)
            walkers_[n].rung = static_cast<Index>(n) % options.rungs;
        for_each_batch(1, [&](Index first, std::span<Walker> batch) {
            add_samplers(first, batch, make_targets);
        });
        const Index own = std::count(is_own_.begin(), is_own_.end(), 1);
        if (options.ahead > 1 && own > 0 && options.together * options.in_turn == 1)
            copies_ = std::clamp<Index>(threads_ / own, 1, options.ahead);
        for (std::size_t n = 0; copies_ > 1 && n < walkers_.size(); ++n)
            if (is_own_[n] != 0) add_copies(static_cast<Index>(n), make_targets);
        pool_.ladder = Ladder(options.rungs);
        pool_.angles = Array<double, 3>(options.kept, options.chains * options.replicas,
                                        Index{model.hinge_count()});
        pool_.fits = Array<double, 3>(options.kept, options.chains, Index{kFitNumbers});
    }

    /// Each conformation moves until the next frame; rungs are swapped in between.
    void advance(Index round) {
        if (round == 0) start_all();
        const Index swaps = options_.swaps_per_frame();
        for (Index n = 0; n < swaps; ++n) {
            const auto first_of = [&](Index part) {
                return round * options_.moves + part * options_.moves / swaps;
            };
            move_all(round, first_of(n), first_of(n + 1), n + 1 == swaps);
            exchange_numbers();
            for (Index chain = 0; chain < options_.chains; ++chain)
                swap_rungs(chain, round * swaps + n);
            if (n + 1 == swaps) adapt_ladder(round);
            for (Walker& walker : walkers_) {
                walker.set_replicas();
                walker.set_beta(beta_of(walker));
            }
        }
        if (round >= options_.burn_in) keep(round - options_.burn_in);
        rounds_ = round + 1;
    }

    Pool finish() {
        for (const Walker& walker : walkers_)
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                pool_.proposed[kind] += walker.counts.proposed[kind];
                pool_.accepted[kind] += walker.counts.accepted[kind];
            }
        for (const Walker& walker : walkers_)
            if (walker.ahead) pool_.dropped += walker.ahead->dropped();
        return std::move(pool_);
    }

    std::string problem() const override { return problem_; }
    std::int64_t bytes() const override {
        return static_cast<std::int64_t>(pool_.angles.bytes() + pool_.fits.bytes());
    }
    void save(NpzWriter& file) const override {
        std::vector<double> angles, widths;
        std::vector<std::int64_t> counts, rungs, origins;
        for (const Walker& walker : walkers_) {
            angles.insert(angles.end(), walker.angles.begin(), walker.angles.end());
            widths.insert(widths.end(),
                          {walker.settings.pivot_width, walker.settings.crankshaft_width,
                           walker.settings.distance_width});
            counts.insert(counts.end(), walker.counts.proposed.begin(),
                          walker.counts.proposed.end());
            counts.insert(counts.end(), walker.counts.accepted.begin(),
                          walker.counts.accepted.end());
            rungs.push_back(walker.rung);
            origins.push_back(walker.comes_from_prior ? 1 : 0);
        }
        const auto add = [&](const char* name, const auto& values) {
            file.add(name, values.data(), {static_cast<Index>(values.size())});
        };
        file.add_scalar("rounds", rounds_);
        add("angles", angles);
        add("widths", widths);
        add("counts", counts);
        add("rungs", rungs);
        add("origins", origins);
        file.add_scalar("arrivals", pool_.arrivals);
        add("betas", pool_.ladder.betas);
        add("swap_sums", pool_.ladder.sums);
        add("swap_numbers", pool_.ladder.numbers);
        const Index kept = kept_rounds();
        file.add("kept", pool_.angles.data(), {kept, pool_.angles.extent(1), model_.hinge_count()});
        file.add("fits", pool_.fits.data(), {kept, options_.chains, Index{kFitNumbers}});
    }
    void load(const NpzReader& file) override {
        rounds_ = file.integer("rounds");
        const auto walkers = static_cast<Index>(walkers_.size()), hinges = model_.hinge_count();
        const auto doubles = [&](const char* name, Index count) {
            std::vector<double> values = file.get(name).as<double>(name);
            expect_size(values.size(), count);
            return values;
        };
        const auto integers = [&](const char* name, Index count) {
            std::vector<std::int64_t> values = file.get(name).as<std::int64_t>(name);
            expect_size(values.size(), count);
            return values;
        };
        const Index of_walker = options_.replicas * hinges;
        const auto angles = doubles("angles", walkers * of_walker),
                   widths = doubles("widths", walkers * 3),
                   kept = doubles("kept", kept_rounds() * options_.chains * of_walker),
                   fits = doubles("fits", kept_rounds() * options_.chains * kFitNumbers);
        const auto counts = integers("counts", walkers * 2 * kMoveKinds),
                   rungs = integers("rungs", walkers), origins = integers("origins", walkers);
        pool_.arrivals = file.integer("arrivals");
        pool_.ladder.betas = doubles("betas", options_.rungs);
        pool_.ladder.sums = doubles("swap_sums", options_.rungs);
        pool_.ladder.numbers = doubles("swap_numbers", options_.rungs);
        for (std::size_t n = 0; n < walkers_.size(); ++n) {
            Walker& walker = walkers_[n];
            walker.rung = std::clamp<Index>(rungs[n], 0, options_.rungs - 1);
            walker.comes_from_prior = origins[n] != 0;
            walker.settings.pivot_width = widths[3 * n];
            walker.settings.crankshaft_width = widths[3 * n + 1];
            walker.settings.distance_width = widths[3 * n + 2];
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                const std::size_t at = n * 2 * kMoveKinds + kind;
                walker.counts.proposed[kind] = counts[at];
                walker.counts.accepted[kind] = counts[at + kMoveKinds];
            }
            walker.set_replicas();
        }
        start([&](Index n) {
            const auto from = angles.begin() + n * hinges;
            return std::vector<double>(from, from + hinges);
        });
        std::copy(kept.begin(), kept.end(), pool_.angles.begin());
        std::copy(fits.begin(), fits.end(), pool_.fits.begin());
    }

private:
    static void expect_size(std::size_t found, Index expected) {
        if (static_cast<Index>(found) != expected)
            throw InputError("expected the state of as many chains and angles, found another");
    }
    /// The samplers of a batch whose first walker has this number.
    void add_samplers(Index first, std::span<Walker> batch, const TargetFactory& make_targets) {
        for (const std::span<Walker> together : parts_of(batch))
            for (auto& target :
                 make_targets(static_cast<Index>(together.size()), options_.replicas))
                targets_.push_back(std::move(target));
        auto target = targets_.end() - static_cast<Index>(batch.size()) * options_.replicas;
        for (Index n = 0; n < static_cast<Index>(batch.size()); ++n) {
            is_own_[first + n] = 1;
            for (Index replica = 0; replica < options_.replicas; ++replica, ++target)
                batch[n].replicas.push_back(make_sampler(**target, first + n, replica));
        }
    }
    /// Samplers for the other threads that try steps of a walker.
    void add_copies(Index number, const TargetFactory& make_targets) {
        Walker& walker = walkers_[number];
        walker.copies.resize(static_cast<std::size_t>(copies_ - 1));
        std::vector<std::span<Sampler>> all{walker.replicas};
        for (std::vector<Sampler>& copy : walker.copies) {
            for (auto& target : make_targets(1, options_.replicas)) {
                copy.push_back(make_sampler(*target, number, static_cast<Index>(copy.size())));
                targets_.push_back(std::move(target));
            }
            all.emplace_back(copy);
        }
        walker.ahead = std::make_unique<StepsAhead>(std::move(all), options_.few_moves);
    }
    Sampler make_sampler(SamplingTarget& target, Index walker, Index replica) const {
        return {moves_, target, model_, context_.seed, walker * options_.replicas + replica};
    }
    /// Calls `use(first, walkers)` on each thread for the walkers of this rank that it moves.
    template <class Use>
    void for_each_batch(int threads, const Use& use) {
        const Index count = static_cast<Index>(walkers_.size());
        const Index size = options_.together * options_.in_turn;
        const RankRows own(context_);
        parallel_for(threads, own.count_of((count + size - 1) / size), [&](Index n, int) {
            const Index first = own.row(n) * size;
            use(first, std::span(walkers_).subspan(
                           static_cast<std::size_t>(first),
                           static_cast<std::size_t>(std::min(size, count - first))));
        });
    }
    /// The walkers of a thread by calls.
    std::vector<std::span<Walker>> parts_of(std::span<Walker> batch) const {
        const auto size = static_cast<std::size_t>(options_.together);
        std::vector<std::span<Walker>> parts;
        for (; batch.size() > size; batch = batch.subspan(size)) parts.push_back(batch.first(size));
        parts.push_back(batch);
        return parts;
    }
    /// Starts all conformations from `angles_of(number)`.
    template <class AnglesOf>
    void start(const AnglesOf& angles_of) {
        for_each_batch(threads_, [&](Index first, std::span<Walker> batch) {
            const Index before = first * options_.replicas;
            for (std::size_t n = 0; n < batch.size(); ++n) {
                batch[n].set_beta(beta_of(batch[n]));
                for (std::size_t r = 0; r < batch[n].replicas.size(); ++r)
                    batch[n].replicas[r].start(
                        angles_of(before + static_cast<Index>(n * batch[n].replicas.size() + r)));
            }
            for (Walker& walker : batch) walker.refresh();
        });
        // One after another, because each allocates memory.
        for (const Walker& walker : walkers_)
            if (walker.ahead) walker.ahead->adopt_all();
    }
    /// Sends the changes by this rank's moves to all ranks.
    void exchange_numbers() {
        const auto hinges = static_cast<std::size_t>(model_.hinge_count());
        Array<double, 2> rows(
            static_cast<Index>(walkers_.size()),
            static_cast<Index>(kWalkerNumbers) + options_.replicas * static_cast<Index>(hinges));
        for (std::size_t n = 0; n < walkers_.size(); ++n) {
            if (is_own_[n] == 0) continue;
            const Walker& walker = walkers_[n];
            const Sampler& first = walker.replicas.front();
            double* const to = &rows(static_cast<Index>(n), 0);
            to[kWalkerLikelihood] = walker.target().log_likelihood();
            to[kPivotWidth] = first.settings.pivot_width;
            to[kCrankshaftWidth] = first.settings.crankshaft_width;
            to[kDistanceWidth] = first.settings.distance_width;
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                to[kProposed + kind] = static_cast<double>(first.counts.proposed[kind]);
                to[kAccepted + kind] = static_cast<double>(first.counts.accepted[kind]);
            }
            for (std::size_t r = 0; r < walker.replicas.size(); ++r)
                std::copy_n(walker.replicas[r].conformation().angles().begin(), hinges,
                            to + kWalkerNumbers + r * hinges);
        }
        all_gather_rows(context_, rows.view(), is_own_);
        for (std::size_t n = 0; n < walkers_.size(); ++n) {
            Walker& walker = walkers_[n];
            const double* const from = &rows(static_cast<Index>(n), 0);
            walker.log_likelihood = from[kWalkerLikelihood];
            walker.settings.pivot_width = from[kPivotWidth];
            walker.settings.crankshaft_width = from[kCrankshaftWidth];
            walker.settings.distance_width = from[kDistanceWidth];
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                walker.counts.proposed[kind] = static_cast<std::int64_t>(from[kProposed + kind]);
                walker.counts.accepted[kind] = static_cast<std::int64_t>(from[kAccepted + kind]);
            }
            walker.angles.assign(from + kWalkerNumbers, from + rows.extent(1));
        }
    }
    void start_all() {
        start(
            [&](Index n) { return find_start(model_, moves_, StericOptions{}, context_.seed, n); });
    }
    /// Makes moves [first, end) of all walkers. At the end of a round also adapts move widths and
    /// removes rounding errors of the moves.
    void move_all(Index round, Index first, Index end, bool ends_round) {
        if (copies_ > 1) move_ahead(first, end);
        for_each_batch(threads_, [&](Index, std::span<Walker> batch) {
            if (copies_ == 1) move(batch, first, end);
            for (Walker& walker : batch) {
                walker.add_counts();
                if (!ends_round) continue;
                Sampler& sampler = walker.replicas.front();
                if (round < options_.burn_in) sampler.adapt();
                if (round + 1 == options_.burn_in) sampler.counts = {};
                walker.refresh();
            }
        });
    }
    void adapt_ladder(Index round) {
        if (round < options_.burn_in) pool_.ladder.adapt(round);
        if (round + 1 != options_.burn_in) return;
        pool_.ladder.reset_counts();
        pool_.arrivals = 0;
    }
    /// Only one replica of each walker moves at a time, so that each sees the others' moves. Moves
    /// of one part are prepared while those of other parts are computed.
    void move(std::span<Walker> batch, Index first, Index end) const {
        const std::vector<std::span<Walker>> parts = parts_of(batch);
        std::vector<std::vector<Sampler*>> proposing(parts.size());
        const auto accept_or_reject = [&](std::vector<Sampler*>& samplers) {
            for (Sampler* const sampler : samplers) sampler->accept_or_reject();
            samplers.clear();
        };
        for (Index number = first; number < end; ++number)
            for (std::size_t replica = 0; replica < batch.front().replicas.size(); ++replica)
                for (std::size_t part = 0; part < parts.size(); ++part) {
                    accept_or_reject(proposing[part]);
                    for (Walker& walker : parts[part])
                        if (walker.replicas[replica].propose(number))
                            proposing[part].push_back(&walker.replicas[replica]);
                    if (!proposing[part].empty()) proposing[part].front()->target().begin();
                }
        for (std::vector<Sampler*>& samplers : proposing) accept_or_reject(samplers);
    }
    /// Makes the same moves, with several threads per walker.
    void move_ahead(Index first, Index end) {
        std::vector<StepsAhead*> own;
        for (const Walker& walker : walkers_)
            if (walker.ahead) own.push_back(walker.ahead.get());
        for (StepsAhead* const one : own) one->prepare();
        const auto count = static_cast<Index>(own.size());
        run_team(static_cast<int>(count * copies_), [&](int member, int members) {
            const Index of_walker = std::clamp<Index>(members / count, 1, copies_);
            for (Index n = member / of_walker; n < count; n += members / of_walker)
                own[n]->run(member % of_walker, of_walker, first, end - first);
        });
    }
    double beta_of(const Walker& walker) const { return pool_.ladder.betas[walker.rung]; }
    Index kept_rounds() const {
        return std::clamp(rounds_ - options_.burn_in, Index{0}, options_.kept);
    }

    std::size_t number_at(Index chain, Index rung) const {
        auto n = static_cast<std::size_t>(chain * options_.rungs);
        while (walkers_[n].rung != rung) ++n;
        return n;
    }
    Walker& walker_at(Index chain, Index rung) { return walkers_[number_at(chain, rung)]; }

    /// Alternates between even and odd pairs of neighbouring rungs. Rungs keep widths and counts.
    void swap_rungs(Index chain, Index number) {
        Random random(context_.seed, chain, number, Random::kSwaps);
        for (Index rung = number % 2; rung + 1 < options_.rungs; rung += 2) {
            Walker &lower = walker_at(chain, rung), &upper = walker_at(chain, rung + 1);
            const double probability =
                pool_.ladder.swap_probability(rung, lower.log_likelihood, upper.log_likelihood);
            pool_.ladder.count(rung, probability);
            if (random.uniform() >= probability) continue;
            std::swap(lower.rung, upper.rung);
            std::swap(lower.counts, upper.counts);
            std::swap(lower.settings, upper.settings);
        }
        if (options_.rungs == 1) return;
        walker_at(chain, 0).comes_from_prior = true;
        bool& has_arrived = walker_at(chain, options_.rungs - 1).comes_from_prior;
        pool_.arrivals += has_arrived ? 1 : 0;
        has_arrived = false;
    }

    void keep(Index frame) {
        std::vector<std::uint8_t> has_fit(static_cast<std::size_t>(options_.chains), 0);
        for (Index chain = 0; chain < options_.chains; ++chain) {
            const std::size_t at = number_at(chain, options_.rungs - 1);
            const Walker& walker = walkers_[at];
            std::copy(walker.angles.begin(), walker.angles.end(),
                      &pool_.angles(frame, chain * options_.replicas, 0));
            has_fit[chain] = is_own_[at];
            if (is_own_[at] == 0) continue;
            const CurveFit fit = walker.target().fit();
            const ResidualTest test = walker.target().residual_test();
            double* const to = &pool_.fits(frame, chain, 0);
            to[kLogLikelihood] = fit.log_likelihood;
            to[kChi2] = fit.chi2;
            to[kC2] = fit.c2;
            to[kSquares] = test.squares;
            to[kRuns] = test.runs;
        }
        all_gather_rows(context_, pool_.fits.view()[frame], has_fit);
    }

    const ChainModel& model_;
    const Moves& moves_;
    const PoolOptions options_;
    const std::string problem_;
    const Context& context_;
    const int threads_;
    Index rounds_ = 0;
    std::vector<Walker> walkers_;
    std::vector<std::uint8_t> is_own_;  ///< [walker]: whether this rank moves it
    TargetBatch targets_;               ///< of its own walkers, [walker and replica], and of copies
    Index copies_ = 1;                  ///< of each of its walkers, the walker included
    Pool pool_;
};

}  // namespace

Ladder::Ladder(Index rungs)
    : betas(static_cast<std::size_t>(rungs)), sums(betas.size(), 0.0), numbers(betas.size(), 0.0) {
    // If all powers were too far apart, there would be no swaps from which to adapt.
    const double step = rungs > 2 ? std::pow(kLowest, 1 / static_cast<double>(rungs - 2)) : 1.0;
    double beta = 1;
    for (std::size_t rung = betas.size(); rung-- > 0; beta *= step) betas[rung] = beta;
    if (betas.size() > 1) betas[0] = 0;
}

double Ladder::swap_probability(Index lower, double log_likelihood,
                                double log_likelihood_above) const {
    const auto rung = static_cast<std::size_t>(lower);
    return std::min(
        1.0, std::exp((betas[rung] - betas[rung + 1]) * (log_likelihood_above - log_likelihood)));
}

void Ladder::count(Index lower, double probability) {
    sums[lower] += probability;
    ++numbers[lower];
}

void Ladder::adapt(Index round) {
    const std::size_t rungs = betas.size();
    if (rungs < 3) return;
    const auto mean = [&](std::size_t lower) {
        return numbers[lower] > 0 ? sums[lower] / numbers[lower] : 0.0;
    };
    const double rate = 1 / (1 + static_cast<double>(round) / 50);
    // From beta 1 towards 0; the step of rung k is that to the rung above.
    std::vector<double> old = betas;
    for (std::size_t rung = rungs - 1; rung-- > 1;) {
        const double step = 1 / old[rung] - 1 / old[rung + 1],
                     change = rate * (mean(rung) - mean(rung - 1));
        betas[rung] = 1 / (1 / betas[rung + 1] + step * std::exp(change));
    }
    reset_counts();
}

void Ladder::reset_counts() {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(numbers.begin(), numbers.end(), 0.0);
}

void PoolOptions::divide_for_gpu() {
    constexpr Index kThreads = 16, kMaxInTurn = 4, kMaxTogether = 16, kMaxAhead = 5,
                    kFewWalkers = 2;
    const Index walkers = chains * rungs;
    in_turn = std::clamp<Index>(walkers / kThreads, 1, kMaxInTurn);
    together = std::clamp<Index>(walkers / (in_turn * kThreads), 1, kMaxTogether);
    // Each batch has a session of the GPU.
    together =
        std::max(together, (walkers + saxs::kMaxSharedSessions - 1) / saxs::kMaxSharedSessions);
    ahead = in_turn * together == 1 ? kMaxAhead : 1;
    few_moves = walkers <= kFewWalkers;
}

Pool sample_pool(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
                 const PoolOptions& options, const std::string& problem, const Context& context) {
    PoolState state(model, moves, make_targets, options, problem, context);
    const Index rounds = options.burn_in + options.kept;
    iterate(context, "sample", state, rounds, [&](std::int64_t round) {
        state.advance(round);
        return Step{.note = round < options.burn_in ? "burn-in" : ""};
    });
    return state.finish();
}

}  // namespace pleat::refine
