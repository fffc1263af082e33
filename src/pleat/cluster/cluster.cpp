// Cluster: one pass over all pairs, the method that was asked for, its sweep, and the description.
#include "pleat/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "pleat/cluster/describe.h"
#include "pleat/cluster/estimate.h"
#include "pleat/cluster/methods/methods.h"
#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/cluster/stage.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/pairs/nearest_lists.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/core/ranks/lanes.h"

namespace pleat::cluster {

Index Clustering::cluster_count() const {
    return assignment.empty() ? 0 : 1 + *std::max_element(assignment.begin(), assignment.end());
}

std::vector<std::vector<Index>> Clustering::members() const {
    std::vector<std::vector<Index>> items(static_cast<std::size_t>(cluster_count()));
    for (std::size_t i = 0; i < assignment.size(); ++i)
        if (assignment[i] != kNoise) items[assignment[i]].push_back(static_cast<Index>(i));
    return items;
}

void number_by_size(Clustering& clustering) {
    const std::vector<std::vector<Index>> items = clustering.members();
    std::vector<std::int32_t> order(items.size()), number(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return items[a].size() != items[b].size() ? items[a].size() > items[b].size()
                                                  : items[a].front() < items[b].front();
    });
    for (std::size_t n = 0; n < order.size(); ++n) number[order[n]] = static_cast<std::int32_t>(n);
    for (std::int32_t& cluster : clustering.assignment)
        if (cluster != kNoise) cluster = number[cluster];
    if (clustering.centres.empty()) return;
    const std::vector<Index> centres = clustering.centres;
    for (std::size_t n = 0; n < order.size(); ++n) clustering.centres[n] = centres[order[n]];
}

namespace {

/// Default cutoff of density peaks: this share of all pairs (Rodriguez and Laio: 1 to 2 %).
constexpr double kPeakShare = 0.02;
/// Pairs that a device counts at once: enough that reading the counts takes little of the time, and
/// few enough that a cancel is noticed soon.
constexpr Index kMinCountedPairs = Index{1} << 28, kMaxCountedPairs = Index{1} << 33;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr const char *kPairStage = "pairs", *kQuantileStage = "quantile", *kPeakStage = "peaks",
                     *kDescriptionStage = "describe", *kNeighbourStage = "neighbours",
                     *kSilhouetteStage = "silhouettes", *kMedoidStage = "medoids",
                     *kGreedyStage = "greedy", *kRoundStage = "rounds", *kCentreStage = "centres";

/// Maximum number of sweep values whose stages are saved; more would leave thousands of files.
constexpr std::size_t kSavedTrials = 100;

/// The stage name for one value of a sweep.
std::string numbered(const char* stage, std::size_t trial) {
    return fmt::format("{}-{}", stage, trial);
}

std::size_t pair_count(Index count) { return static_cast<std::size_t>(pairs_before(count, count)); }

/// The result of clustering with one value of a sweep.
struct Trial {
    Clustering clustering;
    double cutoff = kNaN;
    std::vector<float> to_centres = {};  ///< [item]: distance, of k-centres
};

class Clusterer {
public:
    Clusterer(const PairSource& source, const Parameters& parameters, const Context& context,
              const KnownPairs* known)
        : parameters_(parameters),
          context_(context),
          trials_(trials_of(parameters)),
          source_(&source),
          statistics_(source.count(), parameters.bin_width) {
        for (const double k : trials_.counts) {
            if (k > static_cast<double>(source.count()))
                throw UsageError(
                    fmt::format("--k: {} clusters are more than the {} items", k, source.count()));
            if (trials_.family == MethodFamily::medoids)
                require_medoids(source.count(), static_cast<Index>(k));
        }
        if (parameters.keep.value_or(1) > source.count())
            throw UsageError(fmt::format("--keep: {} items are more than the {} that there are",
                                         *parameters.keep, source.count()));
        if (trials_.family == MethodFamily::centres) return;  // never visits all pairs
        if (known != nullptr && use(*known)) return;
        const bool has_one_cutoff = trials_.cutoffs.size() == 1;
        const bool is_kept = keeps_pairs(source.count(), source.is_stored());
        PairCounter* const counter =
            parameters.method == Method::gromos && !is_kept ? source.counter() : nullptr;
        has_device_ = counter != nullptr;
        if (has_device_)
            count_on_device(*counter);
        else
            first_pass(is_kept, trials_.family != MethodFamily::tree && has_one_cutoff &&
                                    !trials_.uses_nearest);
        statistics_.trim();
    }

    Result run() {
        std::vector<SweepPoint> sweep;
        std::optional<Trial> best;
        std::vector<double> best_silhouettes;
        double best_mean = -2.0;
        for (const double value : trials_.values()) {
            Trial trial = clustering_at(value);
            std::vector<double> values;
            double mean = kNaN;
            if (trials_.has_several() || parameters_.silhouettes) {
                values = silhouettes(*source_, trial.clustering, trial_stage(kSilhouetteStage));
                mean = mean_silhouette(values);
            }
            ++number_;
            if (trials_.has_several()) sweep.push_back(point(value, trial.clustering, mean));
            if (best && !(mean > best_mean)) continue;
            best = std::move(trial);
            best_silhouettes = std::move(values);
            best_mean = std::isnan(mean) ? -2.0 : mean;
        }
        Result result{std::move(statistics_),
                      std::move(best->clustering),
                      {},
                      mean_silhouette(best_silhouettes),
                      best->cutoff,
                      std::move(sweep),
                      std::move(tree_),
                      std::move(peaks_),
                      std::move(rounds_)};
        // After a sweep over cutoffs the stored peaks are those of the last value, not of the best.
        if (trials_.family == MethodFamily::peaks && trials_.cutoffs.size() > 1)
            result.peaks = peaks_at(result.cutoff);
        if (trials_.family == MethodFamily::centres) {
            result.clusters = describe_by_centres(result.clustering, best->to_centres);
            result.statistics = statistics_of(result.clustering, std::move(best->to_centres));
        } else {
            result.clusters = describe(*source_, result.clustering, stage(kDescriptionStage));
        }
        if (!best_silhouettes.empty())
            add_silhouettes(best_silhouettes, result.clustering, result.clusters);
        return result;
    }

private:
    static SweepPoint point(double value, const Clustering& clustering, double silhouette) {
        SweepPoint point{value, clustering.cluster_count(), 0, 0, silhouette};
        for (const std::int32_t cluster : clustering.assignment) {
            point.largest += cluster == 0;
            point.noise += cluster == kNoise;
        }
        return point;
    }

    /// Of the distances of items to their centres, without the centres themselves.
    PairStatistics statistics_of(const Clustering& clustering,
                                 std::vector<float> to_centres) const {
        for (const Index centre : clustering.centres) to_centres[centre] = -1.0F;
        std::erase(to_centres, -1.0F);
        PairStatistics statistics(1, parameters_.bin_width);
        statistics.add_rows(
            {0, 1}, 1, [&](Index) { return to_centres.data(); },
            [&](Index) { return std::ssize(to_centres); });
        return statistics;
    }

    Context stage(std::string_view name) const { return stage_context(context_, *source_, name); }
    /// The context for a stage of one value of a sweep.
    Context trial_stage(const char* name) const {
        Context context = stage(numbered(name, number_));
        if (number_ >= kSavedTrials) context.checkpoint.clear();
        return context;
    }

    /// Uses the result of an earlier run if this clustering needs nothing else.
    bool use(const KnownPairs& known) {
        const bool is_enough = trials_.family == MethodFamily::greedy ||
                               trials_.family == MethodFamily::dbscan ||
                               (trials_.family == MethodFamily::shared && !trials_.uses_nearest);
        if (!is_enough || trials_.cutoffs.size() != 1 || trials_.cutoffs[0] > known.cutoff ||
            known.statistics.bin_width() != parameters_.bin_width)
            return false;
        neighbours_ = known_neighbours(*source_, trials_.cutoffs[0], known);
        statistics_ = known.statistics;
        return true;
    }

    void count_on_device(PairCounter& counter) {
        const Index count = source_->count();
        const Index pairs = std::clamp(static_cast<Index>(pair_count(count)) / 512,
                                       kMinCountedPairs, kMaxCountedPairs);
        const Index rows = std::max<Index>(64, pairs / count / 64 * 64);
        std::vector<Tile> tiles = cut_into_bands(count, rows);
        for (Tile& tile : tiles) tile.items = 0;  // values stay on the device
        const bool has_one_cutoff = trials_.cutoffs.size() == 1;
        const Bins bins{.width = parameters_.bin_width,
                        .cutoff = has_one_cutoff ? trials_.cutoffs[0] : 0.0,
                        .counts_neighbours = has_one_cutoff};
        std::vector<std::uint32_t> neighbours(has_one_cutoff ? count : 0);
        PairCounts counts;
        sum_over_tiles(
            stage(kPairStage), "distances", tiles,
            [&] { return fmt::format("{} on the device {}", source_->hash(), bins.cutoff); },
            [&](AdditiveCheckpoint& sums) {
                statistics_.join(sums);
                if (has_one_cutoff) sums.add("neighbours", neighbours);
            },
            [&](const Tile& tile, View<float, 2>) {
                counts = {};
                counter.count(tile.side[0], bins, counts);
            },
            [&](const Tile& tile, View<const float, 2>) {
                statistics_.add(tile.side[0].first, counts.statistics);
                for (std::size_t i = 0; i < counts.neighbours.size(); ++i)
                    neighbours[i] += static_cast<std::uint32_t>(counts.neighbours[i]);
            });
        device_neighbours_.assign(neighbours.begin(), neighbours.end());
    }

    /// The pass that counts the histogram also gathers all else that needs each pair once: the
    /// distances of a tree, the neighbours below a single cutoff, the default cutoff of density
    /// peaks.
    void first_pass(bool is_kept, bool needs_neighbours) {
        const Index count = source_->count();
        const bool is_tree = trials_.family == MethodFamily::tree;
        const Context context = stage(kPairStage);
        const int threads = resolve_threads(context);
        std::vector<float> condensed;
        std::optional<NeighbourFinder> neighbours;
        std::optional<QuantileFinder> quantile;
        if (is_tree || is_kept) {
            require_memory(static_cast<std::int64_t>(pair_count(count) * sizeof(float)) *
                               context.local_ranks(),
                           fmt::format("the distances of all pairs of {} items", count),
                           "take fewer of them, or a method that needs no matrix: gromos, dbscan");
            condensed.resize(pair_count(count));
        }
        const bool uses_nearest = trials_.uses_nearest;
        if (uses_nearest) {
            const Index nearest = std::min<Index>(parameters_.nearest, count - 1);
            // Lists shared between ranks are copied as bytes.
            require_memory(16 * count * nearest * context.local_ranks(),
                           fmt::format("{} nearest of each of {} items", nearest, count),
                           "take fewer nearest ones");
            nearest_ = NearestLists(count, nearest);
        }
        if (needs_neighbours) neighbours.emplace(*source_, trials_.cutoffs[0], context, max_bits());
        if (trials_.family == MethodFamily::peaks && trials_.cutoffs.empty())
            quantile.emplace(count, threads);
        const std::string options =
            fmt::format("{} {} {} {} {}", parameters_.bin_width, !condensed.empty(),
                        neighbours ? trials_.cutoffs[0] : 0.0,
                        neighbours && neighbours->keeps_bits(), quantile.has_value()) +
            (uses_nearest ? fmt::format(" {}", parameters_.nearest) : "");
        sum_over_pairs(
            *source_, context, "distances", options,
            [&](AdditiveCheckpoint& sums) {
                statistics_.join(sums);
                if (!condensed.empty()) sums.fill("pairs", condensed);
                if (neighbours) neighbours->join(sums);
                if (quantile) quantile->join(sums);
                if (uses_nearest) nearest_.join(sums);
            },
            [&](Block rows, const float* values) {
                const Index first = pairs_before(rows.first, count);
                const Index pairs = pairs_before(rows.first + rows.count, count) - first;
                statistics_.add_band(rows, count, values, threads);
                if (!condensed.empty()) std::copy_n(values, pairs, condensed.data() + first);
                if (neighbours) neighbours->add(rows, values);
                if (quantile) quantile->add(rows, values);
                if (uses_nearest) nearest_.add(rows, values, threads);
            });
        if (neighbours) neighbours_ = neighbours->finish();
        if (uses_nearest) {
            const std::vector<std::uint8_t> has_row(count, context.rank() == 0);
            all_gather_rows(context, nearest_.items.view(), has_row);
            all_gather_rows(context, nearest_.distances.view(), has_row);
        }
        if (is_kept) {
            auto pairs = std::make_shared<const StoredPairs>(
                count, is_tree ? condensed : std::move(condensed));
            kept_.emplace(
                std::move(pairs), [from = source_](double cutoff) { return from->error(cutoff); },
                [from = source_](Index i, Index j, double cutoff) {
                    return from->is_below(i, j, cutoff);
                });
            source_ = &*kept_;
        }
        if (quantile)
            peak_cutoff_ = just_above(quantile->find(*source_, kPeakShare, stage(kQuantileStage)));
        // NOLINTNEXTLINE(bugprone-use-after-move): moved above only if there is no tree
        if (is_tree) tree_ = link(parameters_.method, count, std::move(condensed), context_);
    }

    /// The smallest cutoff above this distance.
    static double just_above(float distance) {
        return std::nextafter(distance, std::numeric_limits<float>::max());
    }

    static std::int64_t max_bits() { return available_memory() / 2; }

    /// The neighbours below this cutoff; the neighbours from the first pass can be taken only once.
    std::unique_ptr<ItemNeighbours> neighbours_below(double cutoff) {
        if (neighbours_) return std::move(neighbours_);
        return find_neighbours(*source_, cutoff, trial_stage(kNeighbourStage), max_bits());
    }

    std::vector<Peak> peaks_at(double cutoff) {
        const std::unique_ptr<ItemNeighbours> neighbours = neighbours_below(cutoff);
        return find_peaks(*source_, neighbours->degrees(), stage(kPeakStage));
    }

    Trial clustering_at(double value) {
        const bool varies_cutoff = trials_.varies_cutoff();
        const auto count = static_cast<Index>(varies_cutoff ? 0 : value);
        switch (trials_.family) {
            case MethodFamily::greedy: {
                if (has_device_) {
                    DeviceClusters found = source_->gromos(value, std::move(device_neighbours_),
                                                           trial_stage(kGreedyStage));
                    return {
                        {std::move(found.assignment), {found.centres.begin(), found.centres.end()}},
                        value};
                }
                const std::unique_ptr<ItemNeighbours> neighbours = neighbours_below(value);
                const auto method = parameters_.method == Method::gromos ? &gromos : &gmx;
                return {method(*neighbours, trial_stage(kGreedyStage)), value};
            }
            case MethodFamily::dbscan:
                return {dbscan(*neighbours_below(value), parameters_.min_neighbours, context_),
                        value};
            case MethodFamily::medoids:
                return {k_medoids(*source_, count, trial_stage(kMedoidStage)).clustering};
            case MethodFamily::tree:
                if (varies_cutoff) return {cut_below_height(tree_, source_->count(), value), value};
                return {cut_into_clusters(tree_, source_->count(), count)};
            case MethodFamily::rounds:
                rounds_ = iterate_density(*source_, *parameters_.keep, parameters_.drop,
                                          statistics_.max(), stage(kRoundStage));
                return {densest_cluster(rounds_)};
            case MethodFamily::shared: return shared_trial(value);
            case MethodFamily::centres: {
                CentreClusters found = k_centres(
                    *source_, {count, varies_cutoff ? value : 0.0, parameters_.medoid_sweeps},
                    trial_stage(kCentreStage));
                number_by_size(found.clustering);
                return {std::move(found.clustering), varies_cutoff ? value : kNaN,
                        std::move(found.distances)};
            }
            case MethodFamily::peaks: break;
        }
        return peaks_trial(value);
    }

    Trial shared_trial(double cutoff) {
        const std::optional<double> given =
            trials_.has_cutoff ? std::optional(cutoff) : std::nullopt;
        const ItemLists lists = trials_.uses_nearest ? lists_of(nearest_, *source_, given)
                                                     : lists_of(*neighbours_below(cutoff));
        return {jarvis_patrick(lists, parameters_.common, context_), given.value_or(kNaN)};
    }

    Trial peaks_trial(double value) {
        const bool has_cutoffs = trials_.cutoffs.size() > 1;
        const double cutoff = has_cutoffs               ? value
                              : trials_.cutoffs.empty() ? peak_cutoff_
                                                        : trials_.cutoffs.front();
        const auto count =
            static_cast<Index>(trials_.varies_cutoff() ? trials_.counts.front() : value);
        if (has_cutoffs || peaks_.empty()) peaks_ = peaks_at(cutoff);
        return {density_peaks(peaks_, count), cutoff};
    }

    const Parameters& parameters_;
    const Context& context_;
    const Trials trials_;
    const PairSource* source_;  ///< after the first pass: the kept pairs, if any
    bool has_device_ = false;   ///< which counts and clusters the pairs
    std::optional<DecidedPairs> kept_;
    PairStatistics statistics_;
    std::size_t number_ = 0;    ///< index of the value that is tried
    double peak_cutoff_ = 0.0;  ///< cutoff of density peaks if the user gives none
    std::unique_ptr<ItemNeighbours> neighbours_;
    std::vector<std::int32_t> device_neighbours_;  ///< [item]: their number; empty: not counted
    NearestLists nearest_;
    std::vector<Merge> tree_;
    std::vector<Peak> peaks_;
    std::vector<DensityRound> rounds_;
};

}  // namespace

Result run(const PairSource& distances, const Parameters& parameters, const Context& context,
           const KnownPairs* known) {
    require_one_device(context, "one source of distances");
    check_options(parameters);
    return Clusterer(distances, parameters, context, known).run();
}

std::vector<std::string> checkpoint_names(const Parameters& parameters,
                                          const std::filesystem::path& checkpoint) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& stage) {
        names.push_back(stage_file(checkpoint, stage).filename().string());
    };
    for (const char* stage : {kPairStage, kQuantileStage, kDescriptionStage, kRoundStage})
        add(stage);
    const std::size_t trials = trials_of(parameters).values().size();
    // One additional pass, because neighbours are found again for the best value of a sweep.
    for (std::size_t n = 0; n < std::min(trials + 1, kSavedTrials); ++n)
        for (const char* stage :
             {kNeighbourStage, kSilhouetteStage, kMedoidStage, kGreedyStage, kCentreStage})
            add(numbered(stage, n));
    return names;
}

}  // namespace pleat::cluster
