// Parameters: the options of a refinement, described once.
#include <algorithm>
#include <array>

#include "pleat/saxs/saxs.h"
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

std::span<const std::string_view> names_of(Mode) {
    static constexpr std::array<std::string_view, 4> kNames = {"auto", "pool", "fit", "average"};
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
         .help = "Sequences of the chains (FASTA), along which residue numbers count: residues "
                 "that the structure lacks are built as linkers and tails",
         .value_name = "FILE"},
        {.name = "group",
         .target = &p.group,
         .help = "Rigid domains that move as one, such as A:1-200,B:1-180; '/' separates "
                 "groups",
         .value_name = "RESIDUES"},
        {.name = "mode",
         .target = &p.mode,
         .help = "pool: frames that the linkers allow; fit: frames each of which explains the "
                 "curve of --data; average: frames whose mean explains the curve, for proteins "
                 "that stay flexible; auto: average with --data, else pool"},
        {.name = "frames",
         .target = &p.frames,
         .help = "Number of conformations to write",
         .min = 1,
         .max = 1e7,
         .automatic = "10000; fit: 1000"},
        {.name = "chains",
         .target = &p.chains,
         .help = "Number of Monte Carlo chains, each from a start of its own",
         .min = 1,
         .max = 100000,
         .automatic = "16; fit and average: 4"},
        {.name = "moves",
         .target = &p.moves,
         .help = "Moves of a chain between two of its frames",
         .min = 1,
         .max = 1e6,
         .automatic = "100; fit and average: 25"},
        {.name = "burn-in",
         .target = &p.burn_in,
         .help = "Number of initial frames of each chain to discard",
         .min = 1,
         .max = 1e7,
         .automatic = "half of those that are kept, at least 20"},
        {.name = "rungs",
         .target = &p.rungs,
         .help = "fit and average: number of powers of the likelihood, from 0 to 1, for parallel "
                 "tempering; 1: only power 1",
         .min = 1,
         .max = 1000,
         .automatic = "8; average: 1"},
        {.name = "replicas",
         .target = &p.replicas,
         .help = "average: number of conformations that each Monte Carlo chain holds; their mean "
                 "profile is compared with the curve",
         .min = 16,
         .max = 100000},
        {.name = "model-error",
         .target = &p.model_error,
         .help = "fit and average: relative error of computed profiles, beside the curve's errors",
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
