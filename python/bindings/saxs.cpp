// SAXS: calls of the engine on structures from Python, and what a curve says about them.
#include "pleat/saxs/saxs.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <map>
#include <optional>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/output.h"
#include "results.h"
#include "structures.h"

namespace pleat::python {

Structures::Structures(const Argument<float>& xyz, std::shared_ptr<Topology> topology,
                       const std::vector<std::string>& files,
                       const std::vector<std::pair<Index, Index>>& origins, const Notes& notes)
    : source(xyz), view(coordinates(source)) {
    ensemble.topology = std::move(topology);
    ensemble.notes = notes;
    if (origins.empty()) {
        ensemble.files = {"array"};
        for (Index n = 0; n < view.extent(0); ++n) ensemble.origins.push_back({0, n});
        return;
    }
    if (static_cast<Index>(origins.size()) != view.extent(0))
        throw InputError(fmt::format("expected an origin of each of {} frames, found {}",
                                     view.extent(0), origins.size()));
    // Only files with frames are kept.
    std::map<Index, Index> numbers;
    for (const auto& [file, frame] : origins) {
        if (file < 0 || file >= static_cast<Index>(files.size()))
            throw InputError(fmt::format("expected origins in files from 0 to {}, found {}",
                                         static_cast<Index>(files.size()) - 1, file));
        const auto [number, is_new] = numbers.try_emplace(file, static_cast<Index>(numbers.size()));
        if (is_new) ensemble.files.push_back(files[file]);
        ensemble.origins.push_back({number->second, frame});
    }
}

void Structures::transpose() {
    const Index frames = view.extent(0), atoms = view.extent(1);
    ensemble.xyz = Array<float, 3>::unset(frames, Index{3}, atoms);
    parallel_for(available_threads(), frames, [&](Index frame, int) {
        for (Index axis = 0; axis < 3; ++axis)
            for (Index atom = 0; atom < atoms; ++atom)
                ensemble.xyz(frame, axis, atom) = view(frame, atom, axis);
    });
}

std::vector<Field> SaxsKeywords::fields() {
    std::vector<Field> all = saxs::fields(parameters);
    all.push_back(saxs::models_are_field(models_are));
    return all;
}

SaxsInput saxs_input(const std::vector<Structures*>& components, const std::string& path,
                     const SaxsKeywords& options) {
    SaxsInput input;
    if (!path.empty()) {
        saxs::check_bead_model(options.parameters.model);
        input.form_factors = saxs::read_form_factors(path, options.parameters.model, input.notes);
    }
    for (Structures* component : components) {
        component->transpose();
        const std::string remark = saxs::interpret_models(options.models_are, component->ensemble);
        const Notes& notes = component->ensemble.notes;
        input.notes.insert(input.notes.end(), notes.begin(), notes.end());
        if (!remark.empty()) input.notes.push_back({NoteKind::points, remark});
        input.ensembles.push_back(std::move(component->ensemble));
    }
    return input;
}

namespace {

struct SaxsResult : Described {
    saxs::Result result;
    ProfileFile curve;  ///< the points that were fitted
    saxs::Parameters parameters;
    std::string device;
};

ResultColumns columns(const SaxsResult& scattered) {
    return saxs::columns(scattered.result, scattered.parameters.bin_width);
}

/// Further curves and their D2O fractions; none: X-rays.
using Series = std::vector<std::pair<const ProfileFile*, std::optional<double>>>;

std::unique_ptr<SaxsResult> scatter(const std::vector<Structures*>& components,
                                    const ProfileFile* curve, const Series& series,
                                    const std::string& form_factors, const py::dict& given,
                                    const py::dict& how) {
    SaxsKeywords options;
    set_fields(options.fields(), given);
    CallContext call(parse_execution_options(how));
    std::vector<saxs::FurtherCurve> further;
    for (const auto& [file, d2o] : series) further.push_back({file->profile, d2o});
    auto result = std::make_unique<SaxsResult>();
    result->parameters = options.parameters;
    without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        const SaxsInput input = saxs_input(components, form_factors, options);
        result->result = saxs::run(input.ensembles, curve != nullptr ? &curve->profile : nullptr,
                                   input.form_factors ? &*input.form_factors : nullptr,
                                   options.parameters, call.context, further);
        result->result.notes.insert(result->result.notes.begin(), input.notes.begin(),
                                    input.notes.end());
    });
    const auto add_notes = [&](const ProfileFile& file) {
        const Notes notes = with_source(file.notes, file.profile.source);
        result->result.notes.insert(result->result.notes.end(), notes.begin(), notes.end());
    };
    if (curve != nullptr) {
        result->curve = *curve;
        add_notes(*curve);
    }
    for (const auto& [file, d2o] : series) add_notes(*file);
    result->curve.profile = result->result.curve;
    result->device = device_names(call.context);
    return result;
}

py::object guinier_of(const SaxsResult& scattered) {
    const saxs::Guinier& guinier = scattered.result.guinier;
    if (!guinier.is_valid) return py::none();
    py::dict all;
    all["rg"] = guinier.gyration_radius;
    all["rg_error"] = guinier.gyration_radius_error;
    all["i0"] = guinier.forward_intensity;
    all["i0_error"] = guinier.forward_intensity_error;
    all["first"] = guinier.first;
    all["last"] = guinier.last;
    return all;
}

py::object number_or_none(double number) {
    if (std::isnan(number)) return py::none();
    return py::float_(number);
}

py::list match_points_of(const SaxsResult& scattered) {
    py::list all;
    for (const saxs::MatchPoint& one : scattered.result.match_points) {
        py::dict entry;
        entry["name"] = one.name;
        entry["d2o"] = number_or_none(one.d2o);
        entry["d2o_with_layer"] = number_or_none(one.with_layer);
        entry["volume"] = one.volume;
        entry["length"] = one.length;
        entry["gain"] = one.gain;
        all.append(entry);
    }
    return all;
}

py::object joint_of(const SaxsResult& scattered) {
    if (scattered.result.further.empty()) return py::none();
    const saxs::JointFit& joint = scattered.result.joint;
    py::dict all;
    all["chi2"] = joint.chi2;
    all["chi2_reduced"] = joint.chi2_reduced;
    all["points"] = joint.points;
    all["parameters"] = joint.parameters;
    return all;
}

/// The models of a scan as objects that keep `self` alive.
template <class Models, class Part>
py::list listed(const Models& models, py::handle self, const Part& get) {
    py::list all;
    for (const auto& model : models)
        all.append(py::cast(get(model), py::return_value_policy::reference_internal, self));
    return all;
}

void add_ensembles(py::class_<SaxsResult>& result) {
    result
        .def_property_readonly("minimal",
                               [](py::object self) {
                                   const auto& ensemble =
                                       self.cast<const SaxsResult&>().result.ensemble;
                                   return listed(ensemble.minimal, self,
                                                 [](const saxs::Weighted& one) { return &one; });
                               })
        .def_property_readonly("reweighted", [](py::object self) {
            const auto& ensemble = self.cast<const SaxsResult&>().result.ensemble;
            return listed(ensemble.scan, self,
                          [](const saxs::Reweighted& one) { return &one.result; });
        });
}

}  // namespace

void add_saxs(py::module_& module) {
    py::class_<Structures>(module, "Structures")
        .def(py::init<const Argument<float>&, std::shared_ptr<Topology>,
                      const std::vector<std::string>&, const std::vector<std::pair<Index, Index>>&,
                      const Notes&>());
    add_result<saxs::Fit>(module, "Fit");
    add_result<saxs::Weighted>(module, "Weights").def_readonly("fit", &saxs::Weighted::fit);
    py::class_<SaxsResult> result = add_result<SaxsResult>(module, "Saxs");
    add_ensembles(result);
    const auto of_fit = [](auto get) {
        return [get](py::object self) -> py::object {
            const auto& scattered = self.cast<const SaxsResult&>();
            if (!scattered.result.has_fit) return py::none();
            return py::cast(get(scattered), py::return_value_policy::reference_internal, self);
        };
    };
    result.def_property_readonly("fit", of_fit([](const SaxsResult& s) { return &s.result.fit; }))
        .def_property_readonly("curve", of_fit([](const SaxsResult& s) { return &s.curve; }))
        .def_property_readonly("guinier", &guinier_of)
        .def_property_readonly("series",
                               [](py::object self) {
                                   return listed(
                                       self.cast<const SaxsResult&>().result.further, self,
                                       [](const saxs::FurtherFit& one) { return &one.fit; });
                               })
        .def_property_readonly("joint", &joint_of)
        .def_property_readonly("match_points", &match_points_of)
        .def_property_readonly("notes", [](const SaxsResult& s) { return s.result.notes; })
        .def_readonly("device", &SaxsResult::device);
    add_run(result, "saxs", [](RunDirectory& run, const SaxsResult& scattered, const py::dict&) {
        saxs::write_results(run, scattered.result, scattered.parameters);
        saxs::record_facts(run, scattered.result);
    });
    module.def("saxs", &scatter, py::arg(), py::arg().none(true), py::arg(), py::arg(), py::arg(),
               py::arg());
    module.def("gyration_of_structure",
               [](const Argument<float>& xyz, const std::shared_ptr<Topology>& topology,
                  const py::dict& given) {
                   SaxsKeywords options;
                   set_fields(options.fields(), given);
                   Structures structure(xyz, topology, {}, {}, {});
                   structure.transpose();
                   return saxs::gyration_of_structure(structure.ensemble, options.parameters);
               });
    module.def("saxs_fields", [] { return describe_fields(SaxsKeywords().fields()); });
}

}  // namespace pleat::python
