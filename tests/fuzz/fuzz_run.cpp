// Fuzzer of run folders: any tables, arrays and JSON give a page without markup, or an InputError.
#include "harness.h"

#include <fstream>
#include <iterator>

#include "pleat/core/error.h"
#include "pleat/core/run/manifest.h"
#include "pleat/report/report.h"

namespace {

using namespace pleat;

constexpr const char* kNames[] = {
    "manifest.json",  "contacts.tsv",      "scores.npz",   "columns.tsv",      "pairs.tsv",
    "pairs.npz",      "triples.tsv",       "scores.tsv",   "clusters.tsv",     "assignment.npy",
    "sweep.tsv",      "tree.nwk",          "medoids.pdb",  "rmsd.npy",         "histogram.tsv",
    "reference.tsv",  "rmsf_residues.tsv", "profile.tsv",  "kratky.tsv",       "other.json",
    "evaluation.tsv", "explained.tsv",     "profiles.npy", "best.pdb",         "singles.tsv",
    "positions.tsv",  "logo.tsv",          "listed.csv",   "correlations.tsv", "substitutions.nwk"};
constexpr std::string_view kManifest =
    R"({"program": "pleat", "version": "0", "command": "x", "status": "finished", "outputs": []})";
constexpr char kNextFile = 0x1e;  // ASCII's record separator

void write(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    fuzz::require(!file.fail());
}

/// A folder that is emptied between inputs.
const std::filesystem::path& run_folder() {
    static const struct Folder {
        std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("pleat-fuzz-run-" + std::to_string(::getpid()));
        Folder() { std::filesystem::create_directory(path); }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    } folder;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
        std::filesystem::remove(entry.path());
    return folder.path;
}

/// The data of the page are one script element, which no text of a file may end.
void check(const report::Page& page) {
    const std::size_t begin = page.html.find("{\"pleat\":\"");
    fuzz::require(begin != std::string::npos);
    fuzz::require(page.html.compare(page.html.find('<', begin), 9, "</script>") == 0);
    fuzz::require(page.runs == 1);
}

}  // namespace

/// Files, one behind the other: a byte that picks the name, the content, the separator.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::filesystem::path& folder = run_folder();
    write(folder / kNames[0], kManifest);
    std::string_view left = fuzz::text_of(data, size);
    while (!left.empty()) {
        const auto name = static_cast<std::uint8_t>(left.front()) % std::size(kNames);
        const std::size_t end = std::min(left.find(kNextFile, 1), left.size());
        write(folder / kNames[name], left.substr(1, end - 1));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    try {
        read_earlier_run(folder / kNames[0]);
        check(report::draw({folder}, {}));
    } catch (const InputError& error) {
        fuzz::require(fuzz::require_printable(error).starts_with(folder.string()));
    }
    return 0;
}
