// Output: writes the result of a fit to files of a run directory.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/run/result_columns.h"
#include "pleat/couplings/contacts/contact_list.h"
#include "pleat/couplings/contacts/evaluation.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/analysis.h"

namespace pleat::couplings {

/// The content of the files. Everything that is pointed or referred to must outlive it.
struct Report {
    const Alignment& alignment;  ///< as fitted
    const Parameters& parameters;
    const Result& result;
    const ReferenceRow& reference;
    const std::vector<RankedPair>& pairs;       ///< from rank_pairs()
    const KnownStructure* structure = nullptr;  ///< null: no structure
    const ContactEvaluation* evaluation = nullptr;
    const BasePairs* base_pairs = nullptr;        ///< of nucleic acids
    const ScoredParts* parts = nullptr;           ///< null: one part
    const phylogeny::TreeResult* tree = nullptr;  ///< with ScoreNull::tree
    ModelFiles models = ModelFiles::none;         ///< those to write, of Result::model
};

/// What a result holds, each value described once; see ResultColumn.
ResultColumns columns(const Report& report);

/// Writes scores.npz (`raw`, `corrected`: L x L; `columns`), scores.mat, contacts.tsv, contacts.rr
/// (proteins only), weights.npy and, with a structure, evaluation.tsv and evaluation.json, and with
/// parts contacts_inter.tsv;
/// README.md of this folder describes each. With Report::models also couplings.npz or
/// model.plmc, which are large: bytes_of(). With several threads one
/// thread per file writes them at the same time. Throws OutputError for the first file that cannot
/// be written.
void write_results(RunDirectory& run, const Report& report, int threads);

/// Keys (core/run/citations.bib) of the papers that describe a fit with these parameters.
std::vector<std::string_view> citations(const Parameters& parameters);

}  // namespace pleat::couplings
