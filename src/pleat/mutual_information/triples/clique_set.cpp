// Clique set: setting, counting and merging bits.
#include "pleat/mutual_information/triples/clique_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "pleat/core/error.h"
#include "pleat/mutual_information/triples/triple_collectors.h"

namespace pleat::mutual_information {

CliqueSet::CliqueSet(Index columns)
    : columns_(columns), words_((triple_count(columns) + 63) / 64, 0) {}

void CliqueSet::add_percentiles(const TripleTile& tile, std::span<const std::uint32_t> pair_less,
                                std::span<const std::uint32_t> triple_less) {
    for (const TripleTile::Row& row : tile.rows) {
        const Index first = triple_index(row.i, row.j, row.first_k, columns_);
        const std::uint32_t ij = pair_less[pair_index(row.i, row.j, columns_)];
        const std::uint32_t* const ik = &pair_less[pair_index(row.i, row.first_k, columns_)];
        const std::uint32_t* const jk = &pair_less[pair_index(row.j, row.first_k, columns_)];
        for (Index k = 0; k < row.count; ++k) {
            if (std::max({ij, ik[k], jk[k]}) <= triple_less[row.offset + k]) set(first + k);
        }
    }
}

void CliqueSet::add_z(const TripleTile& tile, std::span<const double> pair_z,
                      std::span<const double> triple_z) {
    const auto reaches = [](double triple, double pair) {  // true if the pair's Z is NaN
        return !(pair - kZTolerance * std::max(1.0, std::abs(pair)) > triple);
    };
    for (const TripleTile::Row& row : tile.rows) {
        const Index first = triple_index(row.i, row.j, row.first_k, columns_);
        const double ij = pair_z[pair_index(row.i, row.j, columns_)];
        const double* const ik = &pair_z[pair_index(row.i, row.first_k, columns_)];
        const double* const jk = &pair_z[pair_index(row.j, row.first_k, columns_)];
        for (Index k = 0; k < row.count; ++k) {
            const double z = triple_z[row.offset + k];
            if (!std::isnan(z) && reaches(z, ij) && reaches(z, ik[k]) && reaches(z, jk[k]))
                set(first + k);
        }
    }
}

TripleSet CliqueSet::result() && {
    TripleSet set{{}, 0, std::vector<Index>(columns_, 0)};
    for (const std::uint64_t word : words_) set.size += std::popcount(word);
    Index triple = 0;
    for (Index i = 0; i < columns_; ++i) {
        for (Index j = i + 1; j < columns_; ++j) {
            for (Index k = j + 1; k < columns_; ++k, ++triple) {
                const Index member = has(triple);
                for (const Index column : {i, j, k}) set.triples_per_column[column] += member;
            }
        }
    }
    set.words = std::move(words_);
    return set;
}

void CliqueSet::merge_words(const std::uint64_t* words) {
    for (std::size_t word = 0; word < words_.size(); ++word) words_[word] |= words[word];
}

std::vector<std::uint8_t> CliqueSet::bytes() const {
    std::vector<std::uint8_t> bytes(words_.size() * sizeof(std::uint64_t));
    if (!bytes.empty()) std::memcpy(bytes.data(), words_.data(), bytes.size());
    return bytes;
}

void CliqueSet::merge(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint64_t> words(words_.size());
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(words[0]));
    merge_words(words.data());
}

void CliqueSet::save(NpzWriter& file, std::string_view name) const {
    file.add_scalar(fmt::format("{}_columns", name), columns_);
    file.add(name, words_.data(), {static_cast<Index>(words_.size())});
}

void CliqueSet::load(const NpzReader& file, std::string_view name) {
    const std::string columns = fmt::format("{}_columns", name);
    const auto words = file.get(name).as<std::uint64_t>(file.label(name));
    if (const Index found = file.integer(columns); found != columns_)
        throw InputError(
            fmt::format("{}: expected {}, found {}", file.label(columns), columns_, found));
    if (words.size() != words_.size())
        throw InputError(fmt::format("{}: expected {} words, found {}", file.label(name),
                                     words_.size(), words.size()));
    merge_words(words.data());
}

}  // namespace pleat::mutual_information
