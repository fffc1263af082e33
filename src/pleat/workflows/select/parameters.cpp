// Parameters: the options of a selection, described once.
#include <algorithm>
#include <array>
#include <string_view>

#include "pleat/workflows/select/select.h"

namespace pleat::select {

std::vector<Field> fields(Parameters& p) {
    return {{.name = "weight-contacts",
             .target = &p.contact_weight,
             .help = "Weight of the ranks by contacts in the joint score",
             .min = 0,
             .max = 1000},
            {.name = "weight-clusters",
             .target = &p.cluster_weight,
             .help = "Weight of the ranks by density in the joint score",
             .min = 0,
             .max = 1000},
            {.name = "weight-saxs",
             .target = &p.curve_weight,
             .help = "Weight of the ranks by chi^2 in the joint score",
             .min = 0,
             .max = 1000},
            {.name = "weight-score",
             .target = &p.score_weight,
             .help = "Weight of the ranks by --score in the joint score",
             .min = 0,
             .max = 1000},
            {.name = "contact-cutoff",
             .target = &p.contact_cutoff,
             .help = "Distance of two CB atoms (CA if a residue has no CB) below which they are in "
                     "contact",
             .unit = "angstrom",
             .min = 0,
             .max = 100,
             .min_excluded = true},
            {.name = "contacts-per-residue",
             .target = &p.contacts_per_residue,
             .help = "Number of expected contacts per residue of the sequence; the most probable "
                     "ones are used",
             .min = 0,
             .max = 100,
             .min_excluded = true},
            {.name = "max-clusters",
             .target = &p.max_clusters,
             .help = "Maximum number of clusters to select",
             .min = 1,
             .max = 1000},
            {.name = "min-size",
             .target = &p.min_size,
             .help = "Minimum number of frames in a selected cluster",
             .min = 1,
             .max = 2e9}};
}

std::vector<Field> clustering_fields(Parameters& p) {
    constexpr std::array<std::string_view, 8> kOffered = {
        "method", "cutoff", "k", "min-neighbours", "keep", "drop", "nearest", "common"};
    std::vector<Field> offered;
    for (Field& field : cluster::fields(p.clustering)) {
        if (std::find(kOffered.begin(), kOffered.end(), field.name) == kOffered.end()) continue;
        if (field.name == "cutoff")
            field.help =
                "Frames below this RMSD are neighbours; for trees the height of the cut; "
                "first:last:step tries several. By default 1.24 (L - 15)^(1/3) - 1.8 angstrom "
                "for L residues";
        offered.push_back(std::move(field));
    }
    return offered;
}

}  // namespace pleat::select
