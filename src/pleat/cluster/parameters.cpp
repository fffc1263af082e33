// Parameters: the options of clustering, described once, and which of them go together.
#include <fmt/format.h>

#include "pleat/cluster/plan.h"
#include "pleat/cluster/values.h"
#include "pleat/core/error.h"

namespace pleat::cluster {

namespace {

Family family_of(const std::string& method) {
    if (method == "daura" || method == "gromacs") return Family::greedy;
    if (method == "dbscan") return Family::dbscan;
    if (method == "kmedoids") return Family::medoids;
    if (method == "density-peaks") return Family::peaks;
    return Family::tree;
}

}  // namespace

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "method",
         .target = &p.method,
         .help = "daura: most neighbours first; gromacs: as gmx cluster -method gromos; single, "
                 "complete, average, ward: trees; kmedoids; dbscan; density-peaks",
         .letter = 'm',
         .choices = {"daura", "gromacs", "single", "complete", "average", "ward", "kmedoids",
                     "dbscan", "density-peaks"}},
        {.name = "cutoff",
         .target = &p.cutoff,
         .help =
             "Items below this distance (angstrom between frames) are neighbours; for trees the "
             "height of the cut. "
             "first:last:step tries several, and takes that of the largest mean silhouette",
         .letter = 'c',
         .value_name = "DISTANCE"},
        {.name = "k",
         .target = &p.k,
         .help = "Number of clusters for trees, kmedoids and density-peaks; first:last[:step] "
                 "tries several",
         .letter = 'k',
         .value_name = "NUMBER"},
        {.name = "least-neighbours",
         .target = &p.least_neighbours,
         .help = "Neighbours, itself among them, that make an item a core of dbscan",
         .min = 1,
         .max = 2e9},
        {.name = "silhouettes",
         .target = &p.silhouettes,
         .help = "Measure how well each cluster is apart from the others; sweeps always do"},
        {.name = "bin",
         .target = &p.bin,
         .help = "Width of the histogram's bins",
         .min = 1e-6,
         .max = 1e6}};
}

Plan plan_of(const Parameters& p) {
    Plan plan{family_of(p.method), {}, {}};
    if (!p.cutoff.empty()) plan.cutoffs = parse_cutoffs(p.cutoff, "cutoff");
    if (!p.k.empty()) plan.counts = parse_counts(p.k, "k");
    const bool has_cutoff = !p.cutoff.empty(), has_k = !p.k.empty();
    const auto refuse = [&](const char* text) {
        throw UsageError(fmt::format("--method {}: expected {}", p.method, text));
    };
    if (plan.family != Family::dbscan && p.least_neighbours != Parameters().least_neighbours)
        refuse("no --least-neighbours, found one");
    switch (plan.family) {
        case Family::greedy:
        case Family::dbscan:
            if (!has_cutoff) refuse("--cutoff, found none");
            if (has_k) refuse("--cutoff alone, found --k");
            break;
        case Family::tree:
            if (!has_cutoff && !has_k) refuse("--cutoff or --k, found neither");
            if (has_cutoff && has_k) refuse("one of --cutoff and --k, found both");
            break;
        case Family::medoids:
            if (!has_k) refuse("--k, found none");
            if (has_cutoff) refuse("--k alone, found --cutoff");
            break;
        case Family::peaks:
            if (!has_k) refuse("--k, found none");
            if (plan.cutoffs.size() > 1 && plan.counts.size() > 1)
                refuse("several values of --cutoff or of --k, found both");
            break;
    }
    return plan;
}

void check_counts(const Plan& plan, Index items) {
    for (const double k : plan.counts)
        if (k > static_cast<double>(items))
            throw UsageError(fmt::format(
                "--k: expected no more clusters than the {} items, found {}", items, k));
}

void check_options(const Parameters& parameters) {
    Parameters own = parameters;
    check(fields(own));
    plan_of(own);
}

}  // namespace pleat::cluster
