// Neighbours: bits of bands compared with a cut-off, and mirrored below the diagonal by blocks.
#include "pleat/cluster/distances/neighbours.h"

#include <algorithm>
#include <bit>

#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

/// How values are compared: below `least` they are neighbours, from `most` on they are none.
struct Comparison {
    const Distances& distances;
    double cutoff;
    float least, most;

    Comparison(const Distances& from, double cut) : distances(from), cutoff(cut) {
        const double doubt = from.doubt(cut);
        least = static_cast<float>(cut - doubt);
        most = static_cast<float>(cut + doubt);
    }

    /// Bits of up to 64 values, those of item i with `first`, `first` + 1, ...
    std::uint64_t word(const float* values, Index count, Index i, Index first) const {
        std::uint64_t sure = 0, possible = 0;
        for (Index n = 0; n < count; ++n) {
            sure |= static_cast<std::uint64_t>(values[n] < least) << n;
            possible |= static_cast<std::uint64_t>(values[n] < most) << n;
        }
        for (std::uint64_t doubtful = possible & ~sure; doubtful != 0; doubtful &= doubtful - 1) {
            const Index n = std::countr_zero(doubtful);
            if (distances.is_below(i, first + n, cutoff)) sure |= std::uint64_t{1} << n;
        }
        return sure;
    }
};

/// A block of 64 x 64 bits with rows and columns exchanged: bit r of word c is bit c of word r.
void transpose(std::uint64_t (&block)[64]) {
    std::uint64_t mask = 0x00000000ffffffff;
    for (int size = 32; size > 0; size /= 2, mask ^= mask << size) {
        for (int k = 0; k < 64; k = (k + size + 1) & ~size) {
            const std::uint64_t moved = ((block[k] >> size) ^ block[k + size]) & mask;
            block[k] ^= moved << size;
            block[k + size] ^= moved;
        }
    }
}

class KeptNeighbours final : public Neighbours {
public:
    KeptNeighbours(Array<std::uint64_t, 2> bits, std::vector<std::int32_t> degrees)
        : bits_(std::move(bits)) {
        degrees_ = std::move(degrees);
    }
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        for (const Index item : items) visit(item, bits_[item].data);
    }
    /// So many that their copies take a few megabytes.
    Index batch() const override { return std::clamp<Index>(2'000'000 / words(), 16, 1024); }

private:
    Array<std::uint64_t, 2> bits_;
};

class ComputedNeighbours final : public Neighbours {
public:
    ComputedNeighbours(const Comparison& comparison, std::vector<std::int32_t> degrees, int threads)
        : comparison_(comparison), threads_(threads) {
        degrees_ = std::move(degrees);
    }
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        const Index all = count();
        for (std::size_t first = 0; first < items.size();) {
            const auto part =
                items.subspan(first, std::min<std::size_t>(batch(), items.size() - first));
            const auto rows = static_cast<Index>(part.size());
            auto values = Array<float, 2>::unset(rows, all);
            comparison_.distances.rows(part, values.data());
            Array<std::uint64_t, 2> bits(rows, words());
            parallel_for(threads_, rows, [&](Index n, int) {
                for (Index word = 0; word < words(); ++word) {
                    const Index column = 64 * word;
                    bits(n, word) =
                        comparison_.word(values[n].data + column, std::min<Index>(64, all - column),
                                         part[n], column);
                }
            });
            for (Index n = 0; n < rows; ++n) visit(part[n], bits[n].data);
            first += part.size();
        }
    }
    /// About 64 MB of values, and as many rows as a band has.
    Index batch() const override { return std::clamp<Index>(16'000'000 / count(), 16, 960); }

private:
    Comparison comparison_;
    int threads_;
};

/// Rows of bits are made from a list when they are shown.
class ListedNeighbours final : public Neighbours {
public:
    explicit ListedNeighbours(NeighbourList list) : list_(std::move(list)) {
        const std::size_t items = list_.starts.size() - 1;
        degrees_.reserve(items);
        for (std::size_t i = 0; i < items; ++i)
            degrees_.push_back(static_cast<std::int32_t>(list_.starts[i + 1] - list_.starts[i]) +
                               1);
    }
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        std::vector<std::uint64_t> bits(static_cast<std::size_t>(words()));
        const auto flip = [&](Index item) { bits[item / 64] ^= std::uint64_t{1} << item % 64; };
        for (const Index item : items) {
            const auto flip_row = [&] {
                flip(item);
                for (std::int64_t n = list_.starts[item]; n < list_.starts[item + 1]; ++n)
                    flip(list_.indices[static_cast<std::size_t>(n)]);
            };
            flip_row();
            visit(item, bits.data());
            flip_row();
        }
    }
    Index batch() const override { return std::clamp<Index>(2'000'000 / words(), 16, 1024); }

private:
    NeighbourList list_;
};

}  // namespace

struct NeighbourFinder::State {
    Comparison comparison;
    Index count;
    int threads;
    bool keeps;
    Array<std::uint64_t, 2> bits;  ///< where they are kept: [item, word]
    std::vector<std::vector<std::int32_t>>
        earlier;  ///< else: neighbours before an item, a thread each
    std::vector<std::int32_t> degrees;

    Index words() const { return (count + 63) / 64; }
    void keep_row(Index i, const float* values);
    void count_row(Index i, const float* values, std::vector<std::int32_t>& earlier);
    void mirror();
};

void NeighbourFinder::State::keep_row(Index i, const float* values) {
    const auto row = bits[i];
    row[i / 64] |= std::uint64_t{1} << i % 64;
    for (Index j = i + 1; j < count;) {
        const Index many = std::min(count, (j / 64 + 1) * 64) - j;
        row[j / 64] |= comparison.word(values + j - i - 1, many, i, j) << j % 64;
        j += many;
    }
}

void NeighbourFinder::State::count_row(Index i, const float* values,
                                       std::vector<std::int32_t>& earlier_of) {
    std::int32_t found = 1;
    for (Index j = i + 1; j < count; j += 64) {
        std::uint64_t word =
            comparison.word(values + j - i - 1, std::min<Index>(64, count - j), i, j);
        found += std::popcount(word);
        for (; word != 0; word &= word - 1) ++earlier_of[j + std::countr_zero(word)];
    }
    degrees[i] += found;
}

/// Sets the bits (j, i) of all pairs i < j, and counts.
void NeighbourFinder::State::mirror() {
    parallel_for(threads, words(), [&](Index to, int) {
        const Index first = 64 * to, rows = std::min<Index>(64, count - first);
        for (Index from = 0; from <= to; ++from) {
            std::uint64_t block[64] = {};
            const Index sources = std::min<Index>(64, count - 64 * from);
            for (Index n = 0; n < sources; ++n) block[n] = bits(64 * from + n, to);
            transpose(block);
            for (Index n = 0; n < rows; ++n) bits(first + n, from) |= block[n];
        }
    });
    parallel_for(threads, count, [&](Index i, int) {
        std::int32_t found = 0;
        for (const std::uint64_t word : bits[i]) found += std::popcount(word);
        degrees[i] = found;
    });
}

std::unique_ptr<Neighbours> make_neighbours(NeighbourList list) {
    return std::make_unique<ListedNeighbours>(std::move(list));
}

NeighbourFinder::NeighbourFinder(const Distances& distances, double cutoff, int threads,
                                 std::int64_t most_bytes)
    : state_(
          new State{Comparison(distances, cutoff), distances.count(), threads, false, {}, {}, {}}) {
    state_->keeps = 8 * state_->count * state_->words() <= most_bytes;
    state_->degrees.assign(static_cast<std::size_t>(state_->count), 0);
    if (state_->keeps)
        state_->bits = Array<std::uint64_t, 2>(state_->count, state_->words());
    else
        state_->earlier.assign(static_cast<std::size_t>(threads), state_->degrees);
}

NeighbourFinder::~NeighbourFinder() = default;

void NeighbourFinder::add(Block rows, const float* distances) {
    const Index before = pairs_before(rows.first, state_->count);
    parallel_for(state_->threads, rows.count, [&](Index n, int thread) {
        const Index i = rows.first + n;
        const float* const values = distances + pairs_before(i, state_->count) - before;
        if (state_->keeps)
            state_->keep_row(i, values);
        else
            state_->count_row(i, values, state_->earlier[thread]);
    });
}

std::unique_ptr<Neighbours> NeighbourFinder::finish() {
    State& state = *state_;
    if (state.count == 1) state.degrees[0] = 1;  // no band has it
    if (!state.keeps) {
        for (const std::vector<std::int32_t>& part : state.earlier)
            for (Index i = 0; i < state.count; ++i) state.degrees[i] += part[i];
        // The last item begins no pair, and a band may leave it out.
        std::int32_t last = 1;
        for (const std::vector<std::int32_t>& part : state.earlier) last += part.back();
        state.degrees.back() = last;
        return std::make_unique<ComputedNeighbours>(state.comparison, std::move(state.degrees),
                                                    state.threads);
    }
    const Index last = state.count - 1;
    state.bits(last, last / 64) |= std::uint64_t{1} << last % 64;
    state.mirror();
    return std::make_unique<KeptNeighbours>(std::move(state.bits), std::move(state.degrees));
}

std::unique_ptr<Neighbours> find_neighbours(const Distances& distances, double cutoff,
                                            const Context& context, std::int64_t most_bytes) {
    NeighbourFinder finder(distances, cutoff, resolve_threads(context), most_bytes);
    distances.for_each_band("neighbours",
                            [&](Block rows, const float* values) { finder.add(rows, values); });
    return finder.finish();
}

}  // namespace pleat::cluster
