// Ensemble reader: from files to frames of the selected atoms.
#include "pleat/bio/ensemble/ensemble_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/input/byte_reader.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

/// Angstrom: squares of larger ones, summed and multiplied, overflow in those who use them.
constexpr float kLargestCoordinate = 1e15f;

std::string text_of(const FrameRange& range) {
    const std::string last = range.last == FrameRange::kEnd ? "" : std::to_string(range.last);
    return fmt::format("{}:{}", range.first, last);
}

}  // namespace

EnsembleReader::EnsembleReader(const std::vector<std::string>& sources, EnsembleOptions options)
    : files_(ensemble_files(sources)),
      options_(std::move(options)),
      centring_(std::make_shared<Centring>(Centring{.each_frame = options_.centre_each_frame})) {
    check_readable(files_);
    if (options_.atoms != nullptr) {
        choose_atoms(options_.atoms);
    } else if (!options_.topology.empty()) {
        choose_atoms(std::make_shared<Topology>(
            read_topology(options_.topology, &notes_, options_.assembly)));
    }
    range_text_ = text_of(options_.range);
    if (options_.range.counts_from_end()) {
        counted_ = count_frames();
        options_.range = options_.range.resolved(counted_);
    }
    open(0);
}

/// The number of frames of all files, which are read for it.
Index EnsembleReader::count_frames() const {
    Index count = 0;
    for (const std::string& file : files_) {
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored) &&
            !std::filesystem::is_regular_file(file, ignored))
            throw InputError(file, 0,
                             "cannot count frames from the end: only a regular file is read twice");
        const std::unique_ptr<FrameReader> reader = open_frames(file);
        try {
            while (reader->skip()) ++count;
        } catch (const CutShort&) {
            if (!options_.truncated) throw;
        }
    }
    return count;
}

void EnsembleReader::choose_atoms(std::shared_ptr<const Topology> all) {
    all_ = std::move(all);
    selected_ = select_atoms(*all_, options_.select);
    topology_ = selected_.size() == all_->atoms.size()
                    ? all_
                    : std::make_shared<const Topology>(subset(*all_, selected_));
    notes_.push_back(fmt::format("selection '{}': {} of {} atoms of {}", options_.select,
                                 selected_.size(), all_->atom_count(), all_->source.string()));
    const std::vector<Index> first =
        options_.placed_by.empty() ? selected_ : select_atoms(*all_, options_.placed_by);
    molecules_ = WholeMolecules(all_, first, selected_, options_.pbc);
    if (selected_.size() != all_->atoms.size()) scratch_ = Array<float, 2>(3, all_->atom_count());
}

void EnsembleReader::open(std::size_t file) {
    if (reader_ != nullptr)
        notes_.insert(notes_.end(), reader_->notes().begin(), reader_->notes().end());
    is_first_of_file_ = true;
    const std::string& path = files_[file];
    reader_ = open_frames(path);
    if (!options_.assembly.empty()) reader_->choose_assembly(options_.assembly);
    if (const std::string note = reader_->other_assemblies(); !note.empty() && !noted_assemblies_) {
        notes_.push_back(note);
        noted_assemblies_ = true;  // a note about one file is enough
    }
    reader_->centre(centring_);
    is_cut_ = false;
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
        if (reader_->topology() != all_) compare_residues(path);
        reader_->match(all_, selected_);
    } else if (reader_->atom_count() != all_->atom_count()) {
        throw InputError(path, 0,
                         fmt::format("expected {} atoms as in {}, found {}", all_->atom_count(),
                                     all_->source.string(), reader_->atom_count()));
    }
}

/// Matching by numbers and names of atoms would superpose another protein without a complaint.
void EnsembleReader::compare_residues(const std::string& path) {
    const AtomMatch match = match_atoms(*topology_, *reader_->topology());
    if (match.is_plausible()) return;
    const std::string found = fmt::format("{} of {} residues that have their numbers",
                                          match.residues_of_name, match.residues);
    if (options_.same_residues)
        throw InputError(
            path, 0,
            fmt::format("expected residues of the names in {}, found these names in {}; "
                        "--any-residues compares anyway",
                        all_->source.string(), found));
    notes_.push_back(
        fmt::format("{}: only {} have the names in {}", path, found, all_->source.string()));
}

/// The cell of the frame last read; none if it is that of a crystal. Throws InputError if some
/// frames of a file have cells and others have none.
const PeriodicCell& EnsembleReader::cell() {
    static const PeriodicCell kNone;
    if (options_.pbc == Pbc::none || !options_.assembly.empty()) return kNone;
    const bool has_cell = reader_->cell().exists();
    if (is_first_of_file_) has_cell_ = has_cell;
    is_first_of_file_ = false;
    if (has_cell != has_cell_)
        throw InputError(
            files_[static_cast<std::size_t>(origin_.file)], 0,
            fmt::format("frame {}: expected {} periodic cell as in the frames before, found {}; "
                        "--pbc none leaves the coordinates as they are",
                        origin_.frame, has_cell_ ? "a" : "no", has_cell ? "one" : "none"));
    return has_cell && reader_->may_be_crystal() ? kNone : reader_->cell();
}

/// Reads or skips the next frame of this file; false after its last one.
bool EnsembleReader::advance(bool wanted, View<float, 2> frame) {
    if (is_cut_) return false;
    try {
        return wanted ? reader_->next(frame) : reader_->skip();
    } catch (const CutShort& cut) {
        if (in_file_ == 0) throw;
        if (!options_.truncated)
            throw InputError(
                fmt::format("{}; the option truncated keeps the {} whole frame{} before it",
                            cut.what(), in_file_, in_file_ == 1 ? "" : "s"));
        is_cut_ = true;
        notes_.push_back(fmt::format("warning: {}: kept the {} whole frame{} before it", cut.what(),
                                     in_file_, in_file_ == 1 ? "" : "s"));
        return false;
    }
}

/// Reads or skips the next frame of all files; false after the last one.
bool EnsembleReader::step(bool wanted, View<float, 2> frame) {
    while (!advance(wanted, frame)) {
        if (in_file_ == 0)
            throw InputError(files_[next_file_ - 1], 0, "expected frames, found none");
        if (next_file_ == files_.size()) return false;
        open(next_file_);
    }
    origin_ = {static_cast<Index>(next_file_) - 1, in_file_, reader_->time()};
    ++seen_;
    ++in_file_;
    if (in_file_ > 1 && !reader_->is_trajectory()) is_trajectory_ = false;
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
                fmt::format(
                    "frame {}: expected {}, found {} for {}", origin_.frame,
                    std::isfinite(x) ? "coordinates between -1e15 and 1e15" : "finite coordinates",
                    x, topology_->named ? topology_->label(atom) : fmt::format("atom {}", atom)));
        }
    }
}

bool EnsembleReader::next(View<float, 2> frame) {
    const bool has_other_atoms = selected_.size() != all_->atoms.size();
    while (seen_ < options_.range.last) {
        const bool wanted = options_.range.has(seen_);
        if (!step(wanted, has_other_atoms ? scratch_.view() : frame)) break;
        if (!wanted) continue;
        molecules_.apply(cell(), has_other_atoms ? scratch_.view() : frame,
                         files_[static_cast<std::size_t>(origin_.file)], origin_.frame);
        if (has_other_atoms) gather(frame);
        check(frame);
        ++given_;
        return true;
    }
    if (given_ == 0) {
        throw InputError(
            files_.front(), 0,
            fmt::format(
                "expected frames of the range {}, counted from 0, found {} frames in {} file{}",
                range_text_, std::max(seen_, counted_), files_.size(),
                files_.size() == 1 ? "" : "s"));
    }
    return false;
}

std::vector<std::string> EnsembleReader::notes() const {
    std::vector<std::string> all = notes_;
    all.insert(all.end(), reader_->notes().begin(), reader_->notes().end());
    const std::vector<std::string> of_molecules = molecules_.notes();
    all.insert(all.end(), of_molecules.begin(), of_molecules.end());
    return all;
}

}  // namespace pleat
