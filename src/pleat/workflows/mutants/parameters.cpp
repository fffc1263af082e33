// Parameters: the options of mutants, described once.
#include "pleat/workflows/mutants/mutants.h"

namespace pleat::mutants {

std::vector<Field> fields(Parameters& p) {
    return {{.name = "first-number",
             .target = &p.first_number,
             .help = "Number of the first residue of the target's sequence",
             .min = -1e9,
             .max = 1e9,
             .automatic = "START of a name NAME/START-END, else 1"},
            {.name = "doubles",
             .target = &p.doubles,
             .help = "Write the epistasis of all double mutants of these residues: ranges of the "
                     "target's numbers, such as 20-45,50, or all",
             .value_name = "RESIDUES"},
            {.name = "accessibility",
             .target = &p.accessibility,
             .help = "What covers the residues of --structure: chain, the atoms of the target's "
                     "chain alone, or all, those of all chains, nucleic acids and ligands"},
            {.name = "align",
             .target = &p.align,
             .help = "Align the sequences to the family's profile if they are not aligned. The "
                     "energies of such sequences are approximate"}};
}

std::span<const std::string_view> names_of(Problem) {
    static constexpr std::string_view kNames[] = {"",
                                                  "not a substitution",
                                                  "gap or unknown letter",
                                                  "outside the columns",
                                                  "other wild-type letter",
                                                  "residue named twice",
                                                  "another length",
                                                  "low coverage"};
    return kNames;
}

}  // namespace pleat::mutants
