// Results: columns as values of Python, and what each is as dictionaries.
#include "results.h"

#include <pybind11/stl.h>

namespace pleat::python {

namespace {

py::dtype numpy_type_of(const ColumnValue::Numbers& numbers) {
    if (!numbers.type.empty()) return py::dtype(numbers.type);
    py::list names, formats, offsets;
    for (const RecordField& field : numbers.fields) {
        names.append(field.name);
        formats.append(py::dtype(field.type));
        offsets.append(field.offset);
    }
    return {names, formats, offsets, static_cast<py::ssize_t>(numbers.bytes)};
}

py::object python_array(const ColumnValue::Numbers& numbers, py::handle self) {
    py::object owner = py::reinterpret_borrow<py::object>(self);
    if (numbers.owner) {
        auto* const kept = new std::shared_ptr<const void>(numbers.owner);
        owner = py::capsule(kept,
                            [](void* at) { delete static_cast<std::shared_ptr<const void>*>(at); });
    }
    return py::array(numpy_type_of(numbers), numbers.shape, numbers.data, owner);
}

}  // namespace

py::object python_value(const ColumnValue& value, py::handle self) {
    if (!value.is_there()) return py::none();
    if (const auto* numbers = std::get_if<ColumnValue::Numbers>(&value.content))
        return python_array(*numbers, self);
    return std::visit(
        [](const auto& content) -> py::object {
            using Content = std::remove_cvref_t<decltype(content)>;
            if constexpr (std::is_same_v<Content, std::monostate> ||
                          std::is_same_v<Content, ColumnValue::Numbers>)
                return py::none();
            else
                return py::cast(content);
        },
        value.content);
}

void describe_columns(py::module_& module, const char* name, const ResultColumns& columns) {
    py::list all;
    for (const ResultColumn& column : columns) {
        py::dict one;
        one["name"] = column.name;
        one["help"] = column.help;
        one["type"] = column.value.python_type();
        const auto* const numbers = std::get_if<ColumnValue::Numbers>(&column.value.content);
        one["dtype"] = numbers == nullptr ? "" : numbers->type;
        one["file"] = column.file;
        one["key"] = column.key.empty() ? column.name : column.key;
        one["table"] = column.table;
        one["header"] = column.header.empty() ? column.name : column.header;
        all.append(one);
    }
    if (!py::hasattr(module, "result_columns")) module.attr("result_columns") = py::dict();
    module.attr("result_columns")[name] = all;
}

}  // namespace pleat::python
