// The oracle of the couplings: alignments with known weights, optimum and scores, where present.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/array.h"

namespace pleat::couplings::test {

/// A family of the oracle and the least value of its objective (relative gap below 5e-8).
struct OracleFamily {
    const char* name;
    double least_objective;
    int compatible_iterations;  ///< of CCMpred's program, default settings

    std::filesystem::path file(const std::string& ending) const {
        return std::filesystem::path(PLEAT_SHARED) / "oracle" / "couplings" / (name + ending);
    }
    bool is_present() const { return std::filesystem::exists(file(".aln.gz")); }
};

inline constexpr OracleFamily kOracleFamilies[] = {{"1atzA", 91291.0111832, 37},
                                                   {"demo1000", 86947.2037763, 34},
                                                   {"PF00014", 123175.4114662, 28},
                                                   {"DHFR", 217463.2212, 35}};

/// Numbers of a text file, by row; lines that begin with # are left out.
inline std::vector<std::vector<double>> read_numbers(const std::filesystem::path& path) {
    std::vector<std::vector<double>> rows;
    ByteSource source(path);
    std::string_view line;
    while (source.next(line)) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream text{std::string(line)};
        rows.emplace_back();
        for (double value; text >> value;) rows.back().push_back(value);
    }
    return rows;
}

inline Array<double, 2> read_matrix(const std::filesystem::path& path) {
    const auto rows = read_numbers(path);
    const Index size = static_cast<Index>(rows.size());
    Array<double, 2> matrix(size, size);
    for (Index i = 0; i < size; ++i) std::copy_n(rows[i].begin(), size, &matrix(i, 0));
    return matrix;
}

/// Largest |a - b| over the largest b.
inline double largest_difference(const Array<double, 2>& a, const Array<double, 2>& b) {
    double difference = 0, largest = 0;
    for (Index k = 0; k < b.size(); ++k) {
        difference = std::max(difference, std::abs(a.data()[k] - b.data()[k]));
        largest = std::max(largest, std::abs(b.data()[k]));
    }
    return difference / largest;
}

/// The L best pairs with j - i >= 6, best first.
inline std::vector<std::pair<Index, Index>> top_pairs(const Array<double, 2>& scores) {
    const Index columns = scores.extent(0);
    std::vector<std::pair<Index, Index>> pairs;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = i + 6; j < columns; ++j) pairs.push_back({i, j});
    }
    std::sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
        return scores(a.first, a.second) > scores(b.first, b.second);
    });
    pairs.resize(std::min<std::size_t>(pairs.size(), static_cast<std::size_t>(columns)));
    return pairs;
}

/// How many pairs two lists share.
inline std::size_t shared_pairs(std::vector<std::pair<Index, Index>> a,
                                std::vector<std::pair<Index, Index>> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<std::pair<Index, Index>> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both.size();
}

}  // namespace pleat::couplings::test
