// Results: a result's columns as attributes of a class of the module, and as lists for Python.
#pragma once

#include <optional>
#include <string>

#include "arrays.h"
#include "pleat/core/run/result_columns.h"

namespace pleat::python {

/// Converts a value to a Python object; arrays view memory of `self` or own their data.
py::object python_value(const ColumnValue& value, py::handle self);

/// Adds dictionaries that describe the columns to module.result_columns[`name`].
void describe_columns(py::module_& module, const char* name, const ResultColumns& columns);

/// Base of result classes: caches the columns, which are made at first use.
struct Described {
    std::optional<ResultColumns> known = {};
};

/// Adds a Python class whose attributes are the columns(object) of a result, which may derive from
/// Described.
template <class T>
py::class_<T> add_result(py::module_& module, const char* name) {
    describe_columns(module, name, columns(T()));
    py::class_<T> result(module, name);
    result.def("__getattr__", [](py::object self, const std::string& attribute) {
        auto& shown = self.cast<T&>();
        const auto value_in = [&](const ResultColumns& all) {
            for (const ResultColumn& column : all)
                if (column.name == attribute) return python_value(column.value, self);
            return py::object();
        };
        py::object value;
        if constexpr (std::is_base_of_v<Described, T>) {
            if (!shown.known) shown.known = columns(static_cast<const T&>(shown));
            value = value_in(*shown.known);
        } else {
            value = value_in(columns(static_cast<const T&>(shown)));
        }
        if (value) return value;
        PyErr_SetString(PyExc_AttributeError, attribute.c_str());
        throw py::error_already_set();
    });
    return result;
}

/// Adds `write_run(folder, values)`, which makes a run of `command` in a new folder: the files that
/// write(run, object, values) writes. `values`: {attribute: value} of Python's object.
template <class T, class Write>
void add_run(py::class_<T>& result, const char* command, Write write) {
    result.def("write_run",
               [command, write](const T& shown, const std::string& folder, const py::dict& values) {
                   RunDirectory run({.path = folder, .command = command});
                   write(run, shown, values);
                   run.finish();
               });
}

}  // namespace pleat::python
