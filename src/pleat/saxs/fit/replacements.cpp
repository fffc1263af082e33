// Replacements: the normal equations of each set with one other frame, by a row more of Cholesky.
#include "pleat/saxs/fit/replacements.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/fit/least_squares.h"

namespace pleat::saxs {

namespace {

constexpr Index kFrames = 128;  // of a loop, whose rows fit in a cache

/// Products of frames' profiles with one another and with the curve.
class Products {
public:
    Products(const ProfileCoordinates& at, std::span<const Index> members) : at_(at) {
        const std::vector<double>& curve = at.curve;
        std::vector<double> rest = at.mean;
        for (const std::vector<double>& axis : at.basis) {
            mean_.push_back(dot(axis.data(), rest.data(), rest.size()));
            for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= mean_.back() * axis[k];
            curve_.push_back(dot(axis.data(), curve.data(), curve.size()));
        }
        // The part of the mean that is not along the basis is that of every frame.
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
        for (std::size_t i = 0; i < n; ++i) {
            double right = products.with_curve(members_[i]);
            for (std::size_t j = 0; j <= i; ++j) {
                const double product = products.of_members(members_[i], members_[j]);
                double sum = product;
                for (std::size_t k = 0; k < j; ++k) sum -= root_[i * n + k] * root_[j * n + k];
                if (i == j && !(sum > kSingular * product)) return;
                root_[i * n + j] = i == j ? std::sqrt(sum) : sum / root_[j * n + j];
            }
            for (std::size_t k = 0; k < i; ++k) right -= root_[i * n + k] * along_[k];
            along_.push_back(right / root_[i * n + i]);
            gain_ += along_[i] * along_[i];
        }
        is_solved_ = true;
    }
    bool is_solved() const { return is_solved_; }

    /// Raises `gains` [kFrames] to how much the others with each frame lower chi^2, where all
    /// weights are sufficient. `rows`: those of Products::multiply(). `scratch`: a row per other
    /// and four more.
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
    std::vector<double> gains(static_cast<std::size_t>(blocks * kFrames), -1);
    const auto rows = static_cast<Index>(members.size());
    cancellable_parallel_for(context, threads, blocks, [&](Index block, int) {
        Array<double, 2> of_frames(rows + 2, kFrames), scratch(rows + 3, kFrames);
        products.multiply(block * kFrames, of_frames);
        for (const Others& one : others)
            one.raise(of_frames, scratch, gains.data() + block * kFrames);
    });
    for (const Index frame : members) gains[static_cast<std::size_t>(frame)] = -1;
    std::vector<Index> chosen;
    for (Index frame = 0; frame < frames; ++frame)
        if (gains[static_cast<std::size_t>(frame)] >= 0) chosen.push_back(frame);
    const auto last = chosen.begin() + static_cast<std::ptrdiff_t>(std::min(count, chosen.size()));
    std::partial_sort(chosen.begin(), last, chosen.end(), [&](Index a, Index b) {
        const double x = gains[static_cast<std::size_t>(a)], y = gains[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    });
    chosen.erase(last, chosen.end());
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace pleat::saxs
