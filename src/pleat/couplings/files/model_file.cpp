// Model files: fields and couplings to and from NumPy's .npz.
#include "pleat/couplings/files/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"
#include "pleat/couplings/files/plmc_file.h"

namespace pleat::couplings {

namespace {

/// Copies an array of the archive to `out`; the shapes must agree.
template <int Rank>
void load(const NpzReader& reader, const char* name, View<float, Rank> out) {
    const std::vector<Index> expected(out.extents, out.extents + Rank);
    const std::string label = reader.label(name);
    const std::vector<Index> shape = reader.shape(name);
    if (shape != expected) {
        throw InputError(fmt::format("{}: expected shape {} for this alignment, found {}", label,
                                     fmt::join(expected, " x "), fmt::join(shape, " x ")));
    }
    const NpyArray array = reader.get(name);
    const std::vector<float> values = array.as<float>(label);
    const auto invalid = std::find_if(values.begin(), values.end(),
                                      [](float value) { return !std::isfinite(value); });
    if (invalid != values.end()) {
        throw InputError(fmt::format("{}: expected finite numbers, found {} at element {}", label,
                                     *invalid, invalid - values.begin()));
    }
    std::copy(values.begin(), values.end(), out.data);
}

/// The alphabet with these letters, with or without the gap.
const Alphabet& alphabet_of(std::string_view letters, std::string_view label) {
    for (const Alphabet* alphabet : {&Alphabet::protein(), &Alphabet::rna(), &Alphabet::dna()}) {
        const std::string_view all = alphabet->letters();
        if (letters == all || letters == all.substr(0, all.size() - 1)) return *alphabet;
    }
    throw InputError(fmt::format("{}: expected the letters of proteins, RNA or DNA, found '{}'",
                                 label, letters));
}

/// Reads an array of the archive, which must have `count` numbers.
template <class T>
std::vector<T> numbers_of(const NpzReader& reader, const char* name, Index count) {
    const std::string label = reader.label(name);
    const std::vector<Index> shape = reader.shape(name);
    if (std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>()) != count)
        throw InputError(fmt::format("{}: expected {} numbers, found shape {}", label, count,
                                     fmt::join(shape, " x ")));
    return reader.get(name).as<T>(label);
}

ModelDescription read_description(const NpzReader& reader, const Alphabet& alphabet, Index columns,
                                  Index letters) {
    if (!reader.has("frequencies"))
        throw InputError(fmt::format("{}: expected the letters' frequencies, found none",
                                     reader.label("frequencies")));
    ModelDescription about{.alphabet = &alphabet,
                           .frequencies = Array<double, 2>(columns, letters),
                           .effective_sequences = reader.scalar("effective_sequences"),
                           .columns = numbers_of<Index>(reader, "columns", columns),
                           .source_columns = reader.integer("source_columns"),
                           .reference_name = reader.text("reference_name"),
                           .reference = reader.text("reference"),
                           .sequence = reader.text("sequence"),
                           .numbers = numbers_of<Index>(reader, "numbers", columns)};
    const std::vector<double> shares = numbers_of<double>(reader, "frequencies", columns * letters);
    std::copy(shares.begin(), shares.end(), about.frequencies.begin());
    const auto length = static_cast<Index>(about.sequence.size());
    const bool fits = static_cast<Index>(about.reference.size()) == columns &&
                      std::all_of(about.numbers.begin(), about.numbers.end(),
                                  [&](Index number) { return number >= 0 && number <= length; });
    if (!fits)
        throw InputError(
            fmt::format("{}: expected a letter and a residue for each of {} columns, "
                        "found others",
                        reader.label("reference"), columns));
    return about;
}

SavedModel read_archive(const std::filesystem::path& path) {
    const NpzReader reader(path);
    const std::string letters = reader.text("letters");
    const Alphabet& alphabet = alphabet_of(letters, reader.label("letters"));
    const auto count = static_cast<Index>(letters.size());
    const std::vector<Index> shape = reader.shape("fields");
    if (shape.size() != 2 || shape[0] < 2 || shape[1] != count)
        throw InputError(fmt::format("{}: expected shape columns x {}, found {}",
                                     reader.label("fields"), count, fmt::join(shape, " x ")));
    const Index columns = shape[0];
    SavedModel saved{{}, read_description(reader, alphabet, columns, count)};
    saved.model = {Array<float, 2>(columns, count),
                   Array<float, 3>::unset(columns * (columns - 1) / 2, count, count)};
    load(reader, "fields", saved.model.fields.view());
    load(reader, "pairs", saved.model.pairs.view());
    return saved;
}

/// A zip archive, which ByteReader refuses.
bool is_archive(const std::filesystem::path& path) {
    constexpr std::string_view kZip = "PK\x03\x04";
    char start[4] = {};
    InputFile(path).read(start, sizeof start);
    return std::string_view(start, sizeof start) == kZip;
}

/// Alignment text has no zero byte; plmc's first number, the number of columns, has at least one.
bool begins_as_plmc(std::string_view start) {
    return start.size() >= 4 && start.substr(0, 4).find('\0') != std::string_view::npos;
}

}  // namespace

ModelDescription describe(const Alignment& alignment, const std::vector<double>& weights,
                          const ReferenceRow& reference) {
    ModelDescription about{
        .alphabet = alignment.alphabet,
        .frequencies = letter_frequencies(alignment, weights),
        .effective_sequences = std::accumulate(weights.begin(), weights.end(), 0.0),
        .columns = alignment.columns,
        .source_columns = static_cast<Index>(reference.letters.size()),
        .reference_name = reference.name,
        .sequence = reference.sequence};
    for (const Index column : alignment.columns) {
        about.reference += reference.letters[column];
        about.numbers.push_back(reference.numbers[column]);
    }
    return about;
}

void write_model(const std::filesystem::path& path, const Model& model,
                 const ModelDescription& about) {
    NpzWriter writer(path);
    writer.add("fields", model.fields.view());
    writer.add("pairs", model.pairs.view());
    writer.add_text("letters", about.alphabet->letters());
    writer.add("columns", about.columns.data(), {static_cast<Index>(about.columns.size())});
    writer.add("frequencies", about.frequencies.view());
    writer.add_scalar("effective_sequences", about.effective_sequences);
    writer.add_scalar("source_columns", about.source_columns);
    writer.add_text("reference_name", about.reference_name);
    writer.add_text("reference", about.reference);
    writer.add_text("sequence", about.sequence);
    writer.add("numbers", about.numbers.data(), {static_cast<Index>(about.numbers.size())});
    writer.close();
}

bool is_model_file(const std::filesystem::path& path) {
    return is_archive(path) || begins_as_plmc(ByteReader(path).peek(4));
}

SavedModel read_saved_model(const std::filesystem::path& path) {
    if (is_archive(path)) return read_archive(path);
    ByteReader reader(path);
    if (begins_as_plmc(reader.peek(4))) return read_plmc_model(reader);
    throw InputError(path.string(), 0,
                     "expected a couplings.npz, or a binary model of plmc, found another file");
}

Model read_model(const std::filesystem::path& path, const Alignment& alignment) {
    const NpzReader reader(path);
    const std::string letters = reader.text("letters");
    if (letters != alignment.alphabet->letters()) {
        throw InputError(fmt::format("{}: expected the {} letters '{}', found '{}'",
                                     reader.label("letters"), alignment.alphabet->name(),
                                     alignment.alphabet->letters(), letters));
    }
    const Index columns = alignment.column_count();
    const Index count = alignment.alphabet->size();
    Model model{Array<float, 2>(columns, count),
                Array<float, 3>(columns * (columns - 1) / 2, count, count)};
    load(reader, "fields", model.fields.view());
    load(reader, "pairs", model.pairs.view());
    const std::string label = reader.label("columns");
    // Reads the array only if it has the right size.
    if (reader.shape("columns") != std::vector<Index>{columns} ||
        reader.get("columns").as<Index>(label) != alignment.columns) {
        throw InputError(
            fmt::format("{}: expected the {} columns that this alignment keeps, found "
                        "others; use the same file and filters as that run",
                        label, alignment.column_count()));
    }
    return model;
}

}  // namespace pleat::couplings
