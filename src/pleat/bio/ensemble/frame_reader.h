// Frame readers: the frames of one coordinate file, one after another.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

/// How float64 frames far from the origin are moved towards it: float32 has only seven digits.
/// Frames whose centre lies within kNear angstrom of the origin stay where they are.
struct Centring {
    static constexpr double kNear = 128;
    bool centres_each_frame = false;  ///< each by its own centre, or all by that of the first one
    bool has_chosen_shift = false;
    std::array<double, 3> shift{};  ///< whole angstroms, subtracted

    /// Sets `shift` for a frame with this mean position.
    void choose_shift(const std::array<double, 3>& mean);
};

/// The coordinates of a frame as its file stores them.
struct StoredCoordinates {
    std::vector<char> header, bytes;
    /// Sets `frame` [axis, atom] from them, on any thread; returns what is wrong with them
    /// (`expected X, found Y`), or an empty text. Null: there are none.
    std::string (*unpack)(const StoredCoordinates& stored, View<float, 2> frame) = nullptr;
};

/// Gives the frames of one file in their order, in angstrom whatever the unit of the file. Memory:
/// one frame (mmCIF and NPY in Fortran order: the file). InputError, naming the file and the frame
/// (from 0), for anything that is damaged, cut short or contradicts itself.
class FrameReader {
public:
    virtual ~FrameReader() = default;

    /// The format: "PDB", "mmCIF", "GRO", "SDF", "MOL2", "XYZ", "DCD", "XTC", "TRR",
    /// "AMBER NetCDF", "NPY".
    virtual std::string_view format() const = 0;
    virtual Index atom_count() const = 0;
    /// The atoms of the first frame if the file names them, else null.
    virtual std::shared_ptr<const Topology> topology() const { return nullptr; }
    /// The atoms of a file without atom names (NPY, XYZ), to be matched to those of other files by
    /// order; else null.
    virtual std::shared_ptr<const Topology> atoms_by_order() const { return nullptr; }
    /// For files with atom names: from now on frames contain the atoms of `wanted`, in this order,
    /// matched by identity. Throws MissingAtoms if a frame lacks one of the `needed` atoms (indices
    /// into `wanted`); other missing atoms are NaN. `places`, unless empty, replaces the matching:
    /// for each atom of topology(), its index in `wanted`, or -1.
    virtual void match(const std::shared_ptr<const Topology>& wanted,
                       const std::vector<Index>& needed, const std::vector<Index>& places = {}) {}
    /// For files that describe biological assemblies: from now on frames and topology are those of
    /// the named assembly. Must be called first. Throws InputError that lists the file's
    /// assemblies.
    virtual void choose_assembly(const std::string& name) = 0;
    /// A note if the file describes assemblies but its frames are none of them; else empty.
    virtual std::string other_assemblies() const { return {}; }
    /// Sets `frame` [axis, atom] to the next frame. Returns false after the last one, and then does
    /// not change `frame`.
    virtual bool next(View<float, 2> frame) = 0;
    /// As next(), but formats that take long to unpack set `stored` instead of `frame`; others set
    /// `stored.unpack` to null.
    virtual bool next_stored(StoredCoordinates& stored, View<float, 2> frame) {
        stored.unpack = nullptr;
        return next(frame);
    }
    /// Skips the next frame; false after the last one.
    virtual bool skip();
    /// For files whose models may have different atoms: makes the model after the last one read the
    /// first one, so that topology() and next() refer to its atoms. Returns false after the last
    /// model and for other files.
    virtual bool next_structure() { return false; }

    /// The B factors [atom] of the last frame read, in the atom order of the frame; NaN for missing
    /// atoms; empty if the format has none.
    virtual std::span<const double> b_factors() const { return {}; }
    /// The periodic cell of the frame last read.
    const PeriodicCell& cell() const { return cell_; }
    /// The time of the frame last read or skipped, picoseconds, if the format has it.
    std::optional<double> time() const { return time_; }
    /// Whether frames are in temporal order: the format is a trajectory format.
    virtual bool is_trajectory() const { return false; }
    /// Whether the cell may be a crystal cell instead of a simulation cell: the file is a structure
    /// with one model.
    virtual bool may_be_crystal() { return false; }
    /// Sets how float64 coordinates are moved before they are rounded to float32; without this call
    /// they are not moved. The readers of an ensemble share `centring`.
    virtual void centre(const std::shared_ptr<Centring>& centring) {}

    /// Notes for the user about the frames read so far.
    const Notes& notes() const { return notes_; }

protected:
    PeriodicCell cell_;
    std::optional<double> time_;
    Notes notes_;
};

/// Whether files with this ending (".pdb") are read from folders.
bool is_coordinate_ending(const std::string& ending);

/// Opens a file, whose format is recognised by its content: PDB, mmCIF, GRO, SDF, MOL2, XYZ, DCD,
/// XTC, TRR, AMBER NetCDF-3 or NPY, each plain, gzip or Zstandard.
std::unique_ptr<FrameReader> open_frames(const std::filesystem::path& path);

/// Opens a file in memory, which must outlive the reader; errors call it `name`.
std::unique_ptr<FrameReader> open_frames(const std::string& name, std::string_view bytes);

}  // namespace pleat
