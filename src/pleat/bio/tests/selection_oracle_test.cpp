// Selections of six files, against the atoms that MDAnalysis selects by the same meaning.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {
namespace {

/// FNV-1a of 64 bits over the numbers, each as 8 bytes, the lowest first.
std::uint64_t digest(const std::vector<Index>& atoms) {
    std::uint64_t state = 0xcbf29ce484222325U;
    for (const Index atom : atoms)
        for (int byte = 0; byte < 8; ++byte)
            state = (state ^ ((static_cast<std::uint64_t>(atom) >> (8 * byte)) & 255U)) *
                    0x100000001b3U;
    return state;
}

TEST(SelectionOracle, SelectsTheAtomsOfMDAnalysis) {
    std::map<std::string, Topology> topologies;
    std::set<std::string> texts;
    ByteSource table(test::committed_oracles("bio") / "selections.tsv");
    std::string_view line;
    table.next(line);  // names of columns
    while (table.next(line)) {
        std::istringstream fields{std::string(line)};
        std::string file, text, count, wanted;
        std::getline(fields, file, '\t');
        std::getline(fields, text, '\t');
        std::getline(fields, count, '\t');
        std::getline(fields, wanted, '\t');
        SCOPED_TRACE(file + ": " + text);
        if (!topologies.contains(file))
            topologies.emplace(file, read_topology(test::data_folder() / file));
        texts.insert(text);
        if (count == "0") {
            EXPECT_THROW(select_atoms(topologies.at(file), text), InputError);
            continue;
        }
        const std::vector<Index> atoms = select_atoms(topologies.at(file), text);
        EXPECT_EQ(std::to_string(atoms.size()), count);
        EXPECT_EQ(digest(atoms), std::stoull(wanted, nullptr, 16));
    }
    EXPECT_EQ(topologies.size(), 6u);
    EXPECT_GE(texts.size(), 40u);
}

}  // namespace
}  // namespace pleat
