// plmc file: a model to and from plmc's binary layout, in float32 or float64.
#include "pleat/couplings/files/plmc_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "pleat/core/error.h"
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
        return alphabet.letters()[a] < alphabet.letters()[b];
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

/// Appends the numbers of one pair block to `row`, in plmc's letter order.
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
        parallel_for(threads, count, [&](Index k, int) { rows[k] = numbers(first + k); });
        for (Index k = 0; k < count; ++k) {
            const std::vector<float>& row = rows[k];
            writer.file.write(row.data(), row.size() * sizeof(float));
        }
    }
}

constexpr Index kMaxColumns = 100000, kHeadNumbers = 5;

/// Reads the numbers of a file in order; each function throws InputError at the end of the file.
class PlmcCursor {
public:
    explicit PlmcCursor(ByteReader& reader) : reader_(reader) {}

    void bytes(void* out, Index count) {
        if (static_cast<Index>(reader_.read(out, static_cast<std::size_t>(count))) != count) fail();
    }
    std::vector<std::int32_t> integers(Index count) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(count));
        bytes(values.data(), 4 * count);
        return values;
    }
    std::string text(Index count) {
        std::string value(static_cast<std::size_t>(count), ' ');
        bytes(value.data(), count);
        return value;
    }
    void reals(std::vector<double>& out, Index count) {
        out.resize(static_cast<std::size_t>(count));
        if (real_bytes == 8) return bytes(out.data(), 8 * count);
        narrow_.resize(static_cast<std::size_t>(count));
        bytes(narrow_.data(), 4 * count);
        std::copy(narrow_.begin(), narrow_.end(), out.begin());
    }
    void skip(Index count) {
        if (static_cast<Index>(reader_.skip(static_cast<std::size_t>(count))) != count) fail();
    }
    [[noreturn]] void fail() {
        throw InputError(reader_.name(), 0,
                         fmt::format("expected a whole model of plmc, found the end of the file "
                                     "after {} bytes",
                                     reader_.position()));
    }

    int real_bytes = 4;

private:
    ByteReader& reader_;
    std::vector<float> narrow_;
};

struct PlmcShape {
    Index columns = 0, letters = 0, sequences = 0;  ///< sequences: those left out included

    Index pairs() const { return columns * (columns - 1) / 2; }
    Index reals() const {
        return kHeadNumbers + sequences + 2 * columns * letters + 2 * pairs() * letters * letters;
    }
    Index bytes(Index real_bytes) const {
        return 4 * kHeadNumbers + letters + 5 * columns + real_bytes * reals();
    }
};

PlmcShape read_shape(PlmcCursor& cursor, const std::string& name) {
    const std::vector<std::int32_t> head = cursor.integers(kHeadNumbers);
    const PlmcShape shape{head[0], head[1], Index{head[2]} + head[3]};
    const bool is_sound = shape.columns >= 2 && shape.columns <= kMaxColumns &&
                          shape.letters >= 2 && shape.letters <= 64 && head[2] >= 0 && head[3] >= 0;
    if (!is_sound)
        throw InputError(name, 0,
                         fmt::format("expected a model of plmc, found {} columns, {} letters and "
                                     "{} sequences in its first bytes",
                                     head[0], head[1], head[2]));
    return shape;
}

/// Bytes per real number, 4 or 8, by the file's size; 4 for a compressed file (size unknown).
int size_of_reals(const PlmcShape& shape, Index bytes, const std::string& name) {
    for (const int size : {4, 8})
        if (bytes < 0 || shape.bytes(size) == bytes) return size;
    throw InputError(
        name, 0,
        fmt::format("expected {} bytes of float32 or {} of float64 for {} columns, {} letters and "
                    "{} sequences, found {}",
                    shape.bytes(4), shape.bytes(8), shape.columns, shape.letters, shape.sequences,
                    bytes));
}

/// The letters of a file as codes of the matching alphabet.
struct PlmcLetters {
    const Alphabet* alphabet = nullptr;
    std::vector<std::size_t> codes;  ///< [letter of the file]
};

PlmcLetters read_letters(const std::string& letters, const std::string& name) {
    std::string sorted = letters;
    std::sort(sorted.begin(), sorted.end());
    for (const Alphabet* alphabet : {&Alphabet::protein(), &Alphabet::rna(), &Alphabet::dna()}) {
        std::string all(alphabet->letters()), residues = all.substr(0, all.size() - 1);
        std::sort(all.begin(), all.end());
        std::sort(residues.begin(), residues.end());
        if (sorted != all && sorted != residues) continue;
        PlmcLetters found{alphabet, {}};
        for (const char letter : letters) found.codes.push_back(alphabet->code(letter));
        return found;
    }
    std::string shown;
    for (const char letter : letters) shown += letter >= ' ' && letter < 0x7f ? letter : '?';
    throw InputError(
        name, 0, fmt::format("expected the letters of proteins, RNA or DNA, found '{}'", shown));
}

/// Sets the reference row from its letters and residue numbers.
void set_reference(const std::string& target, const std::vector<std::int32_t>& numbers,
                   const std::string& name, ModelDescription& about) {
    const Alphabet& alphabet = *about.alphabet;
    about.reference_name = "target";
    // plmc without -f repeats its first letter; no real protein consists of one kind of residue.
    const bool is_known = std::any_of(target.begin(), target.end(),
                                      [&](char letter) { return letter != target.front(); });
    if (is_known && !std::is_sorted(numbers.begin(), numbers.end(), std::less_equal<>()))
        throw InputError(name, 0, "expected rising numbers of the columns, found others");
    if (is_known && Index{numbers.back()} - numbers.front() > Index{10} * kMaxColumns)
        throw InputError(name, 0,
                         fmt::format("expected numbers of one sequence's residues, found {} to {}",
                                     numbers.front(), numbers.back()));
    about.first_number = is_known ? numbers.front() : 1;
    about.number_is_recorded = is_known;
    if (is_known)
        about.sequence.assign(static_cast<std::size_t>(Index{numbers.back()} - numbers.front() + 1),
                              'X');
    for (std::size_t i = 0; i < target.size(); ++i) {
        about.columns.push_back(static_cast<Index>(i));
        const std::uint8_t code = alphabet.code(target[i]);
        const bool is_residue = is_known && code < alphabet.gap();
        const auto at = static_cast<std::size_t>(numbers[i] - numbers.front());
        about.reference += is_residue ? alphabet.letter(code) : '-';
        about.numbers.push_back(is_residue ? static_cast<Index>(at) + 1 : 0);
        if (is_residue) about.sequence[at] = about.reference.back();
    }
}

/// float32 holds the numbers of the model.
void require_finite(const std::vector<double>& values, const std::string& name) {
    for (const double value : values)
        if (!(std::abs(value) <= std::numeric_limits<float>::max()))
            throw InputError(name, 0,
                             fmt::format("expected finite numbers of float32, found {}", value));
}

}  // namespace

Array<double, 2> letter_frequencies(const Alignment& alignment,
                                    const std::vector<double>& weights) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    Array<double, 2> frequencies(alignment.column_count(), alignment.alphabet->size());
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        const double share = weights[n] / total;
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
        for (const Index n : groups[a]) {
            const double weight = weights[n];
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

SavedModel read_plmc_model(ByteReader& reader) {
    const std::string& name = reader.name();
    const Index bytes = reader.left();
    PlmcCursor cursor(reader);
    const PlmcShape shape = read_shape(cursor, name);
    cursor.real_bytes = size_of_reals(shape, bytes, name);
    std::vector<double> reals;
    cursor.reals(reals, kHeadNumbers);
    SavedModel saved;
    ModelDescription& about = saved.about;
    about.effective_sequences = reals.back();
    const PlmcLetters letters = read_letters(cursor.text(shape.letters), name);
    about.alphabet = letters.alphabet;
    cursor.skip(cursor.real_bytes * shape.sequences);
    const std::string target = cursor.text(shape.columns);
    set_reference(target, cursor.integers(shape.columns), name, about);

    const Index columns = shape.columns, count = shape.letters;
    about.frequencies = Array<double, 2>(columns, count);
    saved.model.fields = Array<float, 2>(columns, count);
    const auto each_letter = [&](auto&& take) {
        cursor.reals(reals, columns * count);
        require_finite(reals, name);
        for (Index i = 0; i < columns; ++i)
            for (Index a = 0; a < count; ++a)
                take(i, static_cast<Index>(letters.codes[a]), reals[i * count + a]);
    };
    each_letter([&](Index i, Index a, double share) { about.frequencies(i, a) = share; });
    each_letter([&](Index i, Index a, double field) {
        saved.model.fields(i, a) = static_cast<float>(field);
    });
    cursor.skip(cursor.real_bytes * shape.pairs() * count * count);
    // For a compressed file, only now is it known that so much data exists.
    saved.model.pairs = Array<float, 3>::unset(shape.pairs(), count, count);
    for (Index pair = 0; pair < shape.pairs(); ++pair) {
        cursor.reals(reals, count * count);
        require_finite(reals, name);
        const View<float, 2> block = saved.model.pairs[pair];
        const double* from = reals.data();
        for (const std::size_t a : letters.codes)
            for (const std::size_t b : letters.codes)
                block(static_cast<Index>(a), static_cast<Index>(b)) = static_cast<float>(*from++);
    }
    if (!reader.at_end())
        throw InputError(name, 0, "expected the end of the model of plmc, found more bytes");
    return saved;
}

}  // namespace pleat::couplings
