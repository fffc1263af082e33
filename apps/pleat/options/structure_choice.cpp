// Structure choice: options about a known structure, reading it and mapping it to the columns.
#include "options/structure_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/name_of.h"

namespace pleat::program {

namespace {

ContactDefinition contact_definition(const StructureOptions& options, Chain::Kind kind) {
    ContactDefinition definition = ContactDefinition::standard(kind);
    if (options.contact != ContactChoice::automatic) {
        const std::string_view name = name_of(options.contact);
        definition = ContactDefinition::with_default_cutoff(parse_contact_atoms(name), kind);
    }
    definition.cutoff = options.contact_cutoff.value_or(definition.cutoff);
    return definition;
}

/// The alignment row of the structure's sequence; empty if the user named none.
const std::string& row_name(const StructureOptions& options) {
    return options.focus.empty() ? options.row : options.focus;
}

/// Adds a note on other chains with mostly the same residues (number, name) as the used chain.
void note_copies(KnownStructure& known) {
    std::set<std::string> residues;
    for (const Residue& one : known.chain().residues) residues.insert(one.name + one.id());
    std::vector<std::string> copies;
    for (const Chain& chain : known.structure.chains) {
        const auto shared = std::ranges::count_if(chain.residues, [&](const Residue& one) {
            return residues.contains(one.name + one.id());
        });
        if (&chain != &known.chain() && 2 * shared > std::ssize(chain.residues))
            copies.push_back(chain.name);
    }
    if (copies.empty()) return;
    known.notes.push_back({NoteKind::several,
                           fmt::format("distances are measured within chain {}; its copies are "
                                       "not used: {}",
                                       known.chain().name, fmt::join(copies, ", ")),
                           "--structure FILE:CHAIN"});
}

}  // namespace

std::span<const std::string_view> names_of(ContactChoice) {
    static constexpr std::string_view kNames[] = {"", "cb", "heavy", "sugar"};
    return kNames;
}

std::vector<Field> fields(StructureOptions& options) {
    return {{.name = "structure",
             .target = &options.structure,
             .help = "PDB or mmCIF file to compare contacts with; append :CHAIN to choose a chain",
             .value_name = "FILE[:CHAIN]"},
            {.name = "row",
             .target = &options.row,
             .help = "Name of the row with the structure's sequence; lists show its letters. By "
                     "default the row that fits the structure best, without a structure the first",
             .value_name = "NAME"},
            focus_field(options.focus),
            {.name = "contact",
             .target = &options.contact,
             .help = "Atoms between which distances are measured; by default cb (CA in glycine) "
                     "for proteins, heavy for nucleic acids"},
            {.name = "contact-cutoff",
             .target = &options.contact_cutoff,
             .help = "Distance below which residues are in contact",
             .unit = "angstrom",
             .min = 0,
             .min_excluded = true,
             .automatic = "the atoms' usual one"}};
}

void check_structure_options(const StructureOptions& options) {
    if (!options.structure.empty()) return;
    const bool has_atoms = options.contact != ContactChoice::automatic;
    if (has_atoms || options.contact_cutoff)
        throw UsageError(fmt::format("--{} needs a structure to measure in; give --structure",
                                     has_atoms ? "contact" : "contact-cutoff"));
}

void check_structure_file(const StructureOptions& options) {
    if (options.structure.empty()) return;
    check_readable({parse_structure_choice(options.structure).file.string()});
}

std::optional<KnownStructure> read_known_structure(const StructureOptions& options,
                                                   const Alignment& source, RunDirectory& run,
                                                   const ResidueMapper& mapper) {
    if (options.structure.empty()) return std::nullopt;
    const StructureChoice choice = parse_structure_choice(options.structure);
    KnownStructure known;
    known.structure = read_structure(choice.file, &known.notes);
    record_input(choice.file, run);
    const ResidueMapOptions wanted{.row = row_name(options), .chain = choice.chain};
    known.map = mapper ? mapper(source, known.structure, wanted)
                       : map_residues(source, known.structure, wanted);
    known.definition = contact_definition(options, known.chain().kind);
    if (choice.chain.empty()) note_copies(known);
    return known;
}

void warn_of_other_structure(const StructureOptions& options, const KnownStructure& known,
                             const Context& context) {
    context.notes(known.notes);
    const std::string doubt =
        doubt_about_family(options.structure, known.map.chain_name, known.map.identity,
                           fmt::format("row '{}'", known.map.row_name));
    if (!doubt.empty()) context.message(doubt);
}

void measure(KnownStructure& known, const Alignment& filtered) {
    known.residues.clear();
    for (const Index column : filtered.columns)
        known.residues.push_back(known.map.residues[column]);
    known.distances = column_distances(known.chain(), known.residues, known.definition.atoms);
}

Field focus_field(std::string& focus) {
    return {.name = "focus",
            .target = &focus,
            .help =
                "Keep only the columns in which the row of this name has a residue, and number "
                "them by its residues (insertions count)",
            .value_name = "NAME"};
}

FilterOptions filter_options(const AlignmentOptions& options, const StructureOptions& structure,
                             const Alignment& source) {
    FilterOptions filters{options.max_gaps, options.min_coverage};
    if (structure.focus.empty()) return filters;
    if (!structure.row.empty() && structure.row != structure.focus)
        throw UsageError(fmt::format("give either --row or --focus: '{}' and '{}' differ",
                                     structure.row, structure.focus));
    filters.focus = find_row(source, structure.focus);
    const auto letters = source.letters.view()[*filters.focus];
    if (std::all_of(letters.begin(), letters.end(),
                    [&](std::uint8_t code) { return code == source.alphabet->gap(); }))
        throw InputError(source.source.string(), 0,
                         fmt::format("expected residues in row '{}' of --focus, found gaps only",
                                     printable(structure.focus)));
    return filters;
}

ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                           const std::optional<KnownStructure>& known, const Context& context) {
    Index row = 0;
    if (known) {
        row = known->map.row;
    } else if (const std::string& name = row_name(options); !name.empty()) {
        row = find_row(source, name);
    }
    ReferenceRow reference = make_reference_row(source, row);
    if (options.focus.empty()) return reference;
    show_residue_numbers(reference);
    const std::string doubt =
        doubt_about_numbers(reference.name, static_cast<Index>(reference.sequence.size()));
    if (!doubt.empty()) context.message(doubt);
    return reference;
}

}  // namespace pleat::program
