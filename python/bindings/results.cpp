// Results: columns as values of Python, and what each is as dictionaries.
#include "results.h"

#include <pybind11/stl.h>

#include <algorithm>

namespace pleat::python {

namespace {

struct RecordLayout {
    std::vector<RecordField> fields;  ///< in the order of their memory
    std::size_t bytes = 0;
};

/// As a compiler lays out the fields alone.
RecordLayout packed(std::vector<RecordField> fields) {
    std::size_t end = 0, widest = 1;
    const auto round_up = [&](std::size_t size) { end = (end + size - 1) / size * size; };
    for (RecordField& field : fields) {
        const auto size = static_cast<std::size_t>(field.type[2] - '0');
        round_up(size);
        field.offset = end;
        end += size;
        widest = std::max(widest, size);
    }
    round_up(widest);
    return {std::move(fields), end};
}

py::dtype numpy_type_of(const RecordLayout& layout) {
    py::list names, formats, offsets;
    for (const RecordField& field : layout.fields) {
        names.append(field.name);
        formats.append(py::dtype(field.type));
        offsets.append(field.offset);
    }
    return {names, formats, offsets, static_cast<py::ssize_t>(layout.bytes)};
}

RecordLayout layout_of(const ColumnValue::Numbers& numbers) {
    RecordLayout layout{numbers.fields, numbers.stride};
    std::ranges::sort(layout.fields, {}, &RecordField::offset);
    return layout;
}

/// The type in Python.
py::dtype numpy_type_of(const ColumnValue::Numbers& numbers) {
    if (numbers.fields.empty()) return py::dtype(numbers.type);
    return numpy_type_of(packed(layout_of(numbers).fields));
}

py::object python_array(const ColumnValue::Numbers& numbers, py::handle self) {
    py::object owner = py::reinterpret_borrow<py::object>(self);
    if (numbers.owner) {
        auto* const kept = new std::shared_ptr<const void>(numbers.owner);
        owner = py::capsule(kept,
                            [](void* at) { delete static_cast<std::shared_ptr<const void>*>(at); });
    }
    const py::dtype type = numpy_type_of(numbers);
    if (numbers.shape.size() != 1) return py::array(type, numbers.shape, numbers.data, owner);
    const std::vector<Index> strides = {static_cast<Index>(numbers.stride)};
    if (numbers.fields.empty()) return py::array(type, numbers.shape, strides, numbers.data, owner);
    const py::array records(numpy_type_of(layout_of(numbers)), numbers.shape, strides, numbers.data,
                            owner);
    // Records with members that Python does not have are copied.
    return records.dtype().equal(type) ? py::object(records) : records.attr("astype")(type);
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
        one["dtype"] =
            numbers == nullptr ? py::object(py::none()) : py::object(numpy_type_of(*numbers));
        py::list fields;
        if (numbers != nullptr)
            for (const RecordField& field : numbers->fields)
                fields.append(py::make_tuple(
                    field.name, field.shown.name.empty() ? field.name : field.shown.name,
                    field.shown.first, field.shown.missing));
        one["fields"] = fields;
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
