// plmc file: counting weighted pairs of letters and writing the layout block by block.
#include "pleat/couplings/files/plmc_file.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::couplings {

namespace {

/// Codes in plmc's order: gap first, then letters as in the alphabet of the language.
std::vector<int> plmc_order(const Alphabet& alphabet) {
    std::vector<int> order(static_cast<std::size_t>(alphabet.size()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const bool gap_a = a == alphabet.gap(), gap_b = b == alphabet.gap();
        if (gap_a != gap_b) return gap_a;
        return alphabet.letters()[static_cast<std::size_t>(a)] <
               alphabet.letters()[static_cast<std::size_t>(b)];
    });
    return order;
}

/// Sequences by their letter in column i.
std::vector<std::vector<Index>> by_letter(const Alignment& alignment, Index i) {
    std::vector<std::vector<Index>> groups(static_cast<std::size_t>(alignment.alphabet->size()));
    for (Index n = 0; n < alignment.sequence_count(); ++n)
        groups[alignment.letters(n, i)].push_back(n);
    return groups;
}

struct PlmcWriter {
    OutputFile file;
    std::vector<int> order;

    void integer(std::int64_t value) {
        const auto narrow = static_cast<std::int32_t>(value);
        file.write(&narrow, sizeof narrow);
    }
    void number(double value) {
        const auto narrow = static_cast<float>(value);
        file.write(&narrow, sizeof narrow);
    }
    void letter(std::string_view letters, int code) {
        file.write(letters.substr(static_cast<std::size_t>(code), 1));
    }
    template <class T>
    void column(View<const T, 1> values) {
        for (const int a : order) number(values(a));
    }
};

/// Appends the numbers of one block to `row`, in plmc's order of letters.
template <class T>
void append_block(View<const T, 2> values, const std::vector<int>& order, std::vector<float>& row) {
    for (const int a : order)
        for (const int b : order) row.push_back(static_cast<float>(values(a, b)));
}

void write_head(PlmcWriter& writer, const Alignment& alignment, const Parameters& parameters,
                const Result& result, const PlmcReference& reference) {
    const Index columns = alignment.column_count();
    const std::string_view letters = alignment.alphabet->letters();
    for (const std::int64_t value : {columns, Index{alignment.alphabet->size()},
                                     alignment.sequence_count(), Index{0}, result.iterations})
        writer.integer(value);
    const double lambda_pair = parameters.lambda_pair * static_cast<double>(columns - 1);
    for (const double value :
         {parameters.sequence_weights ? 1.0 - *resolved(parameters, *alignment.alphabet).identity
                                      : -1.0,
          parameters.lambda_single, lambda_pair, 0.0, result.effective_sequences})
        writer.number(value);
    for (const int a : writer.order) writer.letter(letters, a);
    for (const double weight : result.weights) writer.number(1.0 / weight);
    writer.file.write(reference.letters);
    for (const Index column : reference.columns) writer.integer(column + 1);
}

void write_columns(PlmcWriter& writer, const Alignment& alignment, const Result& result) {
    const Index columns = alignment.column_count();
    const Array<double, 2> frequencies = letter_frequencies(alignment, result.weights);
    for (Index i = 0; i < columns; ++i) writer.column<double>(frequencies[i]);
    for (Index i = 0; i < columns; ++i) writer.column<float>(result.model.fields[i]);
}

/// Writes numbers(i) for all columns i but the last, in order; `threads` threads compute them.
void write_rows(PlmcWriter& writer, Index columns, int threads,
                const std::function<std::vector<float>(Index)>& numbers) {
    std::vector<std::vector<float>> rows(static_cast<std::size_t>(std::max(threads, 1)));
    for (Index first = 0; first < columns - 1; first += std::ssize(rows)) {
        const Index count = std::min<Index>(std::ssize(rows), columns - 1 - first);
        parallel_for(threads, count,
                     [&](Index k, int) { rows[static_cast<std::size_t>(k)] = numbers(first + k); });
        for (Index k = 0; k < count; ++k) {
            const std::vector<float>& row = rows[static_cast<std::size_t>(k)];
            writer.file.write(row.data(), row.size() * sizeof(float));
        }
    }
}

}  // namespace

Array<double, 2> letter_frequencies(const Alignment& alignment,
                                    const std::vector<double>& weights) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    Array<double, 2> frequencies(alignment.column_count(), alignment.alphabet->size());
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        const double share = weights[static_cast<std::size_t>(n)] / total;
        for (Index i = 0; i < alignment.column_count(); ++i)
            frequencies(i, alignment.letters(n, i)) += share;
    }
    return frequencies;
}

Array<double, 3> pair_frequencies(const Alignment& alignment, const std::vector<double>& weights,
                                  Index i) {
    const Index columns = alignment.column_count(), letters = alignment.alphabet->size();
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    Array<double, 3> frequencies(columns - i - 1, letters, letters);
    const std::vector<std::vector<Index>> groups = by_letter(alignment, i);
    // Counts one letter of column i at a time, whose counts (L x q) fit in the first-level cache.
    Array<double, 2> counts(columns, letters);
    for (Index a = 0; a < letters; ++a) {
        counts.fill(0);
        for (const Index n : groups[static_cast<std::size_t>(a)]) {
            const double weight = weights[static_cast<std::size_t>(n)];
            const View<const std::uint8_t, 1> row = alignment.letters.view()[n];
            double* at = counts.data();
            for (Index j = i + 1; j < columns; ++j) at[j * letters + row(j)] += weight;
        }
        for (Index j = i + 1; j < columns; ++j)
            for (Index b = 0; b < letters; ++b) frequencies(j - i - 1, a, b) = counts(j, b) / total;
    }
    return frequencies;
}

void write_plmc_model(const std::filesystem::path& path, const Alignment& alignment,
                      const Parameters& parameters, const Result& result,
                      const PlmcReference& reference, int threads) {
    PlmcWriter writer{OutputFile(path), plmc_order(*alignment.alphabet)};
    write_head(writer, alignment, parameters, result, reference);
    write_columns(writer, alignment, result);
    const Index columns = alignment.column_count(), letters = alignment.alphabet->size();
    const auto row_of = [&](Index i, const auto& block) {
        std::vector<float> row;
        row.reserve(static_cast<std::size_t>((columns - i - 1) * letters * letters));
        for (Index j = i + 1; j < columns; ++j) append_block(block(j), writer.order, row);
        return row;
    };
    write_rows(writer, columns, threads, [&](Index i) {
        const Array<double, 3> shares = pair_frequencies(alignment, result.weights, i);
        return row_of(i, [&](Index j) { return std::as_const(shares)[j - i - 1]; });
    });
    write_rows(writer, columns, threads, [&](Index i) {
        return row_of(i, [&](Index j) { return result.model.pairs[pair_index(i, j, columns)]; });
    });
    writer.file.close();
}

}  // namespace pleat::couplings
