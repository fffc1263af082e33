// Couplings: pleat.couplings(), and its result as arrays.
#include "pleat/couplings/couplings.h"

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/contacts/calibration.h"
#include "pleat/couplings/contacts/contact_list.h"

namespace pleat::python {

namespace {

/// The result of a fit, and what contacts() and warning() need besides.
struct Fitted {
    couplings::Result result;
    Alignment alignment;  ///< as fitted
    bool is_corrected = true;
    std::string device;
    int threads = 1;
};

/// Fits the alignment after the program's filters; unknown letters count as gaps.
Fitted run(const Alignment& alignment, double max_gaps, double min_coverage,
           const py::dict& options, const py::dict& how) {
    couplings::Parameters parameters;
    set_fields(couplings::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        Fitted fitted;
        fitted.alignment = without_unknown(alignment);
        if (max_gaps != 1.0 || min_coverage != 0.0)
            fitted.alignment = filter(fitted.alignment, {max_gaps, min_coverage});
        fitted.threads = resolve_threads(call.context);
        fitted.is_corrected = parameters.apc;
        if (call.may_use_gpu())
            call.choose_device(GpuDemand{couplings::gpu_memory_needed(fitted.alignment)});
        fitted.device = device_names(call.context);
        fitted.result = couplings::run(fitted.alignment, parameters, call.context);
        return fitted;
    });
}

/// Why the probabilities of contacts() are too high or missing; empty if they are neither.
std::string warning(const Fitted& fitted) {
    const bool is_protein = fitted.alignment.alphabet->kind() == Alphabet::Kind::protein;
    if (!is_protein || !fitted.is_corrected) return {};
    return couplings::depth_warning(fitted.result.effective_sequences);
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
        .def_readonly("device", &Fitted::device)
        .def("contacts", [](const Fitted& fitted, Index min_separation) {
            std::vector<RankedPair> pairs;
            {
                const py::gil_scoped_release released;
                pairs = rank_pairs(fitted.alignment, fitted.result, min_separation,
                                   fitted.is_corrected, fitted.threads);
                const std::vector<Index>& columns = fitted.alignment.columns;
                for (RankedPair& pair : pairs) {
                    pair.i = columns[static_cast<std::size_t>(pair.i)];
                    pair.j = columns[static_cast<std::size_t>(pair.j)];
                }
            }
            return owned_array(std::move(pairs));
        });
    module.def("couplings", &run);
    module.def("couplings_fields", [] {
        couplings::Parameters parameters;
        return describe_fields(couplings::fields(parameters));
    });
}

}  // namespace pleat::python
