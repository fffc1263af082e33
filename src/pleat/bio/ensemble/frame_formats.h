// Frame formats: what the readers of all formats of coordinates share, and how each is described.
#pragma once

#include <array>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/assembly.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

/// A file format: how its files are recognised, and its reader. frame_reader.cpp lists all formats.
struct FrameFormat {
    std::string_view name;
    /// File name endings that are read from folders, each followed by a blank: ".sdf .mol ".
    std::string_view endings;
    /// Whether the first bytes of a file have this format.
    bool (*matches)(ByteReader& bytes);
    /// `file`: source of the bytes; empty if in memory. Null if the file has no coordinates.
    std::unique_ptr<FrameReader> (*open)(std::unique_ptr<ByteReader> bytes,
                                         const std::filesystem::path& file);
    /// Reads the atoms of a file without coordinates.
    Topology (*read_atoms)(ByteSource& source) = nullptr;
};

/// Whether `magic` is at offset `at`, within the first 16 bytes of a file.
bool has_magic(ByteReader& bytes, std::size_t at, std::string_view magic);
/// The first bytes of a text file: enough for two lines of a GRO file or four of an SDF file.
std::string_view header_of(ByteReader& bytes);
/// The first four lines of the header; missing lines are empty.
std::vector<std::string_view> first_lines(std::string_view header);
/// A source of the lines of a file, from its first byte even if the file is a pipe.
std::unique_ptr<ByteSource> lines_of(std::unique_ptr<ByteReader> bytes);
/// Opens a reader that takes over the bytes.
template <class Frames>
std::unique_ptr<FrameReader> open_frames_of(std::unique_ptr<ByteReader> bytes,
                                            const std::filesystem::path&) {
    if constexpr (std::is_constructible_v<Frames, std::unique_ptr<ByteReader>>)
        return std::make_unique<Frames>(std::move(bytes));
    else
        return std::make_unique<Frames>(lines_of(std::move(bytes)));
}
/// Parses x, y and z from three fields from `first` on; false if a field is not a number.
bool parse_xyz(const std::vector<std::string_view>& fields, std::size_t first,
               std::array<float, 3>& xyz);

/// Base of readers of binary and text trajectories: counts frames and names them in errors. Derived
/// classes read the start of a frame, and read or skip its coordinates.
class TrajectoryFrames : public FrameReader {
public:
    Index atom_count() const override { return atoms_; }
    bool is_trajectory() const override { return true; }
    void choose_assembly(const std::string& name) override;
    bool next(View<float, 2> frame) final;
    bool skip() final;

protected:
    /// Reads the part of a frame before its coordinates; returns false after the last frame.
    virtual bool begin_frame() = 0;
    /// Reads the coordinates, and the rest of the frame after them.
    virtual void read_coordinates(View<float, 2> frame) = 0;
    /// Skips what read_coordinates() reads; by default reads it.
    virtual void skip_coordinates();

    /// Sets the frame to `scale` times numbers of `width` (4 or 8) bytes, x, y and z of each atom,
    /// less `shift`.
    static void set_frame(View<float, 2> frame, const char* numbers, std::size_t width,
                          double scale, bool big_endian = true,
                          const std::array<double, 3>& shift = {});

    explicit TrajectoryFrames(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}

    /// Sets the number of atoms of all frames. Throws InputError if it is none.
    void set_atom_count(Index count);
    /// Sets the cell from nine big-endian numbers in nanometres.
    void set_box(const char* numbers, std::size_t width);

    /// Throws an InputError about the file as a whole, or about the current frame.
    [[noreturn]] void fail(std::string_view text) const;
    [[noreturn]] void fail_in_frame(std::string_view text) const;
    /// Throws CutShort about the current frame.
    [[noreturn]] void fail_at_end(std::size_t wanted, std::size_t found) const;
    /// Skips bytes of a frame, or throws CutShort.
    void skip_in_frame(std::size_t size);
    /// Reads the next `size` bytes of a frame, or throws CutShort.
    const std::vector<char>& frame_bytes(std::size_t size);
    /// Adds a note, once, if the header announces a different number of frames.
    void compare_announced(Index announced);

    std::unique_ptr<ByteReader> bytes_;
    std::vector<char> buffer_;
    Index atoms_ = 0;
    Index frames_ = 0;  // read so far

private:
    bool has_compared_count_ = false;
};

/// Base of the PDB, mmCIF and GRO readers: chooses alternate locations, makes the topology of the
/// first model, and matches the atoms of other models to it.
class ModelFrames : public FrameReader {
public:
    Index atom_count() const override { return wanted_->atom_count(); }
    std::shared_ptr<const Topology> topology() const override { return own_; }
    void match(const std::shared_ptr<const Topology>& wanted, const std::vector<Index>& needed,
               const std::vector<Index>& places = {}) override;
    void choose_assembly(const std::string& name) override;
    std::string other_assemblies() const override;
    bool next(View<float, 2> frame) override;
    bool skip() override;
    bool next_structure() override;
    bool may_be_crystal() override;
    std::span<const double> b_factors() const override { return b_factors_; }

protected:
    explicit ModelFrames(std::string file) : file_(std::move(file)) {}
    /// The next model's records, in the order of the file; false after the last one.
    virtual bool next_records(std::vector<AtomRecord>& records) = 0;
    /// Reads the first model; constructors of derived classes call it.
    void start();

    const std::string file_;
    std::vector<Assembly> assemblies_;  ///< that the file describes
    /// The bonds that the file lists, each as two keys of bond_key().
    std::vector<std::array<std::string, 2>> connections_;
    /// What names an atom in that list.
    virtual std::string bond_key(const AtomRecord& atom) const = 0;
    /// Whether the file names chains. Unnamed chains match any chain.
    virtual bool has_chain_names() const { return true; }

private:
    bool read_model(std::vector<AtomRecord>& records);
    void set_topology();
    bool next_or_ahead(std::vector<AtomRecord>& records);
    std::vector<std::array<Index, 2>> listed_bonds() const;
    bool has_wanted_order(const std::vector<AtomRecord>& records, bool with_chain) const;
    void match_by_identity(const std::vector<AtomRecord>& records, bool with_chain,
                           View<float, 2> frame);
    void index_wanted_atoms(bool with_chain);
    void refuse_missing(const std::vector<Index>& missing) const;

    std::shared_ptr<const Topology> own_;     // of the first model
    std::shared_ptr<const Topology> wanted_;  // in whose order frames are given
    std::vector<Index> needed_, places_;      // places_: [atom of own_]: in `wanted_`; or empty
    std::vector<AtomRecord> first_;
    const Assembly* assembly_ = nullptr;  // the one that frames show; null: as listed
    bool first_given_ = false;
    bool one_chain_ = false;                           // `wanted_` has one chain only
    std::map<std::string, Index> wanted_by_identity_;  // -1: several atoms have it
    bool index_has_chains_ = false;
    bool has_noted_extra_atoms_ = false;
    ChainName chain_name_ = ChainName::chain;  // by which chains are matched
    bool ignores_chains_ = false;              // as matching by made up names of chains failed
    Index model_ = -1;                         // the one last read, from 0
    std::vector<double> b_factors_;
    // The second model, if it was read ahead.
    bool has_looked_ahead_ = false, has_ahead_ = false;
    std::vector<AtomRecord> records_ahead_;
    PeriodicCell cell_ahead_;
    std::exception_ptr problem_ahead_;
};

/// The atoms of one model.
std::shared_ptr<Topology> topology_of(const std::vector<AtomRecord>& records,
                                      const std::string& file);

/// Keeps one of the alternate locations of each atom, blank or lettered, the one with the highest
/// occupancy (the first of equals); if a residue has several names, keeps the atoms of one. Returns
/// how many atoms were removed.
Index keep_one_location(std::vector<AtomRecord>& records);

}  // namespace pleat
