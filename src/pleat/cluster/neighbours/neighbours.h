// Neighbours: which items are nearer than a cutoff, one bit per pair, kept or computed on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster {

/// Bit j % 64 of word j / 64: item j is a neighbour. Bits beyond the items are 0.
using RowVisitor = std::function<void(Index item, const std::uint64_t* bits)>;

/// Pairs whose distance is below the cutoff; an item is its own neighbour.
class Neighbours {
public:
    virtual ~Neighbours() = default;
    Index count() const { return static_cast<Index>(degrees_.size()); }
    Index words() const { return (count() + 63) / 64; }
    /// How many neighbours each item has.
    const std::vector<std::int32_t>& degrees() const { return degrees_; }
    /// Shows the rows of these items, one after another.
    virtual void visit_rows(std::span<const Index> items, const RowVisitor& visit) const = 0;
    /// How many items to ask for at a time.
    virtual Index batch() const = 0;

    /// Whether rows are computed, of distances of a metric, so that around() and count_between()
    /// save most of the work.
    virtual bool is_pruned() const { return false; }
    /// How each of some items lies to a centre.
    enum Position : std::uint32_t {
        far,       ///< no neighbour of the centre has it as a neighbour
        near,      ///< within twice the cutoff of the centre
        neighbour  ///< below the cutoff
    };
    /// The Position of each of `items`, which ascend. A collective call, if is_pruned().
    virtual std::vector<std::uint32_t> around(Index centre, std::span<const Index> items) const;
    /// How many of `members` each of `others`, which ascend, has as neighbours. A collective call,
    /// if is_pruned().
    virtual std::vector<std::uint32_t> count_between(std::span<const Index> members,
                                                     std::span<const Index> others) const;
    /// Identifies the neighbours, for checkpoints; if is_pruned().
    virtual std::string hash() const { return {}; }

protected:
    std::vector<std::int32_t> degrees_;
};

/// Gathers neighbours from one pass over the bands of `distances`, which must outlive the result:
/// in M^2 / 8 bytes of bits if these are at most `max_bytes`, else by counting alone; rows, or of a
/// metric the parts of them that are needed, are then computed again when they are asked for. Pairs
/// near the cutoff are decided by PairSource::is_below(), so that both give the same.
class NeighbourFinder {
public:
    /// A collective call, since all ranks keep bits or none does.
    NeighbourFinder(const PairSource& distances, double cutoff, const Context& context,
                    std::int64_t max_bytes);
    ~NeighbourFinder();
    /// Whether bits are kept.
    bool keeps_bits() const;
    /// Makes what is gathered part of what `sums` saves, and adds up over ranks.
    void join(AdditiveCheckpoint& sums);
    void add(Block rows, const float* distances);
    std::unique_ptr<Neighbours> finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The neighbours in compressed rows, as KnownPairs has them.
std::unique_ptr<Neighbours> make_neighbours(std::vector<std::int64_t> starts,
                                            std::vector<std::int32_t> indices);

/// Finds neighbours in a pass of its own, resuming from `context.checkpoint`; ranks share the
/// pairs. Throws Cancelled.
std::unique_ptr<Neighbours> find_neighbours(const PairSource& distances, double cutoff,
                                            const Context& context, std::int64_t max_bytes);

}  // namespace pleat::cluster
