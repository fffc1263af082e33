// VectorStore in memory for tests of the minimisers: a few vectors of T and any function of one.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "pleat/core/math/minimise.h"

namespace pleat::test {

/// Euclidean length.
inline double norm(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

/// Holds vectors as T, sums in double; the function sees the stored (rounded) point in double.
template <class T>
class VectorsInMemory final : public VectorStore {
public:
    using Function =
        std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

    VectorsInMemory(Index size, Function function) : size_(size), function_(std::move(function)) {}

    double evaluate(int x, int gradient) override {
        ++evaluations;
        std::vector<double> g(static_cast<std::size_t>(size_), 0.0);
        const double f = function_(value(x), g);
        vectors_[gradient].assign(g.begin(), g.end());
        return f;
    }
    void dots(int a, std::span<const int> with, std::span<double> out) override {
        for (std::size_t k = 0; k < with.size(); ++k) {
            out[k] = 0;
            for (Index e = 0; e < size_; ++e) {
                out[k] +=
                    static_cast<double>(vectors_[a][e]) * static_cast<double>(vectors_[with[k]][e]);
            }
        }
    }
    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override {
        for (Index e = 0; e < size_; ++e) {
            double sum = 0;
            for (std::size_t k = 0; k < vectors.size(); ++k) {
                sum += factors[k] * static_cast<double>(vectors_[vectors[k]][e]);
            }
            vectors_[out][e] = static_cast<T>(sum);
        }
    }
    void reserve(int count) override {
        while (static_cast<int>(vectors_.size()) < count) {
            vectors_.emplace_back(static_cast<std::size_t>(size_));
        }
    }
    Index size() const override { return size_; }
    void download(int vector, float* to) const override {
        for (Index e = 0; e < size_; ++e) to[e] = static_cast<float>(vectors_[vector][e]);
    }
    void upload(int vector, const float* from) override {
        vectors_[vector].assign(from, from + size_);
    }

    std::vector<double> value(int vector) const {
        return {vectors_[vector].begin(), vectors_[vector].end()};
    }
    double norm(int vector) const {
        double sum = 0;
        for (const double x : value(vector)) sum += x * x;
        return std::sqrt(sum);
    }
    void set(int vector, const std::vector<double>& x) {
        reserve(vector + 1);
        vectors_[vector].assign(x.begin(), x.end());
    }

    Index evaluations = 0;

private:
    Index size_;
    Function function_;
    std::vector<std::vector<T>> vectors_;
};

/// f(x) = offset + 1/2 (x - c)' A (x - c), A = H diag(eigenvalues) H with a random reflection H.
struct Quadratic {
    std::vector<double> eigenvalues, centre, reflector;
    double offset = 0;

    Quadratic(std::vector<double> spectrum, std::uint64_t seed, double value_at_minimum = 0)
        : eigenvalues(std::move(spectrum)), offset(value_at_minimum) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        double norm2 = 0;
        for (std::size_t k = 0; k < eigenvalues.size(); ++k) {
            centre.push_back(normal(random));
            reflector.push_back(normal(random));
            norm2 += reflector.back() * reflector.back();
        }
        for (double& value : reflector) value /= std::sqrt(norm2);
    }
    void reflect(std::vector<double>& v) const {
        double along = 0;
        for (std::size_t k = 0; k < v.size(); ++k) along += v[k] * reflector[k];
        for (std::size_t k = 0; k < v.size(); ++k) v[k] -= 2 * along * reflector[k];
    }
    double operator()(const std::vector<double>& x, std::vector<double>& gradient) const {
        std::vector<double> d(x.size());
        for (std::size_t k = 0; k < x.size(); ++k) d[k] = x[k] - centre[k];
        reflect(d);
        double f = offset;
        for (std::size_t k = 0; k < d.size(); ++k) {
            f += 0.5 * eigenvalues[k] * d[k] * d[k];
            d[k] *= eigenvalues[k];
        }
        reflect(d);
        gradient = d;
        return f;
    }
};

/// `count` eigenvalues between 1 / condition and 1, evenly spread over the logarithm.
inline std::vector<double> spectrum(int count, double condition) {
    std::vector<double> values;
    for (int k = 0; k < count; ++k) {
        values.push_back(std::pow(condition, -static_cast<double>(k) / std::max(1, count - 1)));
    }
    return values;
}

/// The chained function of Rosenbrock (1960), minimum 0 at (1, ..., 1).
inline double rosenbrock(const std::vector<double>& x, std::vector<double>& g) {
    double f = 0;
    for (std::size_t k = 0; k + 1 < x.size(); ++k) {
        const double a = x[k + 1] - x[k] * x[k], b = 1 - x[k];
        f += 100 * a * a + b * b;
        g[k] += -400 * a * x[k] - 2 * b;
        g[k + 1] += 200 * a;
    }
    return f;
}

}  // namespace pleat::test
