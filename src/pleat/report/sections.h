// Sections: what a page shows of a run, each made from files that hold a certain kind of thing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pleat/report/run_folder.h"
#include "pleat/report/table.h"

namespace pleat::report {

/// How much of long results a page holds.
struct Limits {
    Index rows = 1000;   ///< of a table
    Index cells = 1000;  ///< along a side of a matrix
};

/// What the readers of files add to: sections in the order of the page, and which files are drawn.
struct Drawing {
    const RunFolder& run;
    const Limits& limits;
    std::string structure;            ///< --structure, or empty
    std::vector<std::string>& notes;  ///< what the user should know
    Json sections = Json::array();
    std::set<std::string> drawn = {};

    void add(Json section) { sections.push_back(std::move(section)); }
    /// Whether the run has the file and none has drawn it yet; it then counts as drawn.
    bool take(const std::string& file);
};

/// Pairs and triples of columns: contact map, molecule, values by column, lists.
void draw_columns(Drawing& drawing);
/// Frames ranked by several scores, and the clusters selected of them.
void draw_selection(Drawing& drawing);
/// Distances between frames, and clusters of them.
void draw_frames(Drawing& drawing);
/// Profiles of scattering, fits to a curve, and pair distances.
void draw_scattering(Drawing& drawing);
/// Tables, results and arrays that no other reader took.
void draw_rest(Drawing& drawing);

/// The models of a PDB file, coordinate records alone, as long as the page has room. `item`: what
/// each is one of, counted from `first`.
void draw_models(Drawing& drawing, const std::string& file, const char* title, const char* item,
                 Index first = 0);
/// {"kind": "table"} with the texts of the kept rows.
Json table_section(const std::string& title, const Table& table);
/// A number for JSON: null for NaN and infinities.
Json finite(double value);
Json finite(const std::vector<double>& values);

}  // namespace pleat::report
