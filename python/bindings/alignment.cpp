// Alignments: read, made from arrays, and filtered; the letters are shown without a copy.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "arrays.h"
#include "notes.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"

namespace pleat::python {

namespace {

ReadOptions read_options(const std::string& format, const std::string& alphabet) {
    return {.format = format, .alphabet = alphabet, .keep_unknown = true, .keep_full_rows = true};
}

Alignment from_codes(const py::array& letters, std::vector<std::string> names,
                     const std::string& alphabet) {
    if (!py::isinstance<py::array_t<std::uint8_t>>(letters) || letters.ndim() != 2)
        throw InputError(
            fmt::format("expected codes of letters, uint8 [sequence, column], found "
                        "{} {}",
                        py::str(letters.dtype()).cast<std::string>(), shape_text(letters)));
    const Argument<std::uint8_t> codes(letters);
    Alignment alignment;
    alignment.alphabet = &Alphabet::named(alphabet).with_unknown();
    alignment.letters = Array<std::uint8_t, 2>::unset(codes.shape(0), codes.shape(1));
    std::copy_n(codes.data(), codes.size(), alignment.letters.data());
    const auto* const unknown =
        std::find_if(alignment.letters.begin(), alignment.letters.end(),
                     [&](std::uint8_t code) { return code > alignment.alphabet->gap(); });
    if (unknown != alignment.letters.end()) {
        const Index at = unknown - alignment.letters.begin(), columns = alignment.column_count();
        throw InputError(fmt::format("letters[{}, {}]: expected a code below {} ({}), found {}",
                                     at / columns, at % columns, alignment.alphabet->size(),
                                     alignment.alphabet->letters(), *unknown));
    }
    if (!names.empty() && static_cast<Index>(names.size()) != alignment.sequence_count())
        throw InputError(fmt::format("expected {} names, one per sequence, found {}",
                                     alignment.sequence_count(), names.size()));
    if (names.empty())
        for (Index n = 1; n <= alignment.sequence_count(); ++n)
            names.push_back(fmt::format("sequence {}", n));
    alignment.names = std::move(names);
    for (Index j = 0; j < alignment.column_count(); ++j) alignment.columns.push_back(j);
    alignment.source = "array";
    alignment.format = "array";
    return alignment;
}

std::vector<std::string> sequences(const Alignment& alignment) {
    std::vector<std::string> rows;
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        std::string& row = rows.emplace_back();
        for (const std::uint8_t code : alignment.letters.view()[n])
            row += alignment.alphabet->letter(code);
    }
    return rows;
}

/// Converts an alignment to its pickle state; from_state() reverses it.
py::tuple state_of(const Alignment& a) {
    return py::make_tuple(
        py::array_t<std::uint8_t>({a.sequence_count(), a.column_count()}, a.letters.data()),
        a.names, std::string(a.alphabet->name()), a.columns, a.source.string(), a.format, a.notes,
        a.parts, a.full_rows);
}

Alignment from_state(const py::tuple& state) {
    Alignment alignment =
        from_codes(state[0].cast<py::array>(), state[1].cast<std::vector<std::string>>(),
                   state[2].cast<std::string>());
    alignment.columns = state[3].cast<std::vector<Index>>();
    alignment.source = state[4].cast<std::string>();
    alignment.format = state[5].cast<std::string>();
    alignment.notes = state[6].cast<Notes>();
    alignment.parts = state[7].cast<std::string>();
    alignment.full_rows = state[8].cast<std::vector<std::string>>();
    return alignment;
}

}  // namespace

void add_alignment(py::module_& module) {
    py::class_<Alignment, std::shared_ptr<Alignment>>(module, "Alignment")
        .def_property_readonly(
            "letters",
            [](py::object self) { return array_view(self.cast<const Alignment&>().letters, self); })
        .def_property_readonly(
            "columns",
            [](py::object self) { return array_view(self.cast<const Alignment&>().columns, self); })
        .def_readonly("names", &Alignment::names)
        .def_property_readonly("sequences", &sequences)
        .def_property_readonly("alphabet", [](const Alignment& a) { return a.alphabet->name(); })
        .def_property_readonly("alphabet_letters",
                               [](const Alignment& a) { return a.alphabet->letters(); })
        .def_property_readonly("source", [](const Alignment& a) { return a.source.string(); })
        .def_readonly("format", &Alignment::format)
        .def_readonly("notes", &Alignment::notes)
        .def("filter",
             [](const Alignment& a, double max_gaps, double min_coverage) {
                 const py::gil_scoped_release released;
                 return filter(a, {max_gaps, min_coverage});
             })
        .def(py::pickle(&state_of, &from_state));
    module.def("alignment_from_codes", &from_codes);
    module.def("alignment_from_text",
               [](const std::string& name, const std::string& bytes, std::vector<std::string> names,
                  const std::string& alphabet) {
                   const py::gil_scoped_release released;
                   Alignment alignment =
                       read_alignment_from_memory(name, bytes, read_options("fasta", alphabet));
                   alignment.names = std::move(names);
                   return alignment;
               });
    module.def("read_alignment", [](const std::filesystem::path& path, const py::dict& options) {
        ReadOptions reading = read_options({}, {});
        set_fields(fields(reading), options);
        const py::gil_scoped_release released;
        return read_alignment(path, reading);
    });
}

}  // namespace pleat::python
