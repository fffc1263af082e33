// Methods: the ways in which items become clusters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/core/pairs/nearest_lists.h"
#include "pleat/core/pairs/pair_source.h"

namespace pleat::cluster {

/// Daura et al., Angewandte Chemie 111:249 (1999): the item with the most neighbours left (the
/// lowest index of equals) and its neighbours are a cluster and leave the pool; this is repeated
/// until the pool is empty. `centres` are these items. If rows are computed, a stopped search
/// resumes from `context.checkpoint`. Throws Cancelled, InputError (a checkpoint of other input).
Clustering gromos(const ItemNeighbours& neighbours, const Context& context);

/// Reproduces `gmx cluster -method gromos` of GROMACS: clustered items leave the neighbour lists of
/// others but keep their own, and may found a further cluster of what is left in it; the order of
/// equal counts is that of std::sort by count alone, repeated for each cluster. A centre need not
/// be in its cluster, so none is reported. Throws Cancelled.
Clustering gmx(const ItemNeighbours& neighbours, const Context& context);

/// Ester, Kriegel, Sander, Xu, Proceedings of KDD 226 (1996): items with at least `min_neighbours`
/// neighbours (including themselves) are cores; cores that are neighbours share a cluster; another
/// neighbour of cores belongs to the cluster, among theirs, whose lowest core comes first; all
/// other items are noise. Throws Cancelled.
Clustering dbscan(const ItemNeighbours& neighbours, std::int64_t min_neighbours,
                  const Context& context);

/// Items in compressed rows, each ascending.
struct ItemLists {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> items;

    Index count() const { return static_cast<Index>(starts.size()) - 1; }
    std::span<const std::int32_t> of(Index item) const {
        const auto first = static_cast<std::size_t>(starts[item]);
        return std::span(items).subspan(first, static_cast<std::size_t>(starts[item + 1]) - first);
    }
};

/// Jarvis, Patrick, IEEE Transactions on Computers C-22:1025 (1973), as in gmx cluster: two items
/// are linked if each is in the other's neighbour list and the lists share at least `common` items;
/// clusters are the connected components. A list does not contain the item itself. Throws
/// Cancelled.
Clustering jarvis_patrick(const ItemLists& neighbours, std::int64_t common, const Context& context);

/// All neighbours of each item except itself. Throws DeviceError if they do not fit in memory.
ItemLists lists_of(const ItemNeighbours& neighbours);
/// The nearest of each item; with a cutoff those below it.
ItemLists lists_of(const NearestLists& nearest, const PairSource& distances,
                   std::optional<double> cutoff);

/// Sets of nodes that become one.
class ItemSets {
public:
    explicit ItemSets(Index nodes);
    /// The node that stands for the set.
    Index root(Index node);
    /// Merges the set of `child` into that of `parent`; each must represent its set.
    void join(Index child, Index parent) { parents_[child] = parent; }
    /// Returns the sets as clusters of the first `count` nodes.
    Clustering clusters(Index count);

private:
    std::vector<Index> parents_;
};

/// The tree over `count` items, merges in the order of their heights. `method` is single, complete,
/// average or ward. `condensed` is overwritten: distances between clusters replace those between
/// items, as float32; Ward's is that of Lance and Williams on squares. Single linkage uses Prim's
/// tree, the others chains of nearest neighbours (Muellner 2011), M^2 steps each. Of equal
/// distances the lower index is taken. Throws Cancelled.
std::vector<Merge> link(Method method, Index count, std::vector<float> condensed,
                        const Context& context);

/// Cuts the tree before its last merges, so that `clusters` clusters remain.
Clustering cut_into_clusters(const std::vector<Merge>& tree, Index count, Index clusters);
/// Applies only merges below the cutoff; both are compared as float32, the type of stored heights.
Clustering cut_below_height(const std::vector<Merge>& tree, Index count, double cutoff);

/// Writes the tree as Newick. Leaves are item numbers from 0; the path between two leaves is as
/// long as the height at which they meet. Throws OutputError.
void write_newick(const std::filesystem::path& path, const std::vector<Merge>& tree, Index count);

struct Medoids {
    Clustering clustering;  ///< centres are the medoids; of equally near ones the lower index
    double cost = 0;        ///< sum of the distances of all items to their medoid
    Index swaps = 0;
};

/// Bytes that k_medoids() needs.
std::int64_t medoid_bytes(Index count, Index clusters);
/// Throws DeviceError if k_medoids() would not fit into memory.
void require_medoids(Index count, Index clusters);

/// FasterPAM (Schubert, Rousseeuw, Information Systems 101:101804, 2021): starts from `clusters`
/// items drawn by Context::seed; each item in turn replaces the medoid for which the cost falls
/// most, if it falls, until a whole round changes nothing. Needs memory for k M numbers, and
/// computes one row of distances per item and round; ranks share the rows. Resumes from
/// `context.checkpoint`. Throws Cancelled.
Medoids k_medoids(const PairSource& distances, Index clusters, const Context& context);

struct CentreOptions {
    Index clusters = 0;       ///< 0: until every item is below `cutoff` of its centre
    double cutoff = 0;        ///< used if `clusters` is 0
    std::int64_t sweeps = 0;  ///< of medoid updates
};
struct CentreClusters {
    Clustering clustering;         ///< not numbered by size
    std::vector<float> distances;  ///< [item]: to its centre
};

/// Gonzalez, Theoretical Computer Science 38:293 (1985): the first item is the first centre, and
/// the item farthest from its nearest centre (the first of equals) is the next one. An item belongs
/// to its nearest centre, of equally near ones to the one found first. In each sweep, the centre of
/// each cluster is compared with three members drawn by Context::seed; the one with the minimum sum
/// of distances becomes the centre, and all items go to their nearest centre. Compares items with
/// one centre at a time; memory 8 bytes per item. Ranks share the items. Resumes from
/// `context.checkpoint`. Throws Cancelled.
CentreClusters k_centres(const PairSource& distances, const CentreOptions& options,
                         const Context& context);

/// The decision graph of Rodriguez and Laio, Science 344:1492 (2014). Of items of equal density the
/// earlier one counts as denser, and of equally near ones the earlier is taken. `degrees` are those
/// of Neighbours. Visits all pairs once; ranks share them. Throws Cancelled.
std::vector<Peak> find_peaks(const PairSource& distances, const std::vector<std::int32_t>& degrees,
                             const Context& context);

/// The `clusters` items with the largest product of density and separation (the earlier of equals)
/// are centres; each other item belongs to the cluster of its `nearest_denser` item. The densest
/// item is always a centre.
Clustering density_peaks(const std::vector<Peak>& peaks, Index clusters);

/// Finds a quantile of distances in two passes. The order of float bits is that of the distances,
/// in any unit: the first pass counts the upper halves of the bits, the second counts the lower
/// halves for the one upper half that contains the quantile.
class QuantileFinder {
public:
    QuantileFinder(Index count, int threads);
    /// Registers the counts with `sums`, which saves them and adds them up over ranks.
    void join(AdditiveCheckpoint& sums);
    void add(Block rows, const float* distances);
    /// The minimum distance that this share of all pairs (at least one pair) does not exceed; 0 if
    /// there is no pair. `distances` are those that were added. Ranks share the pairs. Throws
    /// Cancelled.
    float find(const PairSource& distances, double share, const Context& context) const;

private:
    Index count_;
    int threads_;
    std::vector<std::int64_t> upper_half_counts_;  ///< [upper half]
};

/// Repeatedly drops the `drop` share (rounded down, at least one) of the remaining items with the
/// largest mean distances to the others, until `keep` remain; of equal means the later item is
/// dropped. `max_distance`: an upper bound of all distances. Sums are whole numbers, so they do not
/// depend on threads and ranks. Visits all pairs once, and pairs of dropped items a second time.
/// Ranks share the pairs. Throws Cancelled.
std::vector<DensityRound> iterate_density(const PairSource& distances, Index keep, double drop,
                                          double max_distance, const Context& context);

/// The remaining items are cluster 0, whose centre has the smallest mean distance; all others are
/// noise.
Clustering densest_cluster(const std::vector<DensityRound>& rounds);

}  // namespace pleat::cluster
