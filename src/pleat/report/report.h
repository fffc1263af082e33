// Report: any set of runs drawn into one HTML page that needs nothing else.
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
    std::string
        structure;      ///< FILE[:CHAIN] for runs over columns; empty: the one each run was given
    std::string title;  ///< of the page; empty: the names of the runs
    std::int64_t rows = 1000;   ///< of a table
    std::int64_t cells = 1000;  ///< along a side of a matrix of frames
};
std::vector<Field> fields(Parameters& parameters);

struct Page {
    std::string html;
    std::int64_t runs = 0, sections = 0;
    std::vector<std::string> notes;  ///< what is not shown, and why
};

/// Draws the folders of runs in their order, each followed by the runs in folders within it. Texts
/// of files are data in the page, never markup: the page holds them as JSON in which every '<' is
/// escaped, and its script sets them as text alone. InputError, naming file and line, for a folder
/// without a manifest and files that are damaged; DeviceError for a file that memory does not hold.
/// Memory: several times the page and the largest table.
Page draw(const std::vector<std::filesystem::path>& runs, const Parameters& parameters);

/// Whether a file is a page that draw() made, so that it may be replaced.
bool is_page(const std::filesystem::path& path);

}  // namespace pleat::report

#pragma GCC visibility pop
