// Parameters: the options of a refinement, described once.
#include <algorithm>
#include <array>

#include "pleat/saxs/saxs.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

std::span<const std::string_view> names_of(Mode) {
    static constexpr std::array<std::string_view, 3> kNames = {"auto", "pool", "fit"};
    return kNames;
}

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "linkers",
         .target = &p.linkers,
         .help = "Flexible residues, such as A:289-301,A:320-330; all others are rigid",
         .value_name = "RESIDUES"},
        {.name = "rigid",
         .target = &p.rigid,
         .help = "Rigid residues instead of --linkers; the others of their chains are flexible",
         .value_name = "RESIDUES"},
        {.name = "pae",
         .target = &p.pae,
         .help = "Predicted aligned errors (PAE; JSON of AlphaFold DB, ColabFold, AlphaFold 3), "
                 "which define the linkers together with pLDDT (B factors), instead of --linkers",
         .value_name = "FILE"},
        {.name = "sequence",
         .target = &p.sequence,
         .help =
             "Sequences of the chains (FASTA), along which residue numbers count: residues "
             "that the structure lacks are built as linkers and tails. Without a structure: one "
             "sequence, whose residues are all flexible",
         .value_name = "FILE"},
        {.name = "group",
         .target = &p.group,
         .help = "Rigid domains that move as one, such as A:1-200,B:1-180; '/' separates "
                 "groups",
         .value_name = "RESIDUES"},
        {.name = "symmetry",
         .target = &p.symmetry,
         .help = "Symmetry of an oligomer of equal chains, c2 to c12 (or p2 to p12): the others "
                 "are copies of the first about an axis, with the same linkers and angles",
         .value_name = "SYMMETRY"},
        {.name = "mode",
         .target = &p.mode,
         .help =
             "pool: frames that the linkers allow, to which a curve of --data gives weights, for "
             "proteins that stay flexible; fit: frames each of which explains the curve; auto: "
             "pool"},
        {.name = "frames",
         .target = &p.frames,
         .help = "Number of conformations to write",
         .min = 1,
         .max = 1e7,
         .automatic = "10000; fit: 1000"},
        {.name = "chains",
         .target = &p.chains,
         .help = "Number of Monte Carlo chains, each from a start of its own; fit: of groups of "
                 "starts, whose descendants are compared, at least 4",
         .min = 1,
         .max = 100000,
         .automatic = "16; fit: 64"},
        {.name = "moves",
         .target = &p.moves,
         .help = "Moves of a chain between two of its frames; fit: of each conformation at each "
                 "power of the likelihood",
         .min = 1,
         .max = 1e6,
         .automatic = "100; fit: 25"},
        {.name = "burn-in",
         .target = &p.burn_in,
         .help = "pool: number of initial frames of each chain to discard",
         .min = 1,
         .max = 1e7,
         .automatic = "half of those that are kept, at least 20"},
        {.name = "doublings",
         .target = &p.doublings,
         .help = "fit: how often a run that has not converged is made again, each time with twice "
                 "the moves",
         .min = 0,
         .max = 20},
        {.name = "model-error",
         .target = &p.model_error,
         .help = "fit: relative error of computed profiles, beside the curve's errors",
         .min = 0,
         .max = 1}};
}

std::vector<Field> profile_fields(saxs::Parameters& parameters) {
    std::vector<Field> all = saxs::fields(parameters);
    std::erase_if(all, [](const Field& field) {
        static constexpr std::array<std::string_view, 6> kAbsent = {
            "hydrogens", "water", "neutrons", "d2o", "deuterate", "backbone-exchange"};
        return std::count(kAbsent.begin(), kAbsent.end(), field.name) > 0;
    });
    return all;
}

CurveInput curve_input(const saxs::Parameters& parameters, const Profile* curve) {
    return {.curve = curve,
            .q_max = parameters.q_max,
            .c2_min = parameters.c2.value_or(parameters.c2_min),
            .c2_max = parameters.c2.value_or(parameters.c2_max)};
}

}  // namespace pleat::refine
