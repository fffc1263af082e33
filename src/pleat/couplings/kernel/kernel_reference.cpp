// Reference kernel: the objective as in the paper, in float64 on one thread.
#include <algorithm>
#include <cmath>
#include <vector>

#include "pleat/couplings/fit/field_newton.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

namespace {

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(const Problem& problem)
        : problem_(problem),
          count_(problem.letters.extent(0)),
          columns_(problem.letters.extent(1)),
          letters_(problem.letter_count),
          spread_(columns_, letters_) {
        for (Index n = 0; n < count_; ++n) total_weight_ += problem_.weights[n];
        Array<double, 2> frequency(columns_, letters_);
        for (Index n = 0; n < count_; ++n) {
            for (Index i = 0; i < columns_; ++i) {
                frequency(i, problem_.letters(n, i)) += problem_.weights[n] / total_weight_;
            }
        }
        for (Index k = 0; k < frequency.size(); ++k) {
            const double f = frequency.data()[k];
            spread_.data()[k] = f * (1 - f);
        }
    }

    void reserve(int count) override {
        while (static_cast<int>(vectors_.size()) < count) vectors_.emplace_back(size(), 0.0);
    }
    Index size() const override {
        return columns_ * letters_ + columns_ * (columns_ - 1) / 2 * letters_ * letters_;
    }
    void download(int vector, float* to) const override {
        std::copy(vectors_[vector].begin(), vectors_[vector].end(), to);
    }
    void upload(int vector, const float* from) override {
        std::copy_n(from, size(), vectors_[vector].begin());
    }

    void dots(int a, std::span<const int> others, std::span<double> out) override {
        const Index fields = columns_ * letters_;
        for (std::size_t k = 0; k < others.size(); ++k) {
            double sum = 0;
            for (Index e = 0; e < size(); ++e) {
                sum += (e < fields ? 1.0 : problem_.pair_metric) * vectors_[a][e] *
                       vectors_[others[k]][e];
            }
            out[k] = sum;
        }
    }

    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override {
        for (Index e = 0; e < size(); ++e) {
            double sum = 0;
            for (std::size_t k = 0; k < vectors.size(); ++k)
                sum += factors[k] * vectors_[vectors[k]][e];
            vectors_[out][e] = sum;
        }
    }

    Evaluation evaluate_best_fields(int x, int gradient) override {
        return evaluate_vector(x, gradient, true);
    }
    Evaluation evaluate_plain(int x, int gradient) override {
        return evaluate_vector(x, gradient, false);
    }
    const Evaluation& latest() const override { return latest_; }

    Model model(int vector) const override {
        Model model{Array<float, 2>(columns_, letters_),
                    Array<float, 3>(columns_ * (columns_ - 1) / 2, letters_, letters_)};
        for (Index i = 0; i < columns_; ++i) {
            for (int a = 0; a < letters_; ++a) {
                model.fields(i, a) = static_cast<float>(vectors_[vector][field(i, a)]);
            }
            for (Index j = i + 1; j < columns_; ++j) {
                for (int a = 0; a < letters_; ++a) {
                    for (int b = 0; b < letters_; ++b) {
                        model.pairs(pair_index(i, j, columns_), a, b) =
                            static_cast<float>(coupling(vector, i, a, j, b));
                    }
                }
            }
        }
        return model;
    }

    void set_model(int vector, const Model& model) override {
        for (Index i = 0; i < columns_; ++i) {
            for (int a = 0; a < letters_; ++a) vectors_[vector][field(i, a)] = model.fields(i, a);
            for (Index j = i + 1; j < columns_; ++j) {
                for (int a = 0; a < letters_; ++a) {
                    for (int b = 0; b < letters_; ++b) {
                        vectors_[vector][pair(i, a, j, b)] =
                            model.pairs(pair_index(i, j, columns_), a, b) / scale(i, a, j, b);
                    }
                }
            }
        }
    }

private:
    Index field(Index i, int a) const { return i * letters_ + a; }
    Index pair(Index i, int a, Index j, int b) const {
        if (i > j) return pair(j, b, i, a);
        return columns_ * letters_ + (pair_index(i, j, columns_) * letters_ + a) * letters_ + b;
    }
    double scale(Index i, int a, Index j, int b) const {
        if (!problem_.scaled) return 1;
        return 1 / std::sqrt(2 * problem_.lambda_pair +
                             2 * total_weight_ * spread_(i, a) * spread_(j, b));
    }
    double coupling(int vector, Index i, int a, Index j, int b) const {
        return vectors_[vector][pair(i, a, j, b)] * scale(i, a, j, b);
    }

    Evaluation evaluate_vector(int x, int gradient, bool best_fields) {
        std::fill(vectors_[gradient].begin(), vectors_[gradient].end(), 0.0);
        latest_ = {};
        for (Index i = 0; i < columns_; ++i) {
            if (best_fields) improve_fields(x, i);
            add_column(x, gradient, i, best_fields);
        }
        for (Index i = 0; i < columns_; ++i) {
            add_field_regulariser(x, gradient, i, best_fields);
            for (Index j = i + 1; j < columns_; ++j) add_pair_regulariser(x, gradient, i, j);
        }
        return latest_;
    }

    // h_i(a) without e_i(a): the sum over couplings in the logits of one sequence.
    std::vector<double> from_couplings(int x, Index n, Index i) const {
        std::vector<double> h(letters_, 0.0);
        for (Index j = 0; j < columns_; ++j) {
            if (j == i) continue;
            for (int a = 0; a < letters_; ++a) h[a] += coupling(x, i, a, j, problem_.letters(n, j));
        }
        return h;
    }

    static double log_sum(const std::vector<double>& h) {
        const double max = *std::max_element(h.begin(), h.end());
        double sum = 0;
        for (const double value : h) sum += std::exp(value - max);
        return max + std::log(sum);
    }

    void improve_fields(int x, Index i) {
        const int free = letters_ - 1;
        std::vector<std::vector<double>> base;
        for (Index n = 0; n < count_; ++n) base.push_back(from_couplings(x, n, i));
        const auto pass = [&](const double* e, double* g, double* hessian) {
            double data = 0;
            std::fill_n(g, free, 0.0);
            if (hessian != nullptr) std::fill_n(hessian, free * free, 0.0);
            for (Index n = 0; n < count_; ++n) {
                std::vector<double> p = base[n];
                for (int a = 0; a < free; ++a) p[a] += e[a];
                const double w = problem_.weights[n], z = log_sum(p);
                const int observed = problem_.letters(n, i);
                data += w * (z - p[observed]);
                for (double& value : p) value = std::exp(value - z);
                for (int a = 0; a < free; ++a) g[a] += w * (p[a] - (a == observed));
                for (int a = 0; hessian != nullptr && a < free; ++a) {
                    for (int b = 0; b < free; ++b) {
                        hessian[a * free + b] += w * ((a == b ? p[a] : 0.0) - p[a] * p[b]);
                    }
                }
            }
            return data;
        };
        const double target2 = 4 * problem_.lambda_single * field_gap / columns_;
        minimise_fields(free, problem_.lambda_single, target2, &vectors_[x][field(i, 0)], pass);
        vectors_[x][field(i, free)] = 0;
    }

    // The data term of column i: its value, and its gradient by e_i and by all e_ij.
    void add_column(int x, int gradient, Index i, bool best_fields) {
        for (Index n = 0; n < count_; ++n) {
            std::vector<double> h = from_couplings(x, n, i);
            for (int a = 0; a < letters_ - 1; ++a) h[a] += vectors_[x][field(i, a)];
            const double z = log_sum(h), w = problem_.weights[n];
            const int observed = problem_.letters(n, i);
            latest_.objective += w * (z - h[observed]);
            for (int a = 0; a < letters_; ++a) {
                const double residual = w * (std::exp(h[a] - z) - (a == observed));
                if (a < letters_ - 1) vectors_[gradient][field(i, a)] += residual;
                for (Index j = 0; j < columns_; ++j) {
                    if (j != i)
                        vectors_[gradient][pair(i, a, j, problem_.letters(n, j))] += residual;
                }
            }
        }
    }

    void add_field_regulariser(int x, int gradient, Index i, bool best_fields) {
        for (int a = 0; a < letters_ - 1; ++a) {
            const double e = vectors_[x][field(i, a)];
            double& g = vectors_[gradient][field(i, a)];
            g += 2 * problem_.lambda_single * e;
            latest_.objective += problem_.lambda_single * e * e;
            latest_.field_gradient2 += g * g;
            latest_.point2 += e * e;
            if (best_fields) g = 0;  // at the best fields the gradient is zero except for rounding
        }
    }

    void add_pair_regulariser(int x, int gradient, Index i, Index j) {
        for (int a = 0; a < letters_; ++a) {
            for (int b = 0; b < letters_; ++b) {
                const double e = coupling(x, i, a, j, b);
                double& g = vectors_[gradient][pair(i, a, j, b)];
                g += 2 * problem_.lambda_pair * e;
                latest_.objective += problem_.lambda_pair * e * e;
                latest_.pair_gradient2 += g * g;
                latest_.point2 += e * e;
                g *= scale(i, a, j, b);
            }
        }
    }

    Problem problem_;
    Index count_, columns_;
    int letters_;
    double total_weight_ = 0;
    Array<double, 2> spread_;
    std::vector<std::vector<double>> vectors_;
    Evaluation latest_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem) {
    return std::make_unique<ReferenceKernel>(problem);
}

}  // namespace pleat::couplings
