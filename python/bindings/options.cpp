// Options: values of Python by the kind of each field, and choosing a device.
#include "options.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/hardware/device_choice.h"

namespace pleat::python {

namespace {

[[noreturn]] void refuse(const Field& field, const char* expected, py::handle found) {
    const std::string text = fmt::format("--{}: expected {}, found {}", field.name, expected,
                                         py::repr(found).cast<std::string>());
    PyErr_SetString(PyExc_TypeError, text.c_str());
    throw py::error_already_set();
}

std::int64_t integer(py::handle value) {
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) throw py::error_already_set();
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred()) throw py::error_already_set();
    return number;
}

/// Accepts NumPy integers and bools like Python's.
bool is_integer(py::handle value) {
    return PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr());
}
bool is_number(py::handle value) {
    return PyFloat_Check(value.ptr()) || is_integer(value) ||
           (py::hasattr(value, "dtype") && py::hasattr(value, "__float__") &&
            !py::hasattr(value, "__len__"));
}

/// Converts a value to text: accepts paths and, for fields parsed from text, numbers.
std::string text_of(const Field& field, py::handle value) {
    if (value.is_none()) return {};
    if (PyUnicode_Check(value.ptr())) return value.cast<std::string>();
    if (py::hasattr(value, "__fspath__")) return value.attr("__fspath__")().cast<std::string>();
    if (field.allowed().empty() && (PyFloat_Check(value.ptr()) || is_integer(value)))
        return py::str(value).cast<std::string>();
    refuse(field, "text", value);
}

/// Returns None for an automatic value, which is stored as 0 in fields that are not optional.
template <class T, class Target>
void set_number(Field& field, Target* target, py::handle value) {
    if (value.is_none() && !field.automatic.empty()) {
        field.set_automatic();
        return;
    }
    if constexpr (std::is_same_v<T, double>) {
        if (!is_number(value)) refuse(field, "a number", value);
        const auto number = py::float_(value.cast<py::object>()).template cast<double>();
        if (std::isnan(number)) refuse(field, "a number", value);
        *target = number;
    } else {
        if (!is_integer(value)) refuse(field, "a whole number", value);
        *target = integer(value);
    }
}

void set(Field& field, py::handle value) {
    if (auto* const* flag = std::get_if<bool*>(&field.target)) {
        const bool is_flag =
            PyBool_Check(value.ptr()) ||
            py::str(py::type::of(value).attr("__name__")).cast<std::string>() == "bool_";
        if (!is_flag) refuse(field, "True or False", value);
        **flag = PyObject_IsTrue(value.ptr()) == 1;
    } else if (auto* const* number = std::get_if<double*>(&field.target)) {
        set_number<double>(field, *number, value);
    } else if (auto* const* some = std::get_if<std::optional<double>*>(&field.target)) {
        set_number<double>(field, *some, value);
    } else if (auto* const* count = std::get_if<std::int64_t*>(&field.target)) {
        set_number<std::int64_t>(field, *count, value);
    } else if (auto* const* few = std::get_if<std::optional<std::int64_t>*>(&field.target)) {
        set_number<std::int64_t>(field, *few, value);
    } else {
        field.set(text_of(field, value));
    }
}

py::object default_of(const Field& field) {
    if (field.is_automatic()) return py::none();
    if (const auto* flag = std::get_if<bool*>(&field.target)) return py::bool_(**flag);
    if (const auto* number = std::get_if<double*>(&field.target)) return py::float_(**number);
    if (const auto* number = std::get_if<std::optional<double>*>(&field.target))
        return py::float_((*number)->value());
    if (const auto* count = std::get_if<std::int64_t*>(&field.target)) return py::int_(**count);
    if (const auto* count = std::get_if<std::optional<std::int64_t>*>(&field.target))
        return py::int_((*count)->value());
    return py::str(field.text());
}

const char* kind_of(const Field& field) {
    if (field.is_flag()) return "bool";
    if (field.is_number()) return field.is_whole_number() ? "int" : "float";
    return "str";
}

}  // namespace

void set_fields(std::vector<Field> fields, const py::dict& options) {
    for (const auto& [key, value] : options) {
        const auto name = key.cast<std::string>();
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const Field& field) { return field.name == name; });
        if (found == fields.end()) throw std::logic_error("no field is named " + name);
        set(*found, value);
    }
    check(fields);
}

py::list describe_fields(const std::vector<Field>& fields) {
    py::list all;
    for (const Field& field : fields) {
        py::dict one;
        one["name"] = field.name;
        one["kind"] = kind_of(field);
        one["default"] = default_of(field);
        one["help"] = field.help;
        one["unit"] = field.unit;
        one["choices"] = py::cast(field.allowed());
        one["automatic"] = field.automatic;
        one["min"] = field.min;
        one["max"] = field.max;
        one["min_excluded"] = field.min_excluded;
        one["is_path"] = field.value_name == "FILE";
        // True for text fields that hold numbers or ranges of numbers, not paths or choices.
        one["is_range"] = field.value_name == "DISTANCE" || field.value_name == "NUMBER";
        all.append(one);
    }
    return all;
}

CallContext::CallContext(const ExecutionOptions& work)
    : progress(work.progress), is_named_(work.names_device()) {
    if (is_named_) name_devices(work.device, context);
    context.threads = work.threads;
    context.seed = work.seed;
    context.progress = &progress;
}

bool CallContext::may_use_gpu() const {
    return !is_named_ || context.device.kind == Device::Kind::cuda;
}

void CallContext::choose_device(std::optional<GpuDemand> demand) {
    if (is_named_) return;
    if (demand) {
        context.message(pleat::choose_device(false, demand->bytes, context));
        const std::string more = add_gpus(*demand, context);
        if (!more.empty()) context.message(more);
    } else {
        context.device = {Device::Kind::cpu, 0};
    }
}

ExecutionOptions parse_execution_options(const py::dict& how) {
    std::int64_t threads = -1, seed = 1;
    ExecutionOptions work;
    py::dict options;
    for (const auto& [key, value] : how) {
        if (key.cast<std::string>() == "progress")
            work.progress = value.cast<py::object>();
        else
            options[key] = value;
    }
    set_fields({{.name = "device", .target = &work.device, .help = ""},
                {.name = "threads",
                 .target = &threads,
                 .help = "",
                 .min = 1,
                 .max = 1024,
                 .automatic = "all that this process may use"},
                {.name = "seed", .target = &seed, .help = "", .min = 0}},
               options);
    if (!work.progress) work.progress = py::none();
    if (!work.progress.is_none() && PyCallable_Check(work.progress.ptr()) == 0) {
        const std::string text = fmt::format("progress: expected a function, found {}",
                                             py::repr(work.progress).cast<std::string>());
        PyErr_SetString(PyExc_TypeError, text.c_str());
        throw py::error_already_set();
    }
    work.threads = threads < 0 ? 0 : static_cast<int>(threads);
    work.seed = static_cast<std::uint64_t>(seed);
    return work;
}

}  // namespace pleat::python
