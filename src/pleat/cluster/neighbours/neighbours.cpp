// Neighbours: bits of bands compared with a cutoff, and mirrored below the diagonal by blocks.
#include "pleat/cluster/neighbours/neighbours.h"

#include <fmt/format.h>

#include <atomic>
#include <stdexcept>
#include <utility>

#include "pleat/cluster/stage.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/ranks/gather_rows.h"

namespace pleat::cluster {

std::uint64_t Cutoff::word(const float* values, Index count, Index i, Index first) const {
    std::uint64_t sure = 0, possible = 0;
    for (Index n = 0; n < count; ++n) {
        sure |= static_cast<std::uint64_t>(values[n] < lower) << n;
        possible |= static_cast<std::uint64_t>(values[n] < upper) << n;
    }
    for (std::uint64_t doubtful = possible & ~sure; doubtful != 0; doubtful &= doubtful - 1) {
        const Index n = std::countr_zero(doubtful);
        if (distances.is_below(i, first + n, cutoff)) sure |= std::uint64_t{1} << n;
    }
    return sure;
}

namespace {

/// Transposes a block of 64 x 64 bits: bit r of word c becomes bit c of word r.
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

class KeptNeighbours final : public ItemNeighbours {
public:
    KeptNeighbours(Array<std::uint64_t, 2> bits, std::vector<std::int32_t> degrees)
        : bits_(std::move(bits)) {
        neighbour_counts_ = std::move(degrees);
    }
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        for (const Index item : items) visit(item, bits_[item].data);
    }
    /// Rows whose copies take a few megabytes.
    Index batch() const override { return std::clamp<Index>(2'000'000 / words(), 16, 1024); }

private:
    Array<std::uint64_t, 2> bits_;
};

class ComputedNeighbours final : public ItemNeighbours {
public:
    ComputedNeighbours(const Cutoff& cutoff, std::vector<std::int32_t> degrees,
                       const Context& context)
        : cutoff_(cutoff), context_(context) {
        neighbour_counts_ = std::move(degrees);
    }
    /// Ranks share the rows; the neighbour bits of a row are the same, whichever rank computes
    /// them.
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        const RankRows own(context_);
        const Index all = count();
        for (std::size_t first = 0; first < items.size();) {
            const auto asked =
                items.subspan(first, std::min<std::size_t>(batch(), items.size() - first));
            std::vector<Index> computed(own.count_of(static_cast<Index>(asked.size())));
            for (std::size_t n = 0; n < computed.size(); ++n)
                computed[n] = asked[own.row(static_cast<Index>(n))];
            auto values = Array<float, 2>::unset(static_cast<Index>(computed.size()), all);
            if (!computed.empty()) cutoff_.distances.rows(computed, values.data());
            Array<std::uint64_t, 2> bits(static_cast<Index>(asked.size()), words());
            parallel_for(
                resolve_threads(context_), static_cast<Index>(computed.size()), [&](Index n, int) {
                    for (Index word = 0; word < words(); ++word) {
                        const Index column = 64 * word;
                        bits(own.row(n), word) =
                            cutoff_.word(values[n].data + column, std::min<Index>(64, all - column),
                                         computed[n], column);
                    }
                });
            all_gather_rows(context_, bits.view());
            for (std::size_t n = 0; n < asked.size(); ++n)
                visit(asked[n], bits[static_cast<Index>(n)].data);
            first += asked.size();
        }
    }
    /// About 64 MB of values, but not more rows than a band.
    Index batch() const override { return std::clamp<Index>(16'000'000 / count(), 16, 960); }

    bool is_pruned() const override { return cutoff_.distances.is_metric(); }
    std::string hash() const override {
        return Sha256().field(cutoff_.distances.hash()).field(cutoff_.cutoff).hex();
    }

    /// Ranks share the items.
    std::vector<std::uint32_t> around(Index centre, std::span<const Index> items) const override {
        const RankRows share(context_);
        const auto size = static_cast<Index>(items.size());
        std::vector<Index> own;
        for (Index n = 0; n < share.count_of(size); ++n) own.push_back(items[share.row(n)]);
        std::vector<float> values(own.size());
        if (!own.empty()) cutoff_.distances.between({&centre, 1}, own, values.data());
        const double twice = 2 * cutoff_.cutoff;
        // Above the rounding of the cutoff and of three distances.
        const double margin = 3 * cutoff_.distances.error(twice) + 1e-6 * twice;
        std::vector<std::uint32_t> positions(items.size());
        parallel_for(resolve_threads(context_), share.count_of(size), [&](Index n, int) {
            std::uint32_t& position = positions[share.row(n)];
            if (own[n] == centre || cutoff_.is_below(values[n], centre, own[n]))
                position = neighbour;
            else if (values[n] < twice + margin)
                position = within_twice;
        });
        all_gather_rows(context_, View<std::uint32_t, 2>(positions.data(), size, Index{1}));
        return positions;
    }

    /// Ranks share the members.
    std::vector<std::uint32_t> count_member_neighbours(
        std::span<const Index> members, std::span<const Index> others) const override {
        constexpr std::size_t kMembers = 960, kOthers = std::size_t{1} << 14;
        Array<std::uint32_t, 2> counts(Index{context_.ranks()}, static_cast<Index>(others.size()));
        std::uint32_t* const own_counts = counts[context_.rank()].data;
        const auto batches = static_cast<Index>((members.size() + kMembers - 1) / kMembers);
        const RankRows share(context_);
        std::vector<float> values;
        for (Index n = 0; n < share.count_of(batches); ++n) {
            const std::size_t first = static_cast<std::size_t>(share.row(n)) * kMembers;
            const auto own = members.subspan(first, std::min(kMembers, members.size() - first));
            for (std::size_t at = 0; at < others.size(); at += kOthers) {
                const auto some = others.subspan(at, std::min(kOthers, others.size() - at));
                values.resize(own.size() * some.size());
                cutoff_.distances.between(own, some, values.data());
                add_counts(own, some, values.data(), own_counts + at);
            }
        }
        all_gather_rows(context_, counts.view());
        std::vector<std::uint32_t> sums(others.size());
        for (Index rank = 0; rank < counts.extent(0); ++rank)
            for (std::size_t n = 0; n < sums.size(); ++n)
                sums[n] += counts(rank, static_cast<Index>(n));
        return sums;
    }

private:
    void add_counts(std::span<const Index> members, std::span<const Index> others,
                    const float* values, std::uint32_t* counts) const {
        constexpr Index kColumns = 256;
        const auto all = static_cast<Index>(others.size());
        parallel_for(resolve_threads(context_), (all + kColumns - 1) / kColumns,
                     [&](Index chunk, int) {
                         const Index end = std::min(all, (chunk + 1) * kColumns);
                         for (std::size_t row = 0; row < members.size(); ++row)
                             for (Index n = chunk * kColumns; n < end; ++n)
                                 counts[n] += static_cast<std::uint32_t>(
                                     members[row] == others[n] ||
                                     cutoff_.is_below(values[static_cast<Index>(row) * all + n],
                                                      members[row], others[n]));
                     });
    }

    Cutoff cutoff_;
    Context context_;
};

/// Neighbours stored as lists; rows of bits are made from them on demand.
class ListedNeighbours final : public ItemNeighbours {
public:
    ListedNeighbours(std::vector<std::int64_t> starts, std::vector<std::int32_t> indices)
        : starts_(std::move(starts)), indices_(std::move(indices)) {
        for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
            neighbour_counts_.push_back(static_cast<std::int32_t>(starts_[i + 1] - starts_[i]) + 1);
    }
    void visit_rows(std::span<const Index> items, const RowVisitor& visit) const override {
        std::vector<std::uint64_t> bits(static_cast<std::size_t>(words()));
        const auto flip = [&](Index item) { bits[item / 64] ^= std::uint64_t{1} << item % 64; };
        for (const Index item : items) {
            const auto flip_row = [&] {
                flip(item);
                for (std::int64_t n = starts_[item]; n < starts_[item + 1]; ++n) flip(indices_[n]);
            };
            flip_row();
            visit(item, bits.data());
            flip_row();
        }
    }
    Index batch() const override { return std::clamp<Index>(2'000'000 / words(), 16, 1024); }

private:
    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> indices_;
};

}  // namespace

void NeighbourFinder::store_row_bits(Index i, const float* values) {
    const auto row = bits_[i];
    for (Index j = i + 1; j < count_;) {
        const Index many = std::min(count_, (j / 64 + 1) * 64) - j;
        row[j / 64] |= cutoff_.word(values + j - i - 1, many, i, j) << j % 64;
        j += many;
    }
}

void NeighbourFinder::count_row(Index i, const float* values) {
    const auto add = [&](Index item, std::int32_t more) {
        std::atomic_ref(neighbour_counts_[item]).fetch_add(more, std::memory_order_relaxed);
    };
    std::int32_t later = 0;
    for (Index j = i + 1; j < count_; j += 64) {
        std::uint64_t word =
            cutoff_.word(values + j - i - 1, std::min<Index>(64, count_ - j), i, j);
        later += std::popcount(word);
        for (; word != 0; word &= word - 1) add(j + std::countr_zero(word), 1);
    }
    add(i, later);
}

/// Sets the bits (j, i) of all pairs i < j, and counts.
void NeighbourFinder::mirror_bits() {
    parallel_for(threads_, words_, [&](Index to, int) {
        const Index first = 64 * to, rows = std::min<Index>(64, count_ - first);
        for (Index from = 0; from <= to; ++from) {
            std::uint64_t block[64] = {};
            const Index sources = std::min<Index>(64, count_ - 64 * from);
            for (Index n = 0; n < sources; ++n) block[n] = bits_(64 * from + n, to);
            transpose(block);
            for (Index n = 0; n < rows; ++n) bits_(first + n, from) |= block[n];
        }
    });
    parallel_for(threads_, count_, [&](Index i, int) {
        std::int32_t found = 0;
        for (const std::uint64_t word : bits_[i]) found += std::popcount(word);
        neighbour_counts_[i] = found;
    });
}

std::vector<std::uint32_t> ItemNeighbours::around(Index, std::span<const Index>) const {
    throw std::logic_error("these neighbours are not pruned");
}

std::vector<std::uint32_t> ItemNeighbours::count_member_neighbours(std::span<const Index>,
                                                                   std::span<const Index>) const {
    throw std::logic_error("these neighbours are not pruned");
}

std::unique_ptr<ItemNeighbours> known_neighbours(const PairSource& distances, double cutoff,
                                                 const KnownPairs& known) {
    const Cutoff limit(distances, cutoff);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> indices;
    for (Index i = 0; i < distances.count(); ++i) {
        for (std::int64_t n = known.starts[i]; n < known.starts[i + 1]; ++n)
            if (limit.is_below(known.values[n], i, known.indices[n]))
                indices.push_back(known.indices[n]);
        starts.push_back(static_cast<std::int64_t>(indices.size()));
    }
    return std::make_unique<ListedNeighbours>(std::move(starts), std::move(indices));
}

NeighbourFinder::NeighbourFinder(const PairSource& distances, double cutoff, const Context& context,
                                 std::int64_t max_bytes)
    : cutoff_(distances, cutoff),
      context_(context),
      count_(distances.count()),
      words_((count_ + 63) / 64),
      threads_(resolve_threads(context)),
      neighbour_counts_(static_cast<std::size_t>(count_), 0) {
    const double lacking = max_over_ranks(
        context, static_cast<double>(8 * count_ * words_) - static_cast<double>(max_bytes));
    stores_bits_ = lacking <= 0;
    if (stores_bits_) bits_ = Array<std::uint64_t, 2>(count_, words_);
}

void NeighbourFinder::join(AdditiveCheckpoint& sums) {
    // Each bit is set in one band only, so adding words sets bits.
    if (stores_bits_)
        sums.add("bits", {reinterpret_cast<std::int64_t*>(bits_.data()),
                          static_cast<std::size_t>(bits_.size())});
    else
        sums.add("degrees", {reinterpret_cast<std::uint32_t*>(neighbour_counts_.data()),
                             neighbour_counts_.size()});
}

void NeighbourFinder::add(Block rows, const float* distances) {
    const Index before = pairs_before(rows.first, count_);
    parallel_for(threads_, rows.count, [&](Index n, int) {
        const Index i = rows.first + n;
        const float* const values = distances + pairs_before(i, count_) - before;
        stores_bits_ ? store_row_bits(i, values) : count_row(i, values);
    });
}

std::unique_ptr<ItemNeighbours> NeighbourFinder::finish() {
    if (!stores_bits_) {
        for (std::int32_t& degree : neighbour_counts_) ++degree;  // an item is its own neighbour
        return std::make_unique<ComputedNeighbours>(cutoff_, std::move(neighbour_counts_),
                                                    context_);
    }
    for (Index i = 0; i < count_; ++i) bits_(i, i / 64) |= std::uint64_t{1} << i % 64;
    mirror_bits();
    return std::make_unique<KeptNeighbours>(std::move(bits_), std::move(neighbour_counts_));
}

std::unique_ptr<ItemNeighbours> find_neighbours(const PairSource& distances, double cutoff,
                                                const Context& context, std::int64_t max_bytes) {
    NeighbourFinder finder(distances, cutoff, context, max_bytes);
    sum_over_pairs(
        distances, context, "neighbours", fmt::format("{} {}", cutoff, finder.keeps_bits()),
        [&](AdditiveCheckpoint& sums) { finder.join(sums); },
        [&](Block rows, const float* values) { finder.add(rows, values); });
    return finder.finish();
}

}  // namespace pleat::cluster
