// SAXS sessions: models from arrays, profiles of scatterers, and Monte Carlo chains, one call at a
// time.
#include "pleat/saxs/session/profile_session.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <mutex>
#include <optional>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/fit/fit.h"
#include "pleat/saxs/input_checks.h"
#include "pleat/saxs/model/fixed_contrast.h"
#include "pleat/saxs/output.h"
#include "results.h"
#include "structures.h"

namespace pleat::python {

namespace {

using saxs::FixedContrastModel;
using saxs::ProfileSession;

saxs::Model make_model(const Argument<double>& q, const Argument<double>& factors,
                       const Argument<std::int32_t>& types, const std::vector<bool>& scaled) {
    if (factors.ndim() != 3 || q.ndim() != 1 || types.ndim() != 1)
        throw UsageError(
            fmt::format("expected q [q], factors [channel, type, q] and types "
                        "[scatterer], found shapes {}, {} and {}",
                        shape_text(q), shape_text(factors), shape_text(types)));
    saxs::Model model;
    model.q = copy_array(q);
    model.types = copy_array(types);
    model.factors = Array<double, 3>::unset(factors.shape(0), factors.shape(1), factors.shape(2));
    std::copy_n(factors.data(), factors.size(), model.factors.data());
    model.scaled.assign(scaled.begin(), scaled.end());
    check(model);
    return model;
}

/// Transposes [..., scatterer, 3] to [..., 3, scatterer].
template <class T>
Array<T, 3> by_axis(View<const T, 3> from) {
    auto to = Array<T, 3>::unset(from.extent(0), Index{3}, from.extent(1));
    for (Index n = 0; n < from.extent(0); ++n)
        for (Index i = 0; i < from.extent(1); ++i)
            for (Index axis = 0; axis < 3; ++axis) to(n, axis, i) = from(n, i, axis);
    return to;
}

/// Transposes [..., 3, scatterer] to [..., scatterer, 3].
template <class T>
Array<T, 3> by_scatterer(View<const T, 3> from) {
    auto to = Array<T, 3>::unset(from.extent(0), from.extent(2), Index{3});
    for (Index n = 0; n < from.extent(0); ++n)
        for (Index i = 0; i < from.extent(2); ++i)
            for (Index axis = 0; axis < 3; ++axis) to(n, i, axis) = from(n, axis, i);
    return to;
}

/// The same of one frame, as a NumPy array.
template <class T>
py::array_t<T> by_scatterer(View<const T, 2> from) {
    const Array<T, 3> to =
        by_scatterer(View<const T, 3>(from.data, Index{1}, from.extent(0), from.extent(1)));
    return py::array_t<T>({from.extent(1), from.extent(0)}, to.data());
}

/// An empty view if there are none.
View<const float, 3> scales_of(const Argument<float>& scales) {
    if (scales.size() == 0) return {};
    if (scales.ndim() != 3)
        throw UsageError(
            fmt::format("expected scales [frame, channel with scales, scatterer], found "
                        "shape {}",
                        shape_text(scales)));
    return {scales.data(), scales.shape(0), scales.shape(1), scales.shape(2)};
}

View<const double, 2> partial_of(const Argument<double>& partial) {
    if (partial.ndim() != 2)
        throw UsageError(fmt::format("expected partial profiles [channel pair, q], found shape {}",
                                     shape_text(partial)));
    return {partial.data(), partial.shape(0), partial.shape(1)};
}

template <class T>
std::span<const T> line_of(const Argument<T>& values, Index size, const char* what) {
    if (values.ndim() != 1 || values.size() != size)
        throw UsageError(
            fmt::format("expected {} [{}], found shape {}", what, size, shape_text(values)));
    return {values.data(), static_cast<std::size_t>(size)};
}

/// Weights of the channels, from which `pairs` channel pairs are made.
std::span<const double> weights_of(const Argument<double>& weights, Index pairs) {
    const Index channels = weights.ndim() == 1 ? weights.size() : 0;
    if (channels < 1 || channels * (channels + 1) / 2 != pairs)
        throw UsageError(fmt::format("expected one weight per channel of {} pairs, found shape {}",
                                     pairs, shape_text(weights)));
    return {weights.data(), static_cast<std::size_t>(channels)};
}

/// [frame, channel pair, q].
py::array_t<double> profiles(const saxs::Model& model, const Argument<float>& xyz,
                             const Argument<float>& scales, const py::dict& options,
                             const py::dict& how) {
    saxs::Parameters parameters;
    set_fields(saxs::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    const View<const float, 3> view = coordinates(xyz), used = scales_of(scales);
    return owned_array(without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        require_one_device(call.context, "profiles of a model");
        return saxs::profiles(model, by_axis(view), used, {parameters.precision, parameters.method},
                              call.context);
    }));
}

/// A session that several threads may share; only one computes at a time.
class SharedSession {
public:
    SharedSession(const saxs::Model& model, const Argument<float>& xyz,
                  const Argument<float>& scales, const Argument<std::int32_t>& bodies,
                  Index refresh, const py::dict& options, const py::dict& how) {
        saxs::Parameters parameters;
        set_fields(saxs::fields(parameters), options);
        if (refresh < 0)
            throw UsageError(
                fmt::format("--refresh: expected a whole number >= 0, found {}", refresh));
        CallContext call(parse_execution_options(how));
        const View<const float, 3> view = coordinates(xyz), used = scales_of(scales);
        const std::span<const std::int32_t> body_of(bodies.data(),
                                                    static_cast<std::size_t>(bodies.size()));
        const py::gil_scoped_release released;
        call.choose_device(std::nullopt);
        require_one_device(call.context, "a session");
        device_ = call.context.device.name();
        call.context.progress = nullptr;  // the session outlives the call
        session_.emplace(model, by_axis(view), used, body_of,
                         saxs::ProfileSessionOptions{parameters.precision, refresh}, call.context);
        pairs_ = model.pair_count();
        q_ = model.q_count();
    }

    /// Runs `work(session)` without the GIL, holding the session's own lock.
    template <class Work>
    auto locked(const Work& work) {
        const py::gil_scoped_release released;
        const std::scoped_lock lock(mutex_);
        return work(*session_);
    }

    /// Proposes moves (chain, scatterers, xyz [moved, 3]); returns [move, channel pair, q].
    py::array_t<double> propose(
        const std::vector<std::tuple<Index, Argument<Index>, Argument<float>>>& given) {
        std::vector<Array<float, 2>> positions;
        for (const auto& [chain, scatterers, xyz] : given) {
            if (scatterers.ndim() != 1 || xyz.ndim() != 2 || xyz.shape(1) != 3 ||
                xyz.shape(0) != scatterers.size())
                throw UsageError(
                    fmt::format("expected moves of scatterers [moved] to [moved, 3], "
                                "found shapes {} and {}",
                                shape_text(scatterers), shape_text(xyz)));
            Array<float, 2>& to = positions.emplace_back(
                Array<float, 2>::unset(Index{3}, static_cast<Index>(xyz.shape(0))));
            for (Index i = 0; i < to.extent(1); ++i)
                for (Index axis = 0; axis < 3; ++axis) to(axis, i) = xyz.data()[3 * i + axis];
        }
        std::vector<saxs::Move> moves;
        for (std::size_t n = 0; n < given.size(); ++n) {
            const auto& [chain, scatterers, xyz] = given[n];
            moves.push_back({chain,
                             {scatterers.data(), static_cast<std::size_t>(scatterers.size())},
                             positions[n]});
        }
        py::array_t<double> result({static_cast<Index>(moves.size()), pairs_, q_});
        double* const to = result.mutable_data();
        locked([&](ProfileSession& session) {
            const View<const double, 3> partial = session.propose(moves);
            std::copy(partial.begin(), partial.end(), to);
        });
        return result;
    }

    py::array_t<double> profile(Index chain) {
        py::array_t<double> result({pairs_, q_});
        double* const to = result.mutable_data();
        locked([&](ProfileSession& session) {
            const View<const double, 2> partial = session.profile(chain);
            std::copy(partial.begin(), partial.end(), to);
        });
        return result;
    }

    py::array_t<float> positions(Index chain) {
        const Array<float, 2> xyz =
            locked([&](ProfileSession& session) { return session.positions(chain); });
        return by_scatterer<float>(xyz.view());
    }

    py::array_t<double> gradient(Index chain, const Argument<double>& weight) {
        const View<const double, 2> given = partial_of(weight);
        const Array<double, 2> result = locked([&](ProfileSession& session) {
            Array<double, 2> slope(Index{3}, session.positions(chain).extent(1));
            session.gradient(chain, given, slope);
            return slope;
        });
        return by_scatterer<double>(result.view());
    }

    const std::string& device() const { return device_; }

private:
    std::mutex mutex_;
    std::optional<ProfileSession> session_;
    std::string device_;
    Index pairs_ = 0, q_ = 0;
};

void add_session(py::module_& module) {
    py::class_<SharedSession> type(module, "ProfileSession");
    type.def(py::init<const saxs::Model&, const Argument<float>&, const Argument<float>&,
                      const Argument<std::int32_t>&, Index, const py::dict&, const py::dict&>())
        .def("propose", &SharedSession::propose)
        .def("profile", &SharedSession::profile)
        .def("positions", &SharedSession::positions)
        .def("gradient", &SharedSession::gradient)
        .def("accept",
             [](SharedSession& s, Index n) {
                 s.locked([n](ProfileSession& session) { session.accept(n); });
             })
        .def("reject",
             [](SharedSession& s, Index n) {
                 s.locked([n](ProfileSession& session) { session.reject(n); });
             })
        .def("refresh",
             [](SharedSession& s, Index n) {
                 return s.locked([n](ProfileSession& session) { return session.refresh(n); });
             })
        .def_property_readonly("device", &SharedSession::device);
    const auto number = [&](const char* name, auto get) {
        type.def_property_readonly(name, [get](SharedSession& s) {
            return s.locked([get](const ProfileSession& session) { return get(session); });
        });
    };
    number("drift", [](const ProfileSession& session) { return session.drift(); });
    number("chains", [](const ProfileSession& session) { return session.chain_count(); });
    number("recomputed_pairs",
           [](const ProfileSession& session) { return session.recomputed_pairs(); });
}

/// The scatterers of `structures` at these q (empty: --q-points values from 0 to --q-max).
std::unique_ptr<FixedContrastModel> make_scatterers(Structures& structures,
                                                    const Argument<double>& q,
                                                    const std::string& form_factors,
                                                    const py::dict& given, const py::dict& how) {
    SaxsKeywords options;
    set_fields(options.fields(), given);
    const saxs::Parameters& parameters = options.parameters;
    CallContext call(parse_execution_options(how));
    std::vector<double> grid = copy_array(q);
    return without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        require_one_device(call.context, "a model of fixed contrast");
        const SaxsInput input = saxs_input({&structures}, form_factors, options);
        if (grid.empty())
            grid = saxs::even_grid(parameters.q_max, static_cast<std::size_t>(parameters.q_points));
        auto result = std::make_unique<FixedContrastModel>(saxs::make_fixed_contrast_model(
            input.ensembles.front(), input.form_factors ? &*input.form_factors : nullptr,
            parameters, grid, call.context));
        result->notes.insert(result->notes.begin(), input.notes.begin(), input.notes.end());
        return result;
    });
}

void add_models(py::module_& module) {
    py::class_<saxs::Model> type(module, "SaxsModel");
    type.def(py::init(&make_model))
        .def_property_readonly(
            "q",
            [](py::object self) { return array_view(self.cast<const saxs::Model&>().q, self); })
        .def_property_readonly(
            "types",
            [](py::object self) { return array_view(self.cast<const saxs::Model&>().types, self); })
        .def_property_readonly("factors",
                               [](py::object self) {
                                   return array_view(self.cast<const saxs::Model&>().factors, self);
                               })
        .def_property_readonly("scaled",
                               [](const saxs::Model& model) {
                                   return std::vector<bool>(model.scaled.begin(),
                                                            model.scaled.end());
                               })
        .def(py::pickle(
            [](const py::object& self) {
                return py::make_tuple(self.attr("q"), self.attr("factors"), self.attr("types"),
                                      self.attr("scaled"));
            },
            [](const py::tuple& state) {
                return make_model(
                    state[0].cast<Argument<double>>(), state[1].cast<Argument<double>>(),
                    state[2].cast<Argument<std::int32_t>>(), state[3].cast<std::vector<bool>>());
            }));
    add_result<FixedContrastModel>(module, "Scatterers")
        .def_readonly("model", &FixedContrastModel::model)
        .def_property_readonly("xyz",
                               [](const FixedContrastModel& found) {
                                   return owned_array(by_scatterer(found.xyz.view()));
                               })
        .def_readonly("notes", &FixedContrastModel::notes);
    module.def("scatterers", &make_scatterers);
}

}  // namespace

void add_saxs_session(py::module_& module) {
    add_models(module);
    add_session(module);
    module.def("saxs_profiles", &profiles);
    module.def("combine", [](const Argument<double>& partial, const Argument<double>& weights) {
        const View<const double, 2> given = partial_of(partial);
        return owned_array(saxs::combine(given, weights_of(weights, given.extent(0))));
    });
    module.def("resample", [](const Argument<double>& partial, const Argument<double>& q,
                              const Argument<double>& to) {
        const View<const double, 2> given = partial_of(partial);
        const auto grid = line_of(q, given.extent(1), "q");
        return owned_array(
            saxs::resample_profiles(given, grid, line_of(to, to.size(), "q to read off at")));
    });
    module.def("fit_scale", [](const Argument<double>& profile, const ProfileFile& curve) {
        const auto points = static_cast<Index>(curve.profile.size());
        const saxs::ScaleFit fit =
            saxs::fit_scale(line_of(profile, points, "a profile at the curve's q,"),
                            curve.profile.intensity, curve.profile.sigma);
        return py::make_tuple(fit.scale, fit.chi_square);
    });
    module.def(
        "chi_square_weights", [](const Argument<double>& partial, const Argument<double>& weights,
                                 const ProfileFile& curve, double scale) {
            const View<const double, 2> given = partial_of(partial);
            if (given.extent(1) != static_cast<Index>(curve.profile.size()))
                throw UsageError(
                    fmt::format("expected partial profiles at the {} points of the curve, found {}",
                                curve.profile.size(), given.extent(1)));
            return owned_array(saxs::chi_square_weights(given, weights_of(weights, given.extent(0)),
                                                        curve.profile.intensity,
                                                        curve.profile.sigma, scale));
        });
}

}  // namespace pleat::python
