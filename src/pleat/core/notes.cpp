// Notes: names of their kinds, and how they are shown.
#include "pleat/core/notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace pleat {

std::string_view name_of(NoteKind kind) {
    static constexpr std::string_view kNames[] = {
        "format",         "unit",         "columns",   "alphabet",     "insertions", "helper_rows",
        "sequence_names", "parts",        "several",   "selection",    "atoms",      "dummies",
        "ions",           "alternatives", "numbering", "names_differ", "matching",   "molecules",
        "frames",         "truncated",    "points",    "errors",       "order",      "moved",
        "residues",       "hydrogens",    "scores",    "weights",      "assumption"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(NoteKind::assumption) + 1);
    return kNames[static_cast<std::size_t>(kind)];
}

Notes with_source(Notes notes, std::string_view source) {
    for (Note& note : notes) note.text = fmt::format("{}: {}", source, note.text);
    return notes;
}

int count(const Notes& notes, NoteKind kind) {
    return static_cast<int>(
        std::ranges::count_if(notes, [kind](const Note& note) { return note.kind == kind; }));
}

std::string full_text(const Note& note) {
    const std::string text = (note.is_warning ? "warning: " : "") + note.text;
    if (note.option.empty()) return text;
    return fmt::format("{} (otherwise: {})", text, note.option);
}

}  // namespace pleat
