// Made models: folders as programs that predict structures write them, small and without meaning.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pleat/bio/tests/structure_text.h"
#include "pleat/core/files/npy.h"

namespace pleat::testing {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

/// CA atoms of residues 1 to 4 with this B factor, the last one at `x`, by which models are told
/// apart.
inline std::string model_pdb(double x, double b_factor, const std::string& last = "GLY") {
    std::string text;
    for (int number = 1; number <= 4; ++number) {
        std::string line = test::pdb_line({.residue = number == 4 ? last : "ALA",
                                           .number = number,
                                           .x = number == 4 ? x : 3.8 * number});
        char b[16];
        std::snprintf(b, sizeof b, "%6.2f", b_factor + number);
        line.replace(60, 6, b);
        text += line;
    }
    return text + "END\n";
}
inline std::string model_cif(double x) {
    std::string text = test::kCifHeader;
    for (int number = 1; number <= 4; ++number)
        text += test::cif_line({.serial = number,
                                .residue = number == 4 ? "GLY" : "ALA",
                                .number = number,
                                .x = number == 4 ? x : 3.8 * number});
    return text + "#\n";
}

/// Three models of ColabFold, the first two also relaxed; of rank r the last atom is at 20 + r,
/// relaxed at 30 + r.
inline void make_colabfold(const std::filesystem::path& folder) {
    const std::vector<std::string> models = {"model_4_seed_000", "model_1_seed_000",
                                             "model_3_seed_001"};
    for (int rank = 1; rank <= 3; ++rank) {
        const std::string model =
            "rank_00" + std::to_string(rank) + "_alphafold2_ptm_" + models[rank - 1];
        write_file(folder / ("job_unrelaxed_" + model + ".pdb"), model_pdb(20 + rank, 90 - rank));
        if (rank < 3)
            write_file(folder / ("job_relaxed_" + model + ".pdb"), model_pdb(30 + rank, 90));
        write_file(folder / ("job_scores_" + model + ".json"),
                   "{\"plddt\": [90.5, " + std::to_string(91 - rank) +
                       "], \"max_pae\": 20.5, \"pae\": [[0, 2, 3, 1], [2, 0, 5, 1], [3, 4, 0, 1], "
                       "[6, 5, 7, 0]], \"ptm\": 0." +
                       std::to_string(9 - rank) + "}");
    }
    write_file(folder / "job.a3m", ">job\nAAAG\n");
    write_file(folder / "config.json", "{}");
}

/// Three models of AlphaFold 2: model_2 is the best one, then model_10 and model_1. Each is there
/// unrelaxed, the best one relaxed, and ranked_N are copies.
inline void make_alphafold2(const std::filesystem::path& folder, bool with_ranking = true) {
    const std::vector<std::string> order = {"model_2_pred_0", "model_10_pred_0", "model_1_pred_0"};
    for (int rank = 0; rank < 3; ++rank) {
        const std::string& model = order[static_cast<std::size_t>(rank)];
        write_file(folder / ("unrelaxed_" + model + ".pdb"), model_pdb(20 + rank, 80 - 10 * rank));
        if (rank == 0) write_file(folder / ("relaxed_" + model + ".pdb"), model_pdb(30, 80));
        write_file(folder / ("ranked_" + std::to_string(rank) + ".pdb"),
                   model_pdb(rank == 0 ? 30 : 20 + rank, 80 - 10 * rank));
        // Versions since 2.3.2 write both formats.
        write_file(folder / ("ranked_" + std::to_string(rank) + ".cif"),
                   model_cif(rank == 0 ? 30 : 20 + rank));
    }
    if (with_ranking)
        write_file(folder / "ranking_debug.json",
                   "{\"iptm+ptm\": {\"model_1_pred_0\": 0.5, \"model_2_pred_0\": 0.9, "
                   "\"model_10_pred_0\": 0.7}, \"order\": [\"model_2_pred_0\", "
                   "\"model_10_pred_0\", \"model_1_pred_0\"]}");
}

/// Four models of AlphaFold 3, the best of seed 2, and its copy at the top. `named`: files have the
/// job's name, as since version 3.0.
inline void make_alphafold3(const std::filesystem::path& folder, bool named) {
    const std::string job = named ? "job_" : "";
    std::string table = "seed,sample,ranking_score\n";
    for (int seed = 1; seed <= 2; ++seed)
        for (int sample = 0; sample < 2; ++sample) {
            const std::string name =
                "seed-" + std::to_string(seed) + "_sample-" + std::to_string(sample);
            const double score = 0.5 + 0.1 * seed - 0.05 * sample;
            const std::string prefix = named ? "job_" + name + "_" : "";
            write_file(folder / name / (prefix + "model.cif"), model_cif(20 + 2 * seed + sample));
            write_file(folder / name / (prefix + "summary_confidences.json"),
                       "{\"chain_ptm\": [0.5], \"has_clash\": 0.0, \"iptm\": null, \"ptm\": 0.75, "
                       "\"ranking_score\": " +
                           std::to_string(score) + "}");
            table += std::to_string(seed) + "," + std::to_string(sample) + "," +
                     std::to_string(score) + "\n";
        }
    write_file(folder / (job + "model.cif"), model_cif(24));
    write_file(folder / (job + "ranking_scores.csv"), table);
}

/// Models of AlphaFold's server, as its archive has them.
inline void make_server(const std::filesystem::path& folder) {
    for (int rank = 0; rank < 3; ++rank) {
        const std::string number = std::to_string(rank);
        write_file(folder / ("fold_job_model_" + number + ".cif"), model_cif(20 + rank));
        write_file(folder / ("fold_job_summary_confidences_" + number + ".json"),
                   "{\"ranking_score\": 0." + std::to_string(9 - rank) + "}");
    }
}

/// Models of Boltz in predictions/job.
inline void make_boltz(const std::filesystem::path& folder, const std::string& job = "job",
                       int count = 3) {
    for (int rank = 0; rank < count; ++rank) {
        const std::string name = job + "_model_" + std::to_string(rank);
        const std::filesystem::path to = folder / "predictions" / job;
        write_file(to / (name + ".cif"), model_cif(20 + rank));
        write_file(to / ("confidence_" + name + ".json"),
                   "{\"confidence_score\": 0." + std::to_string(9 - rank) +
                       ", \"complex_plddt\": 0.8, \"chains_ptm\": {\"0\": 0.5}}");
    }
}

/// Models of Chai-1, of which number 1 has the highest aggregate score, then 2 and 0.
inline void make_chai(const std::filesystem::path& folder) {
    const float aggregate[] = {0.25F, 0.75F, 0.5F};
    for (int number = 0; number < 3; ++number) {
        write_file(folder / ("pred.model_idx_" + std::to_string(number) + ".cif"),
                   model_cif(20 + number));
        NpzWriter scores(folder / ("scores.model_idx_" + std::to_string(number) + ".npz"));
        scores.add("aggregate_score", aggregate + number, {1});
        scores.add("ptm", aggregate + number, {1});
        const float per_chain[] = {0.5F, 0.25F};
        scores.add("per_chain_ptm", per_chain, {1, 2});
        scores.close();
    }
}

/// Two versions of one protein as AlphaFold DB gives them.
inline void make_database(const std::filesystem::path& folder) {
    write_file(folder / "AF-P12345-F1-model_v3.pdb", model_pdb(20, 70));
    write_file(folder / "AF-P12345-F1-model_v4.pdb", model_pdb(21, 80));
    write_file(folder / "AF-P12345-F1-predicted_aligned_error_v4.json", "[]");
}

}  // namespace pleat::testing
