// Triple collectors: a bounded heap, a bounded list and a set of bits, and how each is saved and
// merged.
#include "pleat/mutual_information/triples/triple_collectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "pleat/core/error.h"

namespace pleat::mutual_information {

std::array<Index, 3> triple_at(Index position, Index columns) {
    // The last i, then the last j, whose first triple is not beyond.
    const auto last = [](Index from, Index to, auto first_of, Index target) {
        while (to - from > 1) {
            const Index middle = from + (to - from) / 2;
            (first_of(middle) <= target ? from : to) = middle;
        }
        return from;
    };
    const Index i = last(
        0, columns - 2, [&](Index x) { return triple_index(x, x + 1, x + 2, columns); }, position);
    const Index pair = position - triple_index(i, i + 1, i + 2, columns), others = columns - i - 1;
    const Index j = last(
        0, others - 1, [&](Index x) { return pair_index(x, x + 1, others); }, pair);
    const Index k = pair - pair_index(j, j + 1, others) + j + 1;
    return {i, i + 1 + j, i + 1 + k};
}

TripleCollector::TripleCollector(RecordLayout layout, std::string rule)
    : layout_(std::move(layout)),
      description_(fmt::format("{} columns; {}; {} by {}", layout_.columns,
                               fmt::join(layout_.names, " "), rule, key_name())) {}

void TripleCollector::put(const TripleTile& tile, View<const double, 2> values) {
    for (const TripleTile::Row& row : tile.rows) {
        const Index first = triple_index(row.i, row.j, row.first_k, layout_.columns);
        for (Index k = 0; k < row.count; ++k)
            if (values(layout_.key, row.offset + k) >= min_key_)
                add(first + k, &values(0, row.offset + k), values.extent(1));
    }
}

void TripleCollector::add_all(const TripleRecords& records) {
    for (std::size_t record = 0; record < records.triples.size(); ++record)
        add(records.triples[record], &records.numbers(record, 0), 1);
}

std::vector<std::uint8_t> TripleCollector::bytes() const {
    const TripleRecords all = records();
    const std::size_t head = all.triples.size() * sizeof(Index);
    std::vector<std::uint8_t> bytes(head + all.numbers.bytes());
    if (bytes.empty()) return bytes;
    std::memcpy(bytes.data(), all.triples.data(), head);
    std::memcpy(bytes.data() + head, all.numbers.data(), all.numbers.bytes());
    return bytes;
}

void TripleCollector::merge(std::span<const std::uint8_t> bytes) {
    const Index count =
        static_cast<Index>(bytes.size() / (sizeof(Index) + width() * sizeof(double)));
    if (count == 0) return;
    TripleRecords all{std::vector<Index>(count), Array<double, 2>(count, width())};
    std::memcpy(all.triples.data(), bytes.data(), count * sizeof(Index));
    std::memcpy(all.numbers.data(), bytes.data() + count * sizeof(Index), all.numbers.bytes());
    add_all(all);
}

void TripleCollector::save(NpzWriter& file, std::string_view prefix) const {
    const TripleRecords all = records();
    file.add_text(fmt::format("{}_of", prefix), description_);
    file.add(fmt::format("{}_triples", prefix), all.triples.data(),
             {static_cast<Index>(all.triples.size())});
    file.add(fmt::format("{}_numbers", prefix), all.numbers.view());
}

void TripleCollector::load(const NpzReader& file, std::string_view prefix) {
    const std::string of = fmt::format("{}_of", prefix);
    if (const std::string found = file.text(of); found != description_)
        throw InputError(
            fmt::format("{}: expected '{}', found '{}'", file.label(of), description_, found));
    const std::string triples = fmt::format("{}_triples", prefix);
    const std::string values = fmt::format("{}_numbers", prefix);
    TripleRecords all;
    all.triples = file.get(triples).as<Index>(file.label(triples));
    const std::vector<double> loaded = file.get(values).as<double>(file.label(values));
    const auto count = all.triples.size();
    if (loaded.size() != count * width())
        throw InputError(fmt::format("{}: expected {} numbers, found {}", file.label(values),
                                     count * width(), loaded.size()));
    for (const Index triple : all.triples) {
        if (triple < 0 || triple >= triple_count(layout_.columns))
            throw InputError(fmt::format("{}: expected positions below {}, found {}",
                                         file.label(triples), triple_count(layout_.columns),
                                         triple));
    }
    all.numbers = Array<double, 2>(count, width());
    std::copy(loaded.begin(), loaded.end(), all.numbers.begin());
    add_all(all);
}

BestTriples::BestTriples(RecordLayout layout, Index count)
    : TripleCollector(std::move(layout), fmt::format("best {}", count)), max_size_(count) {
    if (count < 0)
        throw UsageError(fmt::format("best triples: expected a number >= 0, found {}", count));
}

void BestTriples::add(Index triple, const double* numbers, Index stride) {
    Entry entry{key_of(numbers, stride), triple, size()};
    if (std::isnan(entry.key) || max_size_ == 0) return;
    if (size() == max_size_) {
        if (!is_better(entry, heap_.front())) return;
        std::pop_heap(heap_.begin(), heap_.end(), is_better);
        entry.row = heap_.back().row;
        heap_.pop_back();
    } else {
        values_.resize(values_.size() + width());
    }
    for (Index number = 0; number < width(); ++number)
        values_[entry.row * width() + number] = numbers[number * stride];
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), is_better);
    if (size() == max_size_) min_key_ = heap_.front().key;
}

TripleRecords BestTriples::records() const {
    std::vector<Entry> sorted = heap_;
    std::sort(sorted.begin(), sorted.end(), is_better);
    TripleRecords records{{}, Array<double, 2>(size(), width())};
    double* numbers = records.numbers.begin();
    for (const Entry& entry : sorted) {
        records.triples.push_back(entry.triple);
        numbers = std::copy_n(values_.begin() + entry.row * width(), width(), numbers);
    }
    return records;
}

TriplesAbove::TriplesAbove(RecordLayout layout, double threshold, Index max_size)
    : TripleCollector(std::move(layout), fmt::format("over {}", threshold)),
      threshold_(threshold),
      max_size_(max_size) {
    min_key_ = threshold;
}

void TriplesAbove::add(Index triple, const double* numbers, Index stride) {
    if (!(key_of(numbers, stride) >= threshold_)) return;
    if (size() == max_size_)
        throw UsageError(
            fmt::format("more than {} triples have {} >= {:g}: give a "
                        "larger --min-z, or leave it out to list the best",
                        max_size_, key_name(), threshold_));
    triples_.push_back(triple);
    for (Index number = 0; number < width(); ++number) values_.push_back(numbers[number * stride]);
}

void TriplesAbove::reserve(Index count) {
    triples_.reserve(count);
    values_.reserve(count * width());
}

TripleRecords TriplesAbove::records() const {
    std::vector<Index> order(triples_.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return triples_[a] < triples_[b]; });
    TripleRecords records{{}, Array<double, 2>(size(), width())};
    double* numbers = records.numbers.begin();
    for (const Index record : order) {
        records.triples.push_back(triples_[record]);
        numbers = std::copy_n(values_.begin() + record * width(), width(), numbers);
    }
    return records;
}

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
