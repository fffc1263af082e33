// Ensemble reader: from files to frames of the selected atoms.
#include "pleat/bio/ensemble/ensemble_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

/// Maximum coordinate in angstrom: products of sums of squares of larger ones would overflow.
constexpr float kLargestCoordinate = 1e15f;

/// Whether a selection may use pLDDT.
bool is_of_plddt(std::string_view select) {
    return select.find("plddt") != std::string_view::npos ||
           select.find("pLDDT") != std::string_view::npos;
}

std::string text_of(const FrameRange& range) {
    const std::string last = range.last == FrameRange::kEnd ? "" : std::to_string(range.last);
    return fmt::format("{}:{}", range.first, last);
}

/// A selection with as many atoms as the file, to suggest in an error; empty if there is none.
std::string advice_on_count(const Topology& topology, Index count) {
    if (!topology.named || count >= topology.atom_count()) return {};
    for (const char* text : {"protein", "nucleic", "protein or nucleic", "not water",
                             "not (water or ion)", "heavy", "ca", "backbone", "protein and heavy",
                             "nucleic and heavy", "(protein or nucleic) and heavy", "water"}) {
        try {
            if (static_cast<Index>(select_atoms(topology, text).size()) == count)
                return fmt::format(
                    "; the selection '{}' of {} has {} atoms: give a topology of these "
                    "alone",
                    text, topology.source.string(), count);
        } catch (const InputError&) {  // it selects nothing
        }
    }
    return {};
}

}  // namespace

EnsembleReader::EnsembleReader(const std::vector<std::string>& sources, EnsembleOptions options)
    : files_(list_ensemble_files(sources,
                                 options.relaxed ? Relaxation::relaxed : Relaxation::unrelaxed)),
      options_(std::move(options)),
      centring_(
          std::make_shared<Centring>(Centring{.centres_each_frame = options_.centre_each_frame})) {
    check_readable(files_.paths);
    notes_ = files_.notes;
    first_models_.resize(files_.models.size());
    range_text_ = text_of(options_.range);
    if (options_.range.counts_from_end()) {
        counted_frames_ = count_frames();
        options_.range = options_.range.resolved(counted_frames_);
    }
    choice_ = FrameChoice(options_.scores, files_, options_.range);
    notes_.insert(notes_.end(), choice_.notes().begin(), choice_.notes().end());
    if (options_.common != nullptr) {
        options_.topology.clear();
        options_.atoms = options_.common->all;
    }
    const bool has_models_alone =
        options_.common != nullptr || (options_.atoms == nullptr && options_.topology.empty());
    if (has_models_alone && is_of_plddt(options_.select + options_.placed_by)) {
        average_b_factors(sources);
    } else if (options_.atoms != nullptr) {
        choose_atoms(options_.atoms);
    } else if (!options_.topology.empty()) {
        choose_atoms(std::make_shared<Topology>(
            read_topology(options_.topology, &notes_, options_.assembly)));
    }
    open(0);
}

/// Reads all files to count their frames.
Index EnsembleReader::count_frames() const {
    Index count = 0;
    for (const std::string& file : files_.paths) {
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
    const CommonAtoms* const common = options_.common.get();
    named_ =
        common == nullptr ? all_ : std::make_shared<const Topology>(subset(*all_, common->atoms));
    selected_ = select_atoms(*named_, options_.select);
    topology_ = selected_.size() == named_->atoms.size()
                    ? named_
                    : std::make_shared<const Topology>(subset(*named_, selected_));
    notes_.push_back({NoteKind::selection,
                      fmt::format("selection '{}': {} of {} atoms of {}", options_.select,
                                  selected_.size(), named_->atom_count(), all_->source.string())});
    std::vector<Index> first =
        options_.placed_by.empty() ? selected_ : select_atoms(*named_, options_.placed_by);
    if (common != nullptr)
        for (std::vector<Index>* const atoms : {&selected_, &first})
            for (Index& atom : *atoms) atom = common->atoms[atom];
    scratch_.molecules = WholeMolecules(all_, first, selected_, options_.pbc);
    if (selected_.size() != all_->atoms.size())
        scratch_.all_atoms = Array<float, 2>(3, all_->atom_count());
}

void EnsembleReader::open(std::size_t file) {
    if (reader_ != nullptr)
        notes_.insert(notes_.end(), reader_->notes().begin(), reader_->notes().end());
    is_first_of_file_ = true;
    const std::string& path = files_.paths[file];
    reader_ = open_frames(path);
    if (!options_.assembly.empty()) reader_->choose_assembly(options_.assembly);
    if (const std::string note = reader_->other_assemblies();
        !note.empty() && !has_noted_assemblies_) {
        notes_.push_back({NoteKind::several, note, "--assembly"});
        has_noted_assemblies_ = true;  // a note about one file is enough
    }
    if (!options_.in_place) reader_->centre(centring_);
    is_truncated_ = false;
    next_file_ = file + 1;
    frames_in_file_ = 0;
    if (all_ == nullptr && reader_->topology() != nullptr) choose_atoms(reader_->topology());
    if (all_ == nullptr)
        if (std::shared_ptr<const Topology> atoms = reader_->atoms_by_order()) choose_atoms(atoms);
    if (all_ == nullptr) {
        throw InputError(
            path, 0,
            fmt::format(
                "expected a topology (PDB, mmCIF, GRO, PSF or PRMTOP file) for the {} atoms "
                "of the {} file, found none",
                reader_->atom_count(), reader_->format()));
    }
    if (reader_->topology() != nullptr && options_.common != nullptr) {
        reader_->match(all_, selected_, match_by_sequence(*all_, *reader_->topology()).atoms);
    } else if (reader_->topology() != nullptr && all_->named) {
        const std::vector<Index> places = compare_models(file);
        // A small molecule's atoms are matched by bonds, as their names depend on the file's order.
        if (!all_->bond_orders.empty() && reader_->format() != "SDF" && reader_->format() != "MOL2")
            throw InputError(
                path, 0,
                fmt::format("expected SDF or MOL2 as {}, whose atoms are matched by their "
                            "bonds, found {}",
                            all_->source.string(), reader_->format()));
        if (reader_->topology() != all_ && places.empty()) compare_residues(path);
        reader_->match(all_, selected_, places);
    } else if (reader_->atom_count() != all_->atom_count()) {
        throw InputError(path, 0,
                         fmt::format("expected {} atoms as in {}, found {}{}", all_->atom_count(),
                                     all_->source.string(), reader_->atom_count(),
                                     advice_on_count(*all_, reader_->atom_count())));
    } else if (reader_->topology() == nullptr) {
        reader_->match(all_, selected_);
    }
}

/// Without this check, matching by numbers and names of atoms would superpose a different protein.
void EnsembleReader::compare_residues(const std::string& path) {
    const AtomMatch match = match_atoms(*topology_, *reader_->topology());
    if (match.residues_of_name == match.residues) return;
    const std::string found = fmt::format("{} of {} residues that have their numbers",
                                          match.residues_of_name, match.residues);
    if (options_.same_residues && !match.is_plausible())
        throw InputError(
            path, 0,
            fmt::format("expected residues of the names in {}, found these names in {}; "
                        "--any-residues compares anyway, --match sequence pairs them by sequence",
                        all_->source.string(), found));
    constexpr Index kFew = 3;  // mutations
    notes_.push_back({NoteKind::names_differ,
                      fmt::format("{}: {} have the names in {}; the first other one is {}", path,
                                  found, all_->source.string(), match.first_other_residue),
                      "--match sequence", match.residues - match.residues_of_name > kFew});
}

/// Returns the positions of a model's atoms in the first opened model of its folder, if its chains
/// have other names; empty if its residues are the same. Throws InputError if its residues differ.
std::vector<Index> EnsembleReader::compare_models(std::size_t file) {
    const Index folder = files_.folders[file];
    if (folder < 0) return {};
    std::shared_ptr<const Topology>& first = first_models_[folder];
    const std::shared_ptr<const Topology> own = reader_->topology();
    if (first == nullptr) first = own;
    const auto is_same = [](const Topology::Residue& a, const Topology::Residue& b) {
        return a.name == b.name && a.number == b.number && a.chain == b.chain;
    };
    const auto [a, b] = std::mismatch(first->residues.begin(), first->residues.end(),
                                      own->residues.begin(), own->residues.end(), is_same);
    if (a == first->residues.end() && b == own->residues.end()) return {};
    // Programs list chains in any order.
    const auto sorted = [](std::vector<Topology::Residue> residues) {
        std::ranges::stable_sort(
            residues, [](const auto& one, const auto& two) { return one.chain < two.chain; });
        return residues;
    };
    const std::vector<Topology::Residue> ours = sorted(own->residues),
                                         theirs = sorted(first->residues);
    if (std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), is_same)) return {};
    if (own->residues.size() == first->residues.size()) {
        SequenceMatch match = match_by_sequence(*all_, *own);
        bool is_same_sequence = true;
        for (std::size_t n = 0; n < match.atoms.size(); ++n) {
            const auto atom = static_cast<Index>(n);
            is_same_sequence = is_same_sequence && match.atoms[n] >= 0 &&
                               own->residue_of(atom).name == all_->residue_of(match.atoms[n]).name;
        }
        if (is_same_sequence) {
            notes_.push_back(
                {NoteKind::matching, fmt::format("{}: chains {} as in {}", files_.paths[file],
                                                 match.pairs, all_->source.string())});
            return std::move(match.atoms);
        }
    }
    const auto text = [](const Topology& topology, auto at) {
        return at == topology.residues.end()
                   ? fmt::format("{} residues", topology.residues.size())
                   : fmt::format("{} {} in chain '{}' of {} residues", at->name, at->number,
                                 at->chain, topology.residues.size());
    };
    throw InputError(
        files_.models[folder].path, 0,
        fmt::format("expected models of one sequence, found {} in {} and {} in {}", text(*first, a),
                    first->source.string(), text(*own, b), own->source.string()));
}

/// Uses the atoms of the first model with B factors averaged over all models, so that a selection
/// by pLDDT selects the same atoms in all models.
void EnsembleReader::average_b_factors(const std::vector<std::string>& sources) {
    refuse_pipes(files_.paths, "pLDDT is the mean over models, which are read twice for it");
    EnsembleOptions options = options_;
    options.select = "all";
    options.placed_by.clear();
    options.pbc = Pbc::none;
    EnsembleReader models(sources, std::move(options));
    Array<float, 2> frame(3, models.atom_count());
    std::vector<double> sums(models.all_->atoms.size());
    Index count = 0;
    while (models.next(frame)) {
        const std::span<const double> b_factors = models.b_factors();
        if (b_factors.empty()) continue;  // a trajectory
        for (std::size_t atom = 0; atom < sums.size(); ++atom) sums[atom] += b_factors[atom];
        ++count;
    }
    if (count == 0) {
        if (options_.atoms != nullptr) choose_atoms(options_.atoms);
        return;
    }
    const auto all = std::make_shared<Topology>(*models.all_);
    for (std::size_t atom = 0; atom < sums.size(); ++atom)
        all->atoms[atom].b_factor = sums[atom] / static_cast<double>(count);
    if (count > 1)
        notes_.push_back(
            {NoteKind::scores, fmt::format("pLDDT of the selection: means over {} models", count)});
    choose_atoms(all);
}

bool EnsembleReader::are_models() const {
    return std::ranges::none_of(files_.folders, [](Index folder) { return folder < 0; });
}

/// The periodic cell of the last frame; none if it is a crystal cell. Throws InputError if only
/// some frames of a file have cells.
const PeriodicCell& EnsembleReader::cell(bool is_first_of_file) {
    static const PeriodicCell kNone;
    if (options_.pbc == Pbc::none || !options_.assembly.empty()) return kNone;
    const bool has_cell = reader_->cell().exists();
    if (is_first_of_file) has_cell_ = has_cell;
    if (has_cell != has_cell_)
        throw InputError(
            files_.paths[origin_.file], 0,
            fmt::format("frame {}: expected {} periodic cell as in the frames before, found {}; "
                        "--pbc none leaves the coordinates as they are",
                        origin_.frame, has_cell_ ? "a" : "no", has_cell ? "one" : "none"));
    return has_cell && reader_->may_be_crystal() ? kNone : reader_->cell();
}

/// Reads the next frame of the current file, or skips it if `stored` is null; returns false after
/// its last frame.
bool EnsembleReader::advance(StoredCoordinates* stored, View<float, 2> frame) {
    if (is_truncated_) return false;
    try {
        return stored != nullptr ? reader_->next_stored(*stored, frame) : reader_->skip();
    } catch (const CutShort& cut) {
        if (frames_in_file_ == 0) throw;
        if (!options_.truncated)
            throw InputError(
                fmt::format("{}; the option truncated keeps the {} whole frame{} before it",
                            cut.what(), frames_in_file_, frames_in_file_ == 1 ? "" : "s"));
        is_truncated_ = true;
        notes_.push_back({NoteKind::truncated,
                          fmt::format("{}: kept the {} whole frame{} before it", cut.what(),
                                      frames_in_file_, frames_in_file_ == 1 ? "" : "s"),
                          {},
                          true});
        return false;
    }
}

/// Opens the next file, skipping files that are excluded by their scores; returns false after the
/// last file.
bool EnsembleReader::open_next() {
    for (; next_file_ < files_.paths.size(); ++next_file_, ++seen_) {
        if (choice_.is_of_files() && !is_wanted(seen_)) continue;
        open(next_file_);
        return true;
    }
    return false;
}

bool EnsembleReader::is_wanted(Index frame) const {
    return options_.range.has(frame) && choice_.keeps(frame);
}

/// Goes to the next frame of all files; reads it if it is wanted and `stored` is not null. False
/// after the last.
bool EnsembleReader::step(bool& wanted, StoredCoordinates* stored, View<float, 2> frame) {
    wanted = is_wanted(seen_);
    while (!advance(wanted ? stored : nullptr, frame)) {
        if (frames_in_file_ == 0)
            throw InputError(files_.paths[next_file_ - 1], 0, "expected frames, found none");
        if (!open_next()) return false;
        wanted = is_wanted(seen_);
    }
    if (options_.range.has(seen_)) choice_.require(seen_);
    if (choice_.is_of_files() && frames_in_file_ > 0)
        throw InputError(files_.paths[next_file_ - 1], 0,
                         "expected one frame, as scores belong to files, found more; number the "
                         "frames in the table of scores instead");
    origin_ = {static_cast<Index>(next_file_) - 1, frames_in_file_, reader_->time()};
    ++seen_;
    ++frames_in_file_;
    if (frames_in_file_ > 1 && !reader_->is_trajectory()) is_trajectory_ = false;
    return true;
}

void EnsembleReader::check(const FrameOrigin& origin, View<float, 2> frame) const {
    const auto is_fine = [](float x) { return std::abs(x) <= kLargestCoordinate; };  // NaN is not
    // No branch, so that checking valid frames costs almost nothing.
    bool all_fine = true;
    for (const float x : frame) all_fine &= is_fine(x);
    if (all_fine) return;
    for (Index atom = 0; atom < atom_count(); ++atom) {
        for (Index axis = 0; axis < 3; ++axis) {
            const float x = frame(axis, atom);
            if (is_fine(x)) continue;
            throw InputError(
                files_.paths[origin.file], 0,
                fmt::format(
                    "frame {}: expected {}, found {} for {}", origin.frame,
                    std::isfinite(x) ? "coordinates between -1e15 and 1e15" : "finite coordinates",
                    x,
                    topology_->named ? topology_->atom_label(atom) : fmt::format("atom {}", atom)));
        }
    }
}

/// Warns if consecutive atoms are so close that the coordinates must be in another unit.
void EnsembleReader::check_unit(View<float, 2> frame) {
    constexpr Index kMinAtoms = 20;
    // In nanometres, bonds to hydrogen are 0.07 and neighbouring alpha carbons 0.38 apart.
    constexpr double kNearest = 0.05, kFarthest = 0.5;
    if (frame.extent(1) < kMinAtoms) return;
    std::vector<double> steps;
    for (Index atom = 1; atom < frame.extent(1); ++atom)
        steps.push_back(std::hypot(frame(0, atom) - frame(0, atom - 1),
                                   frame(1, atom) - frame(1, atom - 1),
                                   frame(2, atom) - frame(2, atom - 1)));
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    if (*middle > kNearest && *middle < kFarthest)
        notes_.push_back(
            {NoteKind::unit,
             fmt::format("{}: atoms that follow one another are {:.2g} angstrom apart: "
                         "coordinates in nanometer? Multiply them by 10 then",
                         files_.paths[origin_.file], *middle),
             {},
             true});
}

/// Skips frames up to the next wanted one and reads it, or skips it too if `stored` is null; false
/// after the last one.
bool EnsembleReader::find(StoredCoordinates* stored, View<float, 2> frame) {
    while (seen_ < options_.range.last) {
        bool wanted = false;
        if (!step(wanted, stored, frame)) {
            choice_.check_count(seen_);
            break;
        }
        if (!wanted) continue;
        ++frames_given_;
        return true;
    }
    if (frames_given_ > 0) return false;
    throw InputError(
        files_.paths.front(), 0,
        fmt::format("expected frames of the range {}, counted from 0, found {} frames in {} file{}",
                    range_text_, std::max(seen_, counted_frames_), files_.paths.size(),
                    files_.paths.size() == 1 ? "" : "s"));
}

bool EnsembleReader::fetch(FetchedFrame& fetched, View<float, 2> frame) {
    const View<float, 2> read = scratch_.all_atoms.size() > 0 ? scratch_.all_atoms.view() : frame;
    if (!find(&fetched.stored, read)) return false;
    const bool is_first = std::exchange(is_first_of_file_, false);
    fetched.frame = frame;
    fetched.origin = origin_;
    fetched.number = number();
    fetched.cell = cell(is_first);
    // The first frame with a cell may show the bonds and the reference that all others need.
    fetched.is_finished = is_first || fetched.stored.unpack == nullptr;
    if (fetched.is_finished) finish(fetched, scratch_);
    if (frames_given_ == 1) check_unit(frame);
    return true;
}

void EnsembleReader::finish(const FetchedFrame& fetched, FrameScratch& scratch) const {
    const bool has_other_atoms = scratch.all_atoms.size() > 0;
    const View<float, 2> frame = fetched.frame;
    const View<float, 2> read = has_other_atoms ? scratch.all_atoms.view() : frame;
    const FrameOrigin& origin = fetched.origin;
    const std::string& file = files_.paths[origin.file];
    std::string problem;
    if (fetched.stored.unpack != nullptr) problem = fetched.stored.unpack(fetched.stored, read);
    if (!problem.empty()) {
        problem = fmt::format("frame {}: {}", origin.frame, problem);
        throw InputError(file, 0, problem);
    }
    scratch.molecules.apply(fetched.cell, read, file, origin.frame, fetched.number);
    for (Index axis = 0; axis < 3 && has_other_atoms; ++axis)
        for (std::size_t i = 0; i < selected_.size(); ++i)
            frame(axis, static_cast<Index>(i)) = read(axis, selected_[i]);
    check(origin, frame);
}

void EnsembleReader::update(FrameScratch& scratch) {
    if (scratch.all_atoms.size() != scratch_.all_atoms.size())
        scratch.all_atoms = scratch_.all_atoms;
    scratch.molecules.synchronise(scratch_.molecules);
}

bool EnsembleReader::next(View<float, 2> frame) {
    if (!fetch(fetched_, frame)) return false;
    if (!fetched_.is_finished) finish(fetched_, scratch_);
    return true;
}

bool EnsembleReader::skip() { return find(nullptr, {}); }

Notes EnsembleReader::notes() const {
    Notes all = notes_;
    all.insert(all.end(), reader_->notes().begin(), reader_->notes().end());
    const Notes of_molecules = scratch_.molecules.notes();
    all.insert(all.end(), of_molecules.begin(), of_molecules.end());
    return all;
}

}  // namespace pleat
