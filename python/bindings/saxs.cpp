// SAXS: calls of the engine on structures of Python's, and what a curve says of them.
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
#include "pleat/saxs/model/model_joining.h"
#include "structures.h"

namespace pleat::python {

Structures::Structures(const Argument<float>& xyz, std::shared_ptr<Topology> topology,
                       const std::vector<std::string>& files,
                       const std::vector<std::pair<Index, Index>>& origins,
                       const std::vector<std::string>& notes)
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
    // Of files whose frames were left out nothing stays.
    std::map<Index, Index> places;
    for (const auto& [file, frame] : origins) {
        if (file < 0 || file >= static_cast<Index>(files.size()))
            throw InputError(fmt::format("expected origins in files from 0 to {}, found {}",
                                         static_cast<Index>(files.size()) - 1, file));
        const auto [place, is_new] = places.try_emplace(file, static_cast<Index>(places.size()));
        if (is_new) ensemble.files.push_back(files[static_cast<std::size_t>(file)]);
        ensemble.origins.push_back({place->second, frame});
    }
}

void Structures::turn() {
    const Index frames = view.extent(0), atoms = view.extent(1);
    ensemble.xyz = Array<float, 3>::unset(frames, Index{3}, atoms);
    parallel_for(available_threads(), frames, [&](Index frame, int) {
        for (Index axis = 0; axis < 3; ++axis)
            for (Index atom = 0; atom < atoms; ++atom)
                ensemble.xyz(frame, axis, atom) = view(frame, atom, axis);
    });
}

std::optional<saxs::FormFactorTable> form_factors_of(const std::string& path,
                                                     const std::string& model,
                                                     std::vector<std::string>& notes) {
    if (path.empty()) return {};
    if (model != "one-body" && model != "two-body")
        throw UsageError(fmt::format(
            "expected --model one-body or two-body with --form-factors, found '{}'", model));
    return saxs::read_form_factors(path, saxs::parse_bodies(model), notes);
}

namespace {

struct Scattered {
    saxs::Result result;
    ProfileFile curve;  ///< the points that were used
    double bin = 0;
    std::string device;
};

std::unique_ptr<Scattered> scatter(const std::vector<Structures*>& components,
                                   const ProfileFile* curve, const std::string& models,
                                   const std::string& form_factors, const py::dict& options,
                                   const py::dict& how) {
    saxs::Parameters parameters;
    set_fields(saxs::fields(parameters), options);
    Call call(work_of(how));
    auto made = std::make_unique<Scattered>();
    made->bin = parameters.bin;
    without_lock(call.progress, [&] {
        call.settle(-1);
        std::vector<std::string> notes;
        std::vector<Ensemble> ensembles;
        const std::optional<saxs::FormFactorTable> table =
            form_factors_of(form_factors, parameters.model, notes);
        for (Structures* component : components) {
            component->turn();
            const std::string remark = saxs::interpret_models(models, component->ensemble);
            const std::vector<std::string>& read = component->ensemble.notes;
            notes.insert(notes.end(), read.begin(), read.end());
            if (!remark.empty()) notes.push_back(remark);
            ensembles.push_back(std::move(component->ensemble));
        }
        made->result = saxs::run(ensembles, curve != nullptr ? &curve->profile : nullptr,
                                 table ? &*table : nullptr, parameters, call.context);
        made->result.notes.insert(made->result.notes.begin(), notes.begin(), notes.end());
    });
    made->curve.profile = std::move(made->result.curve);
    made->device = call.context.device.name();
    return made;
}

py::object guinier_of(const Scattered& scattered) {
    const saxs::Guinier& found = scattered.result.guinier;
    if (!found.found) return py::none();
    py::dict all;
    all["rg"] = found.gyration;
    all["rg_error"] = found.gyration_error;
    all["i0"] = found.forward;
    all["i0_error"] = found.forward_error;
    all["first"] = found.first;
    all["last"] = found.last;
    return all;
}

/// An array of one number of each frame.
py::array_t<double> of_frames(const Scattered& scattered, double saxs::Shape::*part) {
    std::vector<double> all;
    for (const saxs::Shape& shape : scattered.result.shapes) all.push_back(shape.*part);
    return owned(std::move(all));
}

py::object number_or_none(double number) {
    if (std::isnan(number)) return py::none();
    return py::float_(number);
}

void add_fits(py::module_& module) {
    py::class_<saxs::Fit>(module, "SaxsFit")
        .def_readonly("scale", &saxs::Fit::scale)
        .def_readonly("background", &saxs::Fit::background)
        .def_property_readonly("c1", [](const saxs::Fit& fit) { return fit.contrast.c1; })
        .def_property_readonly("c2", [](const saxs::Fit& fit) { return fit.contrast.c2; })
        .def_readonly("c1_at_bound", &saxs::Fit::c1_at_bound)
        .def_readonly("c2_at_bound", &saxs::Fit::c2_at_bound)
        .def_readonly("chi2", &saxs::Fit::chi2)
        .def_property_readonly(
            "chi2_reduced", [](const saxs::Fit& fit) { return number_or_none(fit.chi2_reduced); })
        .def_readonly("points", &saxs::Fit::points)
        .def_readonly("parameters", &saxs::Fit::parameters)
        .def_property_readonly("model", [](py::object self) {
            return shown(self.cast<const saxs::Fit&>().model, self);
        });
    py::class_<saxs::Weighted>(module, "SaxsWeights")
        .def_property_readonly(
            "frames",
            [](py::object self) { return shown(self.cast<const saxs::Weighted&>().frames, self); })
        .def_property_readonly(
            "weights",
            [](py::object self) { return shown(self.cast<const saxs::Weighted&>().weights, self); })
        .def_readonly("fit", &saxs::Weighted::fit)
        .def_readonly("validation", &saxs::Weighted::validation)
        .def_readonly("validation_error", &saxs::Weighted::validation_error)
        .def_readonly("effective", &saxs::Weighted::effective)
        .def_readonly("exhaustive", &saxs::Weighted::is_exhaustive);
}

/// The models of a scan as objects that keep `self` alive.
template <class Models, class Part>
py::list listed(const Models& models, py::handle self, const Part& part) {
    py::list all;
    for (const auto& model : models)
        all.append(py::cast(part(model), py::return_value_policy::reference_internal, self));
    return all;
}

void add_ensembles(py::class_<Scattered>& result) {
    result
        .def_property_readonly(
            "minimal",
            [](py::object self) {
                const auto& found = self.cast<const Scattered&>().result.ensemble;
                return listed(found.minimal, self, [](const saxs::Weighted& one) { return &one; });
            })
        .def_property_readonly("minimal_chosen",
                               [](const Scattered& s) -> std::optional<std::size_t> {
                                   if (s.result.ensemble.minimal.empty()) return {};
                                   return s.result.ensemble.minimal_chosen;
                               })
        .def_property_readonly(
            "reweighted",
            [](py::object self) {
                const auto& found = self.cast<const Scattered&>().result.ensemble;
                return listed(found.scan, self,
                              [](const saxs::Reweighted& one) { return &one.result; });
            })
        .def_property_readonly("thetas",
                               [](const Scattered& s) {
                                   std::vector<double> thetas;
                                   for (const saxs::Reweighted& one : s.result.ensemble.scan)
                                       thetas.push_back(one.theta);
                                   return owned(std::move(thetas));
                               })
        .def_property_readonly("reweighted_chosen",
                               [](const Scattered& s) -> std::optional<std::size_t> {
                                   if (s.result.ensemble.scan.empty()) return {};
                                   return s.result.ensemble.scan_chosen;
                               });
}

void add_profiles(py::class_<Scattered>& result) {
    const auto array = [&](const char* name, auto part) {
        result.def_property_readonly(name, [part](py::object self) {
            return shown(part(self.cast<const Scattered&>().result), self);
        });
    };
    array(
        "q", [](const saxs::Result& r) -> auto& { return r.q; });
    array(
        "intensity", [](const saxs::Result& r) -> auto& { return r.intensity; });
    array(
        "mean", [](const saxs::Result& r) -> auto& { return r.mean; });
    result
        .def_property_readonly(
            "rg", [](const Scattered& s) { return of_frames(s, &saxs::Shape::gyration); })
        .def_property_readonly(
            "i0", [](const Scattered& s) { return of_frames(s, &saxs::Shape::forward); })
        .def_property_readonly(
            "dmax", [](const Scattered& s) { return of_frames(s, &saxs::Shape::diameter); })
        .def_property_readonly("pr",
                               [](py::object self) {
                                   return shown_or_none(self.cast<const Scattered&>().result.pairs,
                                                        self);
                               })
        .def_readonly("bin", &Scattered::bin)
        .def_property_readonly("c1", [](const Scattered& s) { return s.result.contrast.c1; })
        .def_property_readonly("c2", [](const Scattered& s) { return s.result.contrast.c2; })
        .def_property_readonly("model", [](const Scattered& s) { return s.result.model; })
        .def_property_readonly("scatterers", [](const Scattered& s) { return s.result.scatterers; })
        .def_property_readonly("frames", [](const Scattered& s) { return s.result.shapes.size(); })
        .def_property_readonly("files", [](const Scattered& s) { return s.result.files; })
        .def_property_readonly("notes", [](const Scattered& s) { return s.result.notes; })
        .def_property_readonly("warnings", [](const Scattered& s) { return s.result.warnings; })
        .def_readonly("device", &Scattered::device);
}

}  // namespace

void add_saxs(py::module_& module) {
    py::class_<Structures>(module, "Structures")
        .def(py::init<const Argument<float>&, std::shared_ptr<Topology>,
                      const std::vector<std::string>&, const std::vector<std::pair<Index, Index>>&,
                      const std::vector<std::string>&>());
    add_fits(module);
    py::class_<Scattered> result(module, "Saxs");
    add_profiles(result);
    add_ensembles(result);
    const auto of_fit = [](auto part) {
        return [part](py::object self) -> py::object {
            const auto& scattered = self.cast<const Scattered&>();
            if (!scattered.result.has_fit) return py::none();
            return py::cast(part(scattered), py::return_value_policy::reference_internal, self);
        };
    };
    result.def_property_readonly("fit", of_fit([](const Scattered& s) { return &s.result.fit; }))
        .def_property_readonly("curve", of_fit([](const Scattered& s) { return &s.curve; }))
        .def_property_readonly("guinier", &guinier_of);
    module.def("saxs", &scatter, py::arg(), py::arg().none(true), py::arg(), py::arg(), py::arg(),
               py::arg());
    module.def("saxs_fields", [] {
        saxs::Parameters parameters;
        return described(saxs::fields(parameters));
    });
}

}  // namespace pleat::python
