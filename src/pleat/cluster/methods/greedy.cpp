// Greedy clusters: counts of neighbours left, lowered by the rows of items that were assigned.
#include "pleat/cluster/methods/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/loops/iterate.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

namespace {

/// The pool of the algorithm: items in no cluster yet, and each item's number of neighbours in the
/// pool.
class Pool final : public State {
public:
    Pool(const ItemNeighbours& neighbours, const Context& context)
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
    Index count() const { return neighbours_.count(); }
    Index left_count() const { return left_count_; }
    std::int32_t count(Index item) const { return counts_[item]; }
    Clustering& result() { return result_; }

    /// Makes a cluster of the neighbours of `centre` that are still in the pool.
    void add_cluster_of(Index centre) {
        std::vector<Index> members;
        if (neighbours_.is_pruned()) return add_pruned_cluster_of(centre);
        neighbours_.visit_rows({&centre, 1}, [&](Index, const std::uint64_t* bits) {
            for_each_common(bits, left_.data(), neighbours_.words(),
                            [&](Index item) { members.push_back(item); });
        });
        assign(members);
        progress_.check();
        progress_.advance_to(neighbours_.count() - left_count_);
        if (left_count_ > 0 || counts_all_items_) lower(members);
    }
    /// From now on also counts neighbours of items that are already in a cluster.
    void count_all_items() { counts_all_items_ = true; }
    void add_single(Index item) {
        assign({item});
        if (left_count_ == 0 && !neighbours_.is_pruned()) progress_.advance_to(count());
    }

    // As a state from which a stopped search resumes.
    std::string problem() const override {
        return Sha256().field(neighbours_.hash()).field("gromos").hex();
    }
    bool reaches_limit() const override { return false; }
    std::int64_t bytes() const override { return 4 * 3 * neighbours_.count(); }
    void save(NpzWriter& file) const override {
        const auto add = [&](const char* name, const auto& values) {
            file.add(name, values.data(), {static_cast<Index>(values.size())});
        };
        add("assignment", result_.assignment);
        add("centres", std::vector<std::int64_t>(result_.centres.begin(), result_.centres.end()));
        add("counts", counts_);
    }
    void load(const NpzReader& file) override {
        const auto read = [&](const char* name, auto type, std::size_t size) {
            auto values = file.get(name).as<decltype(type)>(file.label(name));
            if (size > 0 && values.size() != size)
                throw InputError(
                    fmt::format("expected {} of '{}', found {}", size, name, values.size()));
            return values;
        };
        const auto size = static_cast<std::size_t>(neighbours_.count());
        result_.assignment = read("assignment", std::int32_t{}, size);
        const std::vector<std::int64_t> centres = read("centres", std::int64_t{}, 0);
        result_.centres.assign(centres.begin(), centres.end());
        counts_ = read("counts", std::int32_t{}, size);
        next_ = static_cast<std::int32_t>(centres.size());
        for (std::size_t item = 0; item < size; ++item) {
            const std::int32_t cluster = result_.assignment[item];
            if (cluster < kNoise || cluster >= next_)
                throw InputError(
                    fmt::format("expected clusters below {}, found {}", next_, cluster));
            if (cluster == kNoise) continue;
            left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
            --left_count_;
        }
    }

private:
    void assign(const std::vector<Index>& members) {
        const std::int32_t id = next_++;
        for (const Index item : members) {
            result_.assignment[item] = id;
            left_[item / 64] &= ~(std::uint64_t{1} << item % 64);
        }
        left_count_ -= static_cast<Index>(members.size());
    }

    /// add_cluster_of() for rows that are computed on demand: compares the centre only with items
    /// whose counts matter, and the members only with those of them that may be near.
    void add_pruned_cluster_of(Index centre) {
        std::vector<Index> items;
        for (Index i = 0; i < neighbours_.count(); ++i)
            if (counts_all_items_ || has(i)) items.push_back(i);
        const std::vector<std::uint32_t> positions = neighbours_.around(centre, items);
        std::vector<Index> members, nearby;
        for (std::size_t n = 0; n < items.size(); ++n) {
            if (positions[n] == ItemNeighbours::far) continue;
            const bool is_member = positions[n] == ItemNeighbours::neighbour && has(items[n]);
            if (is_member) members.push_back(items[n]);
            if (counts_all_items_ || !is_member) nearby.push_back(items[n]);
        }
        const std::vector<std::uint32_t> lost =
            neighbours_.count_member_neighbours(members, nearby);
        for (std::size_t n = 0; n < nearby.size(); ++n)
            counts_[nearby[n]] -= static_cast<std::int32_t>(lost[n]);
        assign(members);
    }

    /// Subtracts the `members` from their neighbours' counts. Each thread has its own words of
    /// bits.
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
        const std::uint64_t* const counted = counts_all_items_ ? row : left_.data();
        for_each_common(row + first, counted + first, end - first,
                        [&](Index item) { --counts_[64 * first + item]; });
    }

    const ItemNeighbours& neighbours_;
    StageProgress progress_;
    int threads_;
    std::vector<std::int32_t> counts_;
    std::vector<std::uint64_t> left_;
    Index left_count_;
    bool counts_all_items_ = false;
    std::int32_t next_ = 0;
    Clustering result_;
};

/// Finds clusters in the order of their numbers of neighbours.
class Search {
public:
    explicit Search(Pool& pool) : pool_(pool) {}

    /// Adds the next cluster; the pool must not be empty.
    void step() {
        while (!next_of_this_count()) {
            max_ = 0;
            for (Index i = 0; i < pool_.count(); ++i)
                if (pool_.has(i)) max_ = std::max(max_, pool_.count(i));
            next_ = 0;
        }
        if (max_ == 1)
            pool_.add_single(next_);
        else
            pool_.add_cluster_of(next_);
        pool_.result().centres.push_back(next_);
    }

private:
    /// Counts only fall, so an item that is skipped at this count cannot reach it later.
    bool next_of_this_count() {
        while (next_ < pool_.count() && !(pool_.has(next_) && pool_.count(next_) == max_)) ++next_;
        return next_ < pool_.count();
    }

    Pool& pool_;
    std::int32_t max_ = 0;
    Index next_ = 0;
};

}  // namespace

Clustering gromos(const ItemNeighbours& neighbours, const Context& context) {
    Pool pool(neighbours, context);
    Search search(pool);
    const auto add_next = [&](std::int64_t) {
        try {
            if (pool.left_count() > 0) search.step();
        } catch (const Cancelled&) {
            if (context.ranks() > 1) throw;  // else the loop saves the clusters before this one
        }
        return Step{pool.left_count() == 0,
                    fmt::format("clusters, {} items left", pool.left_count())};
    };
    if (neighbours.is_pruned())
        iterate(context, "cluster", pool, neighbours.count() + 1, add_next);
    else
        while (pool.left_count() > 0) search.step();
    return std::move(pool.result());
}

Clustering gmx(const ItemNeighbours& neighbours, const Context& context) {
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
    // The order of equal counts is that of the C++ library's sort on purpose, as in gmx.
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
