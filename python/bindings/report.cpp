// Report: the page of runs' folders as text, and writing it to a file.
#include "pleat/report/report.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "options.h"
#include "parts.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"

namespace pleat::python {

namespace py = pybind11;

namespace {

/// (html, number of runs, number of panels, notes)
py::tuple draw(const std::vector<std::filesystem::path>& runs, const py::dict& options) {
    report::Parameters parameters;
    set_fields(report::fields(parameters), options);
    report::Page page;
    {
        const py::gil_scoped_release released;
        page = report::draw(runs, parameters);
    }
    return py::make_tuple(page.html, page.runs, page.sections, page.notes);
}

void write_page(const std::filesystem::path& path, const std::string& html, bool force) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw UsageError("cannot write the page to " + path.string() + ": it is a folder");
    if (!force && std::filesystem::is_regular_file(path, ignored) && !report::is_page(path))
        throw UsageError(path.string() +
                         " exists and is not a page made by pleat; --force replaces it");
    write_text(path, html);
}

}  // namespace

void add_report(py::module_& module) {
    module.def("draw_page", &draw);
    module.def("write_page", &write_page);
    module.def("report_fields", [] {
        report::Parameters parameters;
        return describe_fields(report::fields(parameters));
    });
}

}  // namespace pleat::python
