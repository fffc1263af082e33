// GRO frames: the frames of a GROMACS text file, with names of atoms and boxes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/model_frames.h"

namespace pleat {

/// The frames of a GRO file, read one at a time: a title, the number of atoms, a line per atom, the
/// box. Coordinates have any number of decimals; velocities are left out. Residue numbers have five
/// digits and begin at 0 again behind 99999: such a number counts on. The file names neither
/// elements (element_guess.h) nor chains (chain_names.h).
class GroFrames : public ModelFrames {
public:
    explicit GroFrames(std::unique_ptr<ByteSource> source);
    std::string_view format() const override { return "GRO"; }
    bool may_be_crystal() override { return false; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override;
    std::string bond_key(const AtomRecord&) const override { return {}; }
    bool has_chain_names() const override { return false; }

private:
    bool read_count(Index& count);
    std::string parse_atom(std::string_view line, AtomRecord& atom) const;
    void read_box();
    void name_elements_and_chains(std::vector<AtomRecord>& records);
    [[noreturn]] void refuse_cut(const std::string& expected) const;
    [[noreturn]] void refuse_count(std::string_view found) const;

    std::unique_ptr<ByteSource> source_;
    Index frames_ = 0;               // read so far
    std::size_t width_ = 0;          // of a coordinate in this frame
    std::size_t point_ = 0;          // where its decimal point is
    std::vector<AtomRecord> named_;  // of the frame last named
};

}  // namespace pleat
