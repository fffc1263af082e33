// The module pleat._pleat: the library's engines for the package pleat, which alone imports it.
#include <pybind11/pybind11.h>

#include "parts.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/version.h"

namespace py = pybind11;

namespace pleat::python {

void add_errors(py::module_& module) {
    // The classes are defined in Python. The reference is never released, as the module never is.
    static const py::handle errors = py::module_::import("pleat.errors").release();
    py::register_exception_translator([](std::exception_ptr thrown) {
        const auto raise = [](const char* name, const Error& error) {
            PyErr_SetString(errors.attr(name).ptr(), error_text(error).c_str());
        };
        try {
            std::rethrow_exception(thrown);
        } catch (const UsageError& error) {
            raise("UsageError", error);
        } catch (const InputError& error) {
            raise("InputError", error);
        } catch (const DeviceError& error) {
            raise("DeviceError", error);
        } catch (const OutputError& error) {
            raise("OutputError", error);
        } catch (const Error& error) {
            raise("Error", error);
        }
    });
    (void)module;
}

}  // namespace pleat::python

PYBIND11_MODULE(_pleat, module) {
    using namespace pleat::python;
    pleat::restrict_instruction_set_by_environment();
    module.attr("version") = pleat::kVersion;
    module.def("available_threads", [] { return pleat::available_threads(); });
    add_errors(module);
    add_alignment(module);
    add_ensemble(module);
    add_couplings(module);
    add_mutual_information(module);
    add_rmsd(module);
    add_cluster(module);
    add_profile(module);
    add_saxs(module);
    add_saxs_session(module);
    add_analysis(module);
    add_reweight(module);
    add_select(module);
    add_mutants(module);
    add_refine(module);
    add_report(module);
    add_jobs(module);
}
