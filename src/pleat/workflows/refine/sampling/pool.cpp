// Pool: chains on threads, their swaps, and what a checkpoint keeps of them.
#include "pleat/workflows/refine/sampling/pool.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::refine {

namespace {

constexpr Index kAdaptEvery = 5;  // rounds of burn-in

/// The replicas of a chain at one rung. Rungs are exchanged, not conformations.
struct Walker {
    std::vector<Sampler> replicas;
    Index rung = 0;

    Target& target() const { return replicas.front().target(); }
    void set_beta(double beta) {
        for (Sampler& replica : replicas) replica.target().set_beta(beta);
    }
    /// Moves the counts of all replicas to the first.
    void add_counts() {
        MoveCounts& sum = replicas.front().counts;
        for (std::size_t n = 1; n < replicas.size(); ++n) {
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                sum.proposed[kind] += replicas[n].counts.proposed[kind];
                sum.accepted[kind] += replicas[n].counts.accepted[kind];
            }
            replicas[n].counts = {};
        }
    }
    void set_settings(const MoveSettings& settings) {
        for (Sampler& replica : replicas) replica.settings = settings;
    }
};

class PoolState final : public State {
public:
    PoolState(const ChainModel& model, const Moves& moves, const TargetFactory& make_targets,
              const PoolOptions& options, std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          options_(options),
          problem_(std::move(problem)),
          seed_(context.seed),
          threads_(resolve_threads(context)) {
        const Index walkers = options.chains * options.rungs;
        for (Index first = 0; first < walkers; first += options.together)
            for (auto& target :
                 make_targets(std::min(options.together, walkers - first), options.replicas))
                targets_.push_back(std::move(target));
        walkers_.resize(static_cast<std::size_t>(walkers));
        for (Index n = 0; n < walkers * options.replicas; ++n) {
            Walker& walker = walkers_[static_cast<std::size_t>(n / options.replicas)];
            walker.rung = n / options.replicas % options.rungs;
            walker.replicas.emplace_back(moves, *targets_[static_cast<std::size_t>(n)], model,
                                         context.seed, n);
        }
        pool_.ladder = Ladder(options.rungs);
        pool_.angles = Array<double, 3>(options.kept, options.chains * options.replicas,
                                        Index{model.hinge_count()});
        pool_.fits = Array<double, 3>(options.kept, options.chains, Index{kFitNumbers});
    }

    /// Each conformation makes the moves up to the next frame; then rungs are exchanged.
    void advance(Index round) {
        if (round == 0) start_all();
        for_each_batch([&](std::span<Walker> batch) {
            move(batch, round * options_.moves);
            for (Walker& walker : batch) {
                walker.add_counts();
                Sampler& first = walker.replicas.front();
                if (round < options_.burn_in) {
                    first.adapt();
                    walker.set_settings(first.settings);
                }
                if (round + 1 == options_.burn_in) first.counts = {};
                for (Sampler& replica : walker.replicas) replica.refresh();
            }
        });
        for (Index chain = 0; chain < options_.chains; ++chain) swap_rungs(chain, round);
        if (round < options_.burn_in && (round + 1) % kAdaptEvery == 0) pool_.ladder.adapt(round);
        if (round + 1 == options_.burn_in) pool_.ladder.reset_counts();
        for (Walker& walker : walkers_) walker.set_beta(beta_of(walker));
        if (round >= options_.burn_in) keep(round - options_.burn_in);
        rounds_ = round + 1;
    }

    Pool finish() {
        for (const Walker& walker : walkers_)
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                pool_.proposed[kind] += walker.replicas.front().counts.proposed[kind];
                pool_.accepted[kind] += walker.replicas.front().counts.accepted[kind];
            }
        return std::move(pool_);
    }

    std::string problem() const override { return problem_; }
    std::int64_t bytes() const override {
        return static_cast<std::int64_t>(pool_.angles.bytes() + pool_.fits.bytes());
    }
    void save(NpzWriter& file) const override {
        std::vector<double> angles, widths;
        std::vector<std::int64_t> counts, rungs;
        for (const Walker& walker : walkers_) {
            for (const Sampler& replica : walker.replicas) {
                const std::vector<double>& at = replica.conformation().angles();
                angles.insert(angles.end(), at.begin(), at.end());
            }
            const Sampler& sampler = walker.replicas.front();
            widths.insert(widths.end(),
                          {sampler.settings.pivot_width, sampler.settings.crankshaft_width});
            counts.insert(counts.end(), sampler.counts.proposed.begin(),
                          sampler.counts.proposed.end());
            counts.insert(counts.end(), sampler.counts.accepted.begin(),
                          sampler.counts.accepted.end());
            rungs.push_back(walker.rung);
        }
        const auto add = [&](const char* name, const auto& values) {
            file.add(name, values.data(), {static_cast<Index>(values.size())});
        };
        file.add_scalar("rounds", rounds_);
        add("angles", angles);
        add("widths", widths);
        add("counts", counts);
        add("rungs", rungs);
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
                   widths = doubles("widths", walkers * 2),
                   kept = doubles("kept", kept_rounds() * options_.chains * of_walker),
                   fits = doubles("fits", kept_rounds() * options_.chains * kFitNumbers);
        const auto counts = integers("counts", walkers * 2 * kMoveKinds),
                   rungs = integers("rungs", walkers);
        pool_.ladder.betas = doubles("betas", options_.rungs);
        pool_.ladder.sums = doubles("swap_sums", options_.rungs);
        pool_.ladder.numbers = doubles("swap_numbers", options_.rungs);
        for (std::size_t n = 0; n < walkers_.size(); ++n) {
            Walker& walker = walkers_[n];
            walker.rung = std::clamp<Index>(rungs[n], 0, options_.rungs - 1);
            Sampler& first = walker.replicas.front();
            first.settings.pivot_width = widths[2 * n];
            first.settings.crankshaft_width = widths[2 * n + 1];
            walker.set_settings(first.settings);
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                const std::size_t at = n * 2 * kMoveKinds + kind;
                first.counts.proposed[kind] = counts[at];
                first.counts.accepted[kind] = counts[at + kMoveKinds];
            }
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
    /// Calls `use(walkers)` for those that are computed together, batches beside one another.
    template <class Use>
    void for_each_batch(const Use& use) {
        const Index count = static_cast<Index>(walkers_.size());
        parallel_for(threads_, (count + options_.together - 1) / options_.together,
                     [&](Index batch, int) {
                         const Index first = batch * options_.together;
                         use(std::span(walkers_).subspan(
                             static_cast<std::size_t>(first),
                             static_cast<std::size_t>(std::min(options_.together, count - first))));
                     });
    }
    /// Starts all conformations from `angles_of(number)`.
    template <class AnglesOf>
    void start(const AnglesOf& angles_of) {
        for_each_batch([&](std::span<Walker> batch) {
            const Index before = (batch.data() - walkers_.data()) * options_.replicas;
            for (std::size_t n = 0; n < batch.size(); ++n) {
                batch[n].set_beta(beta_of(batch[n]));
                for (std::size_t r = 0; r < batch[n].replicas.size(); ++r)
                    batch[n].replicas[r].start(
                        angles_of(before + static_cast<Index>(n * batch[n].replicas.size() + r)));
            }
            for (Walker& walker : batch)
                for (Sampler& replica : walker.replicas) replica.refresh();
        });
    }
    void start_all() {
        start([&](Index n) { return find_start(model_, moves_, StericOptions{}, seed_, n); });
    }
    /// One replica of each walker moves at a time, so that each sees what the others did.
    void move(std::span<Walker> batch, Index first) const {
        std::vector<Sampler*> proposing;
        for (Index number = first; number < first + options_.moves; ++number)
            for (std::size_t replica = 0; replica < batch.front().replicas.size(); ++replica) {
                proposing.clear();
                for (Walker& walker : batch)
                    if (walker.replicas[replica].propose(number))
                        proposing.push_back(&walker.replicas[replica]);
                for (Sampler* const sampler : proposing) sampler->decide();
            }
    }
    double beta_of(const Walker& walker) const {
        return pool_.ladder.betas[static_cast<std::size_t>(walker.rung)];
    }
    Index kept_rounds() const {
        return std::clamp(rounds_ - options_.burn_in, Index{0}, options_.kept);
    }

    Walker& walker_at(Index chain, Index rung) {
        auto n = static_cast<std::size_t>(chain * options_.rungs);
        while (walkers_[n].rung != rung) ++n;
        return walkers_[n];
    }

    /// Even and odd pairs of neighbouring rungs in turn. Widths and counts stay with the rung.
    void swap_rungs(Index chain, Index round) {
        Random random(seed_, chain, round, Random::kSwaps);
        for (Index rung = round % 2; rung + 1 < options_.rungs; rung += 2) {
            Walker &lower = walker_at(chain, rung), &upper = walker_at(chain, rung + 1);
            const double probability = pool_.ladder.swap_probability(
                rung, lower.target().log_likelihood(), upper.target().log_likelihood());
            pool_.ladder.count(rung, probability);
            if (random.uniform() >= probability) continue;
            std::swap(lower.rung, upper.rung);
            std::swap(lower.replicas.front().counts, upper.replicas.front().counts);
            const MoveSettings settings = lower.replicas.front().settings;
            lower.set_settings(upper.replicas.front().settings);
            upper.set_settings(settings);
        }
    }

    void keep(Index frame) {
        for (Index chain = 0; chain < options_.chains; ++chain) {
            const Walker& walker = walker_at(chain, options_.rungs - 1);
            for (Index n = 0; n < options_.replicas; ++n) {
                const std::vector<double>& angles =
                    walker.replicas[static_cast<std::size_t>(n)].conformation().angles();
                std::copy(angles.begin(), angles.end(),
                          &pool_.angles(frame, chain * options_.replicas + n, 0));
            }
            const CurveFit fit = walker.target().fit();
            const ResidualTest test = walker.target().residual_test();
            double* const to = &pool_.fits(frame, chain, 0);
            to[kLogLikelihood] = fit.log_likelihood;
            to[kChi2] = fit.chi2;
            to[kC2] = fit.c2;
            to[kSquares] = test.squares;
            to[kRuns] = test.runs;
        }
    }

    const ChainModel& model_;
    const Moves& moves_;
    const PoolOptions options_;
    const std::string problem_;
    const std::uint64_t seed_;
    const int threads_;
    Index rounds_ = 0;
    TargetBatch targets_;  ///< [walker and replica]
    std::vector<Walker> walkers_;
    Pool pool_;
};

}  // namespace

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
