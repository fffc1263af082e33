// Frame source: subsets of frames in memory, or read from a store and centred.
#include "pleat/rmsd/superposition/frame_source.h"

#include <algorithm>
#include <utility>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/common_structure.h"

namespace pleat::rmsd {

namespace {

class MemorySource final : public FrameSource {
public:
    explicit MemorySource(FrameSet frames) : frames_(std::move(frames)) {}
    Index frame_count() const override { return frames_->frame_count(); }
    Index atom_count() const override { return frames_->atom_count(); }
    const Frames* in_memory() const override { return frames_.get(); }
    Frames subset(std::span<const Index> items, int threads) const override {
        const auto count = static_cast<Index>(items.size());
        Frames some = unset_frames(count, atom_count(), frames_->weight);
        parallel_for(threads, count, [&](Index n, int) {
            std::copy_n(frames_->frame(items[n]), 3 * atom_count(), some.frame(n));
            some.square_sum[n] = frames_->square_sum[items[n]];
        });
        return some;
    }
    std::shared_ptr<const FrameSource> narrowed(std::span<const Index> items,
                                                int threads) const override {
        return memory_source(owned(subset(items, threads)));
    }

private:
    FrameSet frames_;
};

class BlockSource final : public FrameSource {
public:
    /// `items`: the frames; empty: all.
    BlockSource(FrameStore store, std::vector<double> weights, std::vector<Index> items,
                int threads, Index block)
        : store_(std::move(store)),
          weights_(std::move(weights)),
          items_(std::move(items)),
          block_(block) {
        common_ = common_structure(subset(averaged_frames(frame_count()), threads), threads);
    }
    Index frame_count() const override {
        return items_.empty() ? store_.frame_count() : static_cast<Index>(items_.size());
    }
    Index atom_count() const override { return store_.atom_count(); }
    Index block() const override { return block_; }
    Frames subset(std::span<const Index> items, int threads) const override {
        const auto count = static_cast<Index>(items.size());
        Frames some = unset_frames(count, atom_count(), total_weight(weights_, atom_count()));
        some.common = common_;
        std::vector<Array<float, 2>> read(static_cast<std::size_t>(std::max(threads, 1)));
        parallel_for(threads, count, [&](Index n, int thread) {
            const Index item = number_of(items[n]);
            Array<float, 2>& xyz = read[static_cast<std::size_t>(thread)];
            if (xyz.size() == 0) xyz = Array<float, 2>::unset(atom_count(), Index{3});
            store_.read(item * xyz.size(), xyz.size(), xyz.data());
            some.square_sum[n] = centre_frame(xyz, item, weights_, some.weight, some.frame(n));
        });
        return some;
    }
    std::shared_ptr<const FrameSource> narrowed(std::span<const Index> items,
                                                int threads) const override {
        if (static_cast<Index>(items.size()) > block_) {
            std::vector<Index> numbers;
            for (const Index item : items) numbers.push_back(number_of(item));
            return std::make_shared<const BlockSource>(store_, weights_, std::move(numbers),
                                                       threads, block_);
        }
        Frames some = subset(items, threads);
        some.common.clear();
        return memory_source(owned(std::move(some)));
    }

private:
    Index number_of(Index item) const { return items_.empty() ? item : items_[item]; }

    FrameStore store_;
    std::vector<double> weights_;
    std::vector<Index> items_;
    Index block_;
    std::vector<double> common_;
};

}  // namespace

std::shared_ptr<const FrameSource> memory_source(FrameSet frames) {
    return std::make_shared<const MemorySource>(std::move(frames));
}

std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads, Index block) {
    if (!store.is_on_disk()) check_coordinates(store.in_memory());
    return std::make_shared<const BlockSource>(std::move(store), std::move(weights),
                                               std::vector<Index>(), threads, block);
}

std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads) {
    const Index block = block_frames(store.atom_count());
    return block_source(std::move(store), std::move(weights), threads, block);
}

Index block_frames(Index atoms) {
    constexpr Index kBytes = Index{256} << 20, kStep = 256;  // columns of the CPU kernel's blocks
    return std::max(kStep, kBytes / (72 * atoms) / kStep * kStep);
}

}  // namespace pleat::rmsd
