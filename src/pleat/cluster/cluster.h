// Cluster: groups of items by their distances alone, whatever these measure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/pairs/pair_source.h"

#pragma GCC visibility push(default)

namespace pleat::cluster {

enum class Method {
    gromos,
    gmx,
    single,
    complete,
    average,
    ward,
    kmedoids,
    dbscan,
    density_peaks,
    iterated_density,
    jarvis_patrick,
    kcenters
};
std::span<const std::string_view> names_of(Method);

/// The values of an option: none, one (`step` 0), or first, first + step, ..., last.
struct ValueRange {
    std::optional<double> first;
    double last = 0, step = 0;

    bool is_set() const { return first.has_value(); }
    bool has_several() const { return step > 0 && last >= *first + step; }
    std::vector<double> values() const;
};

/// Distances from 1e-30 to 1e30, as text "2.5" or "first:last:step"; or whole numbers >= 1, as text
/// "5", "first:last" or "first:last:step".
template <bool kAreWhole>
struct RangeOf : ValueRange {
    RangeOf() = default;
    // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject): all are set
    RangeOf(double value) : ValueRange{value, value, 0} {}
    // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject): all are set
    RangeOf(double from, double to, double by = 1) : ValueRange{from, to, by} {}
    std::string text() const;
    /// Parses the text. parse() and check() throw UsageError that names `option`.
    static RangeOf parse(std::string_view text, std::string_view option);
    void check(std::string_view option) const;
};
using CutoffRange = RangeOf<false>;
using CountRange = RangeOf<true>;

/// The options; fields() describes each.
struct Parameters {
    Method method = Method::gromos;
    CutoffRange cutoff;
    CountRange k;
    std::int64_t min_neighbours = 4;
    std::optional<std::int64_t> keep = {};  ///< items that iterated density leaves
    double drop = 0.1;                      ///< share of the items that each of its rounds drops
    std::int64_t nearest = 10, common = 3;
    std::int64_t medoid_sweeps = 0;  ///< of kcenters
    double bin_width = 0.05;
    bool silhouettes = false;
};
std::vector<Field> fields(Parameters& parameters);

/// Throws UsageError for values out of range, and for options that the method needs or does not
/// have.
void check_options(const Parameters& parameters);

/// The number of noise: items that belong to no cluster.
inline constexpr std::int32_t kNoise = -1;

/// Which cluster each item belongs to.
struct Clustering {
    std::vector<std::int32_t> assignment;  ///< [item]: 0 = the first cluster; or kNoise
    std::vector<Index>
        centres;  ///< [cluster]: the item that the method chose; empty if it has none

    Index cluster_count() const;
    /// The items of each cluster, ascending.
    std::vector<std::vector<Index>> members() const;
};

/// Numbers clusters by their size, the largest first; of equal ones that with the lowest item
/// first.
void number_by_size(Clustering& clustering);

/// Description of one cluster's members.
struct ClusterDescription {
    Index size = 0;
    Index medoid = 0;   ///< the member with the minimum mean distance to the others, the first of
                        ///< equals; kcenters: the centre
    double mean = 0;    ///< mean distance of the other members to it; 0 if there are none
    double radius = 0;  ///< the maximum of these
    double silhouette = std::numeric_limits<double>::quiet_NaN();  ///< mean of members, if computed
};

/// One value of a sweep.
struct SweepPoint {
    double value = 0;  ///< of the cutoff or k, whichever is swept
    Index clusters = 0, largest = 0, noise = 0;
    double silhouette = 0;  ///< mean over all items; NaN if there are fewer than two clusters
};

/// A merge of two nodes of the tree. Nodes below the number of items are items; node count + n is
/// merge n.
struct Merge {
    std::int32_t first = 0, second = 0;  ///< first < second
    double height = 0;                   ///< their distance
    std::int32_t size = 0;               ///< items below
};

/// An item in the decision graph of density peaks.
struct Peak {
    std::int32_t density = 0;   ///< other items below the cutoff
    Index nearest_denser = -1;  ///< the nearest item of higher density; -1 for the densest
    float separation = 0;       ///< distance to it; for the densest that to the farthest item
};

/// When iterated density dropped an item.
struct DensityRound {
    static constexpr std::int32_t kLeft = 0;
    std::int32_t round = kLeft;  ///< from 1; kLeft: never
    double mean = 0;             ///< mean distance to the others left then
};

struct Result {
    PairStatistics statistics;  ///< of all pairs; kcenters: of items with their centres
    Clustering clustering;
    std::vector<ClusterDescription> clusters;
    double silhouette = 0;          ///< mean over items; NaN if it was not computed
    double cutoff = 0;              ///< the cutoff that was used; NaN for methods without one
    std::vector<SweepPoint> sweep;  ///< empty unless several values were tried
    std::vector<Merge> tree;        ///< of linkage
    std::vector<Peak> peaks;        ///< of density peaks
    std::vector<DensityRound> rounds = {};  ///< [item]: of iterated density
};

/// Statistics and neighbours of all pairs of the same items, from an earlier run.
struct KnownPairs {
    /// Neighbours below `cutoff` in compressed rows: those of item i are indices[starts[i]], ...,
    /// indices[starts[i + 1] - 1], ascending, without itself; each pair is in both rows.
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> indices;
    std::vector<float> values;  ///< of these pairs
    double cutoff = 0;
    PairStatistics statistics;  ///< of all pairs
};

/// Clusters the items of `distances`, of which there is at least one. If several values are tried,
/// the one with the maximum mean silhouette is used, the first of equals. `known` may be null.
/// Sums over pairs are kept in files beside Context::checkpoint (see checkpoint_names()), from
/// which a run that was stopped resumes; ranks share the pairs, and each returns the same result.
/// Throws UsageError (check_options(); k above the number of items), DeviceError (memory),
/// InputError (a checkpoint of other input), Cancelled.
Result run(const PairSource& distances, const Parameters& parameters, const Context& context,
           const KnownPairs* known = nullptr);

/// The names of all files in which run() may keep sums if Context::checkpoint is `checkpoint`; each
/// is one file per rank (core/ranks/rank_files.h).
std::vector<std::string> checkpoint_names(const Parameters& parameters,
                                          const std::filesystem::path& checkpoint);

/// Opens and checks a distance matrix in .npy format: condensed [M (M - 1) / 2] or square [M, M],
/// float32 or float64, finite values >= 0. A square matrix must be symmetric (to 1e-5 of the larger
/// value) with a zero diagonal. Values are compared with a cutoff in the file's precision. Throws
/// InputError naming file and element.
std::unique_ptr<PairSource> open_matrix(const std::filesystem::path& path);
/// Like open_matrix(), for a matrix in memory, which must outlive the result; errors call it
/// `name`.
std::unique_ptr<PairSource> matrix_in_memory(const float* values, std::span<const Index> shape,
                                             const std::string& name);
std::unique_ptr<PairSource> matrix_in_memory(const double* values, std::span<const Index> shape,
                                             const std::string& name);
/// Whether the file is an .npy array of one or two axes, like a distance matrix.
bool is_matrix_file(const std::filesystem::path& path);

}  // namespace pleat::cluster

#pragma GCC visibility pop
