// Frame formats with names of atoms: choosing among alternates, and matching atoms by identity.
#include "pleat/bio/ensemble/frame_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

std::string residue_key(const AtomRecord& atom) {
    return fmt::format("{}\t{}\t{}", atom.chain, atom.number, atom.insertion);
}

std::string key_of(const std::string& chain, int number, char insertion, const std::string& name,
                   bool with_chain) {
    return fmt::format("{}\t{}\t{}\t{}", with_chain ? chain : std::string(), number, insertion,
                       name);
}

/// As chain_name() of topologies.
const std::string& chain_of(const AtomRecord& atom, ChainName name) {
    const std::string& other = name == ChainName::segment ? atom.segment : atom.shared_chain;
    return name == ChainName::chain || other.empty() ? atom.chain : other;
}

bool one_chain(const std::vector<AtomRecord>& records) {
    return std::ranges::all_of(
        records, [&](const AtomRecord& atom) { return atom.chain == records.front().chain; });
}

}  // namespace

std::shared_ptr<Topology> topology_of(const std::vector<AtomRecord>& records,
                                      const std::string& file) {
    auto topology = std::make_shared<Topology>();
    topology->source = file;
    const AtomRecord* previous = nullptr;
    for (const AtomRecord& atom : records) {
        if (previous == nullptr || previous->number != atom.number ||
            previous->insertion != atom.insertion || previous->chain != atom.chain ||
            previous->residue_name != atom.residue_name) {
            topology->residues.push_back({atom.residue_name, atom.number, atom.insertion,
                                          atom.chain, atom.segment, atom.shared_chain});
        }
        topology->atoms.push_back({atom.name, atom.element, element_mass(atom.element),
                                   std::ssize(topology->residues) - 1, atom.b_factor});
        topology->positions.push_back({atom.xyz[0], atom.xyz[1], atom.xyz[2]});
        previous = &atom;
    }
    return topology;
}

Index keep_one_location(std::vector<AtomRecord>& records) {
    struct Named {
        std::string name;
        double occupancy;
    };
    std::unordered_map<std::string, Named> residues;
    std::unordered_map<std::string, std::string> blank;  // names of residues in front of others
    std::unordered_set<std::string> lettered;
    const AtomRecord* previous = nullptr;
    for (const AtomRecord& atom : records) {
        const AtomRecord* const before = std::exchange(previous, &atom);
        if (atom.altloc == ' ') continue;
        const std::string residue = residue_key(atom);
        lettered.insert(residue + '\t' + atom.name);
        if (before != nullptr && before->altloc == ' ' && residue_key(*before) == residue &&
            before->residue_name != atom.residue_name) {
            residues.try_emplace(residue, Named{before->residue_name, before->occupancy});
            blank.try_emplace(residue, before->residue_name);
        }
        const auto [at, fresh] =
            residues.try_emplace(residue, Named{atom.residue_name, atom.occupancy});
        if (!fresh && atom.occupancy > at->second.occupancy)
            at->second = {atom.residue_name, atom.occupancy};
    }
    if (residues.empty()) return 0;
    std::unordered_map<std::string, std::size_t> atoms;
    std::vector<AtomRecord> kept;
    for (AtomRecord& atom : records) {
        const std::string residue = residue_key(atom);
        const auto named = residues.find(residue);
        const bool is_alone = named == residues.end();  // no atom has alternatives
        const bool is_named = !is_alone && named->second.name == atom.residue_name;
        const bool is_blank = atom.altloc == ' ';
        if (!is_alone && !is_named) {
            const auto rival = blank.find(residue);
            const bool lost = rival != blank.end() && rival->second == atom.residue_name;
            if (!is_blank || lost) continue;
        }
        if (!is_blank || (is_named && lettered.contains(residue + '\t' + atom.name))) {
            const auto [at, fresh] = atoms.try_emplace(residue + '\t' + atom.name, kept.size());
            if (!fresh) {
                AtomRecord& earlier = kept[at->second];
                if (atom.occupancy > earlier.occupancy) earlier = std::move(atom);
                continue;
            }
        }
        kept.push_back(std::move(atom));
    }
    const auto dropped = static_cast<Index>(records.size() - kept.size());
    records = std::move(kept);
    return dropped;
}

void ModelFrames::start() {
    if (!read_model(first_))
        throw InputError(
            file_, 0,
            "expected a model with atoms (PDB, mmCIF, GRO, SDF, MOL2 or XYZ), found none");
    set_topology();
}

/// Uses the atoms of `first_` as those of the file.
void ModelFrames::set_topology() {
    const std::shared_ptr<Topology> topology = topology_of(first_, file_);
    topology->cell = cell_.vectors;
    topology->bonds = listed_bonds();
    topology->has_chain_names = has_chain_names();
    own_ = topology;
    match(own_, {});
}

bool ModelFrames::next_structure() {
    if (!first_given_) skip();
    if (!read_model(first_)) return false;
    first_given_ = false;
    set_topology();
    return true;
}

std::vector<std::array<Index, 2>> ModelFrames::listed_bonds() const {
    std::vector<std::array<Index, 2>> bonds;
    if (connections_.empty()) return bonds;
    std::unordered_map<std::string, Index> atoms;  // -1: several have this key
    for (std::size_t i = 0; i < first_.size(); ++i) {
        const auto [at, fresh] = atoms.try_emplace(bond_key(first_[i]), static_cast<Index>(i));
        if (!fresh) at->second = -1;
    }
    for (const auto& [one, other] : connections_) {
        const auto a = atoms.find(one), b = atoms.find(other);
        if (a == atoms.end() || b == atoms.end()) continue;  // of a location that was left out
        if (a->second >= 0 && b->second >= 0 && a->second != b->second)
            bonds.push_back({a->second, b->second});
    }
    return bonds;
}

/// Returns the next model's records, or those that were read ahead.
bool ModelFrames::next_or_ahead(std::vector<AtomRecord>& records) {
    if (problem_ahead_) std::rethrow_exception(std::exchange(problem_ahead_, nullptr));
    if (!has_looked_ahead_ || model_ > 0) return next_records(records);
    records = std::move(records_ahead_);
    cell_ = cell_ahead_;
    return has_ahead_;
}

bool ModelFrames::may_be_crystal() {
    if (model_ > 0) return false;
    if (!has_looked_ahead_) {
        has_looked_ahead_ = true;
        const PeriodicCell cell = cell_;
        try {
            has_ahead_ = next_records(records_ahead_);
        } catch (const Error&) {
            problem_ahead_ = std::current_exception();  // thrown when that model is read
        }
        cell_ahead_ = std::exchange(cell_, cell);
    }
    return !has_ahead_ && !problem_ahead_;
}

void ModelFrames::choose_assembly(const std::string& name) {
    std::vector<std::string> names;
    for (const Assembly& assembly : assemblies_) {
        if (assembly.name == name) assembly_ = &assembly;
        names.push_back(assembly.name);
    }
    if (assembly_ == nullptr) {
        throw InputError(
            file_, 0,
            fmt::format("expected biological assembly '{}', found {}", name,
                        names.empty() ? "no assemblies in the file"
                                      : fmt::format("only {}", fmt::join(names, ", "))));
    }
    first_ = assembled_atoms(file_, first_, *assembly_);
    own_ = topology_of(first_, file_);
    match(own_, {});
}

std::string ModelFrames::other_assemblies() const {
    if (assembly_ != nullptr || assemblies_.empty()) return {};
    constexpr std::size_t kNamed = 5, kCompared = 100;
    std::vector<std::string> names;
    for (std::size_t n = 0; n < std::min(assemblies_.size(), kCompared); ++n) {
        const Assembly& assembly = assemblies_[n];
        if (equals_listed_atoms(assembly, first_)) return {};
        if (names.size() == kNamed) continue;
        names.push_back(assembly.details.empty()
                            ? assembly.name
                            : fmt::format("{} ({})", assembly.name, assembly.details));
    }
    return fmt::format(
        "{}: read as listed in the file, which also describes biological assembl{} {}{}", file_,
        assemblies_.size() == 1 ? "y" : "ies", fmt::join(names, ", "),
        assemblies_.size() > kNamed ? ", ..." : "");
}

bool ModelFrames::read_model(std::vector<AtomRecord>& records) {
    records.clear();
    if (!next_or_ahead(records)) return false;
    ++model_;
    const Index dropped = keep_one_location(records);
    if (dropped > 0 && model_ == 0) {
        notes_.push_back(
            {NoteKind::alternatives, fmt::format("{}: left out {} atoms of alternate locations "
                                                 "(kept: the highest occupancy, the first "
                                                 "of equals)",
                                                 file_, dropped)});
    }
    if (assembly_ != nullptr) records = assembled_atoms(file_, records, *assembly_);
    return true;
}

void ModelFrames::match(const std::shared_ptr<const Topology>& wanted,
                        const std::vector<Index>& needed, const std::vector<Index>& places) {
    wanted_ = wanted;
    needed_ = needed;
    places_ = places;
    if (wanted_ == own_ && needed_.empty()) {
        needed_.resize(wanted_->atoms.size());
        for (std::size_t i = 0; i < needed_.size(); ++i) needed_[i] = static_cast<Index>(i);
    }
    one_chain_ = wanted_->chains().size() == 1;
    chain_name_ = common_chain_name(*own_, *wanted_);
    wanted_by_identity_.clear();
}

bool ModelFrames::has_wanted_order(const std::vector<AtomRecord>& records, bool with_chain) const {
    if (records.size() != wanted_->atoms.size()) return false;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Topology::Atom& atom = wanted_->atoms[i];
        const Topology::Residue& residue = wanted_->residues[atom.residue];
        if (records[i].name != atom.name || records[i].number != residue.number ||
            records[i].insertion != residue.insertion ||
            (with_chain && chain_of(records[i], chain_name_) != chain_name(residue, chain_name_))) {
            return false;
        }
    }
    return true;
}

void ModelFrames::index_wanted_atoms(bool with_chain) {
    if (!wanted_by_identity_.empty() && index_has_chains_ == with_chain) return;
    wanted_by_identity_.clear();
    const Topology& named = places_.empty() ? *wanted_ : *own_;
    for (Index i = 0; i < named.atom_count(); ++i) {
        const Topology::Residue& residue = named.residue_of(i);
        const Index place = places_.empty() ? i : places_[i];
        const auto [at, fresh] = wanted_by_identity_.try_emplace(
            key_of(chain_name(residue, chain_name_), residue.number, residue.insertion,
                   named.atoms[i].name, with_chain),
            place);
        if (!fresh) at->second = -1;
    }
    index_has_chains_ = with_chain;
}

void ModelFrames::refuse_missing(const std::vector<Index>& missing) const {
    constexpr std::size_t kNamed = 5;
    std::vector<std::string> names;
    const auto is_ambiguous = [&](Index atom) {
        const Topology::Residue& residue = wanted_->residue_of(atom);
        return wanted_by_identity_.at(key_of(chain_name(residue, chain_name_), residue.number,
                                             residue.insertion, wanted_->atoms[atom].name,
                                             index_has_chains_)) < 0;
    };
    const auto ambiguous = std::ranges::find_if(missing, is_ambiguous);
    if (ambiguous != missing.end())
        throw MissingAtoms(
            file_, 0,
            fmt::format("frame {}: expected atoms that chain, residue and name tell apart, as "
                        "their order is not that of {}, found several {}",
                        model_, wanted_->source.string(), wanted_->atom_label(*ambiguous)));
    for (std::size_t i = 0; i < std::min(kNamed, missing.size()); ++i)
        names.push_back(wanted_->atom_label(missing[i]));
    throw UnmatchedAtoms(
        file_, 0,
        fmt::format("frame {}: expected the {} selected atoms of {}, found {} of them missing: "
                    "{}{}",
                    model_, needed_.size(), wanted_->source.string(), missing.size(),
                    fmt::join(names, ", "), missing.size() > kNamed ? ", ..." : ""));
}

void ModelFrames::match_by_identity(const std::vector<AtomRecord>& records, bool with_chain,
                                    View<float, 2> frame) {
    index_wanted_atoms(with_chain);
    std::ranges::fill(frame, std::numeric_limits<float>::quiet_NaN());
    std::vector<std::uint8_t> found(wanted_->atoms.size());
    Index extra = 0;
    for (const AtomRecord& atom : records) {
        const auto at = wanted_by_identity_.find(key_of(chain_of(atom, chain_name_), atom.number,
                                                        atom.insertion, atom.name, with_chain));
        if (at == wanted_by_identity_.end()) {
            ++extra;
            continue;
        }
        // Atoms with the same identity (waters numbered from 1 again) match in order only.
        if (at->second < 0) continue;
        std::uint8_t& seen = found[at->second];
        if (seen) {
            throw InputError(file_, 0,
                             fmt::format("frame {}: expected every atom once, found two of {}",
                                         model_, wanted_->atom_label(at->second)));
        }
        seen = 1;
        for (Index axis = 0; axis < 3; ++axis) frame(axis, at->second) = atom.xyz[axis];
        b_factors_[at->second] = atom.b_factor;
    }
    std::vector<Index> missing;
    for (const Index i : needed_) {
        if (!found[i]) missing.push_back(i);
    }
    if (!missing.empty()) refuse_missing(missing);
    if (extra > 0 && !has_noted_extra_atoms_ && places_.empty()) {
        has_noted_extra_atoms_ = true;
        notes_.push_back(
            {NoteKind::atoms, fmt::format("{}: frame {}: left out {} atoms that are not in {}",
                                          file_, model_, extra, wanted_->source.string())});
    }
}

bool ModelFrames::next(View<float, 2> frame) {
    std::vector<AtomRecord> records;
    if (!first_given_) {
        records = std::move(first_);
        first_given_ = true;
    } else if (!read_model(records)) {
        return false;
    }
    b_factors_.assign(wanted_->atoms.size(), std::numeric_limits<double>::quiet_NaN());
    // A file's only chain may have many names (A, blank, segment name), so its name is ignored.
    if (!places_.empty()) {
        match_by_identity(records, true, frame);
        return true;
    }
    const bool with_chain = !ignores_chains_ && !(one_chain_ && one_chain(records));
    const bool have_names =
        chain_name_ == ChainName::segment || (has_chain_names() && wanted_->has_chain_names);
    if (!has_wanted_order(records, with_chain && have_names)) {
        try {
            match_by_identity(records, with_chain, frame);
        } catch (const MissingAtoms&) {
            if (have_names || !with_chain) throw;
            ignores_chains_ = true;
            try {
                match_by_identity(records, false, frame);
            } catch (const MissingAtoms&) {
                ignores_chains_ = false;
            }
            if (!ignores_chains_) throw;
        }
        return true;
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
        for (Index axis = 0; axis < 3; ++axis)
            frame(axis, static_cast<Index>(i)) = records[i].xyz[axis];
        b_factors_[i] = records[i].b_factor;
    }
    return true;
}

bool ModelFrames::skip() {
    std::vector<AtomRecord> records;
    if (first_given_) return read_model(records);
    first_given_ = true;
    first_.clear();
    return true;
}

}  // namespace pleat
