// Profiles: scattering curves from files and arrays, shown without copying.
#include "pleat/bio/scattering/profile.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <optional>

#include "arrays.h"
#include "notes.h"
#include "options.h"
#include "parts.h"

namespace pleat::python {

namespace {

/// `unit`: "auto", "1/angstrom", "1/nm"; `assumed_error`: a number or None.
ProfileOptions options_of(const std::string& unit, const py::object& assumed_error, bool smear) {
    ProfileOptions options;
    py::dict given;
    given["q-unit"] = unit;
    given["assume-error"] = assumed_error;
    set_fields(fields(options), given);
    options.smear = smear;
    return options;
}

ProfileFile read(const std::filesystem::path& path, const std::string& unit,
                 const py::object& assumed_error, bool smear, const std::string& columns,
                 const std::string& curve, double q_min, std::optional<double> structure_gyration) {
    ProfileOptions options = options_of(unit, assumed_error, smear);
    options.columns = columns;
    options.curve = curve;
    options.q_min = q_min;
    options.structure_gyration = structure_gyration;
    const py::gil_scoped_release released;
    return read_profile(path, options);
}

ProfileFile make(const Argument<double>& q, const Argument<double>& intensity,
                 const std::optional<Argument<double>>& sigma,
                 const std::optional<Argument<double>>& dq, const std::string& unit,
                 const py::object& assumed_error) {
    const auto line = [](const Argument<double>& values) -> std::span<const double> {
        if (values.ndim() != 1)
            throw InputError(
                fmt::format("curve: expected q, intensity and error [point], found "
                            "shape {}",
                            shape_text(values)));
        return {values.data(), static_cast<std::size_t>(values.size())};
    };
    const auto line_or_none = [&](const std::optional<Argument<double>>& values) {
        return values ? line(*values) : std::span<const double>{};
    };
    return make_profile("curve", line(q), line(intensity), line_or_none(sigma),
                        options_of(unit, assumed_error, dq.has_value()), line_or_none(dq));
}

/// Converts a curve to its pickle state.
py::tuple state_of(const ProfileFile& file) {
    const Profile& curve = file.profile;
    return py::make_tuple(curve.q, curve.intensity, curve.sigma, curve.source, curve.dq,
                          file.per_nanometre, file.notes);
}

ProfileFile from_state(const py::tuple& state) {
    using Numbers = std::vector<double>;
    return {.profile = {.q = state[0].cast<Numbers>(),
                        .intensity = state[1].cast<Numbers>(),
                        .sigma = state[2].cast<Numbers>(),
                        .source = state[3].cast<std::string>(),
                        .dq = state[4].cast<Numbers>()},
            .per_nanometre = state[5].cast<bool>(),
            .notes = state[6].cast<Notes>()};
}

}  // namespace

void add_profile(py::module_& module) {
    py::class_<ProfileFile> profile(module, "Profile");
    const auto array = [&](const char* name, auto part) {
        profile.def_property_readonly(name, [part](py::object self) {
            return array_view(self.cast<const ProfileFile&>().profile.*part, self);
        });
    };
    array("q", &Profile::q);
    array("intensity", &Profile::intensity);
    array("sigma", &Profile::sigma);
    profile.def_property_readonly("dq", [](py::object self) {
        return array_view_or_none(self.cast<const ProfileFile&>().profile.dq, self);
    });
    profile.def_readonly("notes", &ProfileFile::notes).def("__len__", [](const ProfileFile& file) {
        return file.profile.size();
    });
    profile.def(py::pickle(&state_of, &from_state));
    module.def("read_profile", &read);
    module.def("profile_from_arrays", &make);
}

}  // namespace pleat::python
