// Report: draws any set of runs into one HTML page that needs no other files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pleat/core/fields.h"

#pragma GCC visibility push(default)

namespace pleat::report {

/// What a page shows.
struct Parameters {
    std::string structure;  ///< FILE[:CHAIN] for runs on alignments; empty: the one each run used
    std::string title;      ///< of the page; empty: the names of the runs
    std::int64_t rows = 1000;   ///< maximum number of rows of a table
    std::int64_t cells = 1000;  ///< maximum number of cells along a side of a matrix of frames
};
std::vector<Field> fields(Parameters& parameters);

struct Page {
    std::string html;
    std::int64_t runs = 0, sections = 0;
    std::vector<std::string> notes;  ///< what is missing on the page, and why
};

/// Draws the folders of runs in their order, each followed by the runs in folders within it. The
/// folder of a list of jobs is drawn as its table, with a plot for each swept option. Texts
/// of files never become markup: the page holds them as JSON in which every '<' is escaped, and its
/// script inserts them as text. Throws InputError, with file and line, if a folder has no manifest
/// or a file is damaged, and DeviceError if a file does not fit into memory. Memory: several times
/// the page and the largest table.
Page draw(const std::vector<std::filesystem::path>& runs, const Parameters& parameters);

/// Whether a file is a page made by draw(), which may therefore be replaced.
bool is_page(const std::filesystem::path& path);

}  // namespace pleat::report

#pragma GCC visibility pop
