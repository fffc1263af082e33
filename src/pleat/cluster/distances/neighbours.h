// Neighbours: which items are nearer than a cut-off, a bit a pair, kept or computed when asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pleat/cluster/distances/distances.h"
#include "pleat/core/context.h"

namespace pleat::cluster {

/// Bit j % 64 of word j / 64: item j is a neighbour. Bits beyond the items are 0.
using RowVisitor = std::function<void(Index item, const std::uint64_t* bits)>;

/// Pairs whose distance is below the cut-off; an item is its own neighbour.
class Neighbours {
public:
    virtual ~Neighbours() = default;
    Index count() const { return static_cast<Index>(degrees_.size()); }
    Index words() const { return (count() + 63) / 64; }
    /// How many neighbours each item has.
    const std::vector<std::int32_t>& degrees() const { return degrees_; }
    /// Shows the rows of these items, one after another.
    virtual void visit_rows(std::span<const Index> items, const RowVisitor& visit) const = 0;
    /// So many items are best asked for at a time.
    virtual Index batch() const = 0;

protected:
    std::vector<std::int32_t> degrees_;
};

/// Gathers neighbours from one pass over the bands of `distances`, which must outlive the result:
/// in M^2 / 8 bytes of bits where these are no more than `most_bytes`, else by counting alone; rows
/// are then computed again when they are asked for. Pairs in doubt are decided by is_below(), so
/// that both give the same.
class NeighbourFinder {
public:
    NeighbourFinder(const Distances& distances, double cutoff, int threads,
                    std::int64_t most_bytes);
    ~NeighbourFinder();
    void add(Block rows, const float* distances);
    std::unique_ptr<Neighbours> finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Neighbours in compressed rows: those of item i are indices[starts[i]], ..., indices[starts[i +
/// 1] - 1], without itself; each pair is in both rows.
struct NeighbourList {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> indices;
};
std::unique_ptr<Neighbours> make_neighbours(NeighbourList list);

/// A pass of its own.
std::unique_ptr<Neighbours> find_neighbours(const Distances& distances, double cutoff,
                                            const Context& context, std::int64_t most_bytes);

}  // namespace pleat::cluster
