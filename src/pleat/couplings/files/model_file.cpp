// Model files: fields and couplings to and from NumPy's .npz.
#include "pleat/couplings/files/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"

namespace pleat::couplings {

namespace {

/// Copies an array of the archive to `out`, which has the expected shape.
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

}  // namespace

void write_model(const std::filesystem::path& path, const Model& model,
                 const Alignment& alignment) {
    NpzWriter writer(path);
    writer.add("fields", model.fields.view());
    writer.add("pairs", model.pairs.view());
    writer.add_text("letters", alignment.alphabet->letters());
    writer.add("columns", alignment.columns.data(), {static_cast<Index>(alignment.columns.size())});
    writer.close();
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
    // The array is read only if it has the right size.
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
