// Model folders: the folders in which AlphaFold, ColabFold, Boltz and Chai-1 leave predicted
// models, and their scores.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/core/notes.h"

namespace pleat {

/// Whether a name comes before another one, with runs of digits compared as numbers: 2 before 10.
bool comes_before(const std::string& left, const std::string& right);

/// The file's name without its folder, its ending and that of its compression: "a" of "x/a.pdb.gz".
std::string name_without_endings(const std::filesystem::path& path);

/// What is in a folder. Throws InputError if it cannot be read.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder);

/// The coordinate files of a folder (see ensemble_files.h), sorted by their names.
std::vector<std::string> coordinate_files(const std::filesystem::path& folder);

/// What wrote the models of a folder.
enum class PredictionProgram { alphafold2, colabfold, alphafold3, boltz, chai, alphafold_database };
std::string_view name_of(PredictionProgram program);

/// One model of a folder.
struct PredictedModel {
    std::string name =
        {};  ///< as the program names it: "ranked_0", "seed-1_sample-0", "JOB_model_0"
    std::string file = {};
    std::string scores = {};  ///< file of its own scores; empty: none
    std::string key = {};  ///< its name in the folder's `scores`; empty if it is not listed there
};

/// The models of a folder, each once.
struct ModelFolder {
    std::string path = {};
    PredictionProgram program = PredictionProgram::alphafold2;
    std::string scores = {};  ///< file of the scores of all models; empty: none
    /// In the order of the program's ranking, the best first; of their names if they are not
    /// ranked.
    std::vector<PredictedModel> models = {};
    bool is_ranked = true;
    Notes notes = {};
};

/// Which of two copies of a model is read if both exist.
enum class Relaxation { unrelaxed, relaxed };

/// Finds the models of a folder in one of the layouts that README.md lists; nothing if it has none
/// of them. Throws InputError if models lie beside other coordinate files, if none is relaxed as
/// was asked for, and for damaged files of scores by which models are ranked.
std::optional<ModelFolder> find_models(const std::filesystem::path& folder, Relaxation wanted);

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
std::string ranking_column(PredictionProgram program, const std::vector<std::string>& columns);

}  // namespace pleat
