// Analysis: curves without a structure, from Python.
#include "pleat/saxs/analysis/analysis.h"

#include <pybind11/stl.h>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/saxs/analysis/analysis_output.h"
#include "results.h"

namespace pleat::python {

namespace {

struct AnalysisResult : Described {
    saxs::SampleAnalysis result;
};

ResultColumns columns(const AnalysisResult& found) { return saxs::columns(found.result); }

std::unique_ptr<AnalysisResult> analyse(const std::vector<const ProfileFile*>& files, double q_max,
                                        const py::dict& given, const py::dict& how) {
    saxs::AnalysisParameters parameters;
    set_fields(saxs::fields(parameters), given);
    parameters.q_max = q_max;
    CallContext call(parse_execution_options(how));
    if (call.is_named() && call.context.device.kind == Device::Kind::cuda)
        throw UsageError("analyse computes on CPUs: leave --device out");
    std::vector<Profile> curves;
    Notes notes;
    for (const ProfileFile* const file : files) {
        Profile& curve = curves.emplace_back(file->profile);
        if (files.size() > 1 && curve.source == "curve")  // of arrays
            curve.source += " " + std::to_string(curves.size());
        for (Note& note : with_source(file->notes, curve.source)) notes.push_back(std::move(note));
    }
    auto found = std::make_unique<AnalysisResult>();
    without_lock(call.progress, [&] { found->result = saxs::analyse(curves, parameters); });
    found->result.notes.insert(found->result.notes.begin(), notes.begin(), notes.end());
    return found;
}

/// {column of analysis.tsv: its cells}.
py::dict curves_of(const AnalysisResult& found) {
    py::dict all;
    for (const TableColumn& column : saxs::analysis_columns(found.result)) {
        py::list cells;
        for (std::size_t row = 0; row < found.result.curves.size(); ++row) {
            std::string text;
            column.append(row, text);
            cells.append(text);
        }
        all[column.name.c_str()] = cells;
    }
    return all;
}

}  // namespace

void add_analysis(py::module_& module) {
    py::class_<AnalysisResult> result = add_result<AnalysisResult>(module, "Analysis");
    result.def_property_readonly("curves", &curves_of)
        .def_property_readonly("notes", [](const AnalysisResult& a) { return a.result.notes; });
    add_run(result, "saxs", [](RunDirectory& run, const AnalysisResult& found, const py::dict&) {
        saxs::write_results(run, found.result);
    });
    module.def("analyse", &analyse);
    module.def("analysis_fields", [] {
        saxs::AnalysisParameters parameters;
        return describe_fields(saxs::fields(parameters));
    });
}

}  // namespace pleat::python
