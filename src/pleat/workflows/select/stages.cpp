// Stages: calling the engines in memory, and handing over what a selection uses.
#include "pleat/workflows/select/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/device_choice.h"

namespace pleat::select {

Clusters clusters_of(const cluster::Result& result) {
    Clusters clusters{.assignment = result.clustering.assignment, .medoids = {}, .cutoff = {}};
    for (const cluster::ClusterDescription& one : result.clusters)
        clusters.medoids.push_back(one.medoid);
    if (!std::isnan(result.cutoff)) clusters.cutoff = result.cutoff;
    return clusters;
}

saxs::Parameters frame_fit_parameters() {
    saxs::Parameters parameters;
    parameters.max_members = 0;
    parameters.reweight = false;
    return parameters;
}

couplings::Parameters score_parameters() {
    couplings::Parameters parameters;
    parameters.models = false;
    return parameters;
}

std::vector<double> frame_chi2(const saxs::Result& result) {
    if (result.frame_fits.empty()) return {result.fit.chi2};
    std::vector<double> chi2;
    for (const saxs::Fit& fit : result.frame_fits)
        chi2.push_back(std::stod(fmt::format("{:.8g}", fit.chi2)));
    return chi2;
}

PredictedContacts predicted_contacts(const Alignment& alignment, const ReferenceRow& reference,
                                     std::span<const couplings::RankedPair> pairs) {
    PredictedContacts predicted{
        .source = alignment.source, .sequence = reference.sequence, .pairs = {}};
    const auto residue_of = [&](Index column) {
        return reference.numbers[alignment.columns[column]] - 1;
    };
    for (const couplings::RankedPair& pair : pairs) {
        const Index i = residue_of(pair.i), j = residue_of(pair.j);
        if (i < 0 || j < 0 || std::isnan(pair.probability)) continue;
        predicted.pairs.push_back({i, j, std::stod(fmt::format("{:.6f}", pair.probability))});
    }
    if (predicted.pairs.empty())
        throw InputError(alignment.source.string(), 0,
                         "expected probabilities of contacts, found none: a family needs 20 "
                         "effective sequences or more");
    std::stable_sort(predicted.pairs.begin(), predicted.pairs.end(),
                     [](const auto& a, const auto& b) { return a.probability > b.probability; });
    return predicted;
}

std::vector<double> Stages::fit_frames(const Ensemble& ensemble, const Profile& curve,
                                       const Context& context) {
    Context own = context;
    if (!device_is_named_) own.device = {Device::Kind::cpu, 0};
    return frame_chi2(
        saxs::run(std::span(&ensemble, 1), &curve, nullptr, frame_fit_parameters(), own));
}

Clusters Stages::cluster_frames(View<const float, 3> xyz, const cluster::Parameters& parameters,
                                const Context& context) {
    Context own = context;
    own.checkpoint.clear();
    if (parameters.method == cluster::Method::kcenters) {
        own.device = {Device::Kind::cpu, 0};  // as superposed_rows() says
        return clusters_of(cluster::run(*rmsd::superposed_rows(xyz, {}, {}, own), parameters, own));
    }
    const rmsd::ClusteringDevice device = rmsd::choose_clustering_device(
        xyz.extent(0), xyz.extent(1), {}, parameters.method == cluster::Method::gromos,
        device_is_named_, own);
    const std::unique_ptr<PairSource> distances =
        rmsd::superposed_pairs(xyz, {}, {}, device.reduces, own);
    return clusters_of(cluster::run(*distances, parameters, own));
}

PredictedContacts Stages::fit_couplings(const Alignment& alignment, const std::string& row,
                                        const Context& context) {
    constexpr Index kMinColumnsApart = 6;
    Context own = context;
    choose_device(device_is_named_, couplings::gpu_memory_needed(alignment), own);
    const couplings::Parameters parameters = score_parameters();
    const couplings::Result result = couplings::run(alignment, parameters, own);
    const Index number = row.empty() ? 0 : find_row(alignment, row);
    return predicted_contacts(alignment, make_reference_row(alignment, number),
                              couplings::rank_pairs(alignment, result,
                                                    {.min_separation = kMinColumnsApart,
                                                     .is_calibrated = couplings::has_probabilities(
                                                         parameters, *alignment.alphabet),
                                                     .threads = resolve_threads(own)}));
}

}  // namespace pleat::select
