// Select: one call of the workflow, and its scores, clusters and contacts as NumPy arrays.
#include "pleat/workflows/select/select.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/workflows/select/contacts.h"
#include "pleat/workflows/select/output.h"
#include "results.h"
#include "structures.h"

namespace pleat::python {

namespace {

struct Selected : Described {
    select::Result result;
    Ensemble ensemble;  ///< without its coordinates
};
ResultColumns columns(const Selected& selected) { return select::columns(selected.result); }

/// Parses contacts in CASP's RR format, or reads a file or folder; nothing without a name.
std::optional<PredictedContacts> read_contacts(const std::string& name, const std::string& text) {
    if (name.empty()) return {};
    if (text.empty()) return select::read_predicted(name);
    ByteSource source(name, text);
    return read_casp_contacts(source);
}

std::unique_ptr<Selected> run(Structures& frames, const Argument<Index>& superposed,
                              const Alignment* alignment, const std::string& contacts_name,
                              const std::string& contacts_text, const ProfileFile* curve,
                              const Argument<double>& score, bool lowest_is_best,
                              const std::string& structure, const py::dict& options,
                              const py::dict& how) {
    select::Parameters parameters;
    std::vector<Field> fields = select::fields(parameters);
    for (const Field& field : select::clustering_fields(parameters)) fields.push_back(field);
    set_fields(fields, options);
    if (score.size() > 0)
        frames.ensemble.scores = {{"score"}, {copy_array(score)}, "score", lowest_is_best};
    select::Input input{.ensemble = &frames.ensemble,
                        .superposed = copy_array(superposed),
                        .alignment = alignment,
                        .curve = curve != nullptr ? &curve->profile : nullptr,
                        .uses_score = score.size() > 0,
                        .structure = structure};
    CallContext call(parse_execution_options(how));
    input.device_is_named = call.is_named();
    auto selected = std::make_unique<Selected>();
    without_lock(call.progress, [&] {
        const std::optional<PredictedContacts> contacts =
            read_contacts(contacts_name, contacts_text);
        if (contacts) input.contacts = &*contacts;
        frames.transpose();
        selected->result = select::run(input, parameters, call.context);
        selected->ensemble = std::move(frames.ensemble);
        selected->ensemble.xyz = {};
    });
    return selected;
}

}  // namespace

void add_select(py::module_& module) {
    py::class_<Selected> result = add_result<Selected>(module, "Selection");
    result.def_property_readonly("residues", [](const Selected& s) {
        py::list names;
        for (const auto& one : s.result.expected.contacts)
            names.append(py::make_tuple(one.name_i, one.name_j));
        return names;
    });
    add_run(result, "select", [](RunDirectory& run, const Selected& selected, const py::dict&) {
        select::write_results(run, selected.ensemble, selected.result);
    });
    module.def("select", &run, py::arg(), py::arg(), py::arg().none(true), py::arg(), py::arg(),
               py::arg().none(true), py::arg(), py::arg(), py::arg(), py::arg(), py::arg());
    module.def("select_fields", [] {
        select::Parameters parameters;
        std::vector<Field> fields = select::fields(parameters);
        for (const Field& field : select::clustering_fields(parameters)) fields.push_back(field);
        return describe_fields(fields);
    });
}

}  // namespace pleat::python
