// RMSD: calls of the engine on coordinates of NumPy's, matrices straight into arrays of NumPy's.
#include "pleat/rmsd/rmsd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/output.h"
#include "pleat/rmsd/superposition/superposition.h"
#include "pleat/rmsd/symmetry/symmetry.h"
#include "results.h"

namespace pleat::python {

namespace {

struct Compared : Described {
    rmsd::Result result;
    rmsd::Parameters parameters;
    py::object matrix = py::none();
    std::string device;
    /// The frames and weights that were superposed, if pairs near a cutoff can be recomputed from
    /// them (see cluster.cpp); else None.
    py::object coordinates = py::none(), weights = py::none();
};

ResultColumns columns(const Compared& compared) {
    return rmsd::columns(compared.result, compared.parameters);
}

/// `topology`: of the atoms of the coordinates; may be null.
rmsd::AtomSets sets_of(const Argument<Index>& fit, const Argument<Index>& measured,
                       const Argument<double>& weights, const Topology* topology, bool in_place) {
    rmsd::AtomSets sets{copy_array(fit), copy_array(measured), copy_array(weights)};
    if (topology != nullptr) sets.residues = rmsd::residues_of(*topology);
    sets.in_place = in_place;
    return sets;
}

rmsd::Symmetry parse_symmetry(const std::string& text) {
    rmsd::Symmetry symmetry{};
    Choice choice(&symmetry);
    if (!choice.set(text))
        throw UsageError(fmt::format("symmetry: expected one of {}, found '{}'",
                                     fmt::join(choice.names(), ", "), text));
    return symmetry;
}

/// `sets` with interchangeable atoms and chains. `atoms`: compared ones of `topology`; empty: all.
rmsd::AtomSets with_symmetry(rmsd::AtomSets sets, const Topology& topology,
                             const Argument<Index>& atoms, const std::string& symmetry) {
    std::vector<Index> read = copy_array(atoms);
    if (read.empty()) {
        read.resize(topology.atoms.size());
        std::iota(read.begin(), read.end(), Index{0});
    }
    rmsd::FoundSymmetry found = rmsd::find_symmetry(parse_symmetry(symmetry), topology, read, sets);
    sets.equal_chains = std::move(found.equal_chains);
    sets.equal_orders = std::move(found.equal_orders);
    rmsd::check(sets, static_cast<Index>(read.size()));
    return sets;
}

/// Returns (frames with equal chains reordered to match the reference, number of frames that
/// changed, number of frames whose order is not proven to be the best).
py::tuple relabelled(const Argument<float>& xyz, const Argument<float>& reference,
                     const rmsd::AtomSets& sets, const py::dict& how) {
    CallContext call(parse_execution_options(how));
    const View<const float, 3> view = coordinates(xyz);
    if (reference.ndim() != 2 || reference.shape(0) != view.extent(1) || reference.shape(1) != 3)
        throw InputError(fmt::format("expected a reference [{}, 3], found shape {}", view.extent(1),
                                     shape_text(reference)));
    const View<const float, 2> target(reference.data(), reference.shape(0), reference.shape(1));
    auto own = Array<float, 3>::unset(view.extent(0), view.extent(1), Index{3});
    const rmsd::Relabelled done = without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        std::copy(view.begin(), view.end(), own.begin());
        return rmsd::relabel_chains(own, target, sets, call.context);
    });
    return py::make_tuple(owned_array(std::move(own)), done.changed, done.unproven);
}

rmsd::MatrixTarget target_of(py::object& matrix) {
    if (matrix.is_none()) return {};
    auto array = py::cast<py::array_t<float>>(matrix);
    return std::span<float>(array.mutable_data(), static_cast<std::size_t>(array.size()));
}

void choose_device(CallContext& call, const rmsd::ComparedSizes& sizes, const rmsd::AtomSets& sets,
                   const rmsd::Parameters& parameters) {
    std::optional<GpuDemand> demand = rmsd::gpu_demand(sizes, sets, parameters);
    // A matrix in memory needs one device.
    if (demand && parameters.matrix != rmsd::MatrixLayout::none) demand->seconds = 0;
    call.choose_device(demand);
}

/// What run(parameters, context, target of the matrix) returns for frames of these sizes.
/// shape_of(parameters): of the matrix, if one is wanted.
template <class Shape, class Run>
Compared compare(const rmsd::ComparedSizes& sizes, const rmsd::AtomSets& sets,
                 const py::dict& options, const py::dict& how, const Shape& shape_of,
                 const Run& run) {
    Compared compared;
    const rmsd::Parameters& parameters = compared.parameters;
    set_fields(rmsd::fields(compared.parameters), options);
    CallContext call(parse_execution_options(how));
    if (!sizes.has_reference && parameters.matrix != rmsd::MatrixLayout::none)
        compared.matrix = py::array_t<float>(shape_of(parameters));
    const rmsd::MatrixTarget target = target_of(compared.matrix);
    compared.result = without_lock(call.progress, [&] {
        choose_device(call, sizes, sets, parameters);
        return run(parameters, call.context, target);
    });
    compared.device = device_names(call.context);
    return compared;
}

using Shape = std::vector<py::ssize_t>;
using rmsd::MatrixTarget, rmsd::Parameters;

Compared pairs(const Argument<float>& xyz, const rmsd::AtomSets& sets, const py::dict& options,
               const py::dict& how) {
    const View<const float, 3> view = coordinates(xyz);
    const py::ssize_t frames = view.extent(0);
    Compared compared = compare(
        {.frames = frames, .atoms = view.extent(1)}, sets, options, how,
        [&](const Parameters& parameters) {
            return parameters.matrix == rmsd::MatrixLayout::full ? Shape{frames, frames}
                                                                 : Shape{frames * (frames - 1) / 2};
        },
        [&](const Parameters& parameters, const Context& context, const MatrixTarget& target) {
            return rmsd::run(view, sets, parameters, context, target);
        });
    if (compared.parameters.metric == rmsd::Metric::rmsd && sets.are_plain()) {
        compared.coordinates = xyz;
        compared.weights = owned_array(std::vector<double>(sets.weights));
    }
    return compared;
}

Compared against(const Argument<float>& xyz, const Argument<float>& others,
                 const rmsd::AtomSets& sets, const py::dict& options, const py::dict& how) {
    const View<const float, 3> view = coordinates(xyz), other_view = coordinates(others);
    return compare(
        {.frames = view.extent(0), .atoms = view.extent(1), .others = other_view.extent(0)}, sets,
        options, how,
        [&](const Parameters&) {
            return Shape{view.extent(0), other_view.extent(0)};
        },
        [&](const Parameters& parameters, const Context& context, const MatrixTarget& target) {
            return rmsd::run_against(view, other_view, sets, parameters, context, target);
        });
}

/// `reference` [atom, 3], or [0, 0]: the mean structure.
Compared to_reference(const Argument<float>& xyz, const Argument<float>& reference,
                      const rmsd::AtomSets& sets, const py::dict& options, const py::dict& how) {
    const View<const float, 3> view = coordinates(xyz);
    if (reference.ndim() != 2)
        throw InputError(
            fmt::format("expected a reference [atom, 3], found shape {}", shape_text(reference)));
    const View<const float, 2> onto(reference.data(), reference.shape(0), reference.shape(1));
    return compare(
        {.frames = view.extent(0), .atoms = view.extent(1), .has_reference = true}, sets, options,
        how, [](const Parameters&) { return Shape(); },
        [&](const Parameters& parameters, const Context& context, const MatrixTarget&) {
            return rmsd::run_reference(view, onto, sets, parameters, context);
        });
}

py::array_t<double> mean_structure(const Argument<float>& xyz, const rmsd::AtomSets& sets,
                                   const py::dict& how) {
    CallContext call(parse_execution_options(how));
    const View<const float, 3> view = coordinates(xyz);
    return owned_array(without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        rmsd::check(sets, view.extent(1));
        return rmsd::mean_structure(view, sets, call.context).xyz;
    }));
}

}  // namespace

void add_rmsd(py::module_& module) {
    py::class_<rmsd::AtomSets>(module, "AtomSets")
        .def(py::init(&sets_of), py::arg("fit"), py::arg("measured"), py::arg("weights"),
             py::arg("topology") = nullptr, py::arg("in_place") = false)
        .def("with_symmetry", &with_symmetry);
    py::class_<Compared> result = add_result<Compared>(module, "Rmsd");
    add_run(result, "rmsd", [](RunDirectory& run, const Compared& compared, const py::dict&) {
        const ResultColumns all = columns(compared);
        std::vector<TableColumn> table = table_columns(all, "reference.tsv");
        table.insert(table.begin(), row_numbers("frame"));
        write_histogram(run, compared.result.statistics);
        if (!compared.result.values.empty())
            write_table(run.output("reference.tsv"), compared.result.values.size(), table);
        record(run, all);
    });
    result.def_readonly("matrix", &Compared::matrix)
        .def_readonly("device", &Compared::device)
        .def_readonly("_coordinates", &Compared::coordinates)
        .def_readonly("_weights", &Compared::weights);
    module.def("rmsd", &pairs);
    module.def("rmsd_against", &against);
    module.def("rmsd_to_reference", &to_reference);
    module.def("mean_structure", &mean_structure);
    module.def("relabelled", &relabelled);
    py::dict selections;
    for (const std::string_view name : rmsd::names_of(rmsd::Metric()))
        selections[py::str(std::string(name))] =
            std::string(rmsd::default_selection(rmsd::metric_named(name)));
    module.attr("default_selections") = selections;
    module.def("require_distances", [](const std::string& metric) {
        rmsd::require_distances(rmsd::metric_named(metric), {});
    });
    module.def("rmsd_fields", [] {
        rmsd::Parameters parameters;
        return describe_fields(rmsd::fields(parameters));
    });
}

}  // namespace pleat::python
