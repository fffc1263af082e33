// Select: one call of the workflow, and its scores, clusters and contacts as NumPy arrays.
#include "pleat/workflows/select/select.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/workflows/select/contacts.h"
#include "structures.h"

namespace pleat::python {

namespace {

/// The scores of one frame.
struct FrameScores {
    std::int64_t position;
    std::int32_t cluster;
    double joint_rank, contacts, unexplained_share, density, chi2, rmsd, contact_rank, cluster_rank,
        curve_rank, score_rank;
};

struct Contact {
    std::int64_t i, j;
    double strength;
    std::int64_t explained_by;
};

struct Selected {
    select::Result result;
    std::vector<FrameScores> scores;  ///< [frame]
    std::vector<Contact> contacts;
};

template <class T>
double value_at(const std::vector<T>& values, std::size_t at) {
    return values.empty() ? std::nan("") : static_cast<double>(values[at]);
}

void list_scores(Selected& selected) {
    const select::Result& result = selected.result;
    const select::Scores& scores = result.scores;
    for (std::size_t n = 0; n < result.assignment.size(); ++n)
        selected.scores.push_back(
            {scores.position[n], result.assignment[n], scores.joint_rank[n],
             value_at(scores.contacts, n), value_at(scores.unexplained_share, n), result.density[n],
             value_at(result.chi2, n), value_at(result.rmsd, n), value_at(scores.contact_rank, n),
             value_at(scores.cluster_rank, n), value_at(scores.curve_rank, n),
             value_at(scores.score_rank, n)});
    for (std::size_t c = 0; c < result.expected.contacts.size(); ++c) {
        const select::ExpectedContact& one = result.expected.contacts[c];
        selected.contacts.push_back({one.i - 1, one.j - 1, one.strength, result.explained_by[c]});
    }
}

/// Contacts as text in CASP's RR format, or the file or folder at a path; nothing without a name.
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
        list_scores(*selected);
    });
    return selected;
}

py::object nothing_or(const std::string& text) {
    if (text.empty()) return py::none();
    return py::str(text);
}

}  // namespace

void add_select(py::module_& module) {
    using select::ClusterSummary;
    PYBIND11_NUMPY_DTYPE_EX(FrameScores, position, "position", cluster, "cluster", joint_rank,
                            "joint", contacts, "contacts", unexplained_share, "unexplained",
                            density, "density", chi2, "chi2", rmsd, "rmsd", contact_rank,
                            "contact_rank", cluster_rank, "cluster_rank", curve_rank, "curve_rank",
                            score_rank, "score_rank");
    PYBIND11_NUMPY_DTYPE(Contact, i, j, strength, explained_by);
    PYBIND11_NUMPY_DTYPE_EX(ClusterSummary, cluster, "cluster", size, "size", selected, "selected",
                            best_frame, "best_frame", joint_rank, "joint", joint_rank_when_selected,
                            "when_selected", contacts, "contacts", unexplained_share, "unexplained",
                            density, "density", chi2, "chi2", min_chi2, "min_chi2", added, "added");
    py::class_<Selected> result(module, "Selection");
    const auto array = [&](const char* name, auto member) {
        result.def_property_readonly(name, [member](py::object self) {
            return array_view(member(self.cast<const Selected&>()), self);
        });
    };
    array(
        "scores", [](const Selected& s) -> auto& { return s.scores; });
    array(
        "clusters", [](const Selected& s) -> auto& { return s.result.clusters; });
    array(
        "medoids", [](const Selected& s) -> auto& { return s.result.medoids; });
    array(
        "contacts", [](const Selected& s) -> auto& { return s.contacts; });
    array(
        "formed", [](const Selected& s) -> auto& { return s.result.formed_contacts; });
    result
        .def_property_readonly("residues",
                               [](const Selected& s) {
                                   py::list names;
                                   for (const auto& one : s.result.expected.contacts)
                                       names.append(py::make_tuple(one.name_i, one.name_j));
                                   return names;
                               })
        .def_property_readonly(
            "chain", [](const Selected& s) { return nothing_or(s.result.expected.chain); })
        .def_property_readonly("identity",
                               [](const Selected& s) { return s.result.expected.identity; })
        .def_property_readonly("cutoff", [](const Selected& s) { return s.result.cutoff; });
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
