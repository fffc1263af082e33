// Ensembles: from files to frames of the selected atoms.
#include "pleat/bio/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/bio/ensemble_files.h"
#include "pleat/bio/selection.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Angstrom: squares of larger ones, summed and multiplied, overflow in those who use them.
constexpr float kLargestCoordinate = 1e15f;

}  // namespace

EnsembleReader::EnsembleReader(const std::vector<std::string>& sources, EnsembleOptions options)
    : files_(ensemble_files(sources)), options_(std::move(options)) {
    if (!options_.topology.empty()) {
        choose_atoms(std::make_shared<Topology>(read_topology(options_.topology, &notes_)));
    }
    open(0);
}

void EnsembleReader::choose_atoms(std::shared_ptr<const Topology> all) {
    all_ = std::move(all);
    selected_ = select_atoms(*all_, options_.select);
    topology_ = selected_.size() == all_->atoms.size()
                    ? all_
                    : std::make_shared<const Topology>(subset(*all_, selected_));
    notes_.push_back(fmt::format("selection '{}': {} of {} atoms of {}", options_.select,
                                 selected_.size(), all_->atom_count(), all_->source.string()));
    if (selected_.size() != all_->atoms.size()) scratch_ = Array<float, 2>(3, all_->atom_count());
}

void EnsembleReader::open(std::size_t file) {
    if (reader_ != nullptr) {
        notes_.insert(notes_.end(), reader_->notes().begin(), reader_->notes().end());
    }
    const std::string& path = files_[file];
    reader_ = open_frames(path);
    next_file_ = file + 1;
    in_file_ = 0;
    if (all_ == nullptr && reader_->topology() != nullptr) choose_atoms(reader_->topology());
    if (all_ == nullptr && reader_->format() == "NPY") {
        choose_atoms(std::make_shared<Topology>(unnamed_topology(reader_->atom_count(), path)));
    }
    if (all_ == nullptr) {
        throw InputError(
            path, 0,
            fmt::format("expected a topology (PDB or mmCIF file) for the {} atoms of a "
                        "{} file, found none",
                        reader_->atom_count(), reader_->format()));
    }
    if (reader_->topology() != nullptr && all_->named) {
        reader_->match(all_, selected_);
    } else if (reader_->atom_count() != all_->atom_count()) {
        throw InputError(path, 0,
                         fmt::format("expected {} atoms as in {}, found {}", all_->atom_count(),
                                     all_->source.string(), reader_->atom_count()));
    }
}

/// Takes the next frame of whatever file has one, or passes over it.
bool EnsembleReader::step(bool wanted, View<float, 2> frame) {
    while (!(wanted ? reader_->next(frame) : reader_->skip())) {
        if (in_file_ == 0)
            throw InputError(files_[next_file_ - 1], 0, "expected frames, found none");
        if (next_file_ == files_.size()) return false;
        open(next_file_);
    }
    ++seen_;
    ++in_file_;
    origin_ = {static_cast<Index>(next_file_) - 1, in_file_};
    return true;
}

void EnsembleReader::gather(View<float, 2> frame) const {
    for (Index axis = 0; axis < 3; ++axis) {
        for (std::size_t i = 0; i < selected_.size(); ++i) {
            frame(axis, static_cast<Index>(i)) = scratch_(axis, selected_[i]);
        }
    }
}

void EnsembleReader::check(View<float, 2> frame) const {
    const auto is_fine = [](float x) { return std::abs(x) <= kLargestCoordinate; };  // NaN is not
    // Without a branch, so that a good frame costs next to nothing.
    bool all_fine = true;
    for (const float x : frame) all_fine &= is_fine(x);
    if (all_fine) return;
    for (Index atom = 0; atom < atom_count(); ++atom) {
        for (Index axis = 0; axis < 3; ++axis) {
            const float x = frame(axis, atom);
            if (is_fine(x)) continue;
            throw InputError(
                files_[static_cast<std::size_t>(origin_.file)], 0,
                fmt::format("frame {}: expected {}, found {} for {}", origin_.frame,
                            std::isfinite(x) ? "coordinates between -1e15 and 1e15"
                                             : "finite coordinates",
                            x,
                            topology_->named ? topology_->label(atom)
                                             : fmt::format("atom {}", atom + 1)));
        }
    }
}

bool EnsembleReader::next(View<float, 2> frame) {
    const bool part = selected_.size() != all_->atoms.size();
    while (seen_ < options_.range.last) {
        const bool wanted = options_.range.has(seen_ + 1);
        if (!step(wanted, part ? scratch_.view() : frame)) break;
        if (!wanted) continue;
        if (part) gather(frame);
        check(frame);
        ++given_;
        return true;
    }
    if (given_ == 0) {
        throw InputError(
            files_.front(), 0,
            fmt::format("expected frames from {} on, found {} in {} file{}", options_.range.first,
                        seen_, files_.size(), files_.size() == 1 ? "" : "s"));
    }
    return false;
}

std::vector<std::string> EnsembleReader::notes() const {
    std::vector<std::string> all = notes_;
    all.insert(all.end(), reader_->notes().begin(), reader_->notes().end());
    return all;
}

Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options) {
    EnsembleReader reader(sources, std::move(options));
    Ensemble ensemble;
    ensemble.topology = reader.topology();
    const Index atoms = reader.atom_count();
    // Blocks that the system gets back one by one while they are copied, so that the coordinates
    // are never held twice.
    constexpr Index kBlockBytes = Index{64} << 20;
    const Index in_block = std::max<Index>(1, kBlockBytes / (12 * std::max<Index>(1, atoms)));
    std::vector<Array<float, 3>> blocks;
    Array<float, 2> frame(3, atoms);
    while (reader.next(frame)) {
        const Index at = static_cast<Index>(ensemble.origins.size()) % in_block;
        if (at == 0) blocks.push_back(Array<float, 3>::unset(in_block, 3, atoms));
        std::copy(frame.begin(), frame.end(), blocks.back()[at].begin());
        ensemble.origins.push_back(reader.origin());
    }
    const auto frames = static_cast<Index>(ensemble.origins.size());
    ensemble.xyz = Array<float, 3>::unset(frames, 3, atoms);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const Index first = static_cast<Index>(b) * in_block;
        const Index count = std::min(in_block, frames - first);
        std::copy_n(blocks[b].begin(), count * 3 * atoms, ensemble.xyz[first].begin());
        blocks[b] = {};
    }
    ensemble.files = reader.files();
    ensemble.notes = reader.notes();
    return ensemble;
}

}  // namespace pleat
