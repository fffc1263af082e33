// Reweight: weights of frames by observables that NumPy's arrays hold.
#include "pleat/saxs/fit/reweight.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/saxs/output.h"
#include "results.h"

namespace pleat::python {

namespace {

struct ReweightResult : Described {
    saxs::Reweighting result;
};

ResultColumns columns(const ReweightResult& found) { return saxs::columns(found.result); }

/// The choice of this name; UsageError for another.
template <class Choice>
Choice choice(const char* what, const std::string& name) {
    const auto names = names_of(Choice());
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        throw UsageError(fmt::format("observables: expected {} {}, found '{}'", what,
                                     fmt::join(names, ", "), name));
    return static_cast<Choice>(found - names.begin());
}

using Row = std::tuple<std::string, double, double, std::string, std::string>;

std::unique_ptr<ReweightResult> run(const Argument<double>& values, const std::vector<Row>& rows,
                                    const std::vector<double>& thetas, const py::dict& how) {
    if (values.ndim() != 2)
        throw UsageError(
            fmt::format("expected values [frame, observable], found shape {}", shape_text(values)));
    const View<const double, 2> view(values.data(), values.shape(0), values.shape(1));
    std::vector<saxs::Observable> list;
    list.reserve(rows.size());
    for (const auto& [name, value, error, kind, average] : rows)
        list.push_back({name, value, error, choice<saxs::ObservableKind>("kind", kind),
                        choice<saxs::Averaging>("average", average)});
    CallContext call(parse_execution_options(how));
    if (call.is_named() && call.context.device.kind == Device::Kind::cuda)
        throw UsageError("reweight computes on CPUs: leave --device out");
    auto found = std::make_unique<ReweightResult>();
    without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        found->result = saxs::reweight(list, view, thetas, call.context);
    });
    return found;
}

}  // namespace

void add_reweight(py::module_& module) {
    add_result<ReweightResult>(module, "Reweighting")
        .def_property_readonly("notes", [](const ReweightResult& r) { return r.result.notes; });
    module.def("reweight", &run);
}

}  // namespace pleat::python
