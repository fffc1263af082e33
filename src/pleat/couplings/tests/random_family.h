// Random families and models for tests: sequences with copies, and couplings of real size.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings::test {

/// Sequences with weights; each is a copy of an earlier one with a share of its columns drawn anew.
struct RandomFamily {
    Array<std::uint8_t, 2> letters;
    std::vector<double> weights;
    int letter_count;

    RandomFamily(Index sequences, Index columns, int codes, std::uint64_t seed)
        : letters(sequences, columns), letter_count(codes) {
        std::mt19937_64 random(seed);
        const auto below = [&](Index n) {
            return static_cast<Index>(random() % static_cast<std::uint64_t>(n));
        };
        for (Index n = 0; n < sequences; ++n) {
            const Index kind = n == 0 ? 7 : below(8), parent = n == 0 ? 0 : below(n);
            for (Index i = 0; i < columns; ++i) {
                const bool anew = kind == 7 || below(100) < 6 * kind;
                letters(n, i) = anew ? static_cast<std::uint8_t>(below(codes)) : letters(parent, i);
            }
            weights.push_back(0.01 + 0.99 * static_cast<double>(below(1000)) / 999);
        }
    }
    /// Sets every letter of a column: the gap by default.
    void fill_column(Index column, int letter) {
        for (Index n = 0; n < letters.extent(0); ++n) {
            letters(n, column) = static_cast<std::uint8_t>(letter);
        }
    }
    /// Replaces a letter by another everywhere.
    void replace(int letter, int by) {
        for (auto& code : letters) {
            if (code == letter) code = static_cast<std::uint8_t>(by);
        }
    }
    Problem problem(bool scaled = true) const {
        Problem problem;
        problem.letters = letters;
        problem.weights = View<const double, 1>(weights.data(), static_cast<Index>(weights.size()));
        problem.letter_count = letter_count;
        problem.lambda_single = 0.01;
        problem.lambda_pair = 0.2 * static_cast<double>(letters.extent(1) - 1);
        problem.scaled = scaled;
        return problem;
    }
    Alignment alignment() const {
        Alignment result;
        result.letters = letters;
        result.alphabet = letter_count == 21 ? &Alphabet::protein() : &Alphabet::rna();
        for (Index n = 0; n < letters.extent(0); ++n) {
            result.names.push_back("sequence " + std::to_string(n + 1));
        }
        for (Index i = 0; i < letters.extent(1); ++i) result.columns.push_back(i);
        result.source = "family";
        result.format = "psicov";
        return result;
    }
};

/// Fields of standard deviation 1 (the gap's are 0) and couplings of `spread`.
inline Model random_model(Index columns, int letters, double spread, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Model model{Array<float, 2>(columns, letters),
                Array<float, 3>(columns * (columns - 1) / 2, letters, letters)};
    for (Index i = 0; i < columns; ++i) {
        for (int a = 0; a < letters - 1; ++a)
            model.fields(i, a) = static_cast<float>(normal(random));
    }
    for (float& value : model.pairs) value = static_cast<float>(spread * normal(random));
    return model;
}

/// How large a test's alignment is.
struct Shape {
    Index sequences, columns;
    int letters;
};

/// <a, b> of two vectors.
inline double inner(Kernel& kernel, int a, int b) {
    double value = 0;
    kernel.dots(a, std::span(&b, 1), std::span(&value, 1));
    return value;
}

/// Scaled distance of two arrays: |a - b| / |b| (0 when both are zero).
template <class Values>
double distance(const Values& a, const Values& b) {
    double difference = 0, norm = 0;
    for (Index k = 0; k < b.size(); ++k) {
        difference += std::pow(static_cast<double>(a.data()[k]) - b.data()[k], 2);
        norm += std::pow(static_cast<double>(b.data()[k]), 2);
    }
    return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

}  // namespace pleat::couplings::test
