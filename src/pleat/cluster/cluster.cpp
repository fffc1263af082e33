// Cluster: one pass over all pairs, the method that was asked for, its sweep, and what came of it.
#include "pleat/cluster/cluster.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "pleat/cluster/distances/neighbours.h"
#include "pleat/cluster/distances/quantile.h"
#include "pleat/cluster/methods/dbscan.h"
#include "pleat/cluster/methods/greedy.h"
#include "pleat/cluster/methods/kmedoids.h"
#include "pleat/cluster/plan.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::cluster {

namespace {

/// Below this all pairs are kept after the first pass, so that tables need no second one.
constexpr std::int64_t kKeptBytes = std::int64_t{256} << 20;
/// Rodriguez and Laio: 1 to 2 % of all items near each one.
constexpr double kPeakShare = 0.02;

/// One clustering of a sweep, with what else its method tells.
struct Found {
    Clustering clustering;
    double cutoff = std::numeric_limits<double>::quiet_NaN();
};

class Work {
public:
    Work(const Distances& source, const Parameters& parameters, const Context& context)
        : parameters_(parameters),
          context_(context),
          plan_(plan_of(parameters)),
          distances_(source, kKeptBytes),
          in_place_(parameters.method == "daura" ? distances_.in_place() : nullptr),
          pairs_(source.count(), parameters.bin, resolve_threads(context)) {
        check_counts(plan_, source.count());
        for (const double k : plan_.counts)
            if (plan_.family == Family::medoids)
                require_medoids(source.count(), static_cast<Index>(k));
        first_pass();
    }

    Result run() {
        const bool by_cutoff = plan_.counts.size() <= 1 && !plan_.cutoffs.empty();
        const std::vector<double>& values = by_cutoff ? plan_.cutoffs : plan_.counts;
        std::vector<SweepPoint> sweep;
        std::optional<Found> best;
        std::vector<double> best_silhouettes;
        double best_mean = -2.0;
        for (const double value : values) {
            Found found = at(value, by_cutoff);
            std::vector<double> apart;
            double mean = std::numeric_limits<double>::quiet_NaN();
            if (plan_.sweeps() || parameters_.silhouettes) {
                apart = silhouettes(distances_, found.clustering, context_);
                mean = mean_silhouette(apart);
            }
            if (plan_.sweeps()) sweep.push_back(point(value, found.clustering, mean));
            if (best && !(mean > best_mean)) continue;
            best = std::move(found);
            best_silhouettes = std::move(apart);
            best_mean = std::isnan(mean) ? -2.0 : mean;
        }
        Result result{pairs_,
                      std::move(best->clustering),
                      {},
                      mean_silhouette(best_silhouettes),
                      best->cutoff,
                      std::move(sweep),
                      std::move(tree_),
                      std::move(peaks_)};
        // Of a sweep over cut-offs the peaks kept are the last ones, not those of the best.
        if (plan_.family == Family::peaks && plan_.cutoffs.size() > 1)
            result.peaks = peaks_at(result.cutoff);
        result.clusters = describe(distances_, result.clustering, context_);
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

    /// All that needs every pair once comes from the same pass as the histogram: a tree's
    /// distances, the neighbours of a single cut-off, the cut-off of peaks without one.
    void first_pass() {
        if (use_lists()) return;
        if (in_place_ != nullptr) return pairs_.add(in_place_->totals(parameters_.bin));
        const bool is_tree = plan_.family == Family::tree;
        const int threads = resolve_threads(context_);
        std::optional<CondensedPairs> condensed;
        std::optional<NeighbourFinder> finder;
        std::optional<QuantileFinder> quantile;
        if (is_tree) condensed.emplace(distances_.count());
        if (!is_tree && plan_.cutoffs.size() == 1)
            finder.emplace(distances_, plan_.cutoffs.front(), threads, most_bits());
        if (plan_.family == Family::peaks && plan_.cutoffs.empty())
            quantile.emplace(distances_.count(), threads);
        distances_.for_each_band("distances", [&](Block rows, const float* values) {
            pairs_.add(rows, values);
            if (condensed) condensed->add(rows, values);
            if (finder) finder->add(rows, values);
            if (quantile) quantile->add(rows, values);
        });
        if (finder) neighbours_ = finder->finish();
        if (quantile) peak_cutoff_ = just_above(quantile->find(distances_, kPeakShare));
        if (condensed)
            tree_ = link(linkage_of(parameters_.method), distances_.count(), condensed->take(),
                         context_);
    }

    /// What the source has listed of all pairs, if that is all that this clustering needs.
    bool use_lists() {
        const bool is_enough = plan_.family == Family::greedy || plan_.family == Family::dbscan;
        if (!is_enough || plan_.cutoffs.size() != 1) return false;
        std::optional<PairTotals> totals = distances_.listed_totals(parameters_.bin);
        if (totals) neighbours_ = distances_.listed_neighbours(plan_.cutoffs.front());
        if (!neighbours_) return false;
        pairs_.add(std::move(*totals));
        in_place_ = nullptr;
        return true;
    }

    /// The cut-off below which an item at this distance is.
    static double just_above(float distance) {
        return std::nextafter(distance, std::numeric_limits<float>::max());
    }

    static std::int64_t most_bits() { return available_memory() / 2; }

    /// The neighbours within this cut-off; those of the first pass once.
    std::unique_ptr<Neighbours> near(double cutoff) {
        if (neighbours_) return std::move(neighbours_);
        return find_neighbours(distances_, cutoff, context_, most_bits());
    }

    std::vector<Peak> peaks_at(double cutoff) {
        return find_peaks(distances_, near(cutoff)->degrees());
    }

    Found at(double value, bool by_cutoff) {
        const auto count = static_cast<Index>(by_cutoff ? 0 : value);
        switch (plan_.family) {
            case Family::greedy: {
                if (in_place_ != nullptr) return {in_place_->daura(value), value};
                const std::unique_ptr<Neighbours> found = near(value);
                return {parameters_.method == "daura" ? daura(*found, context_)
                                                      : gromacs(*found, context_),
                        value};
            }
            case Family::dbscan:
                return {dbscan(*near(value), parameters_.least_neighbours, context_), value};
            case Family::medoids: return {k_medoids(distances_, count, context_).clustering};
            case Family::tree:
                if (by_cutoff) return {cut_below(tree_, distances_.count(), value), value};
                return {cut_to(tree_, distances_.count(), count)};
            case Family::peaks: break;
        }
        return peaks_found(value, by_cutoff);
    }

    Found peaks_found(double value, bool by_cutoff) {
        const bool sweeps_cutoffs = plan_.cutoffs.size() > 1;
        const double cutoff = sweeps_cutoffs          ? value
                              : plan_.cutoffs.empty() ? peak_cutoff_
                                                      : plan_.cutoffs.front();
        const auto count = static_cast<Index>(by_cutoff ? plan_.counts.front() : value);
        if (sweeps_cutoffs || peaks_.empty()) peaks_ = peaks_at(cutoff);
        return {density_peaks(peaks_, count), cutoff};
    }

    const Parameters& parameters_;
    const Context& context_;
    const Plan plan_;
    const KeptDistances distances_;
    const WorkInPlace* in_place_;  ///< null: all is done here
    PairSummary pairs_;
    double peak_cutoff_ = 0.0;  ///< of density peaks where none is given
    std::unique_ptr<Neighbours> neighbours_;
    std::vector<Merge> tree_;
    std::vector<Peak> peaks_;
};

}  // namespace

Result run(const Distances& distances, const Parameters& parameters, const Context& context) {
    check_options(parameters);
    return Work(distances, parameters, context).run();
}

}  // namespace pleat::cluster
