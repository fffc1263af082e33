// Minimal ensembles: few frames with weights that are not negative, size by size.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/frame_axes.h"
#include "pleat/saxs/fit/least_squares.h"
#include "pleat/saxs/fit/set_fit.h"

namespace pleat::saxs {

namespace {

constexpr Index kFrames = 128;  // of a loop, whose rows fit in a cache

/// Products of frames' profiles with one another and with the curve.
class Products {
public:
    Products(const ProfileCoordinates& at, std::span<const Index> members) : at_(at) {
        const std::vector<double>& curve = at.curve;
        std::vector<double> rest;
        std::tie(mean_, rest) = at.divided_mean();
        for (const std::vector<double>& axis : at.basis)
            curve_.push_back(dot(axis.data(), curve.data(), curve.size()));
        rest_ = dot(rest.data(), rest.data(), rest.size());
        rest_with_curve_ = dot(rest.data(), curve.data(), rest.size());
        for (const Index frame : members) {
            std::vector<double>& x = members_.emplace_back();
            for (std::size_t r = 0; r < mean_.size(); ++r)
                x.push_back(mean_[r] + at.x.x(frame / kFrameBlock, static_cast<Index>(r),
                                              frame % kFrameBlock));
        }
    }
    std::size_t member_count() const { return members_.size(); }
    double of_members(std::size_t a, std::size_t b) const {
        return rest_ + dot(members_[a].data(), members_[b].data(), mean_.size());
    }
    double with_curve(std::size_t member) const {
        return rest_with_curve_ + dot(members_[member].data(), curve_.data(), mean_.size());
    }
    /// Rows of `rows` [kFrames]: products of frames from `first` on with themselves, with the curve
    /// and with each member.
    void multiply(Index first, View<double, 2> rows) const {
        for (double& square : rows[0]) square = rest_;
        for (double& product : rows[1]) product = rest_with_curve_;
        for (std::size_t m = 0; m < members_.size(); ++m)
            for (double& product : rows[static_cast<Index>(m) + 2]) product = rest_;
        for (std::size_t r = 0; r < mean_.size(); ++r) {
            const double* const x =
                &at_.x.x.view()(first / kFrameBlock, static_cast<Index>(r), first % kFrameBlock);
            std::array<double, kFrames> along;
            for (std::size_t i = 0; i < along.size(); ++i) along[i] = x[i] + mean_[r];
            for (std::size_t i = 0; i < along.size(); ++i) rows[0].data[i] += along[i] * along[i];
            for (std::size_t i = 0; i < along.size(); ++i) rows[1].data[i] += along[i] * curve_[r];
            for (std::size_t m = 0; m < members_.size(); ++m) {
                double* const row = rows[static_cast<Index>(m) + 2].data;
                for (std::size_t i = 0; i < along.size(); ++i) row[i] += along[i] * members_[m][r];
            }
        }
    }

private:
    const ProfileCoordinates& at_;
    std::vector<double> mean_, curve_;          // [axis]: along the basis
    std::vector<std::vector<double>> members_;  // [member][axis]
    double rest_ = 0, rest_with_curve_ = 0;
};

/// The members that stay when one is replaced, and the Cholesky root of their equations.
class Others {
public:
    Others(const Products& products, std::size_t replaced) {
        for (std::size_t m = 0; m < products.member_count(); ++m)
            if (m != replaced) members_.push_back(m);
        const std::size_t n = members_.size();
        root_.assign(n * n, 0);
        const auto of = [&](std::size_t i, std::size_t j) {
            return products.of_members(members_[i], members_[j]);
        };
        if (!cholesky_root(n, n, of, root_.data())) return;
        for (const std::size_t member : members_) along_.push_back(products.with_curve(member));
        solve_lower(n, n, root_.data(), along_.data());
        for (const double along : along_) gain_ += along * along;
        is_solved_ = true;
    }
    bool is_solved() const { return is_solved_; }

    /// Raises `gains` [kFrames] to the decrease of chi^2 by these members plus each frame, if all
    /// weights are sufficient. `rows`: from Products::multiply(). `scratch`: one row per member and
    /// four more.
    void raise(View<const double, 2> rows, View<double, 2> scratch, double* gains) const {
        const std::size_t n = members_.size();
        const auto row = [&](std::size_t k) { return scratch[static_cast<Index>(k)].data; };
        double *const square = row(n), *const weight = row(n + 1), *const smallest = row(n + 2),
                      *const sum = row(n + 3);
        std::copy_n(rows[0].data, kFrames, square);
        std::copy_n(rows[1].data, kFrames, weight);
        for (std::size_t k = 0; k < n; ++k) {
            double* const b = row(k);
            std::copy_n(rows[static_cast<Index>(members_[k]) + 2].data, kFrames, b);
            for (std::size_t j = 0; j < k; ++j)
                for (Index i = 0; i < kFrames; ++i) b[i] -= root_[k * n + j] * row(j)[i];
            for (Index i = 0; i < kFrames; ++i) {
                b[i] /= root_[k * n + k];
                square[i] -= b[i] * b[i];
                weight[i] -= b[i] * along_[k];
            }
        }
        for (Index i = 0; i < kFrames; ++i) {
            const bool is_singular = !(square[i] > kSingular * rows[0].data[i]);
            const double gain = is_singular ? -1 : gain_ + weight[i] * weight[i] / square[i];
            smallest[i] = sum[i] = weight[i] = is_singular ? -1 : weight[i] / square[i];
            square[i] = gain;
        }
        for (std::size_t k = n; k-- > 0;) {
            double* const b = row(k);
            for (Index i = 0; i < kFrames; ++i) b[i] = along_[k] - b[i] * weight[i];
            for (std::size_t j = k + 1; j < n; ++j)
                for (Index i = 0; i < kFrames; ++i) b[i] -= root_[j * n + k] * row(j)[i];
            for (Index i = 0; i < kFrames; ++i) {
                b[i] /= root_[k * n + k];
                sum[i] += b[i];
                smallest[i] = std::min(smallest[i], b[i]);
            }
        }
        for (Index i = 0; i < kFrames; ++i)
            if (smallest[i] > 0 && smallest[i] >= kMinWeight * sum[i])
                gains[i] = std::max(gains[i], square[i]);
    }

private:
    static constexpr double kSingular = 1e-13;

    std::vector<std::size_t> members_;
    std::vector<double> root_, along_;  // [other, other], [other]: what the curve is along them
    double gain_ = 0;
    bool is_solved_ = false;
};

}  // namespace

std::vector<Index> best_replacements(const ProfileCoordinates& at, std::span<const Index> members,
                                     std::size_t count, int threads, const Context& context) {
    static_assert(kFrameBlock % kFrames == 0);
    const Index frames = at.x.frames, blocks = (frames + kFrames - 1) / kFrames;
    const Products products(at, members);
    std::vector<Others> others;
    for (std::size_t m = 0; m < members.size(); ++m) {
        Others one(products, m);
        if (one.is_solved()) others.push_back(std::move(one));
    }
    std::vector<double> gains(blocks * kFrames, -1);
    const auto rows = std::ssize(members);
    cancellable_parallel_for(context, threads, blocks, [&](Index block, int) {
        Array<double, 2> of_frames(rows + 2, kFrames), scratch(rows + 3, kFrames);
        products.multiply(block * kFrames, of_frames);
        for (const Others& one : others)
            one.raise(of_frames, scratch, gains.data() + block * kFrames);
    });
    for (const Index frame : members) gains[frame] = -1;
    std::vector<Index> chosen;
    for (Index frame = 0; frame < frames; ++frame)
        if (gains[frame] >= 0) chosen.push_back(frame);
    const auto last = chosen.begin() + static_cast<std::ptrdiff_t>(std::min(count, chosen.size()));
    std::partial_sort(chosen.begin(), last, chosen.end(), [&](Index a, Index b) {
        const double x = gains[a], y = gains[b];
        return x != y ? x > y : a < b;
    });
    chosen.erase(last, chosen.end());
    std::ranges::sort(chosen);
    return chosen;
}

namespace {

bool is_better(const FittedSet& a, const FittedSet& b) {
    return a.chi2 != b.chi2 ? a.chi2 < b.chi2 : a.members < b.members;
}

/// Whether every member has a sufficient weight. If not, a smaller set is as good.
bool has_sufficient_weights(const FittedSet& set) {
    return std::ranges::all_of(set.weights, [](double weight) { return weight >= kMinWeight; });
}

/// Keeps the best `kKept` sets whose members all have sufficient weights, each once.
void keep_best(std::vector<FittedSet>& sets) {
    std::erase_if(sets, [](const FittedSet& set) { return !has_sufficient_weights(set); });
    std::ranges::sort(sets, [](const FittedSet& a, const FittedSet& b) {
        return a.members != b.members ? a.members < b.members : a.chi2 < b.chi2;
    });
    const auto last =
        std::unique(sets.begin(), sets.end(),
                    [](const FittedSet& a, const FittedSet& b) { return a.members == b.members; });
    sets.erase(last, sets.end());
    std::ranges::sort(sets, is_better);
    if (sets.size() > static_cast<std::size_t>(kKept)) sets.resize(kKept);
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
        while (at >= 0 && members[at] == frames - size + at) --at;
        if (at < 0) return sets;
        ++members[at];
        for (Index next = at + 1; next < size; ++next) members[next] = members[next - 1] + 1;
    }
}

bool has(const Members& members, Index frame) { return std::ranges::binary_search(members, frame); }

Members with(Members members, Index frame) {
    members.insert(std::ranges::upper_bound(members, frame), frame);
    return members;
}

Members without(Members members, std::size_t position) {
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(position));
    return members;
}

/// A problem for the search: the axes' profiles, possibly at some of the curve's points, and the
/// frames of the whole problem.
struct SearchedProblem {
    const EnsembleProblem& axes;
    const FrameAxes& of_frames;
    View<const double, 3> partial;  ///< [frame, channel pair, q of the whole curve]

    Index frame_count() const { return partial.extent(0); }
    int threads() const { return axes.threads(); }

    /// The partial profiles of some frames at the problem's points.
    Array<double, 3> partial_of(const Members& members) const {
        auto some =
            Array<double, 3>::unset(std::ssize(members), partial.extent(1), axes.partial.extent(2));
        for (std::size_t m = 0; m < members.size(); ++m)
            for (Index pair = 0; pair < partial.extent(1); ++pair) {
                const double* const from = partial[members[m]][pair].data;
                double* const to = some[static_cast<Index>(m)][pair].data;
                for (Index k = 0; k < some.extent(2); ++k)
                    to[k] = from[axes.points == nullptr ? k : (*axes.points)[k]];
            }
        return some;
    }
    EnsembleProblem with(View<const double, 3> some) const {
        EnsembleProblem result = axes;
        result.partial = some;
        return result;
    }
    /// The fit of a weighted mean of frames, described by the axes, at a contrast.
    Fit fit_of(const FittedSet& set) const {
        return fit_at(set.contrast, *axes.curve,
                      of_frames.mean(axes.partial, set.members, set.weights), axes.mean_radius,
                      axes.options);
    }
};

/// A problem on some of its frames, with their products.
struct SubsetProblem {
    Members frames;
    Array<double, 3> partial;
    ProductTable table;

    SubsetProblem(const SearchedProblem& whole, Members chosen, bool with_pairs = true)
        : frames(std::move(chosen)),
          partial(whole.partial_of(frames)),
          table(whole.with(partial), with_pairs, whole.threads()) {}

    /// Renumbers sets of frames of the whole problem for this subset.
    std::vector<Members> to_subset(std::vector<Members> sets) const {
        for (Members& members : sets)
            for (Index& frame : members)
                frame = std::ranges::lower_bound(frames, frame) - frames.begin();
        return sets;
    }
    std::vector<FittedSet> to_whole(std::vector<FittedSet> sets) const {
        for (FittedSet& set : sets)
            for (Index& frame : set.members) frame = frames[frame];
        return sets;
    }
};

/// Coordinates [frame, axis] of the frames' profiles, normalised to equal length.
Array<double, 2> directions_of(const ProfileCoordinates& at) {
    const Index axes = at.x.axes;
    auto [mean, rest] = at.divided_mean();
    mean.push_back(std::sqrt(dot(rest.data(), rest.data(), rest.size())));
    Array<double, 2> result(at.x.frames, axes + 1);
    for (Index frame = 0; frame < at.x.frames; ++frame) {
        double* const row = result[frame].data;
        std::ranges::copy(mean, row);
        for (Index r = 0; r < axes; ++r)
            row[r] += at.x.x(frame / kFrameBlock, r, frame % kFrameBlock);
        const double length = std::sqrt(dot(row, row, mean.size()));
        for (std::size_t k = 0; k < mean.size() && length > 0; ++k) row[k] /= length;
    }
    return result;
}

/// Up to `kRepresentatives` frames whose profiles, scaled to one length, are as different as
/// possible: each next one is the farthest from all before (Gonzalez, Theor. Comput. Sci. 38:293,
/// 1985). All frames if there are no more.
Members representatives_of(const SearchedProblem& problem) {
    constexpr Index kFramesOfLoop = 2048;
    const Index frames = problem.frame_count();
    Members chosen;
    if (frames <= kRepresentatives) {
        chosen.resize(frames);
        std::iota(chosen.begin(), chosen.end(), Index{0});
        return chosen;
    }
    const EnsembleProblem& axes = problem.axes;
    const ProfileCoordinates at(
        axes, problem.of_frames,
        fit(*axes.curve, axes.partial[0], axes.mean_radius, axes.options, nullptr, axes.context));
    const Array<double, 2> profiles = directions_of(at);
    const auto size = static_cast<std::size_t>(profiles.extent(1));
    std::vector<double> distances(frames, INFINITY);
    Index next = 0;
    while (std::ssize(chosen) < kRepresentatives) {
        chosen.push_back(next);
        const double* const newest = profiles[next].data;
        const auto update = [&](Index first, Index last, int) {
            for (Index frame = first; frame < last; ++frame) {
                const double* const row = profiles[frame].data;
                double square = 0;
                for (std::size_t k = 0; k < size; ++k)
                    square += (row[k] - newest[k]) * (row[k] - newest[k]);
                double& distance = distances[frame];
                distance = std::min(distance, square);
            }
        };
        cancellable_parallel_blocks(axes.context, problem.threads(), frames, kFramesOfLoop, update);
        for (const Index frame : chosen) distances[frame] = -1;
        next = std::ranges::max_element(distances) - distances.begin();
    }
    std::ranges::sort(chosen);
    return chosen;
}

/// The search for the best sets of frames of one problem, size by size.
class SetSearch {
public:
    explicit SetSearch(const SearchedProblem& problem)
        : problem_(problem), representatives_(problem, representatives_of(problem)) {}

    /// The best sets found of the next size; empty if none has sufficient weights for all members.
    const std::vector<FittedSet>& next_size() {
        ++size_;
        const Index frames = problem_.frame_count();
        if (size_ == 1) {
            best_ = singles();
            keep_best(best_);
            return best_;
        }
        const bool is_all = set_count(frames, size_) <= static_cast<double>(kMaxExhaustiveSets);
        is_exhaustive_ = is_exhaustive_ && is_all;
        const auto representative_count = std::ssize(representatives_.frames);
        if (is_all || (size_ == 2 && set_count(representative_count, 2) <=
                                         static_cast<double>(kMaxExhaustiveSets))) {
            best_ = refined(representatives_, fit_from_grid(representatives_.table,
                                                            all_sets(representative_count, size_),
                                                            kCoarse, problem_.threads()));
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
    /// The best frames, each alone.
    std::vector<FittedSet> singles() const {
        constexpr Index kFramesOfLoop = 512;
        std::vector<FittedSet> all;
        const Index frames = problem_.frame_count();
        for (Index first = 0; first < frames; first += kFramesOfLoop) {
            Members some(static_cast<std::size_t>(std::min(kFramesOfLoop, frames - first)));
            std::iota(some.begin(), some.end(), first);
            const SubsetProblem subset(problem_, std::move(some), false);
            std::vector<FittedSet> best =
                refined(subset, fit_from_grid(subset.table, all_sets(std::ssize(subset.frames), 1),
                                              kCoarse, problem_.threads()));
            std::move(best.begin(), best.end(), std::back_inserter(all));
        }
        return all;
    }

    /// Fits each of the best sets with one more representative, starting at its contrast.
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
        return fitted(SubsetProblem(problem_, std::move(frames)), std::move(candidates));
    }

    /// Exchanges members of each of the best sets, one at a time, as long as chi^2 decreases: the
    /// best large set is often not an extension of the best small one.
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

    /// The sets that differ from `from` in one member. With many frames, only those that fit best
    /// at the contrast of `from` are fitted.
    std::vector<FittedSet> exchanged(const FittedSet& from) {
        std::vector<std::pair<Members, Contrast>> candidates;
        const Index frames = problem_.frame_count();
        const bool is_few = std::ssize(representatives_.frames) == frames;
        const Members others = is_few ? representatives_.frames : promising(from);
        for (std::size_t m = 0; m < from.members.size(); ++m)
            for (const Index frame : others)
                if (!has(from.members, frame))
                    candidates.push_back({with(without(from.members, m), frame), from.contrast});
        if (is_few) return fitted(representatives_, std::move(candidates));
        Members all = from.members;
        for (const Index frame : others)
            if (!has(all, frame)) all = with(std::move(all), frame);
        return fitted(SubsetProblem(problem_, std::move(all)), std::move(candidates));
    }

    /// The frames that improve a set most when they replace one member, at the set's contrast.
    Members promising(const FittedSet& from) const {
        // With more frames, their root mean square says less about a single frame.
        constexpr double kManyFrames = 10000;
        const double more =
            std::max(1.0, static_cast<double>(problem_.frame_count()) / kManyFrames);
        const ProfileCoordinates at(problem_.axes, problem_.of_frames, problem_.fit_of(from),
                                    kDirectionTolerance / std::sqrt(more));
        return best_replacements(at, from.members, kExchanged, problem_.threads(),
                                 problem_.axes.context);
    }

    std::vector<FittedSet> fitted(const SubsetProblem& subset,
                                  std::vector<std::pair<Members, Contrast>> candidates) const {
        std::ranges::sort(candidates,
                          [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<Members> sets;
        std::vector<Contrast> starts;
        for (auto& [members, contrast] : candidates) {
            sets.push_back(std::move(members));
            starts.push_back(contrast);
        }
        return refined(subset,
                       fit_from(
                           subset.table, subset.to_subset(std::move(sets)),
                           [&](std::size_t n) { return starts[n]; }, kCoarse, problem_.threads()));
    }

    /// Selects the best of sets that were fitted coarsely, and fits them finely.
    std::vector<FittedSet> refined(const SubsetProblem& subset,
                                   std::vector<FittedSet> coarse) const {
        keep_best(coarse);
        std::vector<Members> sets;
        sets.reserve(coarse.size());
        for (const FittedSet& set : coarse) sets.push_back(set.members);
        return subset.to_whole(fit_from(
            subset.table, sets, [&](std::size_t n) { return coarse[n].contrast; }, kFine,
            problem_.threads()));
    }

    /// Fits end when chi^2 would fall by less than this fraction.
    static constexpr double kCoarse = 1e-4, kFine = 1e-9;
    static constexpr std::size_t kExchanged = 30;
    /// Sets from which members are exchanged.
    static constexpr std::ptrdiff_t kStarts = 5;

    const SearchedProblem problem_;
    const SubsetProblem representatives_;
    Index size_ = 0;
    bool is_exhaustive_ = true;
    std::vector<FittedSet> best_;
};

Weighted weighted_of(const EnsembleProblem& problem, const FittedSet& set,
                     View<const double, 2> mean) {
    Weighted result;
    result.frames = set.members;
    result.weights = set.weights;
    result.fit = fit_at(set.contrast, *problem.curve, mean, problem.mean_radius, problem.options,
                        std::ssize(set.members) - 1);
    return result;
}

/// Element [size - 1] is the best set of at most `size` frames.
std::vector<Weighted> search_sizes(const SearchedProblem& problem, Index max_size) {
    SetSearch search(problem);
    std::vector<Weighted> sizes;
    for (Index size = 1; size <= std::min<Index>(max_size, problem.frame_count()); ++size) {
        const std::vector<FittedSet>& best = search.next_size();
        Weighted result;
        if (!best.empty()) {
            Members all(best.front().members.size());
            std::iota(all.begin(), all.end(), Index{0});
            result = weighted_of(problem.axes, best.front(),
                                 weighted_partial(problem.partial_of(best.front().members), all,
                                                  best.front().weights));
        }
        if (!sizes.empty() && (best.empty() || !(result.fit.chi2 < sizes.back().fit.chi2)))
            result = sizes.back();
        result.is_exhaustive = search.is_exhaustive();
        sizes.push_back(std::move(result));
    }
    return sizes;
}

struct ProblemOnAxes {
    const FrameAxes of_frames;
    EnsembleProblem axes;

    explicit ProblemOnAxes(const EnsembleProblem& problem) : of_frames(problem), axes(problem) {
        warn_of_axes(problem, of_frames);
        axes.partial = of_frames.partial;
        axes.points = nullptr;  // the profiles have the points of this problem alone
    }
};

}  // namespace

std::vector<Weighted> best_ensembles(const EnsembleProblem& problem, Index max_size) {
    const ProblemOnAxes on_axes(problem);
    return search_sizes({on_axes.axes, on_axes.of_frames, problem.partial}, max_size);
}

std::vector<Weighted> minimal_ensembles(const EnsembleProblem& problem, Index max_size,
                                        const Context& context) {
    EnsembleProblem asking = problem;
    asking.context = context;
    const ProblemOnAxes on_axes(asking);
    std::vector<Weighted> sizes = cross_validate(
        on_axes.axes,
        [&](const EnsembleProblem& some) {
            return search_sizes({some, on_axes.of_frames, problem.partial}, max_size);
        },
        [&](View<const double, 3> partial, const Weighted& one) {
            return on_axes.of_frames.mean(partial, one.frames, one.weights);
        },
        context, "minimal ensembles");
    // A size that repeats the previous set is not an ensemble of that size.
    std::vector<Weighted> distinct;
    for (Weighted& one : sizes)
        if (distinct.empty() || one.frames.size() > distinct.back().frames.size())
            distinct.push_back(std::move(one));
    return distinct;
}

}  // namespace pleat::saxs
