// Permuted pairs: the source of RMSDs in place, and over permutations of chains or atoms.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/pairs/pairs_run.h"

namespace pleat::rmsd {

namespace {

class PermutedPairs final : public PairSource {
public:
    PermutedPairs(std::unique_ptr<const Comparison> rmsd, Index count, std::string hash,
                  const Context& context)
        : rmsd_(std::move(rmsd)), count_(count), hash_(std::move(hash)), context_(context) {
        context_.comm = nullptr;
    }

    Index count() const override { return count_; }
    Index band_rows() const override {
        constexpr Index kValues = Index{1} << 24;
        return is_on_gpu() ? std::clamp<Index>(kValues / std::max<Index>(count_, 1), 1, 1024) : 16;
    }
    std::string hash() const override { return hash_; }

    void band(Block rows, float* values) const override {
        const Index before = pairs_before(rows.first, count_);
        if (is_on_gpu()) {
            const Block columns{rows.first, count_ - rows.first};
            std::vector<float> found(static_cast<std::size_t>(rows.count * columns.count));
            rmsd_->block(rows, columns, found.data());
            for (Index n = 0; n < rows.count; ++n)
                std::copy(found.data() + n * columns.count + n + 1,
                          found.data() + (n + 1) * columns.count,
                          values + pairs_before(rows.first + n, count_) - before);
            return;
        }
        parallel_for(resolve_threads(context_), rows.count * count_, [&](Index n, int) {
            const Index i = rows.first + n / count_, j = n % count_;
            if (j > i) values[pairs_before(i, count_) - before + j - i - 1] = at(i, j);
        });
    }

    void rows(std::span<const Index> items, float* values) const override {
        const auto chosen = static_cast<Index>(items.size());
        throw_if_cancelled(context_, "superpose");
        if (is_on_gpu()) {
            for (Index n = 0; n < chosen; ++n)
                row_on_gpu(items[static_cast<std::size_t>(n)], values + n * count_);
            return;
        }
        parallel_for(resolve_threads(context_), chosen * count_, [&](Index n, int) {
            values[n] = at(items[static_cast<std::size_t>(n / count_)], n % count_);
        });
    }

    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        std::vector<float> row, whole(static_cast<std::size_t>(is_on_gpu() ? count_ : 0));
        for (std::size_t a = 0; a + 1 < items.size(); ++a) {
            throw_if_cancelled(context_, "superpose");
            row.resize(items.size() - a - 1);
            if (is_on_gpu()) {
                row_on_gpu(items[a], whole.data());
                for (std::size_t b = 0; b < row.size(); ++b)
                    row[b] = whole[static_cast<std::size_t>(items[a + 1 + b])];
            } else {
                parallel_for(resolve_threads(context_), static_cast<Index>(row.size()),
                             [&](Index n, int) {
                                 const auto b = static_cast<std::size_t>(n);
                                 row[b] = at(items[a], items[a + 1 + b]);
                             });
            }
            visit({static_cast<Index>(a), 1}, row.data());
        }
    }

    /// Every value is that of one order of its frames, so all are the same bits wherever they are
    /// asked for.
    double error(double) const override { return 0.0; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<float>(cutoff);
    }

private:
    bool is_on_gpu() const { return rmsd_->is_on_gpu(); }

    /// The values of one frame with all, each of the earlier frame with the later one.
    void row_on_gpu(Index i, float* values) const {
        if (i > 0) rmsd_->block({0, i}, {i, 1}, values);
        values[i] = 0.0F;
        if (i + 1 < count_) rmsd_->block({i, 1}, {i + 1, count_ - i - 1}, values + i + 1);
    }

    float at(Index i, Index j) const {
        if (i == j) return 0.0F;
        float value = 0.0F;
        rmsd_->block({std::min(i, j), 1}, {std::max(i, j), 1}, &value);
        return value;
    }

    std::unique_ptr<const Comparison> rmsd_;
    Index count_;
    std::string hash_;
    Context context_;
};

}  // namespace

std::unique_ptr<PairSource> permuted_pairs(View<const float, 3> xyz, const AtomSets& sets,
                                           const Parameters& parameters, const Context& context) {
    check_input(xyz, parameters);
    check_sets(sets, xyz.extent(1), parameters);
    require_memory(comparison_memory(xyz.extent(0), xyz.extent(1), Metric::rmsd, true),
                   fmt::format("{} frames of {} atoms", xyz.extent(0), xyz.extent(1)),
                   "take fewer frames or atoms");
    auto rmsd =
        make_comparison({xyz, xyz}, sets, parameters.metric, {parameters.precision}, context);
    const bool is_kept = !context.checkpoint.empty();
    return std::make_unique<PermutedPairs>(
        std::move(rmsd), xyz.extent(0),
        is_kept ? problem_hash(xyz, xyz, sets, parameters, context) : std::string(), context);
}

}  // namespace pleat::rmsd
