// Minimal ensembles: few frames with weights that are not negative, size by size.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/set_fit.h"

namespace pleat::saxs {

namespace {

bool is_better(const FittedSet& a, const FittedSet& b) {
    return a.chi2 != b.chi2 ? a.chi2 < b.chi2 : a.members < b.members;
}

/// Whether every member has a sufficient weight. If not, a smaller set is as good.
bool has_sufficient_weights(const FittedSet& set) {
    return std::all_of(set.weights.begin(), set.weights.end(),
                       [](double weight) { return weight >= kMinWeight; });
}

/// Keeps the best `kKept` sets whose members all have sufficient weights, each once.
void keep_best(std::vector<FittedSet>& sets) {
    std::erase_if(sets, [](const FittedSet& set) { return !has_sufficient_weights(set); });
    std::sort(sets.begin(), sets.end(), [](const FittedSet& a, const FittedSet& b) {
        return a.members != b.members ? a.members < b.members : a.chi2 < b.chi2;
    });
    const auto last =
        std::unique(sets.begin(), sets.end(),
                    [](const FittedSet& a, const FittedSet& b) { return a.members == b.members; });
    sets.erase(last, sets.end());
    std::sort(sets.begin(), sets.end(), is_better);
    if (sets.size() > static_cast<std::size_t>(kKept)) sets.resize(static_cast<std::size_t>(kKept));
}

double set_count(Index frames, Index size) {
    double count = 1;
    for (Index k = 0; k < size; ++k)
        count *= static_cast<double>(frames - k) / static_cast<double>(k + 1);
    return count;
}

std::vector<Members> all_sets(Index frames, Index size) {
    std::vector<Members> sets;
    Members members(static_cast<std::size_t>(size));
    std::iota(members.begin(), members.end(), Index{0});
    while (true) {
        sets.push_back(members);
        Index at = size - 1;
        while (at >= 0 && members[static_cast<std::size_t>(at)] == frames - size + at) --at;
        if (at < 0) return sets;
        ++members[static_cast<std::size_t>(at)];
        for (Index next = at + 1; next < size; ++next)
            members[static_cast<std::size_t>(next)] =
                members[static_cast<std::size_t>(next) - 1] + 1;
    }
}

bool has(const Members& members, Index frame) {
    return std::binary_search(members.begin(), members.end(), frame);
}

Members with(Members members, Index frame) {
    members.insert(std::upper_bound(members.begin(), members.end(), frame), frame);
    return members;
}

Members without(Members members, std::size_t position) {
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(position));
    return members;
}

/// The partial profiles of some of the frames.
Array<double, 3> subset_of(View<const double, 3> partial, const Members& members) {
    auto some = Array<double, 3>::unset(static_cast<Index>(members.size()), partial.extent(1),
                                        partial.extent(2));
    for (std::size_t m = 0; m < members.size(); ++m)
        std::copy(partial[members[m]].begin(), partial[members[m]].end(),
                  some[static_cast<Index>(m)].begin());
    return some;
}

/// A problem on some of its frames, with their products.
struct SubsetProblem {
    Members frames;
    Array<double, 3> partial;
    ProductTable table;

    SubsetProblem(const EnsembleProblem& whole, Members chosen, int threads)
        : frames(std::move(chosen)),
          partial(subset_of(whole.partial, frames)),
          table({whole.curve, partial, whole.mean_radius, whole.options, whole.context}, true,
                threads) {}

    /// Renumbers sets of frames of the whole problem as sets of this one.
    std::vector<Members> to_subset(std::vector<Members> sets) const {
        for (Members& members : sets)
            for (Index& frame : members)
                frame = std::lower_bound(frames.begin(), frames.end(), frame) - frames.begin();
        return sets;
    }
    std::vector<FittedSet> to_whole(std::vector<FittedSet> sets) const {
        for (FittedSet& set : sets)
            for (Index& frame : set.members) frame = frames[static_cast<std::size_t>(frame)];
        return sets;
    }
};

/// The contrast at which the unweighted mean of all frames fits best.
Contrast contrast_of_mean(const EnsembleProblem& problem) {
    Members every(static_cast<std::size_t>(problem.partial.extent(0)));
    std::iota(every.begin(), every.end(), Index{0});
    const std::vector<double> equal(every.size(), 1.0 / static_cast<double>(every.size()));
    return fit(*problem.curve, weighted_partial(problem.partial, every, equal), problem.mean_radius,
               problem.options, nullptr, problem.context)
        .contrast;
}

/// Up to `kRepresentatives` frames whose profiles, scaled to one length, are as different as
/// possible: each next one is the farthest from all before (Gonzalez, Theor. Comput. Sci. 38:293,
/// 1985). All frames if there are no more.
Members representatives_of(const EnsembleProblem& problem, int threads) {
    const Index frames = problem.partial.extent(0);
    Members chosen;
    if (frames <= kRepresentatives) {
        chosen.resize(static_cast<std::size_t>(frames));
        std::iota(chosen.begin(), chosen.end(), Index{0});
        return chosen;
    }
    Array<double, 2> profiles = frame_profiles(problem, contrast_of_mean(problem));
    const auto points = static_cast<std::size_t>(profiles.extent(1));
    for (Index frame = 0; frame < frames; ++frame) {
        double* const row = profiles[frame].data;
        for (std::size_t k = 0; k < points; ++k) row[k] /= problem.curve->sigma[k];
        const double length = std::sqrt(std::inner_product(row, row + points, row, 0.0));
        for (std::size_t k = 0; k < points && length > 0; ++k) row[k] /= length;
    }
    std::vector<double> distances(static_cast<std::size_t>(frames), INFINITY);
    Index next = 0;
    while (static_cast<Index>(chosen.size()) < kRepresentatives) {
        chosen.push_back(next);
        const double* const newest = profiles[next].data;
        cancellable_parallel_for(problem.context, threads, frames, [&](Index frame, int) {
            const double* const row = profiles[frame].data;
            double square = 0;
            for (std::size_t k = 0; k < points; ++k)
                square += (row[k] - newest[k]) * (row[k] - newest[k]);
            double& distance = distances[static_cast<std::size_t>(frame)];
            distance = std::min(distance, square);
        });
        for (const Index frame : chosen) distances[static_cast<std::size_t>(frame)] = -1;
        next = std::max_element(distances.begin(), distances.end()) - distances.begin();
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

/// The search for the best sets of frames of one problem, size by size.
class SetSearch {
public:
    SetSearch(const EnsembleProblem& problem, const Members& representatives, int threads)
        : problem_(problem),
          representatives_(problem, representatives, threads),
          threads_(threads) {}

    /// The best sets found of the next size; empty if none has sufficient weights for all members.
    const std::vector<FittedSet>& next_size() {
        ++size_;
        const Index frames = problem_.partial.extent(0);
        if (size_ == 1) {
            best_ = fit_from_grid(ProductTable(problem_, false, threads_), all_sets(frames, 1),
                                  kFine, threads_);
            keep_best(best_);
            return best_;
        }
        const bool is_all = set_count(frames, size_) <= static_cast<double>(kMaxExhaustiveSets);
        is_exhaustive_ = is_exhaustive_ && is_all;
        const auto representative_count = static_cast<Index>(representatives_.frames.size());
        if (is_all || (size_ == 2 && set_count(representative_count, 2) <=
                                         static_cast<double>(kMaxExhaustiveSets))) {
            best_ = refined(representatives_, fit_from_grid(representatives_.table,
                                                            all_sets(representative_count, size_),
                                                            kCoarse, threads_));
        } else {
            best_ = grown();
        }
        keep_best(best_);
        if (!is_all) exchange();
        return best_;
    }
    /// Whether all sets up to this size were fitted.
    bool is_exhaustive() const { return is_exhaustive_; }

private:
    /// Each of the best sets with one more representative, fitted from its contrast.
    std::vector<FittedSet> grown() {
        std::vector<std::pair<Members, Contrast>> candidates;
        for (const FittedSet& from : best_)
            for (const Index frame : representatives_.frames)
                if (!has(from.members, frame))
                    candidates.push_back({with(from.members, frame), from.contrast});
        Members frames = representatives_.frames;
        for (const FittedSet& from : best_)
            for (const Index frame : from.members)
                if (!has(frames, frame)) frames = with(std::move(frames), frame);
        if (frames.size() == representatives_.frames.size())
            return fitted(representatives_, std::move(candidates));
        return fitted(SubsetProblem(problem_, std::move(frames), threads_), std::move(candidates));
    }

    /// Exchanges members of each of the best sets, one at a time, while that lowers chi^2: the best
    /// set of many frames is often found from another one than the best of few.
    void exchange() {
        const std::vector<FittedSet> starts(
            best_.begin(), best_.begin() + std::min<std::ptrdiff_t>(kStarts, std::ssize(best_)));
        for (const FittedSet& start : starts) {
            std::vector<FittedSet> found{start};
            exchange(found);
            best_.insert(best_.end(), found.begin(), found.end());
        }
        keep_best(best_);
    }
    void exchange(std::vector<FittedSet>& sets) {
        constexpr int kMaxRounds = 10;
        for (int round = 0; round < kMaxRounds && !sets.empty(); ++round) {
            const FittedSet from = sets.front();
            std::vector<FittedSet> result = exchanged(from);
            sets.insert(sets.end(), result.begin(), result.end());
            keep_best(sets);
            if (!(sets.front().chi2 < from.chi2 * (1 - 1e-9))) return;
        }
    }

    /// The sets that differ from `from` in one member. If there are many frames, only the sets that
    /// are best at its contrast are fitted.
    std::vector<FittedSet> exchanged(const FittedSet& from) {
        std::vector<std::pair<Members, Contrast>> candidates;
        const Index frames = problem_.partial.extent(0);
        const bool is_few = static_cast<Index>(representatives_.frames.size()) == frames;
        const Members others = is_few ? representatives_.frames : promising(from);
        for (std::size_t m = 0; m < from.members.size(); ++m)
            for (const Index frame : others)
                if (!has(from.members, frame))
                    candidates.push_back({with(without(from.members, m), frame), from.contrast});
        if (is_few) return fitted(representatives_, std::move(candidates));
        Members all = from.members;
        for (const Index frame : others)
            if (!has(all, frame)) all = with(std::move(all), frame);
        return fitted(SubsetProblem(problem_, std::move(all), threads_), std::move(candidates));
    }

    /// The frames that improve a set most when they replace one member, at the set's contrast.
    Members promising(const FittedSet& from) const {
        EnsembleProblem fixed = problem_;
        fixed.options.c1_min = fixed.options.c1_max = from.contrast.c1;
        fixed.options.c2_min = fixed.options.c2_max = from.contrast.c2;
        const ProductTable table(fixed, false, threads_, from.members);
        std::vector<Members> sets;
        for (std::size_t m = 0; m < from.members.size(); ++m)
            for (Index frame = 0; frame < table.frame_count(); ++frame)
                if (!has(from.members, frame))
                    sets.push_back(with(without(from.members, m), frame));
        std::vector<std::pair<double, Index>> order;
        for (const FittedSet& set : fit_from(
                 table, sets, [&](std::size_t) { return from.contrast; }, kCoarse, threads_))
            if (has_sufficient_weights(set))
                for (const Index frame : set.members)
                    if (!has(from.members, frame)) order.push_back({set.chi2, frame});
        std::sort(order.begin(), order.end());
        Members chosen;
        for (const auto& [chi2, frame] : order) {
            if (!has(chosen, frame)) chosen = with(std::move(chosen), frame);
            if (static_cast<Index>(chosen.size()) >= kExchanged) break;
        }
        return chosen;
    }

    std::vector<FittedSet> fitted(const SubsetProblem& subset,
                                  std::vector<std::pair<Members, Contrast>> candidates) const {
        std::sort(candidates.begin(), candidates.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<Members> sets;
        std::vector<Contrast> starts;
        for (auto& [members, contrast] : candidates) {
            sets.push_back(std::move(members));
            starts.push_back(contrast);
        }
        return refined(subset, fit_from(
                                   subset.table, subset.to_subset(std::move(sets)),
                                   [&](std::size_t n) { return starts[n]; }, kCoarse, threads_));
    }

    /// The best of sets that were fitted coarsely, fitted finely.
    std::vector<FittedSet> refined(const SubsetProblem& subset,
                                   std::vector<FittedSet> coarse) const {
        keep_best(coarse);
        std::vector<Members> sets;
        sets.reserve(coarse.size());
        for (const FittedSet& set : coarse) sets.push_back(set.members);
        return subset.to_whole(fit_from(
            subset.table, sets, [&](std::size_t n) { return coarse[n].contrast; }, kFine,
            threads_));
    }

    /// Fits end when chi^2 would fall by less than this fraction.
    static constexpr double kCoarse = 1e-4, kFine = 1e-9;
    static constexpr Index kExchanged = 30;
    /// Sets from which members are exchanged.
    static constexpr std::ptrdiff_t kStarts = 5;

    const EnsembleProblem& problem_;
    const SubsetProblem representatives_;
    const int threads_;
    Index size_ = 0;
    bool is_exhaustive_ = true;
    std::vector<FittedSet> best_;
};

Weighted weighted_of(const EnsembleProblem& problem, const FittedSet& set) {
    Weighted result;
    result.frames = set.members;
    result.weights = set.weights;
    result.fit =
        fit_at(set.contrast, *problem.curve,
               weighted_partial(problem.partial, result.frames, result.weights),
               problem.mean_radius, problem.options, static_cast<Index>(set.members.size()) - 1);
    return result;
}

}  // namespace

std::vector<Weighted> best_ensembles(const EnsembleProblem& problem, Index max_size, int threads) {
    SetSearch search(problem, representatives_of(problem, threads), threads);
    std::vector<Weighted> sizes;
    for (Index size = 1; size <= std::min<Index>(max_size, problem.partial.extent(0)); ++size) {
        const std::vector<FittedSet>& best = search.next_size();
        Weighted result;
        if (!best.empty()) result = weighted_of(problem, best.front());
        if (!sizes.empty() && (best.empty() || !(result.fit.chi2 < sizes.back().fit.chi2)))
            result = sizes.back();
        result.is_exhaustive = search.is_exhaustive();
        sizes.push_back(std::move(result));
    }
    return sizes;
}

std::vector<Weighted> minimal_ensembles(const EnsembleProblem& problem, Index max_size,
                                        const Context& context) {
    const int threads = resolve_threads(context);
    EnsembleProblem asking = problem;
    asking.context = context;
    std::vector<Weighted> sizes = cross_validate(
        asking,
        [&](const EnsembleProblem& some) { return best_ensembles(some, max_size, threads); },
        [](View<const double, 3> partial, const Weighted& one) {
            return weighted_partial(partial, one.frames, one.weights);
        },
        context, "minimal ensembles", FitsOfFolds::in_turn);
    // A size that repeats the one before is no ensemble of that size.
    std::vector<Weighted> distinct;
    for (Weighted& one : sizes)
        if (distinct.empty() || one.frames.size() > distinct.back().frames.size())
            distinct.push_back(std::move(one));
    return distinct;
}

}  // namespace pleat::saxs
