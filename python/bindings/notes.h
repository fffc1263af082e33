// Notes: pleat::Note as the Python class pleat.Note, and any text as a Note.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "pleat/core/notes.h"

namespace pybind11::detail {

template <>
struct type_caster<pleat::Note> {
    PYBIND11_TYPE_CASTER(pleat::Note, const_name("Note"));

    bool load(handle from, bool) {
        if (!isinstance<str>(from)) return false;
        value = {.text = from.cast<std::string>()};
        if (!hasattr(from, "is_warning")) return true;
        const auto kind = from.attr("kind").cast<std::string>();
        for (int k = 0; k <= static_cast<int>(pleat::NoteKind::assumption); ++k)
            if (pleat::name_of(static_cast<pleat::NoteKind>(k)) == kind)
                value.kind = static_cast<pleat::NoteKind>(k);
        value.option = from.attr("option").cast<std::string>();
        value.is_warning = from.attr("is_warning").cast<bool>();
        return true;
    }
    static handle cast(const pleat::Note& note, return_value_policy, handle) {
        return module_::import("pleat.note")
            .attr("Note")(note.text, pleat::name_of(note.kind), note.option, note.is_warning)
            .release();
    }
};

}  // namespace pybind11::detail
