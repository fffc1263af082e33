// Families whose minimum, weights and scores are known, and comparisons of scores.
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

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/array.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat::couplings::test {

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

/// A family, the minimum of its objective, the scores there, and the corrected ones at which
/// CCMpred's program stops with its default settings.
struct OracleFamily {
    std::string name;
    Alignment alignment;
    double min_objective = 0;
    std::vector<double> weights;
    Array<double, 2> raw, corrected, compatible;
    std::int64_t compatible_iterations = 0;
};

/// A family of data/oracles.
inline OracleFamily committed_family(const std::string& name) {
    const std::filesystem::path folder = pleat::test::committed_oracles("couplings");
    const NpzReader oracle(folder / (name + ".npz"));
    const auto matrix = [&](const char* member) {
        const NpyArray array = oracle.get(member);
        const std::vector<double> values = array.as<double>(member);
        Array<double, 2> result(array.shape.at(0), array.shape.at(1));
        std::copy(values.begin(), values.end(), result.begin());
        return result;
    };
    OracleFamily family;
    family.name = name;
    family.alignment = read_alignment(folder / (name + ".aln"));
    family.min_objective = oracle.scalar("objective");
    for (const double neighbours : oracle.get("neighbours").as<double>("neighbours"))
        family.weights.push_back(1 / neighbours);
    family.raw = matrix("raw");
    family.corrected = matrix("corrected");
    family.compatible = matrix("ccmpred");
    family.compatible_iterations = oracle.integer("ccmpred_iterations");
    return family;
}

/// A family of ../shared, its minimum (relative gap below 5e-8), and how many iterations CCMpred's
/// program makes.
struct SharedFamily {
    const char* name;
    double min_objective;
    std::int64_t compatible_iterations;
};

inline constexpr SharedFamily kSharedFamilies[] = {{"1atzA", 91291.0111832, 37},
                                                   {"demo1000", 86947.2037763, 34},
                                                   {"PF00014", 123175.4114662, 28},
                                                   {"DHFR", 217463.2212, 35}};

inline std::filesystem::path shared_families() {
    return pleat::test::shared_folder() / "oracle" / "couplings";
}

inline OracleFamily shared_family(const SharedFamily& known) {
    const auto file = [&](const char* ending) {
        return shared_families() / (std::string(known.name) + ending);
    };
    OracleFamily family;
    family.name = known.name;
    family.alignment = read_alignment(file(".aln.gz"));
    family.min_objective = known.min_objective;
    for (const auto& row : read_numbers(file(".weights.gz"))) family.weights.push_back(row.at(0));
    family.raw = read_matrix(file(".frob.mat.gz"));
    family.corrected = read_matrix(file(".mat.gz"));
    family.compatible = read_matrix(file(".ccmpred.mat.gz"));
    family.compatible_iterations = known.compatible_iterations;
    return family;
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
