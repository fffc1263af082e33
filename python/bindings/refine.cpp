// Refine: one call of the workflow, and its frames, table and convergence for Python.
#include "pleat/workflows/refine/refine.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "options.h"
#include "parts.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/saxs.h"
#include "pleat/workflows/refine/chain/domain_structures.h"
#include "pleat/workflows/refine/output.h"
#include "results.h"
#include "structures.h"

namespace pleat::python {

namespace {

struct Options {
    refine::Parameters parameters;
    saxs::Parameters profiles;

    std::vector<Field> fields() {
        std::vector<Field> all = refine::fields(parameters);
        for (const Field& field : refine::profile_fields(profiles)) all.push_back(field);
        return all;
    }
};

struct Refined : Described {
    refine::Result result;
};
ResultColumns columns(const Refined& refined) { return refine::columns(refined.result); }

/// (result, coordinates [frame, atom, 3], topology)
py::tuple run(Structures& structure, const ProfileFile* curve, const py::dict& given,
              const py::dict& how) {
    Options options;
    set_fields(options.fields(), given);
    if (options.parameters.mode == refine::Mode::fit && options.profiles.background)
        throw UsageError("mode fit has no background: leave out --background, or give --mode pool");
    CallContext call(parse_execution_options(how));
    auto refined = std::make_unique<Refined>();
    Array<float, 3> xyz;
    without_lock(call.progress, [&] {
        call.choose_device(std::nullopt);
        structure.transpose();
        refined->result = refine::run(
            structure.ensemble,
            refine::curve_input(options.profiles, curve != nullptr ? &curve->profile : nullptr),
            options.parameters, call.context);
        xyz = atom_by_atom(refined->result.frames, {}, resolve_threads(call.context));
        refined->result.frames.xyz = {};
    });
    auto topology = std::const_pointer_cast<Topology>(refined->result.frames.topology);
    return py::make_tuple(std::move(refined), owned_array(std::move(xyz)), std::move(topology));
}

/// Reads files as refine() does; returns (xyz, topology, files, [(file, frame)], notes).
py::tuple read(const std::vector<std::string>& sources, const py::dict& given) {
    Options options;
    set_fields(options.fields(), given);
    Ensemble structure;
    Array<float, 3> xyz;
    {
        const py::gil_scoped_release released;
        structure = refine::read_structures(sources, "", options.parameters);
        xyz = atom_by_atom(structure, {}, available_threads());
    }
    py::list origins;
    for (const FrameOrigin& origin : structure.origins)
        origins.append(py::make_tuple(origin.file, origin.frame));
    return py::make_tuple(owned_array(std::move(xyz)),
                          std::const_pointer_cast<Topology>(structure.topology), structure.files,
                          origins, structure.notes);
}

/// The columns of frames.tsv.
py::dict table_of(py::object self) {
    const refine::Result& result = self.cast<const Refined&>().result;
    py::dict table;
    for (const refine::FrameColumn& column : refine::frame_columns(result))
        table[column.name.c_str()] = python_value(column.value, self);
    return table;
}

py::dict convergence_of(const Refined& refined) {
    py::dict all;
    for (const refine::Quantity& quantity : refined.result.quantities) {
        py::dict one;
        one["r_hat"] = quantity.convergence.r_hat;
        one["effective_size"] = quantity.convergence.effective_size;
        one["converged"] = quantity.convergence.is_reached();
        all[quantity.name.c_str()] = one;
    }
    return all;
}

py::object misfit_of(const Refined& refined) {
    if (!refined.result.misfit) return py::none();
    const refine::MisfitTest& test = *refined.result.misfit;
    py::dict all;
    all["squares"] = test.squares;
    all["runs"] = test.runs;
    all["passed"] = test.is_passed();
    all["remark"] = refine::misfit_remark(refined.result);
    return all;
}

py::dict moves_of(const Refined& refined) {
    py::dict all;
    for (const refine::MoveShare& move : refined.result.moves)
        all[move.name.c_str()] = py::make_tuple(move.proposed, move.accepted);
    return all;
}

}  // namespace

void add_refine(py::module_& module) {
    py::class_<Refined> result = add_result<Refined>(module, "Refinement");
    add_run(result, "refine", [](RunDirectory& run, const Refined& refined, const py::dict&) {
        refine::write_tables(run, refined.result);
        refine::record_facts(run, refined.result);
    });
    result.def_property_readonly("table", &table_of)
        .def_property_readonly("convergence", &convergence_of)
        .def_property_readonly("moves", &moves_of)
        .def_property_readonly("misfit", &misfit_of)
        .def_property_readonly("notes", [](const Refined& r) { return r.result.notes; });
    module.def("refine", &run, py::arg(), py::arg().none(true), py::arg(), py::arg());
    module.def("read_refined", &read);
    module.def("refine_fields", [] { return describe_fields(Options().fields()); });
    module.def("refine_profile_fields", [] {
        saxs::Parameters parameters;
        return describe_fields(refine::profile_fields(parameters));
    });
}

}  // namespace pleat::python
