// Mutual information: bindings of run() and its result, as arrays.
#include "pleat/mutual_information/mutual_information.h"

#include <pybind11/stl.h>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/output.h"
#include "results.h"

namespace pleat::python {

namespace {

namespace mi = mutual_information;

struct Measured : Described {
    mi::Result result;
    mi::Parameters parameters;
    Alignment alignment;     ///< as counted, without its letters
    ReferenceRow reference;  ///< the first row
    std::string device;
};
ResultColumns columns(const Measured& measured) {
    return mi::columns({measured.alignment, measured.parameters, measured.result, {}});
}

std::unique_ptr<Measured> run(const Alignment& source, double max_gaps, double min_coverage,
                              const std::string& focus, const py::dict& options,
                              const py::dict& how) {
    mi::Parameters parameters;
    set_fields(mi::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        auto measured = std::make_unique<Measured>();
        Alignment filtered;
        FilterOptions filters{max_gaps, min_coverage};
        if (!focus.empty()) filters.focus = find_row(source, focus);
        const bool is_filtered = max_gaps != 1.0 || min_coverage != 0.0 || filters.focus;
        if (is_filtered) filtered = filter(source, filters);
        const Alignment& alignment = is_filtered ? filtered : source;
        measured->parameters = parameters;
        measured->alignment.alphabet = alignment.alphabet;
        measured->alignment.columns = alignment.columns;
        measured->alignment.format = alignment.format;
        measured->alignment.letters = Array<std::uint8_t, 2>(alignment.sequence_count(), Index{0});
        if (!call.is_named())
            call.choose_device(
                mi::gpu_demand(alignment, parameters, resolve_threads(call.context)));
        if (call.context.device.kind == Device::Kind::cuda && !parameters.counts_on_cpu())
            use_cuda_device(call.context.device.index);
        measured->device = device_names(call.context);
        measured->result = mi::run(alignment, parameters, call.context);
        measured->reference = make_reference_row(source, filters.focus.value_or(0));
        return measured;
    });
}

/// The columns i < j < k of each triple in the source, [record, 3].
py::array_t<Index> columns_of(const mi::TripleRecords& records, const std::vector<Index>& columns) {
    auto all = Array<Index, 2>::unset(static_cast<Index>(records.triples.size()), Index{3});
    for (Index n = 0; n < all.extent(0); ++n) {
        const std::array<Index, 3> triple =
            mi::triple_at(records.triples[n], static_cast<Index>(columns.size()));
        for (std::size_t k = 0; k < 3; ++k) all(n, static_cast<Index>(k)) = columns[triple[k]];
    }
    return owned_array(std::move(all));
}

/// Returns {"columns": [n, 3], each statistic by its name, ...}; None without triples.
py::object records_of(const Measured& measured, const mi::TripleRecords& records,
                      const std::vector<double>& excess, const std::vector<double>& fdr,
                      py::handle self) {
    const mi::TripleResult& triples = *measured.result.triples;
    const auto count = static_cast<py::ssize_t>(records.triples.size());
    const auto numbers = static_cast<py::ssize_t>(triples.names.size());
    py::dict table;
    table["columns"] = columns_of(records, measured.alignment.columns);
    constexpr py::ssize_t kSize = sizeof(double);
    for (py::ssize_t n = 0; n < numbers; ++n)
        table[py::str(triples.names[n])] =
            py::array_t<double>({count}, {kSize * numbers}, records.numbers.data() + n, self);
    if (!excess.empty()) table["excess"] = array_view(excess, self);
    if (!fdr.empty()) table["fdr"] = array_view(fdr, self);
    return table;
}

py::object best_triples(py::object self) {
    const auto& measured = self.cast<const Measured&>();
    if (!measured.result.triples) return py::none();
    const mi::TripleResult& triples = *measured.result.triples;
    return records_of(measured, triples.best_triples, triples.best_excess, triples.best_fdr, self);
}

py::object kept_triples(py::object self) {
    const auto& measured = self.cast<const Measured&>();
    if (!measured.result.triples || !measured.result.triples->kept_triples) return py::none();
    const mi::TripleResult& triples = *measured.result.triples;
    return records_of(measured, *triples.kept_triples, {}, triples.kept_fdr, self);
}

}  // namespace

void add_mutual_information(py::module_& module) {
    py::class_<Measured> result = add_result<Measured>(module, "MutualInformation");
    result.def_property_readonly("triples", &best_triples)
        .def_property_readonly("kept_triples", &kept_triples)
        .def_readonly("device", &Measured::device);
    add_run(result, "mi", [](RunDirectory& run, const Measured& measured, const py::dict&) {
        mi::write_results(
            run, {measured.alignment, measured.parameters, measured.result, measured.reference},
            available_threads());
    });
    module.def("mutual_information", &run);
    module.def("mutual_information_fields", [] {
        mi::Parameters parameters;
        return describe_fields(mi::fields(parameters));
    });
}

}  // namespace pleat::python
