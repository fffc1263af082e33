// Model folders: the folders in which AlphaFold, ColabFold, Boltz and Chai-1 leave predicted
// models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/notes.h"

namespace pleat {

/// What wrote the models of a folder.
enum class Predictor { alphafold2, colabfold, alphafold3, boltz, chai, alphafold_database };
std::string_view name_of(Predictor program);

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
    Predictor program = Predictor::alphafold2;
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

}  // namespace pleat
