// Minimal ensembles: few conformers with weights that are not negative, size by size.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "pleat/core/parallel.h"
#include "pleat/saxs/ensemble_fit.h"
#include "pleat/saxs/least_squares.h"
#include "pleat/saxs/stopping.h"

namespace pleat::saxs {

namespace {

using Members = std::vector<Index>;

/// A set of conformers with its best weights at one contrast.
struct Candidate {
    Members members;
    std::vector<double> amounts;  // weights times scale
    double chi2 = 0;
};

/// Weighted least squares over sets of conformers at one contrast: products of profiles are made
/// column by column when they are first needed.
class Products {
public:
    Products(const EnsembleProblem& problem, const Contrast& contrast, int threads)
        : curve_(*problem.curve),
          context_(problem.context),
          background_(problem.options.background),
          threads_(threads),
          profiles_(frame_profiles(problem, contrast)),
          right_(static_cast<std::size_t>(profiles_.extent(0))) {
        std::vector<double> weighted(curve_.size());
        for (std::size_t k = 0; k < curve_.size(); ++k) {
            weighted[k] = curve_.intensity[k] / (curve_.sigma[k] * curve_.sigma[k]);
            square_ += weighted[k] * curve_.intensity[k];
            ones_ += 1 / (curve_.sigma[k] * curve_.sigma[k]);
            one_right_ += weighted[k];
        }
        right_ = product_with(weighted);
        if (background_) {
            for (std::size_t k = 0; k < curve_.size(); ++k)
                weighted[k] = 1 / (curve_.sigma[k] * curve_.sigma[k]);
            with_one_ = product_with(weighted);
        }
    }

    Index frames() const { return profiles_.extent(0); }

    /// Makes the columns of these frames; solve() needs them of all but one of its members.
    void prepare(const Members& members) {
        for (const Index frame : members) {
            if (columns_.count(frame) > 0) continue;
            stop_if_asked(context_);
            std::vector<double> weighted(curve_.size());
            for (std::size_t k = 0; k < curve_.size(); ++k)
                weighted[k] =
                    profiles_(frame, static_cast<Index>(k)) / (curve_.sigma[k] * curve_.sigma[k]);
            columns_[frame] = product_with(weighted);
        }
    }

    Candidate solve(Members members) const {
        stop_if_asked(context_);
        const std::size_t count = members.size(), all = count + (background_ ? 2 : 0);
        std::vector<double> matrix(all * all), right(all);
        for (std::size_t a = 0; a < count; ++a) {
            right[a] = right_[static_cast<std::size_t>(members[a])];
            for (std::size_t b = 0; b < count; ++b)
                matrix[a * all + b] = product(members[a], members[b]);
        }
        // A background of either sign is two columns of which one is 0.
        for (std::size_t s = count; s < all; ++s) {
            const double sign = s == count ? 1 : -1;
            right[s] = sign * one_right_;
            for (std::size_t a = 0; a < count; ++a) {
                matrix[a * all + s] = matrix[s * all + a] =
                    sign * with_one_[static_cast<std::size_t>(members[a])];
            }
            for (std::size_t t = count; t < all; ++t)
                matrix[s * all + t] = s == t ? ones_ * (1 + 1e-9) : -ones_;
        }
        Candidate candidate{std::move(members), solve_nonnegative(matrix, right), square_};
        for (std::size_t a = 0; a < all; ++a) {
            double gradient = 0;
            for (std::size_t b = 0; b < all; ++b)
                gradient += matrix[a * all + b] * candidate.amounts[b];
            candidate.chi2 += candidate.amounts[a] * (gradient - 2 * right[a]);
        }
        candidate.amounts.resize(count);
        return candidate;
    }

private:
    std::vector<double> product_with(const std::vector<double>& weighted) const {
        std::vector<double> products(static_cast<std::size_t>(frames()));
        constexpr Index kBlock = 256;
        parallel_for(threads_, (frames() + kBlock - 1) / kBlock, [&](Index block, int) {
            for (Index f = block * kBlock; f < std::min(frames(), (block + 1) * kBlock); ++f) {
                const double* const profile = profiles_[f].data;
                products[static_cast<std::size_t>(f)] =
                    std::inner_product(weighted.begin(), weighted.end(), profile, 0.0);
            }
        });
        return products;
    }
    double product(Index a, Index b) const {
        const auto column = columns_.find(a);
        if (column != columns_.end()) return column->second[static_cast<std::size_t>(b)];
        if (a != b) return columns_.at(b)[static_cast<std::size_t>(a)];
        double sum = 0;
        for (std::size_t k = 0; k < curve_.size(); ++k) {
            const double value = profiles_(a, static_cast<Index>(k)) / curve_.sigma[k];
            sum += value * value;
        }
        return sum;
    }

    const Profile& curve_;
    const Context& context_;
    const bool background_;
    const int threads_;
    const Array<double, 2> profiles_;
    std::vector<double> right_, with_one_;
    double square_ = 0, ones_ = 0, one_right_ = 0;
    std::map<Index, std::vector<double>> columns_;
};

bool is_better(const Candidate& a, const Candidate& b) {
    return a.chi2 != b.chi2 ? a.chi2 < b.chi2 : a.members < b.members;
}

/// The best few sets among all that are offered, each once.
void keep_best(std::vector<Candidate>& candidates) {
    std::sort(candidates.begin(), candidates.end(), is_better);
    const auto same = [](const Candidate& a, const Candidate& b) { return a.members == b.members; };
    candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
    if (candidates.size() > static_cast<std::size_t>(kKept))
        candidates.resize(static_cast<std::size_t>(kKept));
}

/// Sets of `size` of `frames`; more than kMostTried are as good as any number.
double set_count(Index frames, Index size) {
    double count = 1;
    for (Index k = 0; k < size; ++k)
        count *= static_cast<double>(frames - k) / static_cast<double>(k + 1);
    return count;
}

std::vector<Candidate> all_sets(Products& products, Index size) {
    Members every(static_cast<std::size_t>(products.frames()));
    std::iota(every.begin(), every.end(), Index{0});
    // Single frames need no products with others, whose table would be as large as all pairs.
    if (size > 1) products.prepare(every);
    std::vector<Candidate> candidates;
    Members members(every.begin(), every.begin() + size);
    while (true) {
        candidates.push_back(products.solve(members));
        Index at = size - 1;
        while (at >= 0 && members[static_cast<std::size_t>(at)] == products.frames() - size + at)
            --at;
        if (at < 0) break;
        ++members[static_cast<std::size_t>(at)];
        for (Index next = at + 1; next < size; ++next)
            members[static_cast<std::size_t>(next)] =
                members[static_cast<std::size_t>(next) - 1] + 1;
    }
    keep_best(candidates);
    return candidates;
}

/// Each set with one more member.
std::vector<Candidate> grown(Products& products, const std::vector<Candidate>& smaller) {
    std::vector<Candidate> candidates;
    for (const Candidate& from : smaller) {
        products.prepare(from.members);
        for (Index frame = 0; frame < products.frames(); ++frame) {
            if (std::find(from.members.begin(), from.members.end(), frame) != from.members.end())
                continue;
            Members members = from.members;
            members.insert(std::upper_bound(members.begin(), members.end(), frame), frame);
            candidates.push_back(products.solve(std::move(members)));
        }
        keep_best(candidates);
    }
    return candidates;
}

/// The best set, with members exchanged one at a time while that lowers chi^2.
Candidate exchanged(Products& products, Candidate best) {
    constexpr int kMostRounds = 10;
    for (int round = 0; round < kMostRounds; ++round) {
        Candidate next = best;
        for (std::size_t m = 0; m < best.members.size(); ++m) {
            Members rest = best.members;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(m));
            products.prepare(rest);
            Candidate shorter{rest, {}, 0};
            for (Candidate& candidate : grown(products, {shorter})) {
                if (is_better(candidate, next)) next = std::move(candidate);
            }
        }
        if (!(next.chi2 < best.chi2 * (1 - 1e-9))) break;
        best = std::move(next);
    }
    return best;
}

/// The problem of some of the frames.
Array<double, 3> part_of(View<const double, 3> partial, const Members& members) {
    auto some = Array<double, 3>::unset(static_cast<Index>(members.size()), partial.extent(1),
                                        partial.extent(2));
    for (std::size_t m = 0; m < members.size(); ++m)
        std::copy(partial[members[m]].begin(), partial[members[m]].end(),
                  some[static_cast<Index>(m)].begin());
    return some;
}

/// The weights of these members and the contrast that are best together.
Weighted refined(const EnsembleProblem& problem, const Members& members) {
    const Array<double, 3> partial = part_of(problem.partial, members);
    const EnsembleProblem part{problem.curve, partial, problem.mean_radius, problem.options,
                               problem.context};
    Members all(members.size());
    std::iota(all.begin(), all.end(), Index{0});
    const auto solve = [&](const Contrast& contrast) {
        Products products(part, contrast, 1);
        products.prepare(all);
        return products.solve(all);
    };
    const Contrast contrast =
        search_contrast(problem.options, are_atomic(partial[0]),
                        [&](const Contrast& tried) { return solve(tried).chi2; }, nullptr,
                        problem.context);
    Weighted found;
    found.frames = members;
    found.weights = solve(contrast).amounts;
    const double sum = std::accumulate(found.weights.begin(), found.weights.end(), 0.0);
    for (double& weight : found.weights)
        weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(members.size());
    found.fit = fit_at(
        contrast, *problem.curve, weighted_partial(problem.partial, found.frames, found.weights),
        problem.mean_radius, problem.options, static_cast<Index>(members.size()) - 1);
    return found;
}

/// The best set of a size that is found at a contrast, and the sets to grow from.
Candidate select(Products& products, Index size, const std::vector<Candidate>& smaller,
                 std::vector<Candidate>& kept) {
    const bool all = size == 1 || smaller.empty() ||
                     set_count(products.frames(), size) <= static_cast<double>(kMostTried);
    kept = all ? all_sets(products, size) : grown(products, smaller);
    return exchanged(products, kept.front());
}

/// An ensemble with one more member, the first of `others` that it lacks, whose weight is 0.
Weighted with_idle_member(Weighted smaller, const Members& others) {
    const auto is_new = [&](Index frame) {
        return !std::binary_search(smaller.frames.begin(), smaller.frames.end(), frame);
    };
    const Index frame = *std::find_if(others.begin(), others.end(), is_new);
    const auto at = std::upper_bound(smaller.frames.begin(), smaller.frames.end(), frame);
    smaller.weights.insert(smaller.weights.begin() + (at - smaller.frames.begin()), 0.0);
    smaller.frames.insert(at, frame);
    Fit& fit = smaller.fit;
    ++fit.parameters;
    fit.chi2_reduced = fit.chi2 * static_cast<double>(fit.points) /
                       static_cast<double>(std::max<Index>(1, fit.points - fit.parameters));
    return smaller;
}

std::vector<Weighted> fit_sizes(const EnsembleProblem& problem, Index most, int threads) {
    constexpr int kMostRounds = 3;
    std::vector<Index> every(static_cast<std::size_t>(problem.partial.extent(0)));
    std::iota(every.begin(), every.end(), Index{0});
    const std::vector<double> equal(every.size(), 1.0 / static_cast<double>(every.size()));
    Contrast contrast = fit(*problem.curve, weighted_partial(problem.partial, every, equal),
                            problem.mean_radius, problem.options, nullptr, problem.context)
                            .contrast;
    std::vector<Weighted> sizes;
    std::vector<Candidate> smaller;
    for (Index size = 1; size <= std::min<Index>(most, problem.partial.extent(0)); ++size) {
        Weighted best;
        std::vector<Candidate> kept;
        // What is best depends on the contrast, which depends on what was found.
        for (int round = 0; round < kMostRounds; ++round) {
            Products products(problem, contrast, threads);
            Weighted found = refined(problem, select(products, size, smaller, kept).members);
            const bool helps = round == 0 || found.fit.chi2 < best.fit.chi2;
            const bool is_same = round > 0 && found.frames == best.frames;
            if (helps) best = std::move(found);
            contrast = best.fit.contrast;
            if (!helps || is_same) break;
        }
        // Each size may do what a smaller one does, with a weight of 0.
        if (!sizes.empty() && best.fit.chi2 > sizes.back().fit.chi2)
            best = with_idle_member(sizes.back(), best.frames);
        smaller = std::move(kept);
        sizes.push_back(std::move(best));
    }
    return sizes;
}

}  // namespace

std::vector<Weighted> minimal_ensembles(const EnsembleProblem& problem, Index most,
                                        const Context& context) {
    const int threads = resolve_threads(context);
    EnsembleProblem asking = problem;
    asking.context = context;
    return validated(
        asking, [&](const EnsembleProblem& part) { return fit_sizes(part, most, threads); },
        context, "minimal ensembles");
}

}  // namespace pleat::saxs
