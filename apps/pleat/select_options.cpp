// Select options: fields of its own and of the stages, checked together.
#include "select_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/core/error.h"

namespace pleat::program {

namespace {

std::vector<Field> named(const std::vector<Field>& fields,
                         std::initializer_list<const char*> names) {
    std::vector<Field> chosen;
    for (const Field& field : fields)
        if (std::find(names.begin(), names.end(), field.name) != names.end())
            chosen.push_back(field);
    return chosen;
}

/// The usual cut-off is for methods that need one.
bool wants_cutoff(const cluster::Parameters& clustering) {
    return clustering.cutoff.empty() && clustering.k.empty() && clustering.method != "kmedoids" &&
           clustering.method != "density-peaks";
}

}  // namespace

std::vector<Field> evidence_fields(SelectOptions& options) {
    std::vector<Field> all = {
        {.name = "alignment",
         .target = &options.alignment,
         .help = "Alignment of the protein's family, to which couplings are fitted",
         .letter = 'a',
         .value_name = "FILE"},
        {.name = "contacts",
         .target = &options.contacts,
         .help = "Predicted contacts in its place: CASP's RR, or the folder of a 'pleat "
                 "couplings'",
         .value_name = "FILE.rr|RUN"},
        {.name = "saxs",
         .target = &options.curve,
         .help = "Measured scattering curve: q, intensity, error",
         .value_name = "CURVE"}};
    for (const Field& field : fields(options.curve_reading)) all.push_back(field);
    return all;
}

std::vector<Field> clustering_fields(SelectOptions& options) {
    std::vector<Field> all =
        named(cluster::fields(options.clustering), {"method", "cutoff", "k", "least-neighbours"});
    for (Field& field : all)
        if (field.name == "cutoff")
            field.help =
                "Frames below this RMSD are neighbours; for trees the height of the cut; "
                "first:last:step tries several. None given: 1.24 (L - 15)^(1/3) - 1.8 "
                "angstrom for L residues";
    return all;
}

std::vector<Field> structure_fields(SelectOptions& options) {
    return named(fields(options.structures), {"structures", "write"});
}

std::vector<Field> result_fields(SelectOptions& options) {
    std::vector<Field> all = evidence_fields(options);
    for (const std::vector<Field>& more :
         {select::fields(options.parameters), frame_fields(options.ensemble),
          clustering_fields(options), structure_fields(options)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

void check_options(const SelectOptions& options) {
    if (!options.alignment.empty() && !options.contacts.empty())
        throw UsageError("expected --alignment or --contacts, found both");
    if (!options.has_contacts() && options.curve.empty())
        throw UsageError(
            "expected --alignment, --contacts or --saxs beside the ensemble, found none; "
            "'pleat cluster' needs an ensemble alone");
    for (const std::string& file : {options.alignment, options.contacts, options.curve})
        if (file == "-") throw UsageError("expected a file, found '-': a stage may read it again");
    const select::Parameters& p = options.parameters;
    if (p.cluster_weight + (options.has_contacts() ? p.contact_weight : 0) +
            (options.curve.empty() ? 0 : p.curve_weight) ==
        0)
        throw UsageError(
            "expected a weight above 0 for contacts, clusters or scattering that are "
            "given, found 0 for each");
    if (!wants_cutoff(options.clustering)) cluster::check_options(options.clustering);
}

double usual_cutoff(Index residues) {
    const double d0 = 1.24 * std::cbrt(static_cast<double>(residues) - 15) - 1.8;
    return std::max(1.0, std::round(100 * d0) / 100);
}

std::vector<std::filesystem::path> ensemble_inputs(const EnsembleSource& ensemble) {
    std::vector<std::string> names = ensemble_files(ensemble.sources);
    if (!ensemble.topology.empty()) names.push_back(ensemble.topology);
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names)
        if (std::find(files.begin(), files.end(), name) == files.end()) files.emplace_back(name);
    return files;
}

CouplingsOptions couplings_stage(const SelectOptions& options, const std::string& row) {
    CouplingsOptions stage;
    stage.run = options.run;
    stage.alignment.path = options.alignment;
    stage.structure.row = row;
    stage.parameters.models = false;
    return stage;
}

ClusterOptions clusters_stage(const SelectOptions& options, Index residues) {
    ClusterOptions stage;
    stage.run = options.run;
    stage.ensemble = options.ensemble;
    stage.parameters = options.clustering;
    if (wants_cutoff(options.clustering))
        stage.parameters.cutoff = fmt::format("{}", usual_cutoff(residues));
    return stage;
}

SaxsOptions saxs_stage(const SelectOptions& options) {
    SaxsOptions stage;
    stage.run = options.run;
    stage.ensemble.sources = options.ensemble.sources;
    stage.ensemble.topology = options.ensemble.topology;
    stage.ensemble.assembly = options.ensemble.assembly;
    stage.ensemble.frames = options.ensemble.frames;
    stage.ensemble.truncated = options.ensemble.truncated;
    stage.models_are = saxs::ModelsAre::states;
    stage.data = options.curve;
    stage.curve = options.curve_reading;
    // Each frame is fitted for itself here; weights of several are for 'pleat saxs'.
    stage.parameters.max_members = 0;
    stage.parameters.reweight = false;
    return stage;
}

}  // namespace pleat::program
