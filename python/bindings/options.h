// Options: keywords of Python as an engine's fields, and how to compute as a Context.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/hardware/device_choice.h"
#include "progress.h"

namespace pleat::python {

/// Sets each field that `options` {field name: value} names, then checks all fields. None means
/// automatic. Throws Python's TypeError for a value of another type, and the UsageError of the
/// program.
void set_fields(std::vector<Field> fields, const py::dict& options);

/// Describes the fields as dictionaries, from which signatures, docstrings and stubs are made.
py::list describe_fields(const std::vector<Field>& fields);

/// Where and how to compute.
struct ExecutionOptions {
    static constexpr const char* kAutomaticDevice = "auto";
    std::string device = kAutomaticDevice;
    int threads = 0;
    std::uint64_t seed = 1;
    py::object progress;

    bool names_device() const { return device != kAutomaticDevice; }
};

/// The context of one call from Python; keeps `progress` alive.
class CallContext {
public:
    explicit CallContext(const ExecutionOptions& work);
    CallContext(const CallContext&) = delete;
    CallContext& operator=(const CallContext&) = delete;

    /// If the caller named no device, chooses GPUs with enough memory, else the CPU, and sends a
    /// message with the reason. Without `demand`, chooses the CPU. Call it without holding the GIL.
    void choose_device(std::optional<GpuDemand> demand);
    bool may_use_gpu() const;
    bool is_named() const { return is_named_; }

    PythonProgress progress;
    Context context;

private:
    bool is_named_;  ///< the caller named a device
};

/// Reads {"device": ..., "threads": ..., "seed": ..., "progress": ...}. UsageError.
ExecutionOptions parse_execution_options(const py::dict& how);

}  // namespace pleat::python
