// Neighbours: which items are nearer than a cutoff, one bit per pair, kept or computed on demand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/core/array.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster {

/// Bit j % 64 of word j / 64: item j is a neighbour. Bits beyond the items are 0.
using RowVisitor = std::function<void(Index item, const std::uint64_t* bits)>;

/// Pairs whose distance is below the cutoff; an item is its own neighbour.
class ItemNeighbours {
public:
    virtual ~ItemNeighbours() = default;
    Index count() const { return static_cast<Index>(neighbour_counts_.size()); }
    Index words() const { return (count() + 63) / 64; }
    /// How many neighbours each item has.
    const std::vector<std::int32_t>& degrees() const { return neighbour_counts_; }
    /// Calls `visit` with the row of each of these items.
    virtual void visit_rows(std::span<const Index> items, const RowVisitor& visit) const = 0;
    /// How many items to ask for at a time.
    virtual Index batch() const = 0;

    /// Whether rows are computed, of distances of a metric, so that around() and
    /// count_member_neighbours() save most of the work.
    virtual bool is_pruned() const { return false; }
    /// How each of some items lies to a centre.
    enum Position : std::uint32_t {
        far,           ///< no neighbour of the centre has it as a neighbour
        within_twice,  ///< within twice the cutoff of the centre
        neighbour      ///< below the cutoff
    };
    /// The Position of each of `items` (ascending) to `centre`. A collective call if is_pruned().
    virtual std::vector<std::uint32_t> around(Index centre, std::span<const Index> items) const;
    /// For each of `others` (ascending), its number of neighbours among `members`. A collective
    /// call if is_pruned().
    virtual std::vector<std::uint32_t> count_member_neighbours(std::span<const Index> members,
                                                               std::span<const Index> others) const;
    /// Identifies the neighbours, for checkpoints; if is_pruned().
    virtual std::string hash() const { return {}; }

protected:
    std::vector<std::int32_t> neighbour_counts_;
};

/// How values are compared with a cutoff: those below `lower` are below it, those from `upper` on
/// are not, and the source decides on others.
struct Cutoff {
    const PairSource& distances;
    double cutoff;
    float lower, upper;

    Cutoff(const PairSource& from, double value) : distances(from), cutoff(value) {
        const double error = from.error(value);
        lower = static_cast<float>(value - error);
        upper = static_cast<float>(value + error);
    }

    /// Whether a pair with this value is below the cutoff.
    bool is_below(float value, Index i, Index j) const {
        return value < lower ||
               (value < upper && distances.is_below(std::min(i, j), std::max(i, j), cutoff));
    }
    /// Bits of up to 64 values, those of item i with `first`, `first` + 1, ...
    std::uint64_t word(const float* values, Index count, Index i, Index first) const;
};

/// Gathers neighbours in one pass over the bands of `distances`, which must outlive the result.
/// Stores M^2 / 8 bytes of bits if these are at most `max_bytes`; otherwise only counts, and rows
/// (for a metric, the necessary parts) are recomputed on demand. PairSource::is_below() decides
/// pairs near the cutoff, so both ways give the same result.
class NeighbourFinder {
public:
    /// A collective call, since all ranks keep bits or none does.
    NeighbourFinder(const PairSource& distances, double cutoff, const Context& context,
                    std::int64_t max_bytes);
    /// Whether bits are kept.
    bool keeps_bits() const { return stores_bits_; }
    /// Registers what is gathered with `sums`, which saves it and adds it up over ranks.
    void join(AdditiveCheckpoint& sums);
    void add(Block rows, const float* distances);
    std::unique_ptr<ItemNeighbours> finish();

private:
    void store_row_bits(Index i, const float* values);
    void count_row(Index i, const float* values);
    void mirror_bits();

    Cutoff cutoff_;
    Context context_;
    Index count_, words_;
    int threads_;
    bool stores_bits_ = false;
    Array<std::uint64_t, 2> bits_;  ///< if they are kept: [item, word]
    std::vector<std::int32_t> neighbour_counts_;
};

/// The pairs below a cutoff, which is not above that of `known`.
std::unique_ptr<ItemNeighbours> known_neighbours(const PairSource& distances, double cutoff,
                                                 const KnownPairs& known);

/// Finds neighbours in a pass of its own, resuming from `context.checkpoint`; ranks share the
/// pairs. Throws Cancelled.
std::unique_ptr<ItemNeighbours> find_neighbours(const PairSource& distances, double cutoff,
                                                const Context& context, std::int64_t max_bytes);

/// Calls visit(item) for each bit that is set in both of `words` words.
template <class Visit>
void for_each_common(const std::uint64_t* bits, const std::uint64_t* others, Index words,
                     const Visit& visit) {
    for (Index word = 0; word < words; ++word)
        for (std::uint64_t more = bits[word] & others[word]; more != 0; more &= more - 1)
            visit(64 * word + std::countr_zero(more));
}

}  // namespace pleat::cluster
