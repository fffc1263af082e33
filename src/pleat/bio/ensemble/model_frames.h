// Model frames: the models of a PDB, mmCIF or GRO file as frames, with atoms matched by identity.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/assembly.h"
#include "pleat/bio/structure/pdb_dialect.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

/// The common code of the PDB, mmCIF and GRO readers: alternate locations, the topology of the
/// first model, and matching the atoms of the others to it.
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
    /// Reads the first model; derived classes call it in their constructors.
    void start();

    const std::string file_;
    std::vector<Assembly> assemblies_;  ///< that the file describes
    /// Bonds that the file lists, as two texts of bond_key() each.
    std::vector<std::array<std::string, 2>> connections_;
    /// What names an atom in that list.
    virtual std::string bond_key(const AtomRecord& atom) const = 0;
    /// Whether the file names chains. Chains that it does not name need not match.
    virtual bool has_chain_names() const { return true; }

private:
    bool read_model(std::vector<AtomRecord>& records);
    void set_topology();
    bool next_or_ahead(std::vector<AtomRecord>& records);
    std::vector<std::array<Index, 2>> listed_bonds() const;
    bool same_order(const std::vector<AtomRecord>& records, bool with_chain) const;
    void match_by_identity(const std::vector<AtomRecord>& records, bool with_chain,
                           View<float, 2> frame);
    void index_wanted(bool with_chain);
    void refuse_missing(const std::vector<Index>& missing) const;

    std::shared_ptr<const Topology> own_;     // of the first model
    std::shared_ptr<const Topology> wanted_;  // in whose order frames are given
    std::vector<Index> needed_, places_;      // places_: [atom of own_]: in `wanted_`; or empty
    std::vector<AtomRecord> first_;
    const Assembly* assembly_ = nullptr;  // the one that frames show; null: as listed
    bool first_given_ = false;
    bool one_chain_ = false;                    // `wanted_` has one chain only
    std::map<std::string, Index> by_identity_;  // -1: several atoms have it
    bool indexed_with_chain_ = false;
    bool noted_extra_ = false;
    ChainName chain_name_ = ChainName::chain;  // by which chains are matched
    bool ignores_chains_ = false;              // as matching by made up names of chains failed
    Index model_ = -1;                         // the one last read, from 0
    std::vector<double> b_factors_;
    // The second model, if it was read before it was asked for.
    bool looked_ahead_ = false, has_ahead_ = false;
    std::vector<AtomRecord> ahead_;
    PeriodicCell cell_ahead_;
    std::exception_ptr problem_ahead_;
};

/// The models of a PDB file, read one at a time.
class PdbFrames : public ModelFrames {
public:
    /// `file`: of the source, where the end is looked at for bonds; empty if there is none.
    explicit PdbFrames(std::unique_ptr<ByteSource> source, std::filesystem::path file = {});
    std::string_view format() const override { return "PDB"; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override;
    std::string bond_key(const AtomRecord& atom) const override {
        return {atom.serial.data(),
                static_cast<std::size_t>(std::find(atom.serial.begin(), atom.serial.end(), '\0') -
                                         atom.serial.begin())};
    }

private:
    void add_connections(std::string_view line);
    void read_connections();
    void read_last_connections();
    void check_whole(bool open, std::size_t count);
    void check_count(std::size_t count) const;

    std::unique_ptr<ByteSource> source_;
    std::filesystem::path file_of_source_;
    std::size_t first_count_ = 0;       // atom records of the first model
    std::vector<std::string> remarks_;  // about assemblies; until the first model is read
    PdbDialect dialect_;
    bool has_long_serials_ = false, noted_empty_ = false;
};

/// The models of an mmCIF file, parsed at once.
class MmcifFrames : public ModelFrames {
public:
    explicit MmcifFrames(std::unique_ptr<ByteSource> source);
    std::string_view format() const override { return "mmCIF"; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override;
    std::string bond_key(const AtomRecord& atom) const override { return connection_key(atom); }

private:
    std::deque<std::vector<AtomRecord>> models_;
};

/// The atoms of one model.
std::shared_ptr<Topology> topology_of(const std::vector<AtomRecord>& records,
                                      const std::string& file);

/// Keeps one of the alternate locations of each atom, blank or lettered, the one with the highest
/// occupancy (the first of equals); if a residue has several names, keeps the atoms of one. Returns
/// how many atoms were removed.
Index keep_one_location(std::vector<AtomRecord>& records);

}  // namespace pleat
