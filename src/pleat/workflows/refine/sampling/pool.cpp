// Pool: chains on threads, their swaps, and what a checkpoint keeps of them.
#include "pleat/workflows/refine/sampling/pool.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::refine {

namespace {

constexpr Index kFitNumbers = 3;
constexpr Index kAdaptEvery = 5;  // rounds of burn-in

/// One conformation of a chain, with its own target. Rungs are exchanged, not conformations.
struct Walker {
    Walker(const ChainModel& model, const Moves& moves, std::unique_ptr<Target> its_target,
           std::uint64_t seed, Index number, Index at_rung)
        : target(std::move(its_target)),
          sampler(moves, *target, model, seed, number),
          rung(at_rung) {}
    std::unique_ptr<Target> target;
    Sampler sampler;
    Index rung;
};

class PoolState final : public State {
public:
    PoolState(const ChainModel& model, const Moves& moves, const TargetFactory& make_target,
              const PoolOptions& options, std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          options_(options),
          problem_(std::move(problem)),
          seed_(context.seed),
          threads_(resolve_threads(context)) {
        for (Index n = 0; n < options.chains * options.rungs; ++n)
            walkers_.push_back(std::make_unique<Walker>(model, moves, make_target(), context.seed,
                                                        n, n % options.rungs));
        pool_.ladder = Ladder(options.rungs);
        pool_.angles = Array<double, 3>(options.kept, options.chains, Index{model.hinge_count()});
        pool_.fits = Array<double, 3>(options.kept, options.chains, kFitNumbers);
    }

    /// Each conformation makes the moves up to the next frame; then rungs are exchanged.
    void advance(Index round) {
        parallel_for(threads_, static_cast<Index>(walkers_.size()), [&](Index n, int) {
            Walker& walker = *walkers_[static_cast<std::size_t>(n)];
            if (round == 0) {
                walker.target->set_beta(beta_of(walker));
                walker.sampler.start(find_start(model_, moves_, StericOptions{}, seed_, n));
            }
            walker.sampler.run(round * options_.moves, options_.moves);
            if (round < options_.burn_in) walker.sampler.adapt();
            if (round + 1 == options_.burn_in) walker.sampler.counts = {};
            walker.sampler.refresh();
        });
        for (Index chain = 0; chain < options_.chains; ++chain) swap_rungs(chain, round);
        if (round < options_.burn_in && (round + 1) % kAdaptEvery == 0) pool_.ladder.adapt(round);
        if (round + 1 == options_.burn_in) pool_.ladder.reset_counts();
        for (const auto& walker : walkers_) walker->sampler.set_beta(beta_of(*walker));
        if (round >= options_.burn_in) keep(round - options_.burn_in);
        rounds_ = round + 1;
    }

    Pool finish() {
        for (const auto& walker : walkers_)
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                pool_.proposed[kind] += walker->sampler.counts.proposed[kind];
                pool_.accepted[kind] += walker->sampler.counts.accepted[kind];
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
        for (const auto& walker : walkers_) {
            const Sampler& sampler = walker->sampler;
            const std::vector<double>& at = sampler.conformation().angles();
            angles.insert(angles.end(), at.begin(), at.end());
            widths.insert(widths.end(),
                          {sampler.settings.pivot_width, sampler.settings.crankshaft_width});
            counts.insert(counts.end(), sampler.counts.proposed.begin(),
                          sampler.counts.proposed.end());
            counts.insert(counts.end(), sampler.counts.accepted.begin(),
                          sampler.counts.accepted.end());
            rungs.push_back(walker->rung);
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
        file.add("kept", pool_.angles.data(), {kept, options_.chains, model_.hinge_count()});
        file.add("fits", pool_.fits.data(), {kept, options_.chains, kFitNumbers});
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
        const auto angles = doubles("angles", walkers * hinges),
                   widths = doubles("widths", walkers * 2),
                   kept = doubles("kept", kept_rounds() * options_.chains * hinges),
                   fits = doubles("fits", kept_rounds() * options_.chains * kFitNumbers);
        const auto counts = integers("counts", walkers * 2 * kMoveKinds),
                   rungs = integers("rungs", walkers);
        pool_.ladder.betas = doubles("betas", options_.rungs);
        pool_.ladder.sums = doubles("swap_sums", options_.rungs);
        pool_.ladder.numbers = doubles("swap_numbers", options_.rungs);
        for (Index n = 0; n < walkers; ++n) {
            Walker& walker = *walkers_[static_cast<std::size_t>(n)];
            walker.rung =
                std::clamp<Index>(rungs[static_cast<std::size_t>(n)], 0, options_.rungs - 1);
            walker.target->set_beta(beta_of(walker));
            const auto first = angles.begin() + n * hinges;
            walker.sampler.start({first, first + hinges});
            walker.sampler.settings.pivot_width = widths[static_cast<std::size_t>(2 * n)];
            walker.sampler.settings.crankshaft_width = widths[static_cast<std::size_t>(2 * n + 1)];
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                const std::size_t at = static_cast<std::size_t>(n) * 2 * kMoveKinds + kind;
                walker.sampler.counts.proposed[kind] = counts[at];
                walker.sampler.counts.accepted[kind] = counts[at + kMoveKinds];
            }
        }
        std::copy(kept.begin(), kept.end(), pool_.angles.begin());
        std::copy(fits.begin(), fits.end(), pool_.fits.begin());
    }

private:
    static void expect_size(std::size_t found, Index expected) {
        if (static_cast<Index>(found) != expected)
            throw InputError("expected the state of as many chains and angles, found another");
    }
    double beta_of(const Walker& walker) const {
        return pool_.ladder.betas[static_cast<std::size_t>(walker.rung)];
    }
    Index kept_rounds() const {
        return std::clamp(rounds_ - options_.burn_in, Index{0}, options_.kept);
    }

    Walker& walker_at(Index chain, Index rung) {
        Index n = chain * options_.rungs;
        while (walkers_[static_cast<std::size_t>(n)]->rung != rung) ++n;
        return *walkers_[static_cast<std::size_t>(n)];
    }

    /// Even and odd pairs of neighbouring rungs in turn. Widths and counts stay with the rung.
    void swap_rungs(Index chain, Index round) {
        Random random(seed_, chain, round, Random::kSwaps);
        for (Index rung = round % 2; rung + 1 < options_.rungs; rung += 2) {
            Walker &lower = walker_at(chain, rung), &upper = walker_at(chain, rung + 1);
            const double probability = pool_.ladder.swap_probability(
                rung, lower.sampler.fit().log_likelihood, upper.sampler.fit().log_likelihood);
            pool_.ladder.count(rung, probability);
            if (random.uniform() >= probability) continue;
            std::swap(lower.rung, upper.rung);
            std::swap(lower.sampler.settings, upper.sampler.settings);
            std::swap(lower.sampler.counts, upper.sampler.counts);
        }
    }

    void keep(Index frame) {
        for (Index chain = 0; chain < options_.chains; ++chain) {
            const Sampler& sampler = walker_at(chain, options_.rungs - 1).sampler;
            const std::vector<double>& angles = sampler.conformation().angles();
            std::copy(angles.begin(), angles.end(), &pool_.angles(frame, chain, 0));
            const CurveFit fit = sampler.fit();
            pool_.fits(frame, chain, 0) = fit.log_likelihood;
            pool_.fits(frame, chain, 1) = fit.chi2;
            pool_.fits(frame, chain, 2) = fit.c2;
        }
    }

    const ChainModel& model_;
    const Moves& moves_;
    const PoolOptions options_;
    const std::string problem_;
    const std::uint64_t seed_;
    const int threads_;
    Index rounds_ = 0;
    std::vector<std::unique_ptr<Walker>> walkers_;
    Pool pool_;
};

}  // namespace

Pool sample_pool(const ChainModel& model, const Moves& moves, const TargetFactory& make_target,
                 const PoolOptions& options, const std::string& problem, const Context& context) {
    PoolState state(model, moves, make_target, options, problem, context);
    const Index rounds = options.burn_in + options.kept;
    iterate(context, "sample", state, rounds, [&](std::int64_t round) {
        state.advance(round);
        return Step{.note = round < options.burn_in ? "burn-in" : ""};
    });
    return state.finish();
}

}  // namespace pleat::refine
