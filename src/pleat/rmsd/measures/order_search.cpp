// Order search: following rotations, bounding how far another choice can turn, trying what is left.
#include "pleat/rmsd/measures/order_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/superposition/rotation.h"

namespace pleat::rmsd {

namespace {

using Rotation = Covariance;  // [row][column]

Rotation rotation_for(const Covariance& r) {
    double covariance[9], rotation[9];
    std::copy(r.begin(), r.end(), covariance);
    rotation_of_covariance(covariance, rotation);
    Rotation m;
    std::copy(rotation, rotation + 9, m.begin());
    return m;
}

/// The covariance of turned atoms.
Covariance turned(const Rotation& m, const Covariance& r) {
    Covariance n{};
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t a = 0; a < 3; ++a) n[3 * b + c] += m[3 * b + a] * r[3 * a + c];
    return n;
}

double trace(const Covariance& n) { return n[0] + n[4] + n[8]; }

/// The trace of turned().
double turned_trace(const Rotation& m, const Covariance& r) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t a = 0; a < 3; ++a) sum += m[3 * b + a] * r[3 * a + b];
    return sum;
}

double axial_norm(const Covariance& n) { return std::hypot(n[5] - n[7], n[6] - n[2], n[1] - n[3]); }

/// The symmetric part: its norm, and its largest eigenvalue.
double symmetric_norm(const Covariance& n) {
    const double xy = n[1] + n[3], xz = n[2] + n[6], yz = n[5] + n[7];
    return std::sqrt(n[0] * n[0] + n[4] * n[4] + n[8] * n[8] + (xy * xy + xz * xz + yz * yz) / 2);
}

double largest_eigenvalue(const Covariance& n) {
    const double xy = (n[1] + n[3]) / 2, xz = (n[2] + n[6]) / 2, yz = (n[5] + n[7]) / 2;
    const double mean = trace(n) / 3;
    const double x = n[0] - mean, y = n[4] - mean, z = n[8] - mean;
    const double off = xy * xy + xz * xz + yz * yz;
    const double size = std::sqrt((x * x + y * y + z * z + 2 * off) / 6);
    if (!(size > 0)) return mean;
    const double determinant =
        x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz);
    const double cosine = std::clamp(determinant / (2 * size * size * size), -1.0, 1.0);
    return mean + 2 * size * std::cos(std::acos(cosine) / 3);
}

/// What another order of one group can gain at most when all is turned further.
struct Change {
    double trace, symmetric, axial;
    /// Over angles with these largest values of 1 - cos and sin.
    double gain(double versine, double sine) const {
        return trace + std::max(symmetric - trace, 0.0) * versine + axial * sine;
    }
};

class OrderSearch {
public:
    OrderSearch(const OrderGroups& groups, const std::vector<Index>& others, const double* p,
                const double* q, Index atoms, double margin)
        : groups_(groups), margin_(margin) {
        const auto add = [&](Index from, Index to, Covariance& r) {
            for (Index a = 0; a < 3; ++a)
                for (Index b = 0; b < 3; ++b)
                    r[static_cast<std::size_t>(3 * a + b)] +=
                        p[a * atoms + from] * q[b * atoms + to];
        };
        for (const Index atom : others) add(atom, atom, others_);
        for (const auto& group : groups) {
            blocks_.emplace_back();
            for (const std::vector<Index>& order : group) {
                Covariance& block = blocks_.back().emplace_back(Covariance{});
                for (std::size_t k = 0; k < order.size(); ++k)
                    add(group.front()[k], order[k], block);
            }
        }
    }

    OrderCandidates find() {
        constexpr double kFew = 64;
        OrderCandidates found;
        std::vector<OrderChoice> possible;  // [group]: orders
        for (const auto& group : groups_) {
            possible.emplace_back(group.size());
            for (std::size_t n = 0; n < group.size(); ++n)
                possible.back()[n] = static_cast<std::int32_t>(n);
        }
        if (count(possible) > kFew) {
            follow();
            possible = doubtful();
            found.is_proven = count(possible) <= static_cast<double>(kMaxOrders);
            if (!found.is_proven)
                for (std::size_t g = 0; g < groups_.size(); ++g) possible[g] = {best_choice_[g]};
        }
        OrderChoice chosen(groups_.size());
        visit(possible, 0, chosen, others_);
        for (auto& [root, choice] : candidates_)
            if (root >= best_ - margin_) found.choices.push_back(std::move(choice));
        return found;
    }

private:
    static double count(const std::vector<OrderChoice>& possible) {
        double product = 1.0;
        for (const OrderChoice& orders : possible) product *= static_cast<double>(orders.size());
        return product;
    }

    Covariance sum_of(const OrderChoice& choice) const {
        Covariance sum = others_;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            sum = sum + blocks_[g][static_cast<std::size_t>(choice[g])];
        return sum;
    }

    /// Sets best_choice_ and rotation_, from two rotations.
    void follow() {
        double best = -1.0;
        for (const bool is_of_others : {true, false}) {
            OrderChoice choice(groups_.size());
            Rotation rotation = rotation_for(is_of_others ? others_ : sum_of(choice));
            constexpr int kMaxRounds = 50;
            for (int round = 0; round < kMaxRounds; ++round) {
                OrderChoice next(groups_.size());
                for (std::size_t g = 0; g < groups_.size(); ++g) {
                    double highest = turned_trace(rotation, blocks_[g][0]);
                    for (std::size_t n = 1; n < blocks_[g].size(); ++n) {
                        const double reached = turned_trace(rotation, blocks_[g][n]);
                        if (!(reached > highest)) continue;
                        highest = reached;
                        next[g] = static_cast<std::int32_t>(n);
                    }
                }
                rotation = rotation_for(sum_of(next));
                if (std::exchange(choice, next) == next && round > 0) break;
            }
            const double reached = turned_trace(rotation, sum_of(choice));
            if (!(reached > best) && !best_choice_.empty()) continue;
            best = reached;
            best_choice_ = std::move(choice);
            rotation_ = rotation;
        }
    }

    /// The changes of each group from its chosen order to each of its orders.
    std::vector<std::vector<Change>> changes() const {
        std::vector<std::vector<Change>> all;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            all.emplace_back();
            const Covariance& chosen = blocks_[g][static_cast<std::size_t>(best_choice_[g])];
            for (const Covariance& block : blocks_[g]) {
                Covariance difference;
                for (std::size_t n = 0; n < 9; ++n) difference[n] = block[n] - chosen[n];
                const Covariance d = turned(rotation_, difference);
                all.back().push_back({trace(d), symmetric_norm(d), axial_norm(d)});
            }
        }
        return all;
    }

    /// The orders of each group that the best choice may have.
    std::vector<OrderChoice> doubtful() const {
        const std::vector<std::vector<Change>> all = changes();
        const Covariance n = turned(rotation_, sum_of(best_choice_));
        const double loss = std::max(trace(n) - largest_eigenvalue(n), 0.0);
        const double axial = axial_norm(n);
        // From the widest angles down: the first interval where another choice can be as good.
        constexpr double kFirst = 1e-3, kRatio = 1.25, kPi = std::numbers::pi;
        double high = kPi;
        while (high > kFirst) {
            const double low = high / kRatio;
            double gain = axial * max_sine(low, high) - (1 - std::cos(low)) * loss;
            for (const std::vector<Change>& group : all) {
                double best = 0.0;
                for (const Change& change : group)
                    best = std::max(best, change.gain(1 - std::cos(high), max_sine(low, high)));
                gain += best;
            }
            if (gain >= -margin_) break;
            high = low;
        }
        std::vector<OrderChoice> possible;
        for (std::size_t g = 0; g < all.size(); ++g) {
            possible.emplace_back();
            for (std::size_t order = 0; order < all[g].size(); ++order)
                if (static_cast<std::int32_t>(order) == best_choice_[g] ||
                    all[g][order].gain(1 - std::cos(high), max_sine(0, high)) >= -margin_)
                    possible.back().push_back(static_cast<std::int32_t>(order));
        }
        return possible;
    }

    static double max_sine(double low, double high) {
        constexpr double kRight = std::numbers::pi / 2;
        return high <= kRight ? std::sin(high) : low <= kRight ? 1.0 : std::sin(low);
    }

    /// Chooses the orders of the groups from `group` on.
    void visit(const std::vector<OrderChoice>& possible, std::size_t group, OrderChoice& chosen,
               const Covariance& sum) {
        if (group == groups_.size()) return keep(chosen, sum);
        for (const std::int32_t order : possible[group]) {
            chosen[group] = order;
            visit(possible, group + 1, chosen,
                  sum + blocks_[group][static_cast<std::size_t>(order)]);
        }
    }

    void keep(const OrderChoice& chosen, const Covariance& sum) {
        const double square = square_of(sum), limit = best_ - margin_;
        if (3.0 * square < limit * limit && limit > 0) return;
        const double root = largest_root(sum, limit);
        if (root < limit) return;
        best_ = std::max(best_, root);
        candidates_.emplace_back(root, chosen);
    }

    const OrderGroups& groups_;
    double margin_, best_ = 0.0;
    Covariance others_{};
    std::vector<std::vector<Covariance>> blocks_;  // [group][order]
    OrderChoice best_choice_;
    Rotation rotation_{};
    std::vector<std::pair<double, OrderChoice>> candidates_;
};

}  // namespace

OrderCandidates find_orders(const OrderGroups& groups, const std::vector<Index>& others,
                            const double* p, const double* q, Index atoms, double margin) {
    return OrderSearch(groups, others, p, q, atoms, margin).find();
}

}  // namespace pleat::rmsd
