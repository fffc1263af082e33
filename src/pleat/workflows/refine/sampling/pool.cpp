// Pool: chains on threads, and what a checkpoint keeps of them.
#include "pleat/workflows/refine/sampling/pool.h"

#include <algorithm>
#include <memory>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::refine {

namespace {

/// A chain with its own target.
struct Walker {
    Walker(const ChainModel& model, const Moves& moves, std::uint64_t seed, Index chain)
        : target(model), sampler(moves, target, model, seed, chain) {}
    StericTarget target;
    Sampler sampler;
};

class PoolState final : public State {
public:
    PoolState(const ChainModel& model, const Moves& moves, const PoolOptions& options,
              std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          options_(options),
          problem_(std::move(problem)),
          seed_(context.seed),
          threads_(resolve_threads(context)) {
        for (Index chain = 0; chain < options.chains; ++chain)
            walkers_.push_back(std::make_unique<Walker>(model, moves, context.seed, chain));
        pool_.angles = Array<double, 3>(options.kept, options.chains, Index{model.hinge_count()});
    }

    /// Each chain makes the moves up to its next frame.
    void advance(Index round) {
        parallel_for(threads_, options_.chains, [&](Index chain, int) {
            Sampler& sampler = walkers_[static_cast<std::size_t>(chain)]->sampler;
            if (round == 0)
                sampler.start(find_start(model_, moves_, StericOptions{}, seed_, chain));
            sampler.run(round * options_.moves, options_.moves);
            if (round < options_.burn_in) {
                sampler.adapt();
                if (round + 1 == options_.burn_in) sampler.counts = {};
            } else {
                const std::vector<double>& angles = sampler.conformation().angles();
                std::copy(angles.begin(), angles.end(),
                          &pool_.angles(round - options_.burn_in, chain, 0));
            }
        });
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
    std::int64_t bytes() const override { return static_cast<std::int64_t>(pool_.angles.bytes()); }
    void save(NpzWriter& file) const override {
        const Index hinges = model_.hinge_count();
        Array<double, 2> angles(options_.chains, hinges), widths(options_.chains, Index{2});
        Array<std::int64_t, 2> counts(options_.chains, Index{2 * kMoveKinds});
        for (Index chain = 0; chain < options_.chains; ++chain) {
            const Sampler& sampler = walkers_[static_cast<std::size_t>(chain)]->sampler;
            const std::vector<double>& at = sampler.conformation().angles();
            std::copy(at.begin(), at.end(), angles.view()[chain].data);
            widths(chain, 0) = sampler.settings.pivot_width;
            widths(chain, 1) = sampler.settings.crankshaft_width;
            for (Index kind = 0; kind < kMoveKinds; ++kind) {
                counts(chain, kind) = sampler.counts.proposed[static_cast<std::size_t>(kind)];
                counts(chain, kMoveKinds + kind) =
                    sampler.counts.accepted[static_cast<std::size_t>(kind)];
            }
        }
        file.add_scalar("rounds", rounds_);
        file.add("angles", angles.view());
        file.add("widths", widths.view());
        file.add("counts", counts.view());
        const Index kept = kept_rounds();
        file.add("kept", pool_.angles.data(), {kept, options_.chains, hinges});
    }
    void load(const NpzReader& file) override {
        rounds_ = file.integer("rounds");
        const Index hinges = model_.hinge_count();
        const auto angles = file.get("angles").as<double>("angles"),
                   widths = file.get("widths").as<double>("widths"),
                   kept = file.get("kept").as<double>("kept");
        const auto counts = file.get("counts").as<std::int64_t>("counts");
        const auto expect = [](std::size_t found, Index expected) {
            if (static_cast<Index>(found) != expected)
                throw InputError("expected the state of as many chains and angles, found another");
        };
        expect(angles.size(), options_.chains * hinges);
        expect(widths.size(), options_.chains * 2);
        expect(counts.size(), options_.chains * 2 * kMoveKinds);
        expect(kept.size(), kept_rounds() * options_.chains * hinges);
        for (Index chain = 0; chain < options_.chains; ++chain) {
            Sampler& sampler = walkers_[static_cast<std::size_t>(chain)]->sampler;
            const auto first = angles.begin() + chain * hinges;
            sampler.start({first, first + hinges});
            sampler.settings.pivot_width = widths[static_cast<std::size_t>(2 * chain)];
            sampler.settings.crankshaft_width = widths[static_cast<std::size_t>(2 * chain + 1)];
            for (std::size_t kind = 0; kind < kMoveKinds; ++kind) {
                const std::size_t at = static_cast<std::size_t>(chain) * 2 * kMoveKinds + kind;
                sampler.counts.proposed[kind] = counts[at];
                sampler.counts.accepted[kind] = counts[at + kMoveKinds];
            }
        }
        std::copy(kept.begin(), kept.end(), pool_.angles.begin());
    }

private:
    Index kept_rounds() const {
        return std::clamp(rounds_ - options_.burn_in, Index{0}, options_.kept);
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

Pool sample_pool(const ChainModel& model, const Moves& moves, const PoolOptions& options,
                 const std::string& problem, const Context& context) {
    PoolState state(model, moves, options, problem, context);
    const Index rounds = options.burn_in + options.kept;
    iterate(context, "sample", state, rounds, [&](std::int64_t round) {
        state.advance(round);
        return Step{.note = round < options.burn_in ? "burn-in" : ""};
    });
    return state.finish();
}

}  // namespace pleat::refine
