// Mutants: models from files, alignments and fits, and effects of mutations as NumPy arrays.
#include "pleat/workflows/mutants/mutants.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>

#include "arrays.h"
#include "fitted.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/workflows/mutants/output.h"
#include "results.h"

namespace pleat::python {

namespace {

using couplings::SavedModel;

/// A text of a user's file, of which bytes that are not UTF-8 become lone surrogates.
py::str text_of(const std::string& bytes) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

struct Effects : Described {
    mutants::Result result;
    couplings::ModelDescription about;
    std::optional<mutants::MutantTable> table;
    std::string listed_text;
};
ResultColumns columns(const Effects& effects) {
    return mutants::columns(effects.result, effects.about);
}

/// What is given beside the family, read.
struct Questions {
    mutants::Parameters parameters;
    std::optional<mutants::MutantTable> table;
    std::optional<mutants::SequenceFile> sequences;
    std::optional<mutants::NamedSequence> target;
    std::optional<mutants::TargetStructure> structure;

    mutants::Input about(SavedModel model) const {
        return {.model = std::move(model),
                .target = target,
                .table = table ? &*table : nullptr,
                .sequences = sequences ? &*sequences : nullptr,
                .structure = structure ? &*structure : nullptr};
    }
};

/// Reads content from a path, or parses it from a name and text; nothing if neither is given.
template <class T, class Read, class Parse>
std::optional<T> content(const std::string& name, const std::string& text, const Read& read,
                         const Parse& parse) {
    if (name.empty()) return std::nullopt;
    return text.empty() ? read(name) : parse(name, text);
}

std::unique_ptr<Questions> read_questions(
    const std::string& table_name, const std::string& table_text, const std::string& sequences_name,
    const std::string& sequences_text, const std::string& target_name,
    const std::string& target_text, const std::string& structure, const std::string& parts,
    const py::dict& options) {
    auto questions = std::make_unique<Questions>();
    set_fields(mutants::fields(questions->parameters), options);
    questions->parameters.parts = parts;
    const py::gil_scoped_release released;
    questions->table = content<mutants::MutantTable>(
        table_name, table_text,
        [](const std::string& path) { return mutants::read_mutant_table(path); },
        [](const std::string& name, const std::string& text) {
            return mutants::parse_mutant_table(name, text);
        });
    const auto read = [](const std::string& path) { return mutants::read_sequences(path); };
    const auto parse = [](const std::string& name, const std::string& text) {
        return mutants::parse_sequences(name, text);
    };
    questions->sequences =
        content<mutants::SequenceFile>(sequences_name, sequences_text, read, parse);
    if (const auto target = content<mutants::SequenceFile>(target_name, target_text, read, parse))
        questions->target = mutants::only_sequence(*target);
    if (!structure.empty()) questions->structure = mutants::read_target_structure(structure);
    return questions;
}

/// Fits an alignment whose row of this name is the target; an empty name: the first.
SavedModel fit(const Alignment& source, const std::string& row, bool is_focus,
               FilterOptions filters, const Questions& questions, const py::dict& options,
               const py::dict& how) {
    couplings::Parameters parameters;
    set_fields(couplings::fields(parameters), options);
    CallContext call(parse_execution_options(how));
    return without_lock(call.progress, [&] {
        const Alignment plain = without_unknown(source);
        const Index target = row.empty() ? 0 : find_row(plain, row);
        if (is_focus) filters.focus = target;
        const Alignment kept = filter(plain, filters);
        const ReferenceRow reference = make_reference_row(plain, target);
        mutants::check_input(questions.about({}), kept, reference, questions.parameters);
        if (call.may_use_gpu()) call.choose_device(GpuDemand{couplings::gpu_memory_needed(kept)});
        couplings::Result result = couplings::run(kept, parameters, call.context);
        return SavedModel{std::move(result.model),
                          couplings::describe(kept, result.weights, reference)};
    });
}

SavedModel fit_file(const std::filesystem::path& path, const std::string& row, bool is_focus,
                    double max_gaps, double min_coverage, const Questions& questions,
                    const py::dict& options, const py::dict& how) {
    Alignment source;
    {
        const py::gil_scoped_release released;
        source = read_alignment(path, {.format = {}, .alphabet = {}, .keep_full_rows = true});
    }
    return fit(source, row, is_focus, {max_gaps, min_coverage}, questions, options, how);
}

SavedModel fit_alignment(const Alignment& source, const std::string& row, bool is_focus,
                         double max_gaps, double min_coverage, const Questions& questions,
                         const py::dict& options, const py::dict& how) {
    return fit(source, row, is_focus, {max_gaps, min_coverage}, questions, options, how);
}

SavedModel fitted_model(const Fitted& fitted) {
    if (fitted.result.model.pairs.size() == 0)
        throw InputError("expected a fit with its model, found one of models=False");
    return {fitted.result.model,
            couplings::describe(fitted.alignment, fitted.result.weights, fitted.reference)};
}

/// Takes the table of `questions`.
std::unique_ptr<Effects> run(const SavedModel& model, Questions& questions, const py::dict& how) {
    CallContext call(parse_execution_options(how));
    auto effects = std::make_unique<Effects>();
    without_lock(call.progress, [&] {
        effects->result = mutants::run(questions.about(model), questions.parameters, call.context);
        effects->about = model.about;
        if (questions.table)
            for (const std::string& piece : mutants::listed_table(
                     *questions.table, effects->result.listed, resolve_threads(call.context)))
                effects->listed_text += piece;
        effects->table = std::move(questions.table);
    });
    return effects;
}

/// The options of the fit, without `models`: this fit always returns its model.
std::vector<Field> fit_fields(couplings::Parameters& parameters) {
    std::vector<Field> kept;
    for (const Field& field : couplings::fields(parameters))
        if (field.name != "models") kept.push_back(field);
    return kept;
}

void add_functions(py::module_& module) {
    module.def("is_model_file", &couplings::is_model_file);
    module.def("read_potts_model", [](const std::filesystem::path& path) {
        const py::gil_scoped_release released;
        return couplings::read_saved_model(path);
    });
    module.def("fit_potts_model", &fit_file);
    module.def("fit_potts_model", &fit_alignment);
    module.def("potts_model_of", &fitted_model);
    module.def("read_mutant_questions", &read_questions);
    module.def("mutants", &run);
    module.def("mutants_fields", [] {
        mutants::Parameters parameters;
        couplings::Parameters fit;
        std::vector<Field> all = mutants::fields(parameters);
        for (const Field& field : fit_fields(fit)) all.push_back(field);
        return describe_fields(all);
    });
    module.def("mutants_fit_fields", [] {
        couplings::Parameters fit;
        return describe_fields(fit_fields(fit));
    });
}

}  // namespace

void add_mutants(py::module_& module) {
    const py::class_<SavedModel> model(module, "PottsModel");
    const py::class_<Questions> questions(module, "MutantQuestions");
    py::class_<Effects> result = add_result<Effects>(module, "Mutants");
    add_run(result, "mutants", [](RunDirectory& run, const Effects& effects, const py::dict&) {
        mutants::write_results(
            run, {effects.result, effects.about, effects.table ? &*effects.table : nullptr},
            available_threads());
    });
    result
        .def_property_readonly("correlations",
                               [](const Effects& e) {
                                   py::dict found;
                                   for (const mutants::Correlation& one : e.result.correlations)
                                       found[py::str(one.name)] =
                                           py::make_tuple(one.count, one.epistatic, one.independent,
                                                          one.conserved, one.weighted);
                                   return found;
                               })
        .def_property_readonly("energy",
                               [](const Effects& e) {
                                   const mutants::Energy& own = e.result.energy;
                                   return py::make_tuple(own.full, own.couplings, own.fields);
                               })
        .def_property_readonly("listed_text",
                               [](const Effects& e) { return text_of(e.listed_text); })
        .def_property_readonly("notes", [](const Effects& e) { return e.result.notes; });
    add_functions(module);
}

}  // namespace pleat::python
