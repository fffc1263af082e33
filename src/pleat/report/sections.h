// Sections: the parts of a page about one run, each drawn from files with a certain content.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pleat/report/run_files.h"

namespace pleat::report {

/// How much of long results a page shows.
struct Limits {
    Index rows = 1000;   ///< rows of a table
    Index cells = 1000;  ///< cells along a side of a matrix
};

/// One run while it is drawn: its sections in the order of the page, and the files that they show.
struct Drawing {
    const RunFolder& run;
    const Limits& limits;
    std::string structure;            ///< --structure, or empty
    std::vector<std::string>& notes;  ///< remarks for the user
    Json sections = Json::array();
    std::set<std::string> drawn = {};

    void add(Json section) { sections.push_back(std::move(section)); }
    /// Marks a file as drawn; returns false if the run lacks it or it was already drawn.
    bool claim_file(const std::string& file);
    /// Adds the rows of such a table.
    void add_table(const std::string& file, const std::string& title);
};

/// Pairs and triples of columns: contact map, molecule, values by column, lists.
void draw_columns(Drawing& drawing);
/// Effects of mutations: all single ones, residues, the family's logo, measurements.
void draw_mutants(Drawing& drawing);
/// Draws frames ranked by several scores, and the selected clusters.
void draw_selection(Drawing& drawing);
/// Draws frames sampled by Monte Carlo chains: distributions, and values by frame.
void draw_refinement(Drawing& drawing);
/// Draws distances between frames, and clusters of frames.
void draw_frames(Drawing& drawing);
/// Draws a trajectory's transitions between clusters, and dwell times.
void draw_states(Drawing& drawing);
/// Draws scattering profiles, fits to a curve, and pair distances.
void draw_scattering(Drawing& drawing);
/// Draws tables and JSON files that no other function has drawn.
void draw_other_files(Drawing& drawing);

/// Adds "subject" (the name of the data), "title" and "headline" ({"sentence", "tiles"}) to a run
/// on the page, if its manifest has the results of a known command. `named_after`: the run whose
/// first input names the data; for a stage the run that it belongs to.
void add_headline(const RunFolder& run, const RunFolder& named_after, Json& shown);

/// MI, Z and percentile of triples against those of their pairs.
void draw_triples(Drawing& drawing);

/// A mutual information run with both null models, and its number of shuffles.
struct SampledRun {
    std::filesystem::path folder;
    double shuffles;  ///< NaN: not known
};
/// A curve of the errors of the sampled null model over the numbers of shuffles; null if fewer than
/// two numbers have runs with pairs.npz.
Json null_error_section(const std::vector<SampledRun>& runs);

/// Whether the folder holds many jobs and their table instead of a run.
bool is_job_list(const std::filesystem::path& folder);
/// The sections for a folder of jobs: the table, and a plot per swept option.
Json draw_job_list(const std::filesystem::path& folder, const std::string& name,
                   const Limits& limits);

/// The models of a PDB file (coordinate records only), up to the number that the page has room for.
/// `item`: what a model is ("frame"), numbered from `first`.
void draw_models(Drawing& drawing, const std::string& file, const char* title, const char* item,
                 Index first = 0);
/// A section {"kind": "table"} with the table's cells as text.
Json table_section(const std::string& title, const Table& table);
/// A number for JSON: null for NaN and infinities.
Json finite(double value);
Json finite(const std::vector<double>& values);

}  // namespace pleat::report
