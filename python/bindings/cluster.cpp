// Cluster: clustering matrices of NumPy's where they lie, or frames without a matrix.
#include "pleat/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/cluster/output.h"
#include "pleat/cluster/states.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/assign/assignment.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/rmsd/rmsd.h"
#include "results.h"

namespace pleat::python {

namespace {

struct Clustered : Described {
    cluster::Result result;
    cluster::Parameters parameters;
    std::string device;
    rmsd::Nearest nearest = {};  ///< of frames that were given to medoids
};

ResultColumns columns(const Clustered& clustered) { return cluster::columns(clustered.result); }

/// Chooses the device of the call unless the caller named one.
using Choose = std::function<void(CallContext&, const cluster::Parameters&)>;
using Make = std::function<std::unique_ptr<PairSource>(const Context&)>;

std::unique_ptr<Clustered> run(const Choose& choose, const Make& make, const py::dict& options,
                               const py::dict& how) {
    cluster::Parameters parameters;
    set_fields(cluster::fields(parameters), options);
    cluster::check_options(parameters);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        choose(call, parameters);
        auto made = std::make_unique<Clustered>();
        made->result = first_of_lanes(call.context, [&](const Context& lane) {
            return cluster::run(*make(lane), parameters, lane);
        });
        made->parameters = parameters;
        made->device = device_names(call.context);
        return made;
    });
}

void take_cpu(CallContext& call, const cluster::Parameters&) { call.choose_device(std::nullopt); }

std::unique_ptr<PairSource> stored(const auto& values, const std::vector<Index>& shape) {
    return cluster::matrix_in_memory(values.data(), shape, "matrix");
}

std::unique_ptr<Clustered> of_matrix(const py::array& matrix, const py::dict& options,
                                     const py::dict& how) {
    if (py::isinstance<py::array_t<float>>(matrix)) {
        const Argument<float> values(matrix);
        const std::vector<Index> shape = shape_of(values);
        return run(
            take_cpu, [&](const Context&) { return stored(values, shape); }, options, how);
    }
    const Argument<double> values(matrix);
    const std::vector<Index> shape = shape_of(values);
    return run(
        take_cpu, [&](const Context&) { return stored(values, shape); }, options, how);
}

rmsd::Parameters with_precision(const std::string& precision) {
    rmsd::Parameters parameters;
    for (Field& field : rmsd::fields(parameters))
        if (field.name == "precision") field.set(precision);
    return parameters;
}

/// Clusters a matrix of RMSDs. `xyz`: the frames of the matrix, from which pairs near a cutoff are
/// recomputed.
std::unique_ptr<Clustered> of_compared(const Argument<float>& matrix, const Argument<float>& xyz,
                                       const Argument<double>& weights,
                                       const std::string& precision, const py::dict& options,
                                       const py::dict& how) {
    const std::vector<Index> shape = shape_of(matrix);
    const View<const float, 3> view = coordinates(xyz);
    const std::vector<double> own = copy_array(weights);
    return run(
        take_cpu,
        [&](const Context& lane) {
            return rmsd::recompute_near_cutoffs(stored(matrix, shape), view, own,
                                                with_precision(precision), lane);
        },
        options, how);
}

std::unique_ptr<Clustered> of_frames(const Argument<float>& xyz, const Argument<double>& weights,
                                     const std::string& precision, const py::dict& options,
                                     const py::dict& how) {
    const rmsd::Parameters superposition = with_precision(precision);
    const View<const float, 3> view = coordinates(xyz);
    const std::vector<double> own = copy_array(weights);
    bool reduces = false, by_rows = false;
    return run(
        [&](CallContext& call, const cluster::Parameters& parameters) {
            by_rows = parameters.method == cluster::Method::kcenters;
            if (by_rows) return call.choose_device(std::nullopt);
            const rmsd::ClusteringDevice device = rmsd::choose_clustering_gpus(
                view.extent(0), view.extent(1), superposition,
                parameters.method == cluster::Method::gromos, call.is_named(), call.context);
            if (!call.is_named()) call.context.message(device.remark);
            reduces = device.reduces;
        },
        [&](const Context& lane) {
            return by_rows ? rmsd::superposed_rows(view, own, superposition, lane)
                           : rmsd::superposed_pairs(view, own, superposition, reduces, lane);
        },
        options, how);
}

/// Clusters frames without superposing them, or with permutations of chains or atoms.
std::unique_ptr<Clustered> of_permuted(const Argument<float>& xyz, const rmsd::AtomSets& sets,
                                       const std::string& precision, const py::dict& options,
                                       const py::dict& how) {
    const View<const float, 3> view = coordinates(xyz);
    const rmsd::ComparedSizes sizes{.frames = view.extent(0),
                                    .atoms = view.extent(1),
                                    .has_sets = true,
                                    .pair_seconds = rmsd::permuted_seconds(sets, view.extent(1))};
    return run(
        [&](CallContext& call, const cluster::Parameters&) {
            std::optional<GpuDemand> demand =
                rmsd::gpu_demand(sizes, sets, with_precision(precision));
            if (demand) demand->seconds = 0;  // one GPU
            call.choose_device(demand);
        },
        [&](const Context& lane) {
            return rmsd::permuted_pairs(view, sets, with_precision(precision), lane);
        },
        options, how);
}

/// Frames given to the nearest of `medoids` [medoid, atom, 3], in the blocks of the program.
std::unique_ptr<Clustered> assign(const Argument<float>& xyz, const Argument<float>& medoids,
                                  const Argument<double>& weights, const py::dict& options,
                                  const py::dict& how) {
    cluster::Parameters parameters;
    set_fields(cluster::fields(parameters), options);
    parameters.cutoff.check("cutoff");
    if (parameters.cutoff.values().size() > 1)
        throw UsageError("--assign: give one --cutoff, not several");
    const View<const float, 3> frames = coordinates(xyz), given = coordinates(medoids);
    if (given.extent(0) == 0) throw InputError("expected at least 1 medoid, found none");
    CallContext call(parse_execution_options(how));
    if (call.is_named() && call.context.device.kind == Device::Kind::cuda)
        throw UsageError("--assign computes on CPUs: leave --device out");
    std::optional<double> cutoff;
    if (parameters.cutoff.is_set()) cutoff = *parameters.cutoff.first;
    return without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        rmsd::Assignment assignment(given, copy_array(weights), cutoff, parameters.bin_width,
                                    call.context);
        auto found = std::make_unique<Clustered>();
        const Index ranks = std::min<Index>(2, given.extent(0));
        found->nearest.indices = Array<std::int32_t, 2>(frames.extent(0), ranks);
        found->nearest.values = Array<float, 2>(frames.extent(0), ranks);
        for_each_block(
            call.context, "assign", frames.extent(0), assignment.block_frames(),
            [&](Index first, Index count) {
                const View<const float, 3> block(frames[first].data, count, frames.extent(1),
                                                 Index{3});
                const rmsd::Nearest nearest = assignment.add(block);
                std::copy(nearest.indices.begin(), nearest.indices.end(),
                          found->nearest.indices[first].data);
                std::copy(nearest.values.begin(), nearest.values.end(),
                          found->nearest.values[first].data);
            },
            "frames");
        found->result = assignment.finish();
        found->parameters = parameters;
        found->device = device_names(call.context);
        return found;
    });
}

/// Items and the lengths of their series.
struct Order {
    std::vector<std::int32_t> assignment;
    std::vector<Index> series;
};

Order order_of(const Argument<std::int32_t>& assignment, const Argument<Index>& series) {
    Order order{copy_array(assignment), copy_array(series)};
    const Index items = std::accumulate(order.series.begin(), order.series.end(), Index{0});
    if (!order.series.empty() && items != std::ssize(order.assignment))
        throw InputError(fmt::format("expected series of {} items, found those of {}",
                                     order.assignment.size(), items));
    return order;
}

py::object transitions(const Argument<std::int32_t>& assignment, const Argument<Index>& series,
                       Index lag) {
    if (lag < 1) throw UsageError(fmt::format("lag: expected at least 1, found {}", lag));
    const Order order = order_of(assignment, series);
    return python_value(
        ColumnValue::owned(cluster::count_transitions(order.assignment, order.series, lag),
                           cluster::transition_fields()),
        {});
}

py::object dwells(const Argument<std::int32_t>& assignment, const Argument<Index>& series) {
    const Order order = order_of(assignment, series);
    return python_value(ColumnValue::owned(cluster::count_dwells(order.assignment, order.series),
                                           cluster::dwell_fields()),
                        {});
}

py::object dwell_times(const Argument<std::int32_t>& assignment, const Argument<Index>& series) {
    const Order order = order_of(assignment, series);
    return python_value(ColumnValue::owned(cluster::summarise_dwells(cluster::count_dwells(
                                               order.assignment, order.series)),
                                           cluster::dwell_time_fields()),
                        {});
}

/// `values`: the names of chains and the lengths of series, or None, and is_trajectory.
void write(RunDirectory& run, const Clustered& clustered, const py::dict& values) {
    const std::vector<std::int32_t>& assignment = clustered.result.clustering.assignment;
    std::vector<Index> lengths = {std::ssize(assignment)}, first = {0};
    if (!values["series"].is_none()) lengths = copy_array(values["series"].cast<Argument<Index>>());
    for (std::size_t n = 1; n < lengths.size(); ++n) first.push_back(first[n - 1] + lengths[n - 1]);
    ChainItems chains;
    if (!values["chains"].is_none()) {
        chains.names = values["chains"].cast<std::vector<std::string>>();
        chains.frames = std::ssize(assignment) / std::ssize(chains.names);
        run.fact("frames", chains.frames);
    }
    cluster::write_results(run, clustered.result, clustered.parameters, lengths, {}, chains);
    std::vector<TableColumn> series = table_columns("first", first);
    series.push_back(std::move(table_columns("frames", lengths).front()));
    write_table(run.output("series.tsv"), lengths.size(), series);
    if (values["is_trajectory"].cast<bool>() && std::ranges::max(lengths) > 1)
        cluster::write_states(run, assignment, lengths, 1, {});
    cluster::record_facts(run, clustered.result);
}

}  // namespace

void add_cluster(py::module_& module) {
    module.def("transitions", &transitions);
    module.def("dwells", &dwells);
    module.def("dwell_times", &dwell_times);
    const auto nearest = [](auto part) {
        return [part](py::object self) -> py::object {
            const auto& values = self.cast<const Clustered&>().nearest.*part;
            if (values.size() == 0) return py::none();
            return array_view(values, self);
        };
    };
    py::class_<Clustered> result = add_result<Clustered>(module, "Clusters");
    add_run(result, "cluster", &write);
    result.def_property_readonly("nearest", nearest(&rmsd::Nearest::indices))
        .def_property_readonly("distances", nearest(&rmsd::Nearest::values))
        .def_readonly("device", &Clustered::device);
    module.def("cluster_matrix", &of_matrix);
    module.def("cluster_frames", &of_frames);
    module.def("cluster_permuted", &of_permuted);
    module.def("cluster_compared", &of_compared);
    module.def("assign_frames", &assign);
    module.def("cluster_fields", [] {
        cluster::Parameters parameters;
        return describe_fields(cluster::fields(parameters));
    });
}

}  // namespace pleat::python
