// Triple sink: a bounded heap, a bounded list, and how both are saved and merged.
#include "pleat/mutual_information/triples/triple_sink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "pleat/core/error.h"

namespace pleat::mutual_information {

namespace {

/// Calls take(triple, place in the tile) for each triple of a tile.
template <class Take>
void for_each_triple(const TripleTile& tile, Index columns, Take take) {
    for (const TripleTile::Row& row : tile.rows) {
        const Index first = triple_index(row.i, row.j, row.first_k, columns);
        for (Index k = 0; k < row.count; ++k) take(first + k, row.offset + k);
    }
}

/// What a file or another rank must have collected too.
std::string description(const TripleNumbers& numbers, std::string_view rule) {
    return fmt::format("{} columns; {}; {} by {}", numbers.columns, fmt::join(numbers.names, " "),
                       rule, numbers.names.at(numbers.key));
}

void save_records(NpzWriter& file, std::string_view prefix, const std::string& description,
                  const TripleRecords& records) {
    file.add_text(fmt::format("{}_of", prefix), description);
    file.add(fmt::format("{}_triples", prefix), records.triples.data(),
             {static_cast<Index>(records.triples.size())});
    file.add(fmt::format("{}_numbers", prefix), records.numbers.view());
}

TripleRecords load_records(const NpzReader& file, std::string_view prefix,
                           const std::string& description, const TripleNumbers& numbers) {
    const std::string of = fmt::format("{}_of", prefix);
    if (const std::string found = file.text(of); found != description)
        throw InputError(
            fmt::format("{}: expected '{}', found '{}'", file.label(of), description, found));
    const std::string triples = fmt::format("{}_triples", prefix);
    const std::string values = fmt::format("{}_numbers", prefix);
    TripleRecords records;
    records.triples = file.get(triples).as<Index>(file.label(triples));
    const std::vector<double> loaded = file.get(values).as<double>(file.label(values));
    const auto count = records.triples.size();
    if (loaded.size() != count * numbers.names.size())
        throw InputError(fmt::format("{}: expected {} numbers, found {}", file.label(values),
                                     count * numbers.names.size(), loaded.size()));
    for (const Index triple : records.triples) {
        if (triple < 0 || triple >= triple_count(numbers.columns))
            throw InputError(fmt::format("{}: expected places below {}, found {}",
                                         file.label(triples), triple_count(numbers.columns),
                                         triple));
    }
    records.numbers = Array<double, 2>(count, numbers.names.size());
    std::copy(loaded.begin(), loaded.end(), records.numbers.begin());
    return records;
}

std::vector<std::uint8_t> bytes_of(const TripleRecords& records) {
    const std::size_t head = records.triples.size() * sizeof(Index);
    std::vector<std::uint8_t> bytes(head + records.numbers.bytes());
    if (bytes.empty()) return bytes;
    std::memcpy(bytes.data(), records.triples.data(), head);
    std::memcpy(bytes.data() + head, records.numbers.data(), records.numbers.bytes());
    return bytes;
}

TripleRecords records_of(std::span<const std::uint8_t> bytes, const TripleNumbers& numbers) {
    const std::size_t width = numbers.names.size();
    const std::size_t count = bytes.size() / (sizeof(Index) + width * sizeof(double));
    TripleRecords records{std::vector<Index>(count), Array<double, 2>(count, width)};
    if (count == 0) return records;
    std::memcpy(records.triples.data(), bytes.data(), count * sizeof(Index));
    std::memcpy(records.numbers.data(), bytes.data() + count * sizeof(Index),
                records.numbers.bytes());
    return records;
}

}  // namespace

std::array<Index, 3> triple_at(Index index, Index columns) {
    // The last i, then the last j, whose first triple is not beyond.
    const auto last = [](Index from, Index to, auto first_of, Index place) {
        while (to - from > 1) {
            const Index middle = from + (to - from) / 2;
            (first_of(middle) <= place ? from : to) = middle;
        }
        return from;
    };
    const Index i = last(
        0, columns - 2, [&](Index x) { return triple_index(x, x + 1, x + 2, columns); }, index);
    const Index rest = index - triple_index(i, i + 1, i + 2, columns), others = columns - i - 1;
    const Index j = last(
        0, others - 1, [&](Index x) { return pair_index(x, x + 1, others); }, rest);
    const Index k = rest - pair_index(j, j + 1, others) + j + 1;
    return {i, i + 1 + j, i + 1 + k};
}

BestTriples::BestTriples(TripleNumbers numbers, Index most)
    : numbers_(std::move(numbers)), most_(most) {
    if (most < 0)
        throw UsageError(fmt::format("best triples: expected a number >= 0, found {}", most));
}

void BestTriples::offer(Index triple, const double* numbers, Index stride) {
    const double key = numbers[numbers_.key * stride];
    Entry entry{key, triple, size()};
    if (std::isnan(key) || most_ == 0) return;
    const auto width = static_cast<Index>(numbers_.names.size());
    if (size() == most_) {
        if (!is_better(entry, heap_.front())) return;
        std::pop_heap(heap_.begin(), heap_.end(), is_better);
        entry.place = heap_.back().place;
        heap_.pop_back();
    } else {
        values_.resize(values_.size() + width);
    }
    for (Index number = 0; number < width; ++number)
        values_[entry.place * width + number] = numbers[number * stride];
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), is_better);
}

void BestTriples::put(const TripleTile& tile, View<const double, 2> values) {
    for_each_triple(tile, numbers_.columns, [&](Index triple, Index place) {
        offer(triple, &values(0, place), values.extent(1));
    });
}

void BestTriples::merge(const BestTriples& other) {
    for (const Entry& entry : other.heap_)
        offer(entry.triple, &other.values_[entry.place * numbers_.names.size()], 1);
}

TripleRecords BestTriples::records() const {
    std::vector<Entry> sorted = heap_;
    std::sort(sorted.begin(), sorted.end(), is_better);
    const auto width = static_cast<Index>(numbers_.names.size());
    TripleRecords records{{}, Array<double, 2>(size(), width)};
    for (std::size_t record = 0; record < sorted.size(); ++record) {
        records.triples.push_back(sorted[record].triple);
        std::copy_n(values_.begin() + sorted[record].place * width, width,
                    records.numbers.begin() + static_cast<Index>(record) * width);
    }
    return records;
}

std::vector<std::uint8_t> BestTriples::bytes() const { return bytes_of(records()); }

void BestTriples::merge(std::span<const std::uint8_t> bytes) {
    const TripleRecords records = records_of(bytes, numbers_);
    for (std::size_t record = 0; record < records.triples.size(); ++record)
        offer(records.triples[record], &records.numbers(record, 0), 1);
}

void BestTriples::save(NpzWriter& file, std::string_view prefix) const {
    save_records(file, prefix, description(numbers_, fmt::format("best {}", most_)), records());
}

void BestTriples::load(const NpzReader& file, std::string_view prefix) {
    const TripleRecords records =
        load_records(file, prefix, description(numbers_, fmt::format("best {}", most_)), numbers_);
    for (std::size_t record = 0; record < records.triples.size(); ++record)
        offer(records.triples[record], &records.numbers(record, 0), 1);
}

TriplesOver::TriplesOver(TripleNumbers numbers, double threshold, Index most)
    : numbers_(std::move(numbers)), threshold_(threshold), most_(most) {}

void TriplesOver::add(Index triple, const double* numbers, Index stride) {
    if (!(numbers[numbers_.key * stride] >= threshold_)) return;
    if (size() == most_)
        throw UsageError(
            fmt::format("triples of {} >= {:g}: expected at most {}, found more; raise the "
                        "threshold, or ask for "
                        "a number of best triples instead",
                        numbers_.names[numbers_.key], threshold_, most_));
    triples_.push_back(triple);
    for (std::size_t number = 0; number < numbers_.names.size(); ++number)
        values_.push_back(numbers[static_cast<Index>(number) * stride]);
}

void TriplesOver::reserve(Index count) {
    triples_.reserve(count);
    values_.reserve(count * numbers_.names.size());
}

void TriplesOver::put(const TripleTile& tile, View<const double, 2> values) {
    for_each_triple(tile, numbers_.columns, [&](Index triple, Index place) {
        add(triple, &values(0, place), values.extent(1));
    });
}

void TriplesOver::merge(const TriplesOver& other) {
    for (std::size_t record = 0; record < other.triples_.size(); ++record)
        add(other.triples_[record], &other.values_[record * numbers_.names.size()], 1);
}

TripleRecords TriplesOver::records() const {
    std::vector<Index> order(triples_.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return triples_[a] < triples_[b]; });
    const auto width = static_cast<Index>(numbers_.names.size());
    TripleRecords records{{}, Array<double, 2>(size(), width)};
    double* numbers = records.numbers.begin();
    for (const Index place : order) {
        records.triples.push_back(triples_[place]);
        numbers = std::copy_n(values_.begin() + place * width, width, numbers);
    }
    return records;
}

std::vector<std::uint8_t> TriplesOver::bytes() const { return bytes_of(records()); }

void TriplesOver::merge(std::span<const std::uint8_t> bytes) {
    const TripleRecords records = records_of(bytes, numbers_);
    for (std::size_t record = 0; record < records.triples.size(); ++record)
        add(records.triples[record], &records.numbers(record, 0), 1);
}

void TriplesOver::save(NpzWriter& file, std::string_view prefix) const {
    save_records(file, prefix, description(numbers_, fmt::format("over {}", threshold_)),
                 records());
}

void TriplesOver::load(const NpzReader& file, std::string_view prefix) {
    const TripleRecords records = load_records(
        file, prefix, description(numbers_, fmt::format("over {}", threshold_)), numbers_);
    for (std::size_t record = 0; record < records.triples.size(); ++record)
        add(records.triples[record], &records.numbers(record, 0), 1);
}

}  // namespace pleat::mutual_information
