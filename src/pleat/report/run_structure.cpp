// Run structure: finding the structure that a run used, and writing a chain in PDB format.
#include "pleat/report/run_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"

namespace pleat::report {

namespace {

/// [column]: index of its residue, found by name and number; -1 if the chain lacks it.
std::vector<Index> residues_of_columns(const Chain& chain, const std::vector<ColumnLabel>& labels) {
    std::map<std::string, Index> by_id;
    for (std::size_t i = 0; i < chain.residues.size(); ++i)
        by_id.emplace(chain.residues[i].name + ' ' + chain.residues[i].id(), static_cast<Index>(i));
    std::vector<Index> residues;
    for (const ColumnLabel& label : labels) {
        const auto entry =
            label.number.empty() ? by_id.end() : by_id.find(label.residue + ' ' + label.number);
        residues.push_back(entry == by_id.end() ? -1 : entry->second);
    }
    return residues;
}

std::optional<AlignedChain> best_chain(const StructureChoice& choice,
                                       const std::vector<ColumnLabel>& labels) {
    const Structure structure = read_structure(choice.file);
    AlignedChain best{.chain = {}, .residues = {}, .file = choice.file.filename().string()};
    Index best_count = 0;
    for (const Chain& chain : structure.chains) {
        if (!choice.chain.empty() && chain.name != choice.chain) continue;
        std::vector<Index> residues = residues_of_columns(chain, labels);
        const Index count =
            std::count_if(residues.begin(), residues.end(), [](Index r) { return r >= 0; });
        if (count <= best_count) continue;
        best_count = count;
        best.chain = chain;
        best.residues = std::move(residues);
    }
    if (best_count == 0) return std::nullopt;
    return best;
}

/// Whether the path is a regular file with the hash in the manifest. Other files, such as pipes or
/// devices, are never opened, as reading them might not end.
bool is_unchanged(const RunFolder& run, const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return false;
    for (const Json& input : run.inputs())
        if (input.is_object() && input.value("path", Json()) == file)
            return input.value("sha256", Json()) == hash_file(file).sha256;
    return false;
}

/// What `find` makes of the structure that the run used, if it has not changed; else, or if `find`
/// throws, nothing and a note.
template <class Find>
std::optional<AlignedChain> chain_of_run(const RunFolder& run, std::vector<std::string>& notes,
                                         const Find& find) {
    const std::string used = run.parameter("structure");
    if (used.empty()) return std::nullopt;
    bool is_same = false;
    try {
        const StructureChoice parsed = parse_structure_choice(used);
        is_same = is_unchanged(run, parsed.file.string());
        if (is_same) return find(parsed);
    } catch (const Error& error) {
        if (is_same)
            notes.push_back(fmt::format("{}: its structure {} is not shown: {}", run.name(), used,
                                        error.what()));
    }
    if (!is_same)
        notes.push_back(
            fmt::format("{}: its structure {} is missing or has changed; give its present path "
                        "with --structure",
                        run.name(), used));
    return std::nullopt;
}

bool is_backbone(const Atom& atom) {
    constexpr std::array kNames = {"N",   "CA",  "C",   "O",   "CB",  "P",
                                   "O5'", "C5'", "C4'", "C3'", "O3'", "C1'"};
    return std::find(kNames.begin(), kNames.end(), atom.name) != kNames.end();
}

/// The shift to the origin for a chain whose coordinates do not fit PDB's columns; else zero.
std::array<double, 3> shift_of(const Chain& chain) {
    std::array<double, 3> sum = {};
    double atoms = 0, farthest = 0;
    for (const Residue& residue : chain.residues)
        for (const Atom& atom : residue.atoms) {
            const std::array<double, 3> at = {atom.x, atom.y, atom.z};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                sum[axis] += at[axis];
                farthest = std::max(farthest, std::abs(at[axis]));
            }
            ++atoms;
        }
    if (farthest < 999) return {};
    for (double& value : sum) value /= -atoms;
    return sum;
}

}  // namespace

std::optional<AlignedChain> find_aligned_chain(const RunFolder& run,
                                               const std::vector<ColumnLabel>& labels,
                                               const std::string& choice,
                                               std::vector<std::string>& notes) {
    if (!choice.empty()) {
        std::optional<AlignedChain> chain = best_chain(parse_structure_choice(choice), labels);
        if (chain) return chain;
        const bool any = std::any_of(labels.begin(), labels.end(),
                                     [](const auto& l) { return !l.number.empty(); });
        if (!any) {
            notes.push_back(fmt::format("{}: its tables name no residues, so no structure is shown",
                                        run.name()));
            return std::nullopt;
        }
        throw InputError(choice, 0,
                         fmt::format("expected residues of the run {}, found none", run.name()));
    }
    return chain_of_run(run, notes,
                        [&](const StructureChoice& own) { return best_chain(own, labels); });
}

std::optional<AlignedChain> find_chain_of_sequence(const RunFolder& run, const std::string& letters,
                                                   const Alphabet& alphabet,
                                                   const std::string& choice,
                                                   std::vector<std::string>& notes) {
    const auto find = [&](const StructureChoice& own) -> std::optional<AlignedChain> {
        if (own.chain.find(',') != std::string::npos) {
            notes.push_back(
                fmt::format("{}: residues of several chains ({}) are not shown in a structure",
                            run.name(), own.chain));
            return std::nullopt;
        }
        const Structure structure = read_structure(own.file);
        ResidueMap map = map_sequence("target", letters, alphabet, structure, own.chain);
        return AlignedChain{.chain = structure.chains[map.chain],
                            .residues = std::move(map.residues),
                            .file = own.file.filename().string()};
    };
    if (!choice.empty()) return find(parse_structure_choice(choice));
    return chain_of_run(run, notes, [&](StructureChoice own) {
        const Json& manifest = run.manifest();
        if (const auto results = manifest.find("results"); results != manifest.end())
            if (const auto chain = results->find("structure_chain");
                chain != results->end() && chain->is_string())
                own.chain = chain->get<std::string>();
        return find(own);
    });
}

Json molecule_section(const AlignedChain& known, const Json& values) {
    Json residues = Json::array();
    for (const Residue& residue : known.chain.residues)
        residues.push_back(residue.name + " " + residue.id());
    return {{"kind", "molecule"},
            {"title", "Structure " + known.file + ", chain " + known.chain.name},
            {"pdb", pdb_text(known.chain)},
            {"residues", residues},
            {"columns", known.residues},
            {"values", values}};
}

std::string pdb_text(const Chain& chain) {
    constexpr std::size_t kMaxResiduesWithAllAtoms = 600;
    const bool all = chain.residues.size() <= kMaxResiduesWithAllAtoms;
    const std::array<double, 3> shift = shift_of(chain);
    std::string text;
    int serial = 0;
    for (std::size_t r = 0; r < chain.residues.size(); ++r) {
        const Residue& residue = chain.residues[r];
        for (const Atom& atom : residue.atoms) {
            if (atom.element == "H" || atom.element == "D" || (!all && !is_backbone(atom)))
                continue;
            serial = serial % 99999 + 1;
            const std::string name = (atom.element.size() == 1 && atom.name.size() < 4 ? " " : "") +
                                     atom.name.substr(0, 4);
            text += fmt::format(
                "ATOM  {:5} {:<4} {:>3.3} A{:4}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00          "
                "{:>2.2}\n",
                serial, name, residue.name, (r + 1) % 10000, atom.x + shift[0], atom.y + shift[1],
                atom.z + shift[2], atom.element);
        }
    }
    return text + "END\n";
}

}  // namespace pleat::report
