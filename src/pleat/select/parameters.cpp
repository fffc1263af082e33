// Parameters: the options of a selection, described once.
#include "pleat/select/select.h"

namespace pleat::select {

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "weight-contacts",
         .target = &p.contact_weight,
         .help = "Weight of the contacts' ranks in the joined score",
         .min = 0,
         .max = 1000},
        {.name = "weight-clusters",
         .target = &p.cluster_weight,
         .help = "Weight of the density's ranks",
         .min = 0,
         .max = 1000},
        {.name = "weight-saxs",
         .target = &p.curve_weight,
         .help = "Weight of the ranks of chi^2",
         .min = 0,
         .max = 1000},
        {.name = "contact-cutoff",
         .target = &p.contact_cutoff,
         .help = "Distance of CB atoms (CA where there is none) below which a contact is formed",
         .unit = "angstrom",
         .min = 0,
         .max = 100,
         .min_excluded = true},
        {.name = "contacts-per-residue",
         .target = &p.contacts_per_residue,
         .help = "Contacts that are expected, the most probable ones, as a multiple of the "
                 "sequence's length",
         .min = 0,
         .max = 100,
         .min_excluded = true},
        {.name = "best",
         .target = &p.best,
         .help = "Clusters to select",
         .letter = 'n',
         .min = 1,
         .max = 1000},
        {.name = "least-size",
         .target = &p.least_size,
         .help = "Frames that a selected cluster has at least",
         .min = 1,
         .max = 2e9}};
}

}  // namespace pleat::select
