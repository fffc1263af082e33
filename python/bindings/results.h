// Results: a result's columns as attributes of a class of the module, and as lists for Python.
#pragma once

#include <string>

#include "arrays.h"
#include "pleat/core/run/result_columns.h"

namespace pleat::python {

/// A value as Python has it; arrays show memory of `self`, or own theirs.
py::object python_value(const ColumnValue& value, py::handle self);

/// Adds dictionaries of what columns are to module.result_columns[`name`].
void describe_columns(py::module_& module, const char* name, const ResultColumns& columns);

/// A class whose attributes are the columns(object) of its objects.
template <class T>
py::class_<T> add_result(py::module_& module, const char* name) {
    describe_columns(module, name, columns(T()));
    py::class_<T> result(module, name);
    result.def("__getattr__", [](py::object self, const std::string& attribute) {
        for (const ResultColumn& column : columns(self.cast<const T&>()))
            if (column.name == attribute) return python_value(column.value, self);
        throw py::attribute_error(attribute);
    });
    return result;
}

}  // namespace pleat::python
