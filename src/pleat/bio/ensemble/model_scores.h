// Model scores: what programs that predict models say of each of them, and pLDDT in the models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/model_folder.h"

namespace pleat {

/// Numbers with their names, in the order of the file.
using NamedScores = std::vector<std::pair<std::string, double>>;

/// The models in the order of AlphaFold 2's ranking_debug.json. Throws InputError.
std::vector<std::string> model_order(const std::filesystem::path& ranking);

/// One score of a model, without reading the model itself; nothing if no file has it. Throws
/// InputError for a damaged file.
std::optional<double> model_score(const ModelFolder& folder, const PredictedModel& model,
                                  std::string_view column);

/// All scores of a model: each number of its files by the name that the program gives it (a missing
/// one is NaN), of pLDDT per residue the mean, `plddt`. If the files have no pLDDT, the mean over
/// residues of the model's B factors. Of ColabFold's matrix of predicted aligned errors the mean,
/// `mean_pae`, and of complexes that between chains, `inter_chain_pae`. Other matrices and lists
/// are passed over. Throws InputError if the model has no file of scores, except of AlphaFold DB,
/// which has none, or a damaged one.
NamedScores model_scores(const ModelFolder& folder, const PredictedModel& model);

/// The column of these scores by which the program ranks its models, or the closest to it; empty if
/// there is none.
std::string ranking_column(Predictor program, const std::vector<std::string>& columns);

}  // namespace pleat
