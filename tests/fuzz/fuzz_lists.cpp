// Fuzzer of what users list: paths, ranges of frames, selections, chains of structures, scores.
#include "harness.h"

#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/frame_choice.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/selection/selection_terms.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/error.h"
#include "pleat/core/jobs/job_plan.h"

namespace {

using namespace pleat;

void read_jobs(std::string_view text) {
    double number = 0;
    std::string word;
    std::vector<Field> options{{.name = "number", .target = &number, .help = "A number"},
                               {.name = "word", .target = &word, .help = "A word"}};
    const std::vector<JobInput> inputs = parse_job_list("fuzz", text, "ensemble", true, options);
    fuzz::require(!inputs.empty());
    const std::string sweep(text.substr(0, text.find('\n')));
    const JobPlan plan =
        plan_jobs(inputs, sweep.starts_with('@') ? std::vector<JobSettings>(1)
                                                 : parse_sweeps({"number=" + sweep}, options));
    std::set<std::string> folders;
    for (const Job& job : plan.jobs) {
        fuzz::require(!job.folder.is_absolute() && !job.files.empty());
        fuzz::require(folders.insert(job.folder.string()).second);
    }
}

void read_ensemble_list(std::string_view text) {
    const fuzz::MemoryFile file(text);
    fuzz::require(!ensemble_files({"@" + file.path()}).empty());
}

void read_range(std::string_view text) {
    const FrameRange range = parse_frame_range(text);
    fuzz::require(range.step >= 1);
    for (const Index number : {Index{0}, Index{1}, std::numeric_limits<Index>::max()})
        range.has(number);
}

/// Two chains of three residues, some with insertion codes.
Topology small_topology() {
    Topology topology;
    for (int residue = 0; residue < 6; ++residue) {
        topology.residues.push_back({.name = residue % 2 == 0 ? "ALA" : "GLY",
                                     .number = 50 + residue / 2,
                                     .insertion = residue % 3 == 1 ? 'A' : ' ',
                                     .chain = residue < 3 ? "A" : "B"});
        for (const char* name : {"N", "CA", "C", "O", "H"})
            topology.atoms.push_back(
                {.name = name, .element = std::string(1, name[0]), .mass = 12, .residue = residue});
    }
    return topology;
}

void select(std::string_view text) {
    static const Topology topology = small_topology();
    Index before = -1;
    const std::vector<Index> atoms = select_atoms(topology, text);
    fuzz::require(!atoms.empty());
    for (const Index atom : atoms) {
        fuzz::require(atom > before && atom < topology.atom_count());
        before = atom;
    }
}

void choose_structure(std::string_view text) {
    fuzz::require(!parse_structure_choice(text).file.empty());
}

/// Of three files, by number or by name, of which the two with the highest first score are kept.
void read_scores(std::string_view text) {
    const fuzz::MemoryFile file(text);
    EnsembleFiles files;
    for (const char* name : {"a", "b", "c"}) {
        files.paths.push_back(std::string(name) + ".pdb");
        files.names.emplace_back(name);
        files.folders.push_back(-1);
    }
    ScoreOptions options;
    options.tables = {file.path()};
    options.column = "energy";
    options.best = 2;
    const FrameChoice choice(options, files, {});
    int kept = 0;
    for (Index frame = 0; frame < 3; ++frame) kept += choice.keeps(frame);
    choice.check_count(3);
    for (Index frame = 0; frame < 3; ++frame) choice.require(frame);
    fuzz::require(kept == 2 && choice.scores().ranking().size() == 3);
}

void read_groups(std::string_view text) {
    ByteSource source("fuzz", text);
    Index before = -1;
    for (const Index atom : selection::read_index_group(source, std::nullopt, 20)) {
        fuzz::require(atom > before && atom < 20);
        before = atom;
    }
}

}  // namespace

/// The first byte chooses what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr void (*kReaders[])(std::string_view) = {read_jobs,  read_ensemble_list, read_range,
                                                      select,     choose_structure,   read_scores,
                                                      read_groups};
    try {
        kReaders[data[0] % std::size(kReaders)](fuzz::text_of(data + 1, size - 1));
    } catch (const InputError& error) {
        fuzz::require_printable(error);
    } catch (const UsageError& error) {
        fuzz::require_printable(error);
    }
    return 0;
}
