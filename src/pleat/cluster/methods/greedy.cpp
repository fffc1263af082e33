// Greedy clusters: counts of neighbours left, lowered by the rows of items that were assigned.
#include "pleat/cluster/methods/greedy.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

namespace {

/// The pool: the items that are in no cluster yet, and for each item the number of its neighbours
/// in the pool.
class Pool {
public:
    Pool(const Neighbours& neighbours, const Context& context)
        : neighbours_(neighbours),
          progress_(context, "cluster", neighbours.count()),
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

    /// Makes a cluster of the neighbours of `centre` that are still in the pool.
    void add_cluster_of(Index centre) {
        std::vector<Index> members;
        neighbours_.visit_rows({&centre, 1}, [&](Index, const std::uint64_t* bits) {
            for (std::size_t word = 0; word < left_.size(); ++word)
                for (std::uint64_t more = bits[word] & left_[word]; more != 0; more &= more - 1)
                    members.push_back(static_cast<Index>(64 * word) + std::countr_zero(more));
        });
        const std::int32_t id = next_++;
        for (const Index item : members) {
            result_.assignment[item] = id;
            left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
        }
        left_count_ -= static_cast<Index>(members.size());
        progress_.check();
        progress_.advance_to(neighbours_.count() - left_count_);
        if (left_count_ > 0 || counts_all_items_) lower(members);
    }
    /// Also counts the neighbours of items that are in a cluster.
    void count_all_items() { counts_all_items_ = true; }
    void add_single(Index item) {
        result_.assignment[item] = next_++;
        left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
        --left_count_;
    }

private:
    /// Subtracts the `members` from the counts of their neighbours. Threads have words of their
    /// own.
    void lower(const std::vector<Index>& members) {
        constexpr Index kWords = 64;  // 4096 items
        const Index words = neighbours_.words();
        std::vector<const std::uint64_t*> rows;
        const auto lower_counts = [&] {
            parallel_for(threads_, (words + kWords - 1) / kWords, [&](Index chunk, int) {
                const Index end = std::min(words, (chunk + 1) * kWords);
                for (const std::uint64_t* const row : rows) lower_words(row, chunk * kWords, end);
            });
            rows.clear();
        };
        // Copies the row, which is valid only during this call.
        std::vector<std::uint64_t> copies;
        for (std::size_t first = 0; first < members.size();) {
            const std::size_t many =
                std::min(static_cast<std::size_t>(neighbours_.batch()), members.size() - first);
            copies.clear();
            neighbours_.visit_rows({members.data() + first, many},
                                   [&](Index, const std::uint64_t* bits) {
                                       copies.insert(copies.end(), bits, bits + words);
                                   });
            for (std::size_t n = 0; n < many; ++n) rows.push_back(copies.data() + n * words);
            lower_counts();
            first += many;
        }
    }
    void lower_words(const std::uint64_t* row, Index first, Index end) {
        for (Index word = first; word < end; ++word) {
            std::uint64_t near = counts_all_items_ ? row[word] : row[word] & left_[word];
            for (; near != 0; near &= near - 1) --counts_[64 * word + std::countr_zero(near)];
        }
    }

    const Neighbours& neighbours_;
    StageProgress progress_;
    int threads_;
    std::vector<std::int32_t> counts_;
    std::vector<std::uint64_t> left_;
    Index left_count_;
    bool counts_all_items_ = false;
    std::int32_t next_ = 0;
    Clustering result_;
};

}  // namespace

Clustering gromos(const Neighbours& neighbours, const Context& context) {
    Pool pool(neighbours, context);
    const Index count = neighbours.count();
    std::vector<Index>& centres = pool.result().centres;
    while (pool.left_count() > 0) {
        std::int32_t max = 0;
        for (Index i = 0; i < count; ++i)
            if (pool.has(i)) max = std::max(max, pool.count(i));
        // Counts only fall, so an item that is skipped at this count cannot reach it later.
        for (Index i = 0; i < count; ++i) {
            if (!pool.has(i) || pool.count(i) != max) continue;
            centres.push_back(i);
            if (max == 1)
                pool.add_single(i);
            else
                pool.add_cluster_of(i);
        }
    }
    return std::move(pool.result());
}

Clustering gmx(const Neighbours& neighbours, const Context& context) {
    struct Founder {
        std::int32_t near;
        std::int32_t item;
    };
    const auto before = [](const Founder& a, const Founder& b) { return a.near > b.near; };
    Pool pool(neighbours, context);
    pool.count_all_items();
    std::vector<Founder> founders;
    for (Index i = 0; i < neighbours.count(); ++i)
        founders.push_back({pool.count(i), static_cast<std::int32_t>(i)});
    // Which of equals comes first is left to the sort of the C++ library on purpose, as in gmx.
    std::sort(founders.begin(), founders.end(), before);
    while (founders[0].near > 0) {
        pool.add_cluster_of(founders[0].item);
        founders[0].near = 0;
        std::size_t end = 1;
        for (; end < founders.size() && founders[end].near > 0; ++end)
            founders[end].near = static_cast<std::int32_t>(pool.count(founders[end].item));
        std::sort(founders.begin(), founders.begin() + static_cast<std::ptrdiff_t>(end), before);
    }
    return std::move(pool.result());
}

}  // namespace pleat::cluster
