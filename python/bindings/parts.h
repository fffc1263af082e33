// Parts: what each file of the bindings adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace pleat::python {

void add_errors(pybind11::module_& module);
void add_alignment(pybind11::module_& module);
void add_ensemble(pybind11::module_& module);
void add_couplings(pybind11::module_& module);
void add_mutual_information(pybind11::module_& module);
void add_rmsd(pybind11::module_& module);
void add_cluster(pybind11::module_& module);
void add_profile(pybind11::module_& module);
void add_saxs(pybind11::module_& module);
void add_saxs_session(pybind11::module_& module);
void add_analysis(pybind11::module_& module);
void add_reweight(pybind11::module_& module);
void add_select(pybind11::module_& module);
void add_refine(pybind11::module_& module);
void add_report(pybind11::module_& module);
void add_mutants(pybind11::module_& module);
void add_jobs(pybind11::module_& module);

}  // namespace pleat::python
