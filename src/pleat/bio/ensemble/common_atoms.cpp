// Common atoms: what the files of ensembles have in common by their sequences.
#include <fmt/format.h>

#include <utility>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/structure/sequence_match.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

Note note_of(const SequenceMatch& match, const Topology& wanted, const Topology& other) {
    constexpr double kDoubtful = 0.5;  // random sequences of similar length reach 0.3
    return {NoteKind::matching,
            fmt::format("{}: chains {} by sequence, {} of {} residues in common with the {} of {}, "
                        "identity {:.2f}{}",
                        other.source.string(), match.pairs, match.residues, match.of_other,
                        match.of_wanted, wanted.source.string(), match.identity(),
                        match.is_by_order ? "; chains of one sequence paired in their order" : ""),
            match.is_by_order ? "--symmetry chains" : "", match.identity() < kDoubtful};
}

}  // namespace

std::shared_ptr<const CommonAtoms> find_common_atoms(const std::vector<std::string>& sources,
                                                     const std::string& topology,
                                                     const std::string& assembly) {
    constexpr std::size_t kMaxNotes = 5;
    auto common = std::make_shared<CommonAtoms>();
    if (!topology.empty())
        common->all = std::make_shared<Topology>(read_topology(topology, nullptr, assembly));
    Notes notes;
    std::vector<std::uint8_t> is_common;
    for (const std::string& file : list_ensemble_files(sources).paths) {
        const std::unique_ptr<FrameReader> reader = open_frames(file);
        if (!assembly.empty()) reader->choose_assembly(assembly);
        if (common->all == nullptr) common->all = reader->topology();
        if (common->all == nullptr || !common->all->named)
            throw InputError(file, 0,
                             "expected atoms with names to match by sequence, found coordinates "
                             "only: give --topology");
        if (reader->topology() == nullptr) continue;  // a trajectory
        const SequenceMatch match = match_by_sequence(*common->all, *reader->topology());
        if (!match.is_plain) notes.push_back(note_of(match, *common->all, *reader->topology()));
        std::vector<std::uint8_t> found(common->all->atoms.size());
        for (const Index atom : match.atoms)
            if (atom >= 0) found[static_cast<std::size_t>(atom)] = 1;
        if (is_common.empty()) is_common.assign(found.size(), 1);
        for (std::size_t atom = 0; atom < found.size(); ++atom) is_common[atom] &= found[atom];
    }
    is_common.resize(common->all->atoms.size(), is_common.empty() ? 1 : 0);
    for (Index atom = 0; atom < common->all->atom_count(); ++atom)
        if (is_common[static_cast<std::size_t>(atom)] != 0) common->atoms.push_back(atom);
    if (common->atoms.empty())
        throw InputError(sources.front(), 0, "expected atoms that all files have, found none");
    if (notes.size() > kMaxNotes) {
        const std::size_t others = notes.size() - kMaxNotes;
        notes.resize(kMaxNotes);
        notes.push_back({NoteKind::matching, fmt::format("and {} more files so", others)});
    }
    notes.push_back(
        {NoteKind::matching,
         fmt::format("matched by sequence: {} of {} atoms of {} are used", common->atoms.size(),
                     common->all->atom_count(), common->all->source.string())});
    common->notes = std::move(notes);
    return common;
}

}  // namespace pleat
