// Couplings: pleat.couplings(), and its result as arrays.
#include "pleat/couplings/couplings.h"

#include <algorithm>

#include "arrays.h"
#include "fitted.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/structure/residue_map.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/contacts/calibration.h"
#include "pleat/couplings/contacts/contact_list.h"

namespace pleat::python {

namespace {

/// Fits the alignment after the program's filters; unknown letters count as gaps.
Fitted run(const Alignment& alignment, double max_gaps, double min_coverage,
           const std::string& focus, const py::dict& options, const py::dict& how) {
    couplings::Parameters parameters;
    set_fields(couplings::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        Fitted fitted;
        fitted.alignment = without_unknown(alignment);
        FilterOptions filters{max_gaps, min_coverage};
        if (!focus.empty()) filters.focus = find_row(fitted.alignment, focus);
        fitted.reference = make_reference_row(fitted.alignment, {}, filters.focus.value_or(0));
        if (max_gaps != 1.0 || min_coverage != 0.0 || filters.focus)
            fitted.alignment = filter(fitted.alignment, filters);
        fitted.is_corrected = parameters.apc;
        if (call.may_use_gpu())
            call.choose_device(GpuDemand{couplings::gpu_memory_needed(fitted.alignment)});
        fitted.device = device_names(call.context);
        fitted.result = couplings::run(fitted.alignment, parameters, call.context);
        return fitted;
    });
}

/// Whether scores of this kind have probabilities, if there are enough sequences.
bool is_calibrated(const Fitted& fitted) {
    return fitted.alignment.alphabet->kind() == Alphabet::Kind::protein && fitted.is_corrected;
}

/// Why the probabilities of contacts() are too high or missing; empty if they are neither.
std::string warning(const Fitted& fitted) {
    return is_calibrated(fitted) ? couplings::depth_warning(fitted.result.effective_sequences) : "";
}

Array<double, 2> matrix(const Argument<double>& values, Index columns) {
    if (values.ndim() != 2 || values.shape(0) != columns || values.shape(1) != columns)
        throw InputError(fmt::format("expected scores [{0}, {0}], found shape {1}", columns,
                                     shape_text(values)));
    auto copy = Array<double, 2>::unset(columns, columns);
    std::copy_n(values.data(), values.size(), copy.data());
    return copy;
}

/// The contacts of scores [column, column]; `columns` of the source.
py::array_t<couplings::RankedPair> ranked(const Argument<double>& raw,
                                          const Argument<double>& corrected,
                                          const Argument<Index>& columns,
                                          double effective_sequences, bool is_calibrated,
                                          Index min_separation) {
    Alignment alignment;
    alignment.alphabet = &Alphabet::protein();
    alignment.columns = copy_array(columns);
    const auto count = static_cast<Index>(alignment.columns.size());
    alignment.letters = Array<std::uint8_t, 2>(Index{0}, count);
    couplings::Result result;
    result.raw = matrix(raw, count);
    result.corrected = matrix(corrected, count);
    result.effective_sequences = effective_sequences;
    std::vector<couplings::RankedPair> pairs;
    {
        const py::gil_scoped_release released;
        pairs = rank_pairs(alignment, result, min_separation, is_calibrated, available_threads());
        for (couplings::RankedPair& pair : pairs) {
            pair.i = alignment.columns[static_cast<std::size_t>(pair.i)];
            pair.j = alignment.columns[static_cast<std::size_t>(pair.j)];
        }
    }
    return owned_array(std::move(pairs));
}

/// A getter of one array of the result, which gives None for an empty array.
template <class Member>
auto array(Member member) {
    return [member](py::object self) -> py::object {
        const auto& values = member(self.cast<const Fitted&>().result);
        if (values.size() == 0) return py::none();
        return array_view(values, self);
    };
}

}  // namespace

void add_couplings(py::module_& module) {
    using couplings::RankedPair, couplings::Result;
    PYBIND11_NUMPY_DTYPE(RankedPair, i, j, raw, corrected, z, probability);
    py::class_<Fitted>(module, "Couplings")
        .def_property_readonly("scores",
                               array([](const Result& r) -> auto& { return r.corrected; }))
        .def_property_readonly("raw_scores", array([](const Result& r) -> auto& { return r.raw; }))
        .def_property_readonly("fields",
                               array([](const Result& r) -> auto& { return r.model.fields; }))
        .def_property_readonly("pairs",
                               array([](const Result& r) -> auto& { return r.model.pairs; }))
        .def_property_readonly("columns",
                               [](py::object self) {
                                   return array_view(self.cast<const Fitted&>().alignment.columns,
                                                     self);
                               })
        .def_property_readonly("weights", array([](const Result& r) -> auto& { return r.weights; }))
        .def_property_readonly("effective_sequences",
                               [](const Fitted& f) { return f.result.effective_sequences; })
        .def_property_readonly("objective", [](const Fitted& f) { return f.result.objective; })
        .def_property_readonly("relative_gap",
                               [](const Fitted& f) { return f.result.relative_gap; })
        .def_property_readonly("iterations", [](const Fitted& f) { return f.result.iterations; })
        .def_property_readonly("evaluations", [](const Fitted& f) { return f.result.evaluations; })
        .def_property_readonly("stop_reason",
                               [](const Fitted& f) { return name_of(f.result.stop_reason); })
        .def_property_readonly("warning", &warning)
        .def_property_readonly("_is_calibrated", &is_calibrated)
        .def_readonly("device", &Fitted::device);
    module.def("rank_pairs", &ranked);
    module.def("couplings", &run);
    module.def("couplings_fields", [] {
        couplings::Parameters parameters;
        return describe_fields(couplings::fields(parameters));
    });
}

}  // namespace pleat::python
