// Parameters: the options of a refinement, described once.
#include "pleat/workflows/refine/refine.h"

namespace pleat::refine {

std::vector<Field> fields(Parameters& p) {
    return {{.name = "linkers",
             .target = &p.linkers,
             .help = "Flexible residues, such as A:289-301,A:320-330; all others are rigid",
             .value_name = "RESIDUES"},
            {.name = "rigid",
             .target = &p.rigid,
             .help = "Rigid residues instead of --linkers; the others of their chains are flexible",
             .value_name = "RESIDUES"},
            {.name = "group",
             .target = &p.group,
             .help = "Rigid domains that move as one, such as A:1-200,B:1-180; '/' separates "
                     "groups",
             .value_name = "RESIDUES"},
            {.name = "frames",
             .target = &p.frames,
             .help = "Number of conformations to write",
             .min = 1,
             .max = 1e7},
            {.name = "chains",
             .target = &p.chains,
             .help = "Number of Monte Carlo chains, each from a start of its own",
             .min = 1,
             .max = 100000},
            {.name = "moves",
             .target = &p.moves,
             .help = "Moves of a chain between two of its frames",
             .min = 1,
             .max = 1e6},
            {.name = "burn-in",
             .target = &p.burn_in,
             .help = "Frames of each chain to leave out at its start",
             .min = 1,
             .max = 1e7,
             .automatic = "half of those that are kept, at least 20"}};
}

}  // namespace pleat::refine
