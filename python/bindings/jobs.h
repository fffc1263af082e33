// Jobs: lists of jobs as the program runs them, and the program itself.
#pragma once

#include <pybind11/pybind11.h>

namespace pleat::python {

void add_jobs(pybind11::module_& module);

}  // namespace pleat::python
