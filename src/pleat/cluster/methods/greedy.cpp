// Greedy clusters: counts of neighbours left, lowered by the rows of items that were assigned.
#include "pleat/cluster/methods/greedy.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

/// The items that no cluster has yet, and how many of them are neighbours of each item.
class Pool {
public:
    Pool(const Neighbours& neighbours, const Context& context)
        : neighbours_(neighbours),
          context_(context),
          threads_(resolve_threads(context)),
          counts_(neighbours.degrees()),
          left_(static_cast<std::size_t>(neighbours.words()), ~std::uint64_t{0}),
          left_count_(neighbours.count()) {
        const Index spare = 64 * neighbours.words() - neighbours.count();
        if (spare > 0) left_.back() >>= spare;
        result_.assignment.assign(static_cast<std::size_t>(neighbours.count()), kNoise);
    }

    bool has(Index item) const { return (left_[item / 64] >> item % 64 & 1) != 0; }
    Index left_count() const { return left_count_; }
    std::int32_t count(Index item) const { return counts_[item]; }
    Clustering& result() { return result_; }

    /// Makes a cluster of the neighbours of `centre` that are left.
    void take_neighbours_of(Index centre) {
        std::vector<Index> taken;
        neighbours_.visit_rows({&centre, 1}, [&](Index, const std::uint64_t* bits) {
            for (std::size_t word = 0; word < left_.size(); ++word)
                for (std::uint64_t rest = bits[word] & left_[word]; rest != 0; rest &= rest - 1)
                    taken.push_back(static_cast<Index>(64 * word) + std::countr_zero(rest));
        });
        const std::int32_t id = next_++;
        for (const Index item : taken) {
            result_.assignment[item] = id;
            left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
        }
        left_count_ -= static_cast<Index>(taken.size());
        context_.update("cluster", neighbours_.count() - left_count_, neighbours_.count());
        if (context_.cancelled()) throw Cancelled("cluster: stopped; nothing of it was kept");
        if (left_count_ > 0 || counts_all_) lower(taken);
    }
    /// Counts of assigned items are wanted too.
    void count_all() { counts_all_ = true; }
    void take_alone(Index item) {
        result_.assignment[item] = next_++;
        left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
        --left_count_;
    }

private:
    /// Each of the `taken` is a neighbour less to those near it. Threads have words of their own.
    void lower(const std::vector<Index>& taken) {
        constexpr Index kWords = 64;  // 4096 items
        const Index words = neighbours_.words();
        std::vector<const std::uint64_t*> rows;
        const auto settle = [&] {
            parallel_for(threads_, (words + kWords - 1) / kWords, [&](Index part, int) {
                const Index end = std::min(words, (part + 1) * kWords);
                for (const std::uint64_t* const row : rows) lower_words(row, part * kWords, end);
            });
            rows.clear();
        };
        // Rows that are computed live no longer than the call that shows them.
        std::vector<std::uint64_t> copies;
        for (std::size_t first = 0; first < taken.size();) {
            const std::size_t many =
                std::min(static_cast<std::size_t>(neighbours_.batch()), taken.size() - first);
            copies.clear();
            neighbours_.visit_rows({taken.data() + first, many},
                                   [&](Index, const std::uint64_t* bits) {
                                       copies.insert(copies.end(), bits, bits + words);
                                   });
            for (std::size_t n = 0; n < many; ++n) rows.push_back(copies.data() + n * words);
            settle();
            first += many;
        }
    }
    void lower_words(const std::uint64_t* row, Index first, Index end) {
        for (Index word = first; word < end; ++word) {
            std::uint64_t rest = counts_all_ ? row[word] : row[word] & left_[word];
            for (; rest != 0; rest &= rest - 1) --counts_[64 * word + std::countr_zero(rest)];
        }
    }

    const Neighbours& neighbours_;
    const Context& context_;
    int threads_;
    std::vector<std::int32_t> counts_;
    std::vector<std::uint64_t> left_;
    Index left_count_;
    bool counts_all_ = false;
    std::int32_t next_ = 0;
    Clustering result_;
};

}  // namespace

Clustering daura(const Neighbours& neighbours, const Context& context) {
    Pool pool(neighbours, context);
    const Index count = neighbours.count();
    std::vector<Index>& centres = pool.result().centres;
    while (pool.left_count() > 0) {
        std::int32_t most = 0;
        for (Index i = 0; i < count; ++i)
            if (pool.has(i)) most = std::max(most, pool.count(i));
        // Counts only fall, so that an item passed over at this level does not come back to it.
        for (Index i = 0; i < count; ++i) {
            if (!pool.has(i) || pool.count(i) != most) continue;
            centres.push_back(i);
            if (most == 1)
                pool.take_alone(i);
            else
                pool.take_neighbours_of(i);
        }
    }
    return std::move(pool.result());
}

Clustering gromacs(const Neighbours& neighbours, const Context& context) {
    struct Founder {
        std::int32_t near;
        std::int32_t item;
    };
    const auto before = [](const Founder& a, const Founder& b) { return a.near > b.near; };
    Pool pool(neighbours, context);
    pool.count_all();
    std::vector<Founder> founders;
    for (Index i = 0; i < neighbours.count(); ++i)
        founders.push_back({pool.count(i), static_cast<std::int32_t>(i)});
    // Which of equals comes first is what the sort of the C++ library makes of it, on purpose.
    std::sort(founders.begin(), founders.end(), before);
    while (founders[0].near > 0) {
        pool.take_neighbours_of(founders[0].item);
        founders[0].near = 0;
        std::size_t end = 1;
        for (; end < founders.size() && founders[end].near > 0; ++end)
            founders[end].near = static_cast<std::int32_t>(pool.count(founders[end].item));
        std::sort(founders.begin(), founders.begin() + static_cast<std::ptrdiff_t>(end), before);
    }
    return std::move(pool.result());
}

}  // namespace pleat::cluster
