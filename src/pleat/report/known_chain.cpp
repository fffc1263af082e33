// Known chain: finding a run's structure again and writing it small.
#include "pleat/report/known_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"

namespace pleat::report {

namespace {

/// The residue of each column by name and number; -1 where the chain has none.
std::vector<Index> lay_over(const Chain& chain, const std::vector<ColumnLabel>& labels) {
    std::map<std::string, Index> by_id;
    for (std::size_t i = 0; i < chain.residues.size(); ++i)
        by_id.emplace(chain.residues[i].name + ' ' + chain.residues[i].id(), static_cast<Index>(i));
    std::vector<Index> residues;
    for (const ColumnLabel& label : labels) {
        const auto found =
            label.number.empty() ? by_id.end() : by_id.find(label.residue + ' ' + label.number);
        residues.push_back(found == by_id.end() ? -1 : found->second);
    }
    return residues;
}

std::optional<KnownChain> best_chain(const StructureChoice& choice,
                                     const std::vector<ColumnLabel>& labels) {
    const Structure structure = read_structure(choice.file);
    KnownChain best{.chain = {}, .residues = {}, .file = choice.file.filename().string()};
    Index most = 0;
    for (const Chain& chain : structure.chains) {
        if (!choice.chain.empty() && chain.name != choice.chain) continue;
        std::vector<Index> residues = lay_over(chain, labels);
        const Index fitting =
            std::count_if(residues.begin(), residues.end(), [](Index r) { return r >= 0; });
        if (fitting <= most) continue;
        most = fitting;
        best.chain = chain;
        best.residues = std::move(residues);
    }
    if (most == 0) return std::nullopt;
    return best;
}

/// Whether the file is the one that the manifest hashed.
bool unchanged(const RunFolder& run, const std::string& file) {
    for (const Json& input : run.inputs())
        if (input.is_object() && input.value("path", Json()) == file)
            return input.value("sha256", Json()) == hash_file(file).sha256;
    return false;
}

bool is_backbone(const Atom& atom) {
    constexpr std::array kNames = {"N",   "CA",  "C",   "O",   "CB",  "P",
                                   "O5'", "C5'", "C4'", "C3'", "O3'", "C1'"};
    return std::find(kNames.begin(), kNames.end(), atom.name) != kNames.end();
}

/// PDB's columns hold coordinates up to 9999.999: a chain farther out is moved to the origin.
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

std::optional<KnownChain> find_known_chain(const RunFolder& run,
                                           const std::vector<ColumnLabel>& labels,
                                           const std::string& choice,
                                           std::vector<std::string>& notes) {
    if (!choice.empty()) {
        std::optional<KnownChain> chain = best_chain(parse_structure_choice(choice), labels);
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
    const std::string own = run.parameter("structure");
    if (own.empty()) return std::nullopt;
    try {
        const StructureChoice parsed = parse_structure_choice(own);
        if (unchanged(run, parsed.file.string())) return best_chain(parsed, labels);
    } catch (const Error&) {
        // Gone or unreadable: told below, as a file that changed.
    }
    notes.push_back(fmt::format(
        "{}: its structure {} is not there or has changed; --structure names another place",
        run.name(), own));
    return std::nullopt;
}

std::string pdb_text(const Chain& chain) {
    constexpr std::size_t kAllAtoms = 600;
    const bool all = chain.residues.size() <= kAllAtoms;
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
