// Select options: fields of the selection and of its stages, checked together.
#include "select/select_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "options/options.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/core/error.h"
#include "pleat/workflows/select/ranking.h"
#include "pleat/workflows/select/stages.h"

namespace pleat::program {

SelectOptions::SelectOptions() {
    ensemble.select = "ca";
    structures.atoms = "all";
}

std::vector<Field> evidence_fields(SelectOptions& options) {
    std::vector<Field> all = {
        {.name = "alignment",
         .target = &options.alignment,
         .help =
             "Alignment of the protein's family; couplings are fitted to it, and frames are ranked "
             "by how many of the contacts that these predict they form",
         .letter = 'a',
         .value_name = "FILE"},
        {.name = "contacts",
         .target = &options.contacts,
         .help = "Expected contacts instead of --alignment: a file in CASP's RR format, or the "
                 "folder of a 'pleat couplings' run",
         .value_name = "FILE.rr|RUN"},
        {.name = "data",
         .target = &options.curve,
         .help = "Measured scattering curve: q, intensity, error",
         .value_name = "CURVE"}};
    for (const Field& field : fields(options.curve_reading)) all.push_back(field);
    for (const Field& field : fields(options.alignment_reading))
        if (field.name == "insertions" || field.name == "record") all.push_back(field);
    return all;
}

std::vector<Field> structure_fields(SelectOptions& options) {
    std::vector<Field> chosen;
    for (const Field& field : fields(options.structures))
        if (field.name == "structures" || field.name == "write") chosen.push_back(field);
    return chosen;
}

std::vector<Field> result_fields(SelectOptions& options) {
    return concatenated({evidence_fields(options),
                         select::fields(options.parameters),
                         frame_fields(options.ensemble),
                         {match_field(options.ensemble)},
                         select::clustering_fields(options.parameters),
                         structure_fields(options)});
}

void check_options(const SelectOptions& options) {
    if (!options.alignment.empty() && !options.contacts.empty())
        throw UsageError("give either --alignment or --contacts, not both");
    if (!options.has_contacts() && options.curve.empty() && !options.uses_score())
        throw UsageError(
            "give --alignment, --contacts, --data or --score besides the ensemble; 'pleat cluster' "
            "needs an ensemble alone");
    for (const std::string& file : {options.alignment, options.contacts, options.curve})
        if (file == "-")
            throw UsageError("'-': give a file, since more than one stage may read it");
    select::check_weights(options.parameters, options.has_contacts(), !options.curve.empty(),
                          options.uses_score());
    if (!select::wants_cutoff(options.parameters.clustering))
        cluster::check_options(options.parameters.clustering);
}

std::vector<std::filesystem::path> ensemble_inputs(const EnsembleSource& ensemble) {
    std::vector<std::string> names = files_of(ensemble);
    for (std::string& file : score_files(ensemble)) names.push_back(std::move(file));
    if (!ensemble.topology.empty()) names.push_back(ensemble.topology);
    for (std::string& file : selection::index_files(ensemble.select))
        names.push_back(std::move(file));
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names)
        if (std::find(files.begin(), files.end(), name) == files.end()) files.emplace_back(name);
    return files;
}

CouplingsOptions couplings_stage(const SelectOptions& options, const std::string& row) {
    CouplingsOptions stage;
    stage.run = options.run;
    stage.alignment.path = options.alignment;
    stage.alignment.reading = options.alignment_reading;
    stage.structure.row = row;
    stage.parameters = select::score_parameters();
    return stage;
}

ClusterOptions clusters_stage(const SelectOptions& options, const cluster::Parameters& clustering) {
    ClusterOptions stage;
    stage.run = options.run;
    stage.ensemble = options.ensemble;
    stage.parameters = clustering;
    choose_atoms(stage);
    return stage;
}

SaxsOptions saxs_stage(const SelectOptions& options) {
    SaxsOptions stage;
    stage.run = options.run;
    stage.ensemble = options.ensemble;
    stage.ensemble.select = EnsembleSource().select;
    stage.models_are = saxs::ModelsAre::states;
    stage.data = options.curve;
    stage.curve = options.curve_reading;
    stage.parameters = select::frame_fit_parameters();
    return stage;
}

}  // namespace pleat::program
