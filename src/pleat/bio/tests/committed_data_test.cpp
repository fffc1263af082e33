// The files of data/ as the readers see them, against what data/oracles/bio says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

std::filesystem::path data(const std::string& file) { return test::data_folder() / file; }

/// The rows of a table of data/oracles/bio, without its line of names.
std::vector<std::vector<std::string>> table(const std::string& name) {
    std::vector<std::vector<std::string>> rows;
    ByteSource source(test::committed_oracles("bio") / name);
    std::string_view line;
    while (source.next(line)) {
        std::istringstream fields{std::string(line)};
        rows.emplace_back();
        for (std::string field; std::getline(fields, field, '\t');) rows.back().push_back(field);
    }
    rows.erase(rows.begin());
    return rows;
}

TEST(CommittedData, AlignmentsHaveTheirCounts) {
    const auto rows = table("alignments.tsv");
    EXPECT_EQ(rows.size(), 3u);
    for (const auto& row : rows) {
        SCOPED_TRACE(row[0]);
        ReadOptions options;
        if (row[1] == "stockholm") options.insertions = Insertions::keep;
        const Alignment alignment = read_alignment(data(row[0]), options);
        EXPECT_EQ(alignment.format, row[1]);
        EXPECT_EQ(alignment.alphabet->name(), row[2]);
        EXPECT_EQ(alignment.sequence_count(), std::stoll(row[3]));
        EXPECT_EQ(alignment.column_count(), std::stoll(row[4]));
        EXPECT_EQ(alignment.names.size(), static_cast<std::size_t>(alignment.sequence_count()));
        const int gap = alignment.alphabet->code('-');
        EXPECT_EQ(std::count(alignment.letters.begin(), alignment.letters.end(), gap),
                  std::stoll(row[5]));
    }
}

TEST(CommittedData, TrypsinStandsInItsColumns) {
    const Alignment alignment = read_alignment(data("trypsin.a2m.gz"));
    const Structure structure = read_structure(data("1ql9_A.pdb.gz"));
    const ResidueMap map = map_residues(alignment, structure);
    EXPECT_EQ(map.row_name.substr(0, 6), "1QL9_A");
    const Chain& chain = structure.chains[static_cast<std::size_t>(map.chain)];
    std::map<Index, std::string> expected, found;
    for (const auto& row : table("1ql9_A_map.tsv")) expected[std::stoll(row[0])] = row[1] + row[2];
    for (std::size_t column = 0; column < map.residues.size(); ++column) {
        if (map.residues[column] < 0) continue;
        const Residue& residue = chain.residues[static_cast<std::size_t>(map.residues[column])];
        found[static_cast<Index>(column)] = residue.id() + residue.letter;
    }
    EXPECT_EQ(found.size(), 223u);
    EXPECT_EQ(found, expected);
}

TEST(CommittedData, TrypsinHasItsContacts) {
    const Structure structure = read_structure(data("1ql9_A.pdb.gz"));
    const Chain& chain = structure.chains.at(0);
    std::vector<Index> residues(chain.residues.size());
    std::map<std::string, Index> numbers;
    for (std::size_t n = 0; n < residues.size(); ++n) {
        residues[n] = static_cast<Index>(n);
        numbers[chain.residues[n].id()] = residues[n];
    }
    const auto distances = column_distances(chain, residues, ContactAtoms::beta);
    const auto expected = table("1ql9_A_contacts.tsv");
    for (const auto& row : expected)
        EXPECT_NEAR(distances(numbers.at(row[0]), numbers.at(row[1])), std::stod(row[2]), 1e-4);
    std::size_t contacts = 0;
    for (Index i = 0; i < distances.extent(0); ++i)
        for (Index j = i + 1; j < distances.extent(0); ++j) contacts += distances(i, j) < 8;
    EXPECT_EQ(contacts, expected.size());
}

TEST(CommittedData, FramesOfTheTrajectoryHaveTheirCentres) {
    EnsembleOptions options;
    options.topology = data("hivp.pdb.gz");
    const Ensemble ensemble = read_ensemble({data("hivp.dcd.gz").string()}, options);
    const auto rows = table("hivp_centres.tsv");
    ASSERT_EQ(ensemble.frame_count(), static_cast<Index>(rows.size()));
    for (Index frame = 0; frame < ensemble.frame_count(); ++frame) {
        const auto& row = rows[static_cast<std::size_t>(frame)];
        ASSERT_EQ(ensemble.atom_count(), std::stoll(row[1]));
        EXPECT_EQ(ensemble.origins[static_cast<std::size_t>(frame)].frame, frame);
        for (Index axis = 0; axis < 3; ++axis) {
            double sum = 0;
            for (Index atom = 0; atom < ensemble.atom_count(); ++atom)
                sum += ensemble.xyz(frame, axis, atom);
            EXPECT_NEAR(sum / static_cast<double>(ensemble.atom_count()),
                        std::stod(row[static_cast<std::size_t>(2 + axis)]), 1e-5)
                << frame;
        }
    }
}

TEST(CommittedData, CurvesAreWhole) {
    for (const auto& row : table("curves.tsv")) {
        const Profile curve = read_profile(data(row[0])).profile;
        EXPECT_EQ(curve.size(), std::stoul(row[1]));
        EXPECT_EQ(curve.q.front(), std::stod(row[2]));
        EXPECT_EQ(curve.q.back(), std::stod(row[3]));
        double intensities = 0, errors = 0;
        for (const double value : curve.intensity) intensities += value;
        for (const double value : curve.sigma) errors += value;
        EXPECT_NEAR(intensities, std::stod(row[4]), 1e-6);
        EXPECT_NEAR(errors, std::stod(row[5]), 1e-6);
    }
}

}  // namespace
}  // namespace pleat
