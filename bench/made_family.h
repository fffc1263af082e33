// Made protein families: alignments grown on a tree, with sizes as Pfam's may be distributed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "made_ensemble.h"

namespace pleat::bench {

struct FamilySize {
    Index sequences = 0, columns = 0;
};

/// The value below which a share `p` of a normal distribution lies.
inline double normal_quantile(double p) {
    double low = -10, high = 10;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
    }
    return low;
}

/// Sizes of `count` families. Columns and sequences are log-normal, independent, and cut: columns
/// have a median of 145, a sigma of 0.60 and 30 to 3000; sequences 167, 2.1 and 5 to 300,000
/// (a third of the families has three sequences per column). Both take evenly spaced quantiles,
/// paired at random, so that few families stand for many.
inline std::vector<FamilySize> made_sizes(Index count, std::uint64_t seed) {
    Draws draws(seed, std::uint64_t{3} << 40);
    const auto shuffled = [&] {
        std::vector<Index> order(static_cast<std::size_t>(count));
        std::iota(order.begin(), order.end(), Index{0});
        for (std::size_t left = order.size(); left > 1; --left)
            std::swap(order[left - 1],
                      order[static_cast<std::size_t>(draws.uniform() * static_cast<double>(left))]);
        return order;
    };
    const auto size = [&](Index k, double median, double sigma, double min, double max) {
        const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
        return static_cast<Index>(
            std::lround(std::clamp(median * std::exp(sigma * normal_quantile(share)), min, max)));
    };
    const std::vector<Index> by_columns = shuffled(), by_sequences = shuffled();
    std::vector<FamilySize> sizes;
    for (std::size_t k = 0; k < by_columns.size(); ++k)
        sizes.push_back({.sequences = size(by_sequences[k], 167, 2.1, 5, 300'000),
                         .columns = size(by_columns[k], 145, 0.60, 30, 3000)});
    return sizes;
}

/// The text of an alignment as make_alignment.py makes them, one sequence per line: column
/// profiles, rates of change, a third of the columns in coupled pairs; three in four sequences are
/// close relatives of an earlier one; ragged ends and gaps.
class MadeFamily {
public:
    MadeFamily(FamilySize size, std::uint64_t seed, std::uint64_t number)
        : size_(size), draws_(seed, (std::uint64_t{4} << 40) + number) {
        for (Index k = 0; k < size.columns; ++k) profiles_.push_back(make_profile());
        double sum = 0;
        for (Index k = 0; k < size.columns; ++k) rates_.push_back(sum += 0.2 + draws_.uniform());
        pair_columns();
    }

    std::string text() {
        const auto columns = static_cast<std::size_t>(size_.columns);
        std::vector<std::uint8_t> letters(static_cast<std::size_t>(size_.sequences) * columns);
        std::string text;
        text.reserve(letters.size() + static_cast<std::size_t>(size_.sequences));
        for (Index row = 0; row < size_.sequences; ++row) {
            std::uint8_t* const here = letters.data() + static_cast<std::size_t>(row) * columns;
            if (row == 0)
                make_ancestor(here);
            else
                make_descendant(letters.data() + static_cast<std::size_t>(index(row)) * columns,
                                here);
            const std::size_t start = text.size();
            for (std::size_t k = 0; k < columns; ++k) text += kLetters[here[k]];
            if (row > 0) add_gaps(text.data() + start);
            text += '\n';
        }
        return text;
    }

private:
    static constexpr const char* kLetters = "ACDEFGHIKLMNPQRSTVWY";
    // Composition of UniProtKB/Swiss-Prot in per cent.
    static constexpr std::array<double, 20> kBackground = {8.3, 1.4, 5.5, 6.7, 3.9, 7.1, 2.3,
                                                           5.9, 5.8, 9.7, 2.4, 4.1, 4.7, 3.9,
                                                           5.5, 6.6, 5.3, 6.9, 1.1, 2.9};
    static constexpr double kCoupled = 0.33, kFollow = 0.7, kCloseShare = 0.75;
    static constexpr double kClose = 0.1, kDistant = 0.9;  // mean changes per column

    struct Partner {
        Index column = -1;
        std::array<std::uint8_t, 20> letters{};  ///< of the partner, for each letter here
    };

    Index index(Index count) {
        return static_cast<Index>(draws_.uniform() * static_cast<double>(count));
    }

    std::array<double, 20> make_profile() {
        const double conserved = std::sqrt(draws_.uniform());
        std::array<double, 20> profile{};
        for (std::size_t k = 0; k < 20; ++k) profile[k] = (1 - conserved) * kBackground[k] / 100;
        for (const double share : {0.7, 0.2, 0.1})
            profile[static_cast<std::size_t>(index(20))] += conserved * share;
        std::partial_sum(profile.begin(), profile.end(), profile.begin());
        return profile;
    }

    void pair_columns() {
        partners_.resize(profiles_.size());
        double paired = 0;
        for (Index trial = 0; trial < 20 * size_.columns; ++trial) {
            if (paired >= kCoupled * static_cast<double>(size_.columns)) return;
            const Index i = index(size_.columns), j = index(size_.columns);
            Partner &there = partners_[static_cast<std::size_t>(i)],
                    &back = partners_[static_cast<std::size_t>(j)];
            if (std::abs(i - j) < 6 || there.column >= 0 || back.column >= 0) continue;
            std::iota(there.letters.begin(), there.letters.end(), std::uint8_t{0});
            for (Index left = 20; left > 1; --left)
                std::swap(there.letters[static_cast<std::size_t>(left - 1)],
                          there.letters[static_cast<std::size_t>(index(left))]);
            for (std::uint8_t k = 0; k < 20; ++k) back.letters[there.letters[k]] = k;
            there.column = j;
            back.column = i;
            paired += 2;
        }
    }

    std::uint8_t letter(std::size_t column) {
        const std::array<double, 20>& sums = profiles_[column];
        const auto at = std::ranges::upper_bound(sums, draws_.uniform() * sums.back());
        return static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(at - sums.begin(), 19));
    }

    void answer(std::size_t column, std::uint8_t* row) {
        const Partner& partner = partners_[column];
        row[partner.column] = partner.letters[row[column]];
    }

    void make_ancestor(std::uint8_t* row) {
        for (std::size_t k = 0; k < profiles_.size(); ++k) row[k] = letter(k);
        for (std::size_t k = 0; k < profiles_.size(); ++k)
            if (partners_[k].column > static_cast<Index>(k)) answer(k, row);
    }

    void make_descendant(const std::uint8_t* parent, std::uint8_t* child) {
        std::copy_n(parent, profiles_.size(), child);
        const double mean = draws_.uniform() < kCloseShare ? kClose : kDistant;
        const double changes =
            -std::log(draws_.uniform()) * mean * static_cast<double>(size_.columns);
        const auto count = static_cast<Index>(changes + draws_.uniform());
        for (Index change = 0; change < count; ++change) {
            const auto at = std::ranges::upper_bound(rates_, draws_.uniform() * rates_.back());
            const auto column =
                std::min(static_cast<std::size_t>(at - rates_.begin()), rates_.size() - 1);
            child[column] = letter(column);
            if (partners_[column].column >= 0 && draws_.uniform() < kFollow) answer(column, child);
        }
    }

    void add_gaps(char* row) {
        const auto end_gap = [&] {
            const double part = draws_.uniform();
            return static_cast<Index>(part * part * static_cast<double>(size_.columns) / 3);
        };
        if (draws_.uniform() < 0.33) std::fill_n(row, end_gap(), '-');
        if (draws_.uniform() < 0.33) {
            const Index gaps = end_gap();
            std::fill_n(row + size_.columns - gaps, gaps, '-');
        }
        while (draws_.uniform() < 0.4) {
            const Index first = index(size_.columns);
            std::fill(row + first, row + std::min(size_.columns, first + 1 + index(6)), '-');
        }
    }

    FamilySize size_;
    Draws draws_;
    std::vector<std::array<double, 20>> profiles_;  ///< cumulative, by column
    std::vector<double> rates_;                     ///< cumulative
    std::vector<Partner> partners_;
};

}  // namespace pleat::bench
