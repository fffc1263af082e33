// Select: contacts, clusters and profiles of one ensemble, and the ranking made from them.
#include "pleat/workflows/select/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/core/notes.h"
#include "pleat/core/ranks/lanes.h"
#include "pleat/rmsd/device_choice.h"
#include "pleat/workflows/select/contacts.h"
#include "pleat/workflows/select/ranking.h"
#include "pleat/workflows/select/stages.h"

namespace pleat::select {

namespace {

void check_input(const Input& input, Parameters parameters) {
    check(fields(parameters));
    if (input.ensemble == nullptr) throw UsageError("expected an ensemble, found none");
    if (input.alignment != nullptr && input.contacts != nullptr)
        throw UsageError("give either an alignment or contacts, not both");
    if (!wants_cutoff(parameters.clustering)) cluster::check_options(parameters.clustering);
    check_weights(parameters, input.alignment != nullptr || input.contacts != nullptr,
                  input.curve != nullptr, input.uses_score);
    if (input.uses_score && input.ensemble->scores.ranked_by.empty())
        throw UsageError("expected a score by which frames are ranked, found none");
}

/// The structure whose residues the predicted sequence is aligned to.
Structure read_residues(const Input& input, const Context& context) {
    const Topology& topology = *input.ensemble->topology;
    const std::filesystem::path file = input.structure.empty() ? topology.source : input.structure;
    if (!topology.named)
        throw InputError(file.string(), 0,
                         "expected atoms with names for contacts, found coordinates only: give "
                         "--topology");
    if (input.structure.empty() && !topology.has_chain_names)
        throw InputError(file.string(), 0,
                         "expected a PDB or mmCIF file for the residues of contacts, found another "
                         "topology: give --structure");
    Notes notes;
    Structure structure = read_structure(file, &notes);
    // Notes on the ensemble's own file were reported before.
    if (!input.structure.empty()) context.notes(notes);
    return structure;
}

/// Warns if a structure may belong to a different family than `sequence`.
void warn_of_other_structure(const Structure& structure, const std::string& chain, double identity,
                             const std::string& sequence, const Context& context) {
    const std::string doubt =
        doubt_about_family(structure.source.string(), chain, identity, sequence);
    if (!doubt.empty()) context.message(doubt);
}

/// Name of the alignment's row that fits the ensemble's sequence best; empty if several rows have
/// that name, and then the first row counts. Throws InputError for an alignment of another family.
std::string best_row(const Alignment& alignment, const Structure& structure,
                     const Context& context) {
    if (alignment.alphabet->kind() != Alphabet::Kind::protein)
        throw InputError(alignment.source.string(), 0,
                         fmt::format("expected an alignment of proteins, found one of {}",
                                     alignment.alphabet->name()));
    const ResidueMap map = map_residues(alignment, structure);
    warn_of_other_structure(structure, map.chain_name, map.identity,
                            fmt::format("row '{}'", map.row_name), context);
    try {
        if (find_row(alignment, map.row_name) == map.row) return map.row_name;
    } catch (const UsageError&) {
        // Several rows have that name.
    }
    return {};
}

ExpectedContacts expect(const Input& input, const PredictedContacts& predicted,
                        const Structure& structure, const Parameters& parameters,
                        const Context& context) {
    const auto length = static_cast<double>(predicted.sequence.size());
    const auto count =
        static_cast<Index>(std::max(1.0, std::round(parameters.contacts_per_residue * length)));
    ExpectedContacts expected =
        expected_contacts(predicted, structure, *input.ensemble->topology, count);
    if (expected.pairs_without_atoms > 0)
        context.message(
            fmt::format("{} of {} expected contacts are between residues that the ensemble does "
                        "not have: they do not count",
                        expected.pairs_without_atoms, count));
    return expected;
}

/// [frame, contact]: 1 if the frame forms it.
Array<std::uint8_t, 2> formed_contacts(const Ensemble& ensemble,
                                       const std::vector<ExpectedContact>& contacts, double cutoff,
                                       const Context& context) {
    constexpr Index kFramesPerStep = 256;
    const Index frames = ensemble.frame_count();
    const auto count = static_cast<Index>(contacts.size());
    require_memory(frames * count, fmt::format("{} contacts of {} frames", count, frames),
                   "take fewer frames (--frames) or contacts (--contacts-per-residue)");
    Array<std::uint8_t, 2> formed_contacts(frames, count);
    for_each_block(
        context, "contacts", frames, kFramesPerStep,
        [&](Index first, Index block) {
            for (Index frame = first; frame < first + block; ++frame)
                mark_formed(ensemble.xyz[frame], contacts, cutoff,
                            formed_contacts.view()[frame].data);
        },
        "frames");
    return formed_contacts;
}

/// The density of each frame: the fraction of other frames closer than `cutoff` angstrom.
std::vector<double> densities(const PairSource& distances, double cutoff, const Context& context) {
    const Index frames = distances.count();
    std::vector<double> density(static_cast<std::size_t>(frames), 0.0);
    if (frames < 2) return density;
    const auto neighbours = cluster::find_neighbours(distances, cutoff, context, 0);
    for (std::size_t frame = 0; frame < density.size(); ++frame)
        density[frame] =
            static_cast<double>(neighbours->degrees()[frame] - 1) / static_cast<double>(frames - 1);
    return density;
}

/// The score of each frame as evidence: higher is better, unknown evidence is worst.
std::vector<double> score_evidence(const Input& input) {
    if (!input.uses_score) return {};
    std::vector<double> values = input.ensemble->scores.ranking();
    for (double& value : values) {
        if (input.ensemble->scores.lowest_is_best) value = -value;
        if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
    }
    return values;
}

/// Densities, the ranking, and the RMSD from the medoid of the first selected cluster.
void rank_frames(View<const float, 3> xyz, const Input& input, const Parameters& parameters,
                 const Context& context, Result& result) {
    Context own = context;
    own.checkpoint.clear();
    rmsd::choose_clustering_device(xyz.extent(0), xyz.extent(1), {}, false, input.device_is_named,
                                   own);
    const std::unique_ptr<PairSource> distances = rmsd::superposed_pairs(xyz, {}, {}, false, own);
    result.density = densities(*distances, result.cutoff, own);
    std::vector<double> contact_strengths;
    for (const ExpectedContact& contact : result.expected.contacts)
        contact_strengths.push_back(contact.strength);
    const std::vector<double> score = score_evidence(input);
    Ranking ranking = rank({.formed_contacts = result.formed_contacts,
                            .contact_strengths = contact_strengths,
                            .assignment = result.assignment,
                            .density = result.density,
                            .chi2 = result.chi2,
                            .score = score},
                           parameters);
    result.scores = std::move(ranking.scores);
    result.clusters = std::move(ranking.clusters);
    result.explained_by = std::move(ranking.explained_by);
    if (result.clusters.empty() || result.clusters.front().selected == 0) return;
    const Index medoid = result.medoids[result.clusters.front().cluster];
    result.rmsd.resize(static_cast<std::size_t>(distances->count()));
    distances->rows(std::span(&medoid, 1), result.rmsd.data());
}

}  // namespace

double usual_cutoff(Index residues) {
    const double d0 = 1.24 * std::cbrt(static_cast<double>(residues) - 15) - 1.8;
    return std::max(1.0, std::round(100 * d0) / 100);
}

Result run(const Input& input, const Parameters& parameters, const Context& context) {
    Stages stages(input.device_is_named);
    return run(input, parameters, context, stages);
}

Result run(const Input& input, const Parameters& parameters, const Context& context,
           Stages& stages) {
    require_one_device(context, "select");
    check_input(input, parameters);
    const Ensemble& ensemble = *input.ensemble;
    const std::vector<Index>& atoms = input.superposed;
    Result result;
    std::optional<Structure> structure;
    std::string row;
    // Checks the input before the first long computation.
    if (input.alignment != nullptr || input.contacts != nullptr)
        structure = read_residues(input, context);
    if (input.alignment != nullptr) row = best_row(*input.alignment, *structure, context);
    if (input.contacts != nullptr) {
        result.expected = expect(input, *input.contacts, *structure, parameters, context);
        warn_of_other_structure(*structure, result.expected.chain, result.expected.identity,
                                fmt::format("the sequence of {}", input.contacts->source.string()),
                                context);
    }
    if (input.curve != nullptr) result.chi2 = stages.fit_frames(ensemble, *input.curve, context);

    const Index residues =
        static_cast<Index>(atoms.empty() ? ensemble.topology->residues.size()
                                         : subset(*ensemble.topology, atoms).residues.size());
    cluster::Parameters clustering = parameters.clustering;
    if (wants_cutoff(clustering)) clustering.cutoff = usual_cutoff(residues);
    const Array<float, 3> xyz = atom_by_atom(ensemble, atoms, resolve_threads(context));
    Clusters clusters = stages.cluster_frames(xyz, clustering, context);
    result.assignment = std::move(clusters.assignment);
    result.medoids = std::move(clusters.medoids);
    result.cutoff = clusters.cutoff.value_or(usual_cutoff(residues));
    if (input.alignment != nullptr) {
        const PredictedContacts predicted = stages.fit_couplings(*input.alignment, row, context);
        result.expected = expect(input, predicted, *structure, parameters, context);
    }
    if (!result.expected.contacts.empty())
        result.formed_contacts =
            formed_contacts(ensemble, result.expected.contacts, parameters.contact_cutoff, context);
    rank_frames(xyz, input, parameters, context, result);
    return result;
}

}  // namespace pleat::select
