// SDF frames: the molecules of an SDF or MOL file as frames of one molecule.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// Whether a text that begins so is an SDF or MOL file: its fourth line counts atoms and bonds.
bool is_sdf(std::string_view start);

/// A molecule of an SDF or MOL2 file.
struct MoleculeRecord {
    std::vector<std::string> elements;
    std::vector<std::array<float, 3>> xyz;
    std::vector<std::array<Index, 2>> bonds;
    std::vector<std::uint8_t> orders;
    // Of MOL2 files, else empty.
    std::vector<std::string> names;           ///< [atom]
    std::vector<Topology::Residue> residues;  ///< [atom]
};

/// Reads the next molecule of a MOL2 file, which is this frame; false after the last one.
bool read_mol2_record(ByteSource& source, Index number, MoleculeRecord& record);

/// The records of an SDF file in the formats V2000 or V3000, one at a time; a MOL file has one. All
/// are poses of one molecule: the atoms of later records are matched to those of the first, or of
/// another file, by elements and bonds if their order differs. The molecule is one residue LIG,
/// whose atoms are called C1, C2, N1, ... in the order of the file; MOL2 files name both.
class SdfFrames : public FrameReader {
public:
    explicit SdfFrames(std::unique_ptr<ByteSource> source, bool is_mol2 = false);
    std::string_view format() const override { return is_mol2_ ? "MOL2" : "SDF"; }
    Index atom_count() const override { return wanted_->atom_count(); }
    std::shared_ptr<const Topology> topology() const override { return own_; }
    void match(const std::shared_ptr<const Topology>& wanted, const std::vector<Index>& needed,
               const std::vector<Index>& places = {}) override;
    void choose_assembly(const std::string& name) override;
    bool next(View<float, 2> frame) override;

private:
    using Record = MoleculeRecord;
    bool read_record(Record& record);
    std::string_view line_of_record(std::string_view what);
    void read_atoms(Record& record, Index count);
    void read_bonds(Record& record, Index count);
    void add_atom(Record& record, std::string_view symbol, std::string_view place,
                  const std::array<float, 3>& xyz);
    std::vector<std::string> next_statement(std::string_view what, std::string_view start);
    void read_table(Record& record);
    void pass_properties();
    Topology topology_of(const Record& record) const;
    std::vector<Index> numbers(const Record& record);
    [[noreturn]] void fail(std::string_view text) const;

    std::unique_ptr<ByteSource> source_;
    const bool is_mol2_;
    std::shared_ptr<const Topology> own_, wanted_;
    std::vector<Index> needed_;
    Record record_;
    bool is_ahead_ = true;  // `record_` was read and not given
    Index number_ = -1;     // of the record last read, from 0
    bool noted_order_ = false;
};

}  // namespace pleat
