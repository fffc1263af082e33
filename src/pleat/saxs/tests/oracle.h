// Reference answers: structures with their form factors and float64 profiles, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/zip.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs::test {

struct Oracle {
    Model model;
    Array<float, 3> xyz;  ///< one frame
    std::vector<double> intensity;
};

inline std::filesystem::path oracle_folder() {
    return pleat::test::shared_folder() / "oracle" / "saxs";
}
inline bool has_oracle() { return std::filesystem::exists(oracle_folder()); }

/// Numbers of a text file, with letters, brackets and commas as spaces, and without lines of #.
inline std::vector<double> read_numbers(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<double> numbers;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        for (char& c : line)
            if (c == '[' || c == ']' || c == ',') c = ' ';
        std::istringstream words(line);
        for (double number; words >> number;) numbers.push_back(number);
    }
    return numbers;
}

/// q and intensity of a file of two columns.
inline void read_profile(const std::filesystem::path& path, Oracle& to) {
    const std::vector<double> numbers = read_numbers(path);
    for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
        to.model.q.push_back(numbers[k]);
        to.intensity.push_back(numbers[k + 1]);
    }
}

/// The test case of Antonov et al. 2012: 1888 bodies of 21 types, 51 q.
inline Oracle paper_1888() {
    const std::filesystem::path folder = oracle_folder() / "paper_1888";
    Oracle result;
    read_profile(folder / "oracle_float64_numpy.dat", result);
    const std::vector<double> positions = read_numbers(folder / "test1888.pos_matrix.txt");
    const Index count = static_cast<Index>(positions.size() / 4);
    result.xyz = Array<float, 3>(Index{1}, Index{3}, count);
    for (Index i = 0; i < count; ++i) {
        for (Index axis = 0; axis < 3; ++axis)
            result.xyz(0, axis, i) =
                static_cast<float>(positions[static_cast<std::size_t>(4 * i + axis)]);
        result.model.types.push_back(
            static_cast<std::int32_t>(positions[static_cast<std::size_t>(4 * i + 3)]));
    }
    const std::vector<double> factors = read_numbers(folder / "test1888.ff_db.txt");
    const Index q_count = result.model.q_count();
    const Index types = static_cast<Index>(factors.size()) / q_count;
    result.model.factors = Array<double, 3>(Index{1}, types, q_count);
    for (Index k = 0; k < q_count; ++k)
        for (Index type = 0; type < types; ++type)
            result.model.factors(0, type, k) = factors[static_cast<std::size_t>(k * types + type)];
    result.model.scaled = {0};
    return result;
}

/// Heavy atoms of a structure, 51 q; atoms with the same factors are a type.
inline Oracle all_atom(const std::string& name) {
    const std::filesystem::path folder = oracle_folder() / "all_atom";
    Oracle result;
    read_profile(folder / (name + "_Q51.dat"), result);
    const ZipReader archive(folder / (name + "_atoms.npz"));
    const auto read = [&](const std::string& member) {
        const NpyArray array = parse_npy(archive.read(archive.members().at(member)), member);
        return array.as<double>(member);
    };
    const std::vector<double> positions = read("X.npy"), factors = read("F51.npy");
    const Index count = static_cast<Index>(positions.size() / 3), q_count = result.model.q_count();
    result.xyz = Array<float, 3>(Index{1}, Index{3}, count);
    std::map<std::vector<double>, std::int32_t> types;
    for (Index i = 0; i < count; ++i) {
        for (Index axis = 0; axis < 3; ++axis)
            result.xyz(0, axis, i) =
                static_cast<float>(positions[static_cast<std::size_t>(3 * i + axis)]);
        std::vector<double> own;
        for (Index k = 0; k < q_count; ++k)
            own.push_back(factors[static_cast<std::size_t>(k * count + i)]);
        const auto next = static_cast<std::int32_t>(types.size());
        result.model.types.push_back(types.emplace(std::move(own), next).first->second);
    }
    result.model.factors = Array<double, 3>(Index{1}, static_cast<Index>(types.size()), q_count);
    for (const auto& [values, type] : types)
        std::copy(values.begin(), values.end(), &result.model.factors(0, type, 0));
    result.model.scaled = {0};
    return result;
}

/// "lysozyme" (all atoms) or "trypsin_bodies" (two bodies per residue) of data/oracles.
inline Oracle committed_oracle(const std::string& name) {
    const NpzReader file(pleat::test::committed_oracles("saxs") / (name + ".npz"));
    const auto read = [&](const char* member) { return file.get(member).as<double>(member); };
    Oracle result;
    result.model.q = read("q");
    result.model.types = file.get("types").as<std::int32_t>("types");
    result.intensity = read("intensity");
    std::vector<double> factors;
    if (file.has("factors")) {
        factors = read("factors");
    } else {
        factors = read("vacuum");
        const std::vector<double> excluded = read("excluded");
        for (std::size_t n = 0; n < factors.size(); ++n) factors[n] -= excluded[n];
    }
    const Index q_count = result.model.q_count();
    result.model.factors =
        Array<double, 3>(Index{1}, static_cast<Index>(factors.size()) / q_count, q_count);
    std::copy(factors.begin(), factors.end(), result.model.factors.begin());
    result.model.scaled = {0};
    const std::vector<double> xyz = read("xyz");
    const Index count = static_cast<Index>(xyz.size()) / 3;
    result.xyz = Array<float, 3>(Index{1}, Index{3}, count);
    for (Index i = 0; i < count; ++i)
        for (Index axis = 0; axis < 3; ++axis)
            result.xyz(0, axis, i) =
                static_cast<float>(xyz[static_cast<std::size_t>(3 * i + axis)]);
    return result;
}

/// Structures of some thousand scatterers at most: those of data/oracles, and those of ../shared if
/// they are present.
inline std::vector<Oracle> small_oracles() {
    std::vector<Oracle> found{committed_oracle("lysozyme"), committed_oracle("trypsin_bodies")};
    if (!pleat::test::shared_is_present(oracle_folder())) return found;
    found.push_back(paper_1888());
    found.push_back(all_atom("6lyz"));
    return found;
}

/// The largest |found / expected - 1|.
inline double largest_error(View<const double, 1> found, const std::vector<double>& expected) {
    double largest = 0.0;
    for (std::size_t k = 0; k < expected.size(); ++k)
        largest = std::max(largest, std::fabs(found[static_cast<Index>(k)] / expected[k] - 1.0));
    return largest;
}

}  // namespace pleat::saxs::test
