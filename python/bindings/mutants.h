// Mutants: what mutants.cpp adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace pleat::python {

void add_mutants(pybind11::module_& module);

}  // namespace pleat::python
