// B factors of PDB and mmCIF files.
#include <gtest/gtest.h>

#include "pleat/bio/structure/topology.h"
#include "pleat/core/tests/data_folders.h"

namespace pleat {

namespace {

TEST(BFactors, AreTheSameInPdbAndMmcifFiles) {
    const Topology pdb = read_topology(test::data_folder() / "1a8o.pdb.gz"),
                   cif = read_topology(test::data_folder() / "1a8o.cif.gz");
    ASSERT_EQ(pdb.atom_count(), cif.atom_count());
    for (std::size_t n = 0; n < pdb.atoms.size(); ++n)
        EXPECT_EQ(pdb.atoms[n].b_factor, cif.atoms[n].b_factor);
    EXPECT_EQ(pdb.atoms[1].name, "CA");
    EXPECT_GT(pdb.atoms[1].b_factor, 1);
}

}  // namespace

}  // namespace pleat
