// The choice of a kernel for rmsd; rows that stay, columns that are read block by block.
#include "pleat/rmsd/kernel/kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/cuda/tile_pack.h"
#include "pleat/rmsd/kernel/pair_block.h"
#include "pleat/rmsd/measures/comparison.h"

namespace pleat::rmsd {

namespace {

// Fewer frames are not worth the copies and launches of a GPU.
constexpr Index kMinOnGpu = 1000;
constexpr Index kMaxRows = 960;
// Pairs that a GPU computes at once.
constexpr Index kGpuPairs = Index{1} << 26;

bool has_gpu(const Context& context) { return context.device.kind == Device::Kind::cuda; }

std::vector<Index> joined(std::span<const Index> first, std::span<const Index> second) {
    std::vector<Index> all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

/// On a GPU all pairs of the rows with all later frames are computed, those among rows included.
void superpose_on_gpu(const Problem& some, Index rows, const Context& context, float* values,
                      Index stride) {
    const std::unique_ptr<Kernel> kernel = kernel_for(some, context);
    const Index count = some.frames->frame_count(), columns = count - rows;
    const Index height = std::max<Index>(1, kGpuPairs / count);
    std::vector<float> band;
    for (Index row = 0; row < rows; row += height) {
        const Block block{row, std::min(height, rows - row)};
        band.resize(pairs_before(row + block.count, count) - pairs_before(row, count));
        kernel->band(block, band.data());
        const float* at = band.data();
        for (Index n = row; n < row + block.count; ++n) {
            std::copy_n(at + rows - n - 1, columns, values + n * stride);
            at += count - 1 - n;
        }
    }
}

class BlockKernel final : public Kernel {
public:
    BlockKernel(const Problem& problem, const Context& context)
        : problem_(problem), source_(*problem_.source), context_(context) {}

    void band(Block rows, float* values) override {
        const std::vector<Index> own = consecutive(rows.first, rows.count);
        among_rows(own, values);
        const Index end = rows.first + rows.count, step = source_.block();
        std::vector<Block> blocks;
        for (Index first = end; first < count(); first += blocks.back().count)
            blocks.push_back({first, std::min(first / step * step + step, count()) - first});
        if (is_backwards_) std::ranges::reverse(blocks);
        is_backwards_ = !is_backwards_;
        std::vector<float> found;
        for (const Block& block : blocks) {
            throw_if_cancelled(context_, "superpose");
            found.resize(rows.count * block.count);
            superpose_between(problem_, own, consecutive(block.first, block.count), context_,
                              found.data(), block.count);
            for (Index n = 0; n < rows.count; ++n)
                std::copy_n(found.data() + n * block.count, block.count,
                            values + offset(rows, rows.first + n, block.first));
        }
    }

private:
    Index count() const { return source_.frame_count(); }
    /// The position of the pair (i, j) in a band.
    Index offset(Block rows, Index i, Index j) const {
        return pairs_before(i, count()) - pairs_before(rows.first, count()) + j - i - 1;
    }

    void among_rows(const std::vector<Index>& own, float* values) {
        const auto many = std::ssize(own);
        const Block rows{own.front(), many};
        if (many < 2) return;
        const Frames some = source_.subset(own, resolve_threads(context_));
        std::vector<float> pairs(pairs_before(many, many));
        kernel_for(problem_.of(some), context_)->band({0, many}, pairs.data());
        for (Index n = 0; n + 1 < many; ++n)
            std::copy_n(pairs.data() + pairs_before(n, many), many - 1 - n,
                        values + offset(rows, own[n], own[n] + 1));
    }

    Problem problem_;
    const FrameSource& source_;
    Context context_;
    bool is_backwards_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context) {
    if (problem.frames == nullptr && !copies_frames_to_gpu(problem.precision, context))
        return std::make_unique<BlockKernel>(problem, context);
    switch (context.device.kind) {
        case Device::Kind::reference: return make_reference_kernel(problem);
        case Device::Kind::cpu: break;
        case Device::Kind::cuda: return make_cuda_kernel(problem, context);
    }
    return make_cpu_kernel(problem, context);
}

std::unique_ptr<Kernel> kernel_for(const Problem& some, const Context& context) {
    if (has_gpu(context) && some.frames->frame_count() < kMinOnGpu)
        return make_cpu_kernel(some, context);
    return make_kernel(some, context);
}

bool copies_frames_to_gpu(FitPrecision precision, const Context& context) {
    return has_gpu(context) && precision == FitPrecision::mixed;
}

std::int64_t clustering_memory(Index frames, Index atoms) {
    return tile_memory(frames, atoms, TileFormat::half) + gromos_memory(frames, atoms) +
           (std::int64_t{256} << 20);
}

Index block_band_rows(Index frames) {
    constexpr Index kPairs = Index{1} << 28;
    return std::clamp(kPairs / std::max<Index>(frames, 1) / kBlockRows * kBlockRows, kBlockRows,
                      kMaxRows);
}

std::int64_t block_memory(Index frames, Index atoms) {
    const Index columns = std::min(frames, block_frames(atoms)), rows = std::min(frames, kMaxRows);
    return 24 * 3 * atoms * (columns + rows) + 4 * columns * rows + 16 * frames +
           (std::int64_t{16} << 20);
}

void superpose_between(const Problem& problem, std::span<const Index> rows,
                       std::span<const Index> columns, const Context& context, float* values,
                       Index stride) {
    const FrameSource& source = *problem.source;
    const int threads = resolve_threads(context);
    const auto height = std::ssize(rows), width = std::ssize(columns);
    if (has_gpu(context) && height + width >= kMinOnGpu)
        return superpose_on_gpu(problem.of(source.subset(joined(rows, columns), threads)), height,
                                context, values, stride);
    // The comparison has its columns first.
    FrameSet some = owned(source.subset(joined(columns, rows), threads));
    const std::unique_ptr<Comparison> comparison =
        context.device.kind == Device::Kind::reference
            ? make_reference_rmsd(std::move(some), width)
            : make_packed_rmsd(std::move(some), width, problem.precision, problem.cutoff, threads);
    compare(*comparison, {0, height}, {0, width}, threads, values, stride);
}

void superpose_few(const FrameSource& source, std::span<const Index> rows,
                   std::span<const Index> columns, int threads, float* values, Index stride) {
    constexpr Index kChunk = 4 * kPanel;  // frames that stay in the cache
    constexpr double kTolerance = 8e-7;   // angstrom
    const auto width = std::ssize(columns);
    parallel_for(threads, (width + kChunk - 1) / kChunk, [&](Index chunk, int) {
        const Index first = chunk * kChunk, count = std::min(kChunk, width - first);
        const Frames some = source.subset(joined(columns.subspan(first, count), rows), 1);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const Index i = count + static_cast<Index>(row);
            float* const to = values + static_cast<Index>(row) * stride + first;
            for (Index at = 0; at < count; at += kPanel) {
                const int many = static_cast<int>(std::min(kPanel, count - at));
                FramePair pairs[kPanel];
                for (int n = 0; n < many; ++n) pairs[n] = {i, at + n};
                const std::uint32_t doubtful = rmsd_pairs(some, pairs, many, kTolerance, to + at);
                for (int n = 0; n < many; ++n)
                    if ((doubtful >> n & 1) != 0)
                        to[at + n] = static_cast<float>(rmsd_in_float64(some, i, at + n));
            }
        }
    });
}

}  // namespace pleat::rmsd
