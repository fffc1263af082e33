// Domain structures: each chain's place along a sequence, and the atoms in that order.
#include "pleat/workflows/refine/chain/domain_structures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/notes.h"
#include "pleat/workflows/refine/chain/peptide_chains.h"

namespace pleat::refine {

namespace {

constexpr double kApart = 50;  // angstrom between structures

/// A chain of the protein that is composed of chains of several structures.
struct WholeChain {
    std::string name, sequence;
    int first_number = 1;
    std::vector<Index> owner;  ///< [letter]: structure, -1 if missing
};

/// The new name of a chain of one structure, and the shift of its residue numbers.
struct Renamed {
    std::string name;
    int shift = 0;  ///< of residue numbers
};

class Joining {
public:
    Joining(const std::vector<Ensemble>& structures, const std::string& fasta)
        : structures_(structures), fasta_(fasta) {}

    Ensemble run() {
        for (std::size_t n = 0; n < structures_.size(); ++n) match_chains(static_cast<Index>(n));
        set_apart();
        return write();
    }

private:
    const Topology& topology(Index structure) const { return *structures_[structure].topology; }
    /// "b.pdb", or "model 2 of a.pdb".
    std::string name_of(Index structure) const {
        const std::filesystem::path& file = topology(structure).source;
        Index model = 0, models = 0;
        for (Index n = 0; n < static_cast<Index>(structures_.size()); ++n) {
            if (topology(n).source != file) continue;
            ++models;
            if (n <= structure) ++model;
        }
        return models > 1 ? fmt::format("model {} of {}", model, file.string()) : file.string();
    }

    /// Determines to which chains of the protein the chains of a structure belong.
    void match_chains(Index structure) {
        const Topology& own = topology(structure);
        const Molecules molecules = find_molecules(own);
        const std::vector<Vector> positions = positions_of(structures_[structure].xyz.view()[0]);
        std::map<std::string, Renamed>& renamed = renamed_.emplace_back();
        Notes left_out;  // build_missing_residues() reports it with the new names
        std::set<const WholeChain*> used;
        chains_.reserve(chains_.size() + molecules.chains.size());
        for (const SequencedChain& chain :
             match_sequences(molecules, own, positions, fasta_, left_out)) {
            const std::string& name = molecules.chains[chain.chain].name;
            WholeChain& whole = whole_chain(structure, chain, name, used);
            used.insert(&whole);
            for (std::size_t n = 0; n < chain.residues.size(); ++n)
                if (chain.residues[n] >= 0) whole.owner[n] = structure;
            renamed[name] = {whole.name, whole.first_number - chain.first_number};
        }
        for (const std::string& name : own.chains())
            if (renamed.count(name) == 0) renamed[name] = {take_name(name)};
        for (const auto& [name, now] : renamed) {
            std::string changes;
            if (name != now.name) changes = fmt::format(" became chain '{}'", now.name);
            if (now.shift != 0)
                changes += fmt::format("{} {:+d} in residue numbers", changes.empty() ? ":" : ",",
                                       now.shift);
            if (!changes.empty())
                notes_.push_back(
                    {NoteKind::matching,
                     fmt::format("{}: chain '{}'{}", name_of(structure), name, changes)});
        }
    }

    /// The protein chain that a structure's chain continues, or a new one.
    WholeChain& whole_chain(Index structure, const SequencedChain& chain, const std::string& name,
                            const std::set<const WholeChain*>& used) {
        std::vector<WholeChain*> candidates;
        Index other = -1;  // a structure with the same residues
        std::size_t letter = 0;
        for (WholeChain& whole : chains_) {
            if (whole.sequence != chain.sequence || used.count(&whole) > 0) continue;
            const std::size_t taken = first_taken(whole, chain);
            if (taken == chain.residues.size()) {
                candidates.push_back(&whole);
            } else {
                other = whole.owner[taken];
                letter = taken;
            }
        }
        for (WholeChain* const whole : candidates)
            if (whole->name == name) return *whole;
        if (candidates.size() == 1) return *candidates.front();
        if (candidates.size() > 1)
            fail(structure, fmt::format("expected a chain that continues one of the others, found "
                                        "'{}', which may continue '{}' or '{}'",
                                        name, candidates[0]->name, candidates[1]->name));
        if (other >= 0)
            fail(structure,
                 fmt::format("expected domains without common residues, found residue "
                             "{} of sequence '{}' in {} and in {}",
                             letter + 1, chain.sequence, name_of(other), name_of(structure)));
        return chains_.emplace_back(WholeChain{take_name(name), chain.sequence, chain.first_number,
                                               std::vector<Index>(chain.residues.size(), -1)});
    }
    static std::size_t first_taken(const WholeChain& whole, const SequencedChain& chain) {
        std::size_t n = 0;
        while (n < chain.residues.size() && (chain.residues[n] < 0 || whole.owner[n] < 0)) ++n;
        return n;
    }
    [[noreturn]] void fail(Index structure, const std::string& text) const {
        throw InputError(topology(structure).source.string(), 0, text);
    }

    /// A chain's name that no other has.
    std::string take_name(const std::string& wanted) {
        if (names_.insert(wanted).second) return wanted;
        for (char letter = 'A'; letter <= 'Z'; ++letter)
            if (names_.insert(std::string(1, letter)).second) return std::string(1, letter);
        Index number = 1;
        while (!names_.insert(fmt::format("{}{}", wanted, number)).second) ++number;
        return fmt::format("{}{}", wanted, number);
    }

    /// Moves all structures except the first along x.
    void set_apart() {
        double end = 0;
        for (const Ensemble& structure : structures_) {
            double low = std::numeric_limits<double>::max(), high = -low;
            for (Index atom = 0; atom < structure.xyz.extent(2); ++atom) {
                low = std::min<double>(low, structure.xyz(0, 0, atom));
                high = std::max<double>(high, structure.xyz(0, 0, atom));
            }
            shifts_.push_back(shifts_.empty() ? 0 : end + kApart - low);
            end = high + shifts_.back();
        }
    }

    /// A residue of the protein, in the order in which it is written.
    struct Entry {
        std::string chain;
        bool is_peptide = false;
        int number = 0;
        char insertion = ' ';
        Index structure = 0, residue = 0;
    };
    std::vector<Entry> entries() const {
        std::vector<Entry> all;
        for (Index n = 0; n < static_cast<Index>(structures_.size()); ++n) {
            const Topology& own = topology(n);
            std::set<Index> peptides;
            for (const PeptideChain& chain : find_molecules(own).chains)
                for (const PeptideResidue& residue : chain.residues)
                    peptides.insert(residue.residue);
            for (Index r = 0; r < static_cast<Index>(own.residues.size()); ++r) {
                const Topology::Residue& residue = own.residues[r];
                const Renamed& now = renamed_[n].at(residue.chain);
                all.push_back({now.name, peptides.count(r) > 0, residue.number + now.shift,
                               residue.insertion, n, r});
            }
        }
        // Sorts the residues of a chain by number; ligands keep their order and follow them.
        std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
            if (a.chain != b.chain) return a.chain < b.chain;
            if (a.is_peptide != b.is_peptide) return a.is_peptide;
            return a.is_peptide &&
                   std::tie(a.number, a.insertion) < std::tie(b.number, b.insertion);
        });
        std::map<std::string, int> last;  // number by chain
        for (const Entry& entry : all)
            last[entry.chain] = std::max(last[entry.chain], entry.number);
        std::set<std::tuple<std::string, int, char>> taken;
        for (Entry& entry : all)
            if (!taken.insert({entry.chain, entry.number, entry.insertion}).second)
                entry.number = ++last[entry.chain];
        return all;
    }

    Ensemble write() {
        const std::vector<Entry> order = entries();
        auto joined = std::make_shared<Topology>();
        joined->source = topology(0).source;
        std::vector<std::vector<std::vector<Index>>> atoms;  // [structure][residue]
        Index count = 0;
        for (Index n = 0; n < static_cast<Index>(structures_.size()); ++n) {
            atoms.push_back(atoms_by_residue(topology(n)));
            count += topology(n).atom_count();
        }
        Ensemble result;
        result.xyz = Array<float, 3>(Index{1}, Index{3}, count);
        for (const Entry& entry : order) {
            const auto from = static_cast<std::size_t>(entry.structure),
                       residue = static_cast<std::size_t>(entry.residue);
            joined->residues.push_back({topology(entry.structure).residues[residue].name,
                                        entry.number, entry.insertion, entry.chain});
            for (const Index atom : atoms[from][residue]) {
                const Index to = joined->atom_count();
                joined->atoms.push_back(topology(entry.structure).atoms[atom]);
                joined->atoms.back().residue = static_cast<Index>(joined->residues.size()) - 1;
                for (Index axis = 0; axis < 3; ++axis)
                    result.xyz(0, axis, to) =
                        structures_[from].xyz(0, axis, atom) +
                        (axis == 0 ? static_cast<float>(shifts_[from]) : 0.0F);
                joined->positions.push_back(
                    {result.xyz(0, 0, to), result.xyz(0, 1, to), result.xyz(0, 2, to)});
            }
        }
        result.topology = result.all_atoms = joined;
        for (const Ensemble& structure : structures_) {
            for (const std::string& file : structure.files)
                if (std::count(result.files.begin(), result.files.end(), file) == 0)
                    result.files.push_back(file);
            result.notes.insert(result.notes.end(), structure.notes.begin(), structure.notes.end());
        }
        result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
        return result;
    }

    const std::vector<Ensemble>& structures_;
    const std::string& fasta_;
    std::vector<WholeChain> chains_;
    std::set<std::string> names_;                          ///< of chains
    std::vector<std::map<std::string, Renamed>> renamed_;  ///< [structure]: by chain
    std::vector<double> shifts_;                           ///< [structure], along x
    Notes notes_;
};

using ResidueKey = std::tuple<std::string, int, char, std::string>;

/// The residues with CA atoms, by chain, number and name.
std::set<ResidueKey> peptide_keys(const Topology& topology) {
    std::set<ResidueKey> keys;
    for (const PeptideChain& chain : find_molecules(topology).chains)
        for (const PeptideResidue& one : chain.residues) {
            const auto& residue = topology.residues[one.residue];
            keys.emplace(residue.chain, residue.number, residue.insertion, residue.name);
        }
    return keys;
}

/// The models after the first that contain other domains; none if they are conformers of it. Throws
/// InputError for models that are neither, and if all models are checked and some are both.
std::vector<Ensemble> further_domains(const std::string& source, const std::string& assembly,
                                      bool looks_at_all, const Topology& first) {
    std::vector<Ensemble> found;
    std::error_code error;
    if (!std::filesystem::is_regular_file(source, error)) return found;
    const std::unique_ptr<FrameReader> reader = open_frames(source);
    const std::set<ResidueKey> known = peptide_keys(first);
    if (reader->topology() == nullptr || known.empty()) return found;
    if (!assembly.empty()) reader->choose_assembly(assembly);
    bool has_conformers = false;
    for (Index model = 2; reader->next_structure(); ++model) {
        const std::set<ResidueKey> own = peptide_keys(*reader->topology());
        std::size_t common = 0;
        for (const ResidueKey& key : own) common += known.count(key);
        const auto refuse = [&](const char* expected) {
            throw InputError(source, 0,
                             fmt::format("expected {}, found {} of the {} residues of model 1 in "
                                         "model {} (of {}); give one of the models",
                                         expected, common, known.size(), model, own.size()));
        };
        // Some conformers lack a residue or two.
        const bool is_conformer = 10 * common >= 9 * std::max(known.size(), own.size());
        if (is_conformer && found.empty() && !looks_at_all) return {};
        const bool is_domain = common == 0 && !own.empty();
        if ((is_conformer && !found.empty()) || (is_domain && has_conformers))
            refuse("conformers of one structure or one model of each domain");
        if (!is_conformer && !is_domain && !has_conformers)
            refuse("models of the same residues, or of domains without common residues");
        has_conformers = has_conformers || is_conformer;
        if (!is_domain) continue;
        Ensemble& domain = found.emplace_back();
        domain.topology = domain.all_atoms = reader->topology();
        domain.xyz = Array<float, 3>(Index{1}, Index{3}, domain.topology->atom_count());
        reader->next(domain.xyz.view()[0]);
    }
    return found;
}

/// Throws InputError for a file that is given twice: its domains would have the same residues.
void check_different(const std::vector<std::string>& sources) {
    for (std::size_t n = 0; n < sources.size(); ++n)
        for (std::size_t m = 0; m < n; ++m) {
            std::error_code error;
            if (!std::filesystem::equivalent(sources[m], sources[n], error)) continue;
            throw InputError(
                sources[n], 0,
                sources[m] == sources[n]
                    ? std::string("expected each structure to join once, found it twice")
                    : fmt::format("expected each structure to join once, found the same file as {}",
                                  sources[m]));
        }
}

/// Combines the domains of one protein, each from its own structure, to one structure without its
/// linkers (see build_missing_residues()). Chains of one sequence of `fasta` become one chain, with
/// the name and numbers of the first; other chains keep their names if these are unused. The
/// structures have no known relative position and are placed far apart. Throws InputError if two
/// structures have the same residues of a sequence, and as match_sequences() does.
Ensemble join_domains(const std::vector<Ensemble>& structures, const std::string& fasta) {
    return Joining(structures, fasta).run();
}

/// A frame without atoms, whose residues a sequence has.
Ensemble no_structure(const std::string& sequence) {
    auto topology = std::make_shared<Topology>();
    topology->source = sequence;
    Ensemble none;
    none.topology = none.all_atoms = topology;
    none.xyz = Array<float, 3>(Index{1}, Index{3}, Index{0});
    return none;
}

}  // namespace

Ensemble read_structures(const std::vector<std::string>& sources, const std::string& assembly,
                         const Parameters& parameters) {
    check_different(sources);
    std::vector<Ensemble> all;
    if (sources == std::vector{parameters.sequence}) return no_structure(parameters.sequence);
    for (const std::string& source : sources) {
        if (!parameters.sequence.empty())
            refuse_pipes({source}, "with --sequence all its models are looked at");
        all.push_back(read_ensemble({source}, {.topology = {},
                                               .assembly = assembly,
                                               .range = {.first = 0, .last = 1},
                                               .centre_each_frame = true}));
        for (Ensemble& domain :
             further_domains(source, assembly, !parameters.sequence.empty(), *all.back().topology))
            all.push_back(std::move(domain));
    }
    if (all.size() == 1) return std::move(all.front());
    const std::string what =
        sources.size() > 1 ? "several structures" : "models of different residues";
    if (parameters.sequence.empty())
        throw InputError(sources.front(), 0,
                         fmt::format("expected --sequence, whose missing residues link the "
                                     "domains, found {} without it",
                                     what));
    if (!parameters.group.empty())
        throw InputError(sources.front(), 0,
                         fmt::format("expected no --group, since the domains have no position "
                                     "relative to one another, found {} with it; give one model "
                                     "that has all residues of the group",
                                     what));
    return join_domains(all, parameters.sequence);
}

}  // namespace pleat::refine
