// Couplings: pleat.couplings(), and its result as arrays.
#include "pleat/couplings/couplings.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "arrays.h"
#include "fitted.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/output.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::python {

namespace {

/// Parses `secondary`, a file or its text, into base pairs; returns nothing if it is empty.
std::optional<couplings::BasePairs> read_base_pairs(const std::string& secondary,
                                                    const Fitted& fitted) {
    if (secondary.empty()) return std::nullopt;
    std::error_code none;
    const SecondaryStructure structure =
        std::filesystem::exists(secondary, none)
            ? read_secondary_structure(secondary)
            : read_secondary_structure_from_memory("secondary", secondary);
    return couplings::given_base_pairs(structure, fitted.alignment, fitted.reference);
}

std::vector<Field> all_fields(couplings::Parameters& parameters) {
    std::vector<Field> all = couplings::fields(parameters);
    for (Field& field : couplings::null_fields(parameters)) all.push_back(std::move(field));
    return all;
}

/// Filters the alignment as the program does, with unknown letters as gaps, and fits it.
Fitted run(const Alignment& alignment, double max_gaps, double min_coverage,
           const std::string& focus, const std::string& secondary, const std::string& parts_text,
           Index shuffle_parts, const py::dict& options, const py::dict& how) {
    couplings::Parameters parameters;
    set_fields(all_fields(parameters), options);
    Notes notes;
    const couplings::Parts parts =
        couplings::choose_parts(parts_text, alignment, !focus.empty(), shuffle_parts, notes);
    if (!parts.empty() && !focus.empty())
        throw UsageError("--focus and --parts do not go together: parts count columns");
    if (!secondary.empty() && !couplings::is_nucleic(alignment))
        throw UsageError("--secondary is for nucleic acids, and the alignment has proteins");
    if (shuffle_parts < 0)
        throw UsageError("--shuffle-parts: expected a number of fits, for two --parts or more");
    CallContext call(parse_execution_options(how));
    call.context.notes(notes);
    return without_lock(call.progress, [&] {
        Fitted fitted;
        fitted.alignment = without_unknown(alignment);
        FilterOptions filters{max_gaps, min_coverage};
        if (!focus.empty()) filters.focus = find_row(fitted.alignment, focus);
        if (fitted.alignment.sequence_count() > 0)
            fitted.reference = make_reference_row(fitted.alignment, filters.focus.value_or(0));
        if (max_gaps != 1.0 || min_coverage != 0.0 || filters.focus)
            fitted.alignment = filter(fitted.alignment, filters);
        fitted.parameters = parameters;
        if (call.may_use_gpu())
            call.choose_device(GpuDemand{couplings::gpu_memory_needed(fitted.alignment)});
        fitted.device = device_names(call.context);
        fitted.result = couplings::run(fitted.alignment, parameters, call.context);
        static_cast<couplings::Analysis&>(fitted) =
            couplings::analyse(fitted.alignment, fitted.result, parameters,
                               {.parts = parts,
                                .base_pairs = read_base_pairs(secondary, fitted),
                                .shuffled_fits = shuffle_parts},
                               call.context);
        return fitted;
    });
}

Array<double, 2> matrix(const Argument<double>& values, Index columns) {
    if (values.ndim() != 2 || values.shape(0) != columns || values.shape(1) != columns)
        throw InputError(fmt::format("expected scores [{0}, {0}], found shape {1}", columns,
                                     shape_text(values)));
    auto copy = Array<double, 2>::unset(columns, columns);
    std::copy_n(values.data(), values.size(), copy.data());
    return copy;
}

/// A pair as contacts() lists it; i and j are columns of the source.
struct Listed {
    Index i, j;
    double raw, corrected, z, probability;
};

/// Properties of a family that decide how contacts are listed, besides scores and columns.
struct ListChoice {
    double effective_sequences;
    bool is_calibrated, is_nucleic, has_given_base_pairs;
};

/// Ranks contacts by scores [column, column]. With `base_pairs` [pair, 2] also returns the class of
/// each contact; with `part_of_column` [column], the two parts of each.
py::tuple ranked(const Argument<double>& raw, const Argument<double>& corrected,
                 const Argument<Index>& columns, const py::tuple& family,
                 const std::optional<Argument<Index>>& base_pairs,
                 const std::optional<Argument<Index>>& part_of_column, Index min_separation) {
    const ListChoice choice{family[0].cast<double>(), family[1].cast<bool>(),
                            family[2].cast<bool>(), family[3].cast<bool>()};
    Alignment alignment;
    alignment.alphabet = choice.is_nucleic ? &Alphabet::rna() : &Alphabet::protein();
    alignment.columns = copy_array(columns);
    const auto count = static_cast<Index>(alignment.columns.size());
    alignment.letters = Array<std::uint8_t, 2>(Index{0}, count);
    couplings::Result result;
    result.raw = matrix(raw, count);
    result.corrected = matrix(corrected, count);
    result.effective_sequences = choice.effective_sequences;
    couplings::BasePairs given{.pairs = {}, .is_given = choice.has_given_base_pairs};
    for (py::ssize_t k = 0; base_pairs && k < base_pairs->shape(0); ++k)
        given.pairs.emplace_back(base_pairs->at(k, 0), base_pairs->at(k, 1));
    std::vector<Listed> listed;
    std::vector<std::uint8_t> classes;
    const couplings::ListOptions options{
        .min_separation = min_separation,
        .is_calibrated = choice.is_calibrated,
        .base_pairs = base_pairs ? &given : nullptr,
        .part_of_column = part_of_column ? copy_array(*part_of_column) : std::vector<Index>{},
        .threads = available_threads()};
    {
        const py::gil_scoped_release released;
        for (const couplings::RankedPair& pair : rank_pairs(alignment, result, options)) {
            listed.push_back({alignment.columns[pair.i], alignment.columns[pair.j], pair.raw,
                              pair.corrected, pair.z, pair.probability});
            if (base_pairs) classes.push_back(static_cast<std::uint8_t>(pair.pair_class));
        }
    }
    return py::make_tuple(owned_array(std::move(listed)),
                          base_pairs ? py::object(owned_array(std::move(classes))) : py::none());
}

couplings::Report report_of(const Fitted& fitted, const std::vector<couplings::RankedPair>& pairs) {
    return {.alignment = fitted.alignment,
            .parameters = fitted.parameters,
            .result = fitted.result,
            .reference = fitted.reference,
            .pairs = pairs,
            .base_pairs = fitted.base_pairs ? &*fitted.base_pairs : nullptr,
            .parts = fitted.parts ? &*fitted.parts : nullptr,
            .tree = fitted.tree ? &*fitted.tree : nullptr};
}

void write(RunDirectory& run, const Fitted& fitted, const py::dict&) {
    const int threads = available_threads();
    const std::vector<couplings::RankedPair> pairs = couplings::rank_pairs(
        fitted.alignment, fitted.result,
        {.is_calibrated =
             couplings::has_probabilities(fitted.parameters, *fitted.alignment.alphabet),
         .base_pairs = fitted.base_pairs ? &*fitted.base_pairs : nullptr,
         .part_of_column = fitted.parts ? fitted.parts->part_of_column : std::vector<Index>{},
         .threads = threads});
    couplings::write_results(run, report_of(fitted, pairs), threads);
}

}  // namespace

ResultColumns columns(const Fitted& fitted) { return couplings::columns(report_of(fitted, {})); }

void add_couplings(py::module_& module) {
    PYBIND11_NUMPY_DTYPE(Listed, i, j, raw, corrected, z, probability);
    py::class_<Fitted> result = add_result<Fitted>(module, "Couplings");
    add_run(result.def_readonly("device", &Fitted::device), "couplings", &write);
    module.def("rank_pairs", &ranked);
    module.attr("pair_classes") = py::cast(std::vector<std::string>(
        names_of(couplings::PairClass{}).begin(), names_of(couplings::PairClass{}).end()));
    module.def("couplings", &run);
    module.def("couplings_fields", [] {
        couplings::Parameters parameters;
        return describe_fields(all_fields(parameters));
    });
}

}  // namespace pleat::python
