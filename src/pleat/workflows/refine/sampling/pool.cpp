// Pool: the rounds of the chains, and what is kept and saved of them.
#include "pleat/workflows/refine/sampling/pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::refine {

namespace {

class PoolState final : public State {
public:
    PoolState(const ChainModel& model, const Moves& moves, const PoolOptions& options,
              std::string problem, const Context& context)
        : model_(model),
          moves_(moves),
          options_(options),
          problem_(std::move(problem)),
          context_(context),
          threads_(resolve_threads(context)),
          samplers_(static_cast<std::size_t>(options.chains)),
          rows_(options.chains, model.hinge_count() + kNumbers) {
        pool_.angles = Array<double, 3>(options.kept, options.chains, Index{model.hinge_count()});
    }

    /// Each chain moves until its next frame.
    void advance(Index round) {
        for_each_own([&](Index chain, Sampler& sampler) {
            if (round == 0)
                sampler.start(find_start(model_, moves_, StericOptions{}, context_.seed, chain));
            sampler.run(round * options_.moves, options_.moves);
            if (round < options_.burn_in) adapt(sampler.settings, sampler.counts);
            if (round + 1 == options_.burn_in) sampler.counts = {};
            double* const row = &rows_(chain, 0);
            std::copy_n(sampler.conformation().angles().begin(), model_.hinge_count(), row);
            sampler.counts.write(write_settings(sampler.settings, row + model_.hinge_count()));
        });
        all_gather_rows(context_, rows_.view());
        rounds_ = round + 1;
        if (round < options_.burn_in) return;
        for (Index chain = 0; chain < options_.chains; ++chain)
            std::copy_n(&rows_(chain, 0), model_.hinge_count(),
                        &pool_.angles(round - options_.burn_in, chain, 0));
    }

    Pool finish() {
        for (Index chain = 0; chain < options_.chains; ++chain)
            pool_.moves.add(&rows_(chain, model_.hinge_count() + kMoveWidths));
        return std::move(pool_);
    }

    std::string problem() const override { return problem_; }
    std::int64_t bytes() const override {
        return static_cast<std::int64_t>(pool_.angles.bytes() + rows_.bytes());
    }
    void save(NpzWriter& file) const override {
        file.add_scalar("rounds", rounds_);
        file.add("chains", rows_.data(), {rows_.extent(0), rows_.extent(1)});
        file.add("kept", pool_.angles.data(),
                 {kept_rounds(), options_.chains, model_.hinge_count()});
    }
    void load(const NpzReader& file) override {
        rounds_ = file.integer("rounds");
        const auto read = [&](const char* name, Index count, double* to) {
            const std::vector<double> values = file.get(name).as<double>(name);
            if (std::ssize(values) != count)
                throw InputError("expected the state of as many chains and angles, found another");
            std::copy(values.begin(), values.end(), to);
        };
        read("chains", rows_.size(), rows_.data());
        read("kept", kept_rounds() * options_.chains * model_.hinge_count(), pool_.angles.data());
        for_each_own([&](Index chain, Sampler& sampler) {
            const double* const row = &rows_(chain, 0);
            sampler.start({row, row + model_.hinge_count()});
            sampler.settings = read_settings(row + model_.hinge_count());
            sampler.counts = {};
            sampler.counts.add(row + model_.hinge_count() + kMoveWidths);
        });
    }

private:
    /// A row: angles, widths of moves, and their counts.
    static constexpr Index kNumbers = kMoveWidths + MoveCounts::kNumbers;

    struct Chain {
        StericTarget target;
        Sampler sampler;
        Chain(const PoolState& pool, Index number)
            : target(pool.model_),
              sampler(pool.moves_, target, pool.model_, pool.context_.seed, number) {}
    };

    template <class Use>
    void for_each_own(const Use& use) {
        const RankRows own(context_);
        parallel_for(threads_, own.count_of(options_.chains), [&](Index n, int) {
            std::unique_ptr<Chain>& chain = samplers_[own.row(n)];
            if (!chain) chain = std::make_unique<Chain>(*this, own.row(n));
            use(own.row(n), chain->sampler);
        });
    }
    Index kept_rounds() const {
        return std::clamp(rounds_ - options_.burn_in, Index{0}, options_.kept);
    }

    const ChainModel& model_;
    const Moves& moves_;
    const PoolOptions options_;
    const std::string problem_;
    const Context& context_;
    const int threads_;
    Index rounds_ = 0;
    std::vector<std::unique_ptr<Chain>> samplers_;  ///< [chain], those of this rank
    Array<double, 2> rows_;                         ///< [chain, number], after the last round
    Pool pool_;
};

}  // namespace

Pool sample_pool(const ChainModel& model, const Moves& moves, const PoolOptions& options,
                 const std::string& problem, const Context& context) {
    PoolState state(model, moves, options, problem, context);
    iterate(context, "sample", state, options.burn_in + options.kept, [&](std::int64_t round) {
        state.advance(round);
        return Step{.note = round < options.burn_in ? "burn-in" : ""};
    });
    return state.finish();
}

}  // namespace pleat::refine
