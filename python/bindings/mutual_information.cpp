// Mutual information: bindings of run() and its result, as arrays.
#include "pleat/mutual_information/mutual_information.h"

#include <pybind11/stl.h>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::python {

namespace {

namespace mi = mutual_information;

struct Measured {
    mi::Result result;
    std::vector<Index> columns;  ///< of the source, of each column of the result
    Index sequences = 0;         ///< that were counted
    std::string device;
};

std::unique_ptr<Measured> run(const Alignment& source, double max_gaps, double min_coverage,
                              const std::string& focus, const py::dict& options,
                              const py::dict& how) {
    mi::Parameters parameters;
    set_fields(mi::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        auto measured = std::make_unique<Measured>();
        Alignment filtered;
        FilterOptions filters{max_gaps, min_coverage};
        if (!focus.empty()) filters.focus = find_row(source, focus);
        const bool is_filtered = max_gaps != 1.0 || min_coverage != 0.0 || filters.focus;
        if (is_filtered) filtered = filter(source, filters);
        const Alignment& alignment = is_filtered ? filtered : source;
        measured->columns = alignment.columns;
        measured->sequences = alignment.sequence_count();
        if (!call.is_named())
            call.choose_device(
                mi::gpu_demand(alignment, parameters, resolve_threads(call.context)));
        if (call.context.device.kind == Device::Kind::cuda && !parameters.counts_on_cpu())
            use_cuda_device(call.context.device.index);
        measured->device = device_names(call.context);
        measured->result = mi::run(alignment, parameters, call.context);
        return measured;
    });
}

/// Shows one array of the result; None if it was not requested.
template <class Member>
auto array(Member member_of) {
    return [member_of](py::object self) {
        return array_view_or_none(member_of(self.cast<const Measured&>().result), self);
    };
}

/// The columns i < j < k of each triple in the source, [record, 3].
py::array_t<Index> columns_of(const mi::TripleRecords& records, const std::vector<Index>& columns) {
    auto all = Array<Index, 2>::unset(static_cast<Index>(records.triples.size()), Index{3});
    for (Index n = 0; n < all.extent(0); ++n) {
        const std::array<Index, 3> triple = mi::triple_at(
            records.triples[static_cast<std::size_t>(n)], static_cast<Index>(columns.size()));
        for (std::size_t k = 0; k < 3; ++k)
            all(n, static_cast<Index>(k)) = columns[static_cast<std::size_t>(triple[k])];
    }
    return owned_array(std::move(all));
}

/// {"columns": [n, 3], each number by its name, ...}; None without triples.
py::object records_of(const Measured& measured, const mi::TripleRecords& records,
                      const std::vector<double>& excess, const std::vector<double>& fdr,
                      py::handle self) {
    const mi::TripleResult& triples = *measured.result.triples;
    const auto count = static_cast<py::ssize_t>(records.triples.size());
    const auto numbers = static_cast<py::ssize_t>(triples.names.size());
    py::dict table;
    table["columns"] = columns_of(records, measured.columns);
    constexpr py::ssize_t kSize = sizeof(double);
    for (py::ssize_t n = 0; n < numbers; ++n)
        table[py::str(triples.names[static_cast<std::size_t>(n)])] =
            py::array_t<double>({count}, {kSize * numbers}, records.numbers.data() + n, self);
    if (!excess.empty()) table["excess"] = array_view(excess, self);
    if (!fdr.empty()) table["fdr"] = array_view(fdr, self);
    return table;
}

py::object best_triples(py::object self) {
    const auto& measured = self.cast<const Measured&>();
    if (!measured.result.triples) return py::none();
    const mi::TripleResult& triples = *measured.result.triples;
    return records_of(measured, triples.best_triples, triples.best_excess, triples.best_fdr, self);
}

py::object kept_triples(py::object self) {
    const auto& measured = self.cast<const Measured&>();
    if (!measured.result.triples || !measured.result.triples->kept_triples) return py::none();
    const mi::TripleResult& triples = *measured.result.triples;
    return records_of(measured, *triples.kept_triples, {}, triples.kept_fdr, self);
}

py::object clique_members(const std::optional<mi::TripleSet>& cliques) {
    if (!cliques) return py::none();
    return owned_array(std::vector<Index>(cliques->triples_per_column));
}

py::object ranked_by(const Measured& measured) {
    if (!measured.result.triples) return py::none();
    const mi::TripleResult& triples = *measured.result.triples;
    return py::str(triples.names[static_cast<std::size_t>(triples.key)]);
}

}  // namespace

void add_mutual_information(py::module_& module) {
    using mi::Result, mi::SampledNull;
    PYBIND11_NUMPY_DTYPE(SampledNull, mean, variance, skewness, z, percentile, p, p_strict);
    py::class_<Measured> result(module, "MutualInformation");
    const auto add = [&](const char* name, auto member_of_result) {
        result.def_property_readonly(name, array(member_of_result));
    };
    const auto add_of_pairs = [&](const char* name, auto member) {
        add(
            name, [member](const Result& r) -> auto& { return r.pairs.*member; });
    };
    using Pairs = mi::PairStatistics;
    const std::pair<const char*, std::vector<double> Pairs::*> numbers[] = {
        {"mi", &Pairs::mi},
        {"joint_entropy", &Pairs::joint_entropy},
        {"normalised", &Pairs::normalised},
        {"apc", &Pairs::apc},
        {"asc", &Pairs::asc},
        {"mean", &Pairs::mean},
        {"variance", &Pairs::variance},
        {"z", &Pairs::z},
        {"tail_p", &Pairs::tail_p},
        {"exact_p", &Pairs::exact_p},
        {"fdr", &Pairs::fdr},
        {"family_p", &Pairs::family_p}};
    for (const auto& [name, member] : numbers) add_of_pairs(name, member);
    add_of_pairs("sampled", &Pairs::sampled);
    add_of_pairs("less", &Pairs::less_count);
    add_of_pairs("equal", &Pairs::equal_count);
    const auto add_of_result = [&](const char* name, auto member) {
        add(
            name, [member](const Result& r) -> auto& { return r.*member; });
    };
    add_of_result("entropy", &Result::entropy);
    add_of_result("pair_rows", &Result::pair_rows);
    add_of_result("weights", &Result::weights);
    result
        .def_property_readonly(
            "columns",
            [](py::object self) { return array_view(self.cast<const Measured&>().columns, self); })
        .def_property_readonly("low_entropy",
                               [](const Measured& m) -> py::object {
                                   if (m.result.low_entropy.empty()) return py::none();
                                   std::vector<Index> columns;
                                   for (const Index n : m.result.low_entropy)
                                       columns.push_back(m.columns[static_cast<std::size_t>(n)]);
                                   return owned_array(std::move(columns));
                               })
        .def_property_readonly("column_count",
                               [](const Measured& m) { return m.result.column_count(); })
        .def_readonly("sequences", &Measured::sequences)
        .def_property_readonly("shuffles", [](const Measured& m) { return m.result.shuffles; })
        .def_property_readonly("effective_sequences",
                               [](const Measured& m) { return m.result.effective_sequences; })
        .def_property_readonly("triples", &best_triples)
        .def_property_readonly("kept_triples", &kept_triples)
        .def_property_readonly("triples_ranked_by", &ranked_by)
        .def_property_readonly("cliques",
                               [](const Measured& m) -> py::object {
                                   if (!m.result.triples) return py::none();
                                   return clique_members(m.result.triples->cliques);
                               })
        .def_property_readonly("cliques_by_z",
                               [](const Measured& m) -> py::object {
                                   if (!m.result.triples) return py::none();
                                   return clique_members(m.result.triples->cliques_by_z);
                               })
        .def_readonly("device", &Measured::device);
    module.def("mutual_information", &run);
    module.def("mutual_information_fields", [] {
        mi::Parameters parameters;
        return describe_fields(mi::fields(parameters));
    });
}

}  // namespace pleat::python
