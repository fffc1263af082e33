// Report: inserts the sections of all runs as data into the built page.
#include "pleat/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "pleat/core/hardware/embedded_file.h"
#include "pleat/core/run/folder_claim.h"
#include "pleat/core/version.h"
#include "pleat/report/sections.h"

PLEAT_EMBED(pleat_page, PLEAT_PAGE)

namespace pleat::report {

namespace {

/// The text in the template that the data replace; vite.config.ts writes the same.
constexpr std::string_view kMark = "{\"pleat\":\"no data\"}";
/// The comment that every page begins with.
constexpr std::string_view kFirstLine = "<!doctype html>\n<!-- A page of pleat report:";

/// JSON that is safe inside a script element: no '<' can begin a tag or a comment. Invalid UTF-8 is
/// replaced.
std::string script_text(const Json& json) {
    const std::string plain = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string text;
    text.reserve(plain.size());
    for (const char c : plain) {
        if (c == '<') {
            text += "\\u003c";
        } else {
            text += c;
        }
    }
    return text;
}

/// A run and its name on the page. `parent`: the run that contains its folder; may be empty.
struct NamedRun {
    std::filesystem::path path;
    std::string name;
    std::filesystem::path parent = {};
};

/// The runs in folders within a run, such as the stages of a selection, sorted by name.
std::vector<NamedRun> runs_within(const std::filesystem::path& run) {
    std::vector<NamedRun> within;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(run, ignored))
        if (!is_hidden_name(entry.path().filename().string()) &&
            std::filesystem::is_regular_file(entry.path() / "manifest.json", ignored))
            within.push_back(
                {entry.path(), folder_name(run) + "/" + entry.path().filename().string(), run});
    std::sort(within.begin(), within.end(),
              [](const NamedRun& a, const NamedRun& b) { return a.name < b.name; });
    return within;
}

/// Lists each run once, followed by the runs inside it.
std::vector<NamedRun> all_runs(const std::vector<std::filesystem::path>& runs) {
    std::vector<NamedRun> all;
    const auto add = [&](NamedRun run) {
        std::error_code ignored;
        for (const NamedRun& known : all)
            if (std::filesystem::equivalent(known.path, run.path, ignored)) return;
        all.push_back(std::move(run));
    };
    for (const std::filesystem::path& run : runs) {
        add({run, folder_name(run)});
        if (is_job_list(run)) continue;  // its runs may be thousands
        for (NamedRun& one : runs_within(run)) add(std::move(one));
    }
    return all;
}

Json draw_run(const NamedRun& named, const Parameters& parameters,
              std::vector<std::string>& notes) {
    const Limits limits{.rows = parameters.rows, .cells = parameters.cells};
    if (is_job_list(named.path)) return draw_job_list(named.path, named.name, limits);
    const RunFolder run(named.path);
    std::vector<std::string> run_notes;
    Drawing drawing{
        .run = run, .limits = limits, .structure = parameters.structure, .notes = run_notes};
    draw_selection(drawing);
    draw_mutants(drawing);
    draw_columns(drawing);
    draw_refinement(drawing);
    draw_frames(drawing);
    draw_scattering(drawing);
    draw_other_files(drawing);
    if (run.manifest().value("status", Json()) != "finished")
        run_notes.push_back(fmt::format("{}: the run has not finished", run.name()));
    Json shown = {{"name", named.name},
                  {"manifest", run.manifest()},
                  {"notes", run_notes},
                  {"files", run.files()},
                  {"sections", std::move(drawing.sections)}};
    add_headline(run, named.parent.empty() ? run : RunFolder(named.parent), shown);
    notes.insert(notes.end(), run_notes.begin(), run_notes.end());
    return shown;
}

}  // namespace

std::vector<Field> fields(Parameters& parameters) {
    return {
        {.name = "structure",
         .target = &parameters.structure,
         .help = "PDB or mmCIF file (and chain) to show for runs on alignments; by default the one "
                 "that each run used",
         .value_name = "FILE[:CHAIN]"},
        {.name = "title",
         .target = &parameters.title,
         .help = "Title of the page; by default the names of the runs"},
        {.name = "rows",
         .target = &parameters.rows,
         .help = "Maximum number of rows that the page shows of a table",
         .min = 1,
         .max = 1e6},
        {.name = "cells",
         .target = &parameters.cells,
         .help =
             "Maximum number of cells along a side of a matrix of frames; with more frames a cell "
             "shows the mean of a block",
         .min = 2,
         .max = 4000}};
}

Page draw(const std::vector<std::filesystem::path>& runs, const Parameters& parameters) {
    Parameters checked = parameters;
    check(fields(checked));
    Page page;
    Json data = {
        {"pleat", std::string(kVersion)}, {"title", parameters.title}, {"runs", Json::array()}};
    for (const NamedRun& run : all_runs(runs)) {
        data["runs"].push_back(draw_run(run, parameters, page.notes));
        page.sections += static_cast<std::int64_t>(data["runs"].back()["sections"].size());
        ++page.runs;
    }
    const std::string_view built = pleat_page();
    const std::size_t mark = built.find(kMark);
    if (mark == std::string_view::npos)
        throw std::logic_error("the page's template has no mark for the data");
    page.html = std::string(built.substr(0, mark)) + script_text(data);
    page.html += built.substr(mark + kMark.size());
    return page;
}

bool is_page(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string head(kFirstLine.size(), '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    return file && head == kFirstLine;
}

}  // namespace pleat::report
