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

/// The file name without folder, file type and compression endings: "a" for "x/a.pdb.gz".
std::string name_without_endings(const std::filesystem::path& path);

/// The entries of a folder. Throws InputError if it cannot be read.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder);

/// The files of a folder that are not hidden and whose endings, such as ".pdb" in lower case and
/// without that of a packed file, `is_wanted` accepts, in the order of comes_before().
std::vector<std::string> files_in(const std::filesystem::path& folder,
                                  bool (*is_wanted)(const std::string& ending));
/// The coordinate files of a folder (see ensemble_files.h), in that order.
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
    /// Sorted by the program's ranking, best first; by name if there is no ranking.
    std::vector<PredictedModel> models = {};
    bool is_ranked = true;
    Notes notes = {};
};

/// Which copy of a model is read if both a relaxed and an unrelaxed one exist.
enum class Relaxation { unrelaxed, relaxed };

/// Finds the models of a folder in one of the layouts in README.md; nothing if no layout matches.
/// Throws InputError if a folder contains both models and other coordinate files, if relaxed copies
/// are wanted and there are none, and for damaged score files that rank the models.
std::optional<ModelFolder> find_models(const std::filesystem::path& folder, Relaxation wanted);

/// Numbers with their names, in the order of the file.
using NamedScores = std::vector<std::pair<std::string, double>>;

/// The models in the order of AlphaFold 2's ranking_debug.json. Throws InputError.
std::vector<std::string> model_order(const std::filesystem::path& ranking);

/// One score of a model, without reading the model itself; nothing if no file has it. Throws
/// InputError for a damaged file.
std::optional<double> model_score(const ModelFolder& folder, const PredictedModel& model,
                                  std::string_view column);

/// Returns all scores of a model: each number in its score files, under the name that the program
/// uses (missing values are NaN), and `plddt`, the mean of pLDDT over residues; without pLDDT in
/// these files, the mean B factor over residues. For ColabFold also `mean_pae`, the mean of its PAE
/// matrix, and for complexes `inter_chain_pae`, the mean between chains. Other matrices and lists
/// are ignored. Throws InputError for damaged score files and, except for AlphaFold DB, for missing
/// ones.
NamedScores model_scores(const ModelFolder& folder, const PredictedModel& model);

/// The column by which the program ranks its models, or the closest one available; empty if there
/// is none.
std::string ranking_column(PredictionProgram program, const std::vector<std::string>& columns);

}  // namespace pleat
