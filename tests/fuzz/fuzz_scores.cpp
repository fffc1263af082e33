// Fuzzer of the scores of predicted models: any bytes give named numbers or an InputError.
#include "harness.h"

#include <set>

#include "pleat/bio/ensemble/model_folder.h"

namespace {

using namespace pleat;

/// Three residues of two chains, with their B factors.
constexpr std::string_view kModel =
    "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00 80.00           C\n"
    "ATOM      2  CA  GLY A   2       4.000   2.000   3.000  1.00 70.00           C\n"
    "ATOM      3  CA  ALA B   1       1.000   9.000   3.000  1.00 60.00           C\n";

/// No two of one name.
void check(const NamedScores& scores) {
    fuzz::require(!scores.empty());
    std::set<std::string> names;
    for (const auto& [name, value] : scores) fuzz::require(names.insert(name).second);
}

const std::string& model_file() {
    static const fuzz::MemoryFile model(kModel);
    return model.path();
}

/// Of a model of ColabFold, whose matrix of errors has a row per residue.
void read_own_scores(const std::string& file) {
    const PredictedModel of{.name = "model", .file = model_file(), .scores = file};
    check(model_scores({.program = PredictionProgram::colabfold}, of));
}

/// Of all models by AlphaFold 2.
void read_ranking(const std::string& file) {
    const ModelFolder folder{.program = PredictionProgram::alphafold2, .scores = file};
    for (const std::string& key : model_order(file)) {
        const PredictedModel of{.name = key, .file = model_file(), .key = key};
        model_score(folder, of, "plddt");
    }
}

/// Of all models by AlphaFold 3.
void read_table(const std::string& file) {
    const ModelFolder folder{.program = PredictionProgram::alphafold3, .scores = file};
    const PredictedModel of{.name = "seed-1_sample-0", .file = model_file(), .key = "1\t0"};
    if (model_score(folder, of, "ranking_score")) check(model_scores(folder, of));
}

}  // namespace

/// The first byte tells what wrote the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const fuzz::MemoryFile file(fuzz::text_of(data + 1, size - 1));
    try {
        switch (data[0] % 3) {
            case 0: read_own_scores(file.path()); break;
            case 1: read_ranking(file.path()); break;
            default: read_table(file.path());
        }
    } catch (const InputError& error) {
        // A file without scores is a fault of its model.
        const bool is_of_model = std::string_view(error.what()).starts_with(model_file() + ":");
        fuzz::require_refusal(error, is_of_model ? model_file() : file.path());
    }
    return 0;
}
