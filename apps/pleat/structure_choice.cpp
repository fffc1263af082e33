// Structure choice: reading, mapping and measuring a known structure.
#include "structure_choice.h"

#include <fmt/format.h>

#include <cmath>

#include "pleat/bio/structure/contacts.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat::program {

namespace {

ContactDefinition definition_for(const StructureOptions& options, Chain::Kind kind) {
    ContactDefinition definition = ContactDefinition::standard(kind);
    if (!options.contact.empty()) {
        const std::string atoms = options.contact == "cb" ? "beta" : options.contact;
        definition = ContactDefinition::usual(ContactDefinition::parse_atoms(atoms), kind);
    }
    if (options.cutoff) definition.cutoff = *options.cutoff;
    return definition;
}

}  // namespace

void check_structure_options(const StructureOptions& options) {
    if (!options.structure.empty()) return;
    const bool has_atoms = !options.contact.empty();
    if (has_atoms || options.cutoff)
        throw UsageError(
            fmt::format("--{}: expected a --structure in which it measures, found none",
                        has_atoms ? "contact" : "cutoff"));
}

void check_structure_file(const StructureOptions& options) {
    if (options.structure.empty()) return;
    check_readable({parse_structure_choice(options.structure).file.string()});
}

std::optional<KnownStructure> read_known_structure(const StructureOptions& options,
                                                   const Alignment& source, RunDirectory& run) {
    if (options.structure.empty()) return std::nullopt;
    const StructureChoice choice = parse_structure_choice(options.structure);
    KnownStructure known;
    known.structure = read_structure(choice.file);
    record_input(choice.file, run);
    known.map = map_residues(source, known.structure, {.row = options.row, .chain = choice.chain});
    known.definition = definition_for(options, known.chain().kind);
    return known;
}

void measure(KnownStructure& known, const Alignment& kept) {
    known.residues.clear();
    for (const Index column : kept.columns)
        known.residues.push_back(known.map.residues[static_cast<std::size_t>(column)]);
    known.distances = column_distances(known.chain(), known.residues, known.definition.atoms);
}

ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                           const std::vector<std::string>& full_rows,
                           const std::optional<KnownStructure>& known) {
    Index row = 0;
    if (known) {
        row = known->map.row;
    } else if (!options.row.empty()) {
        row = find_row(source, options.row);
    }
    return make_reference_row(source, full_rows, row);
}

}  // namespace pleat::program
