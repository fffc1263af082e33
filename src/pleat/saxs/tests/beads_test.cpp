// Tests of beads: their electrons, and the first values of their factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {
namespace {

constexpr Resolution kBeadModels[] = {Resolution::one_bead, Resolution::two_bead};
constexpr const char* kAminoAcids =
    "(ALA,ARG,ASN,ASP,CYS,GLN,GLU,GLY,HIS,ILE,LEU,LYS,MET,MSE,PHE,PRO,SER,THR,TRP,TYR,VAL)";

Ensemble committed(const char* name) {
    return read_ensemble({(pleat::test::data_folder() / name).string()},
                         {.topology = {}, .select = kAminoAcids, .range = {0, 1, 1}});
}

/// Sum of a model's amplitudes at q = 0.
double forward_amplitude(const Scatterers& scatterers) {
    const Model model = make_model(scatterers, nullptr, std::vector<double>{0});
    double sum = 0;
    for (const std::int32_t type : model.types) {
        sum += model.factors(0, type, 0);
        if (scatterers.resolution == Resolution::all_atom) sum -= model.factors(1, type, 0);
    }
    return sum;
}

TEST(Beads, HaveTheElectronsOfTheirAtoms) {
    // Complete residues, disulfides (1hel), selenomethionine (1a8o), a carboxyl end.
    for (const char* name : {"1hel.pdb.gz", "1ql9_A.pdb.gz", "1a8o.pdb.gz"}) {
        const Ensemble one = committed(name);
        const double all = forward_amplitude(make_scatterers(*one.topology, one.xyz[0], {}));
        for (const Resolution resolution : kBeadModels)
            EXPECT_NEAR(forward_amplitude(make_scatterers(*one.topology, one.xyz[0],
                                                          {.resolution = resolution})) /
                            all,
                        1, 2e-4)
                << name << " " << name_of(resolution);
    }
}

TEST(Beads, OfOtherElectronsAreTypesOfTheirOwn) {
    const Ensemble lysozyme = committed("1hel.pdb.gz");
    const Scatterers beads =
        make_scatterers(*lysozyme.topology, lysozyme.xyz[0], {.resolution = Resolution::two_bead});
    ASSERT_EQ(beads.type_names.size(), beads.excess_electrons.size());
    std::map<std::string, std::map<int, int>> counts;  // by name and thousandths of an electron
    for (const std::int32_t type : beads.types) {
        const auto t = static_cast<std::size_t>(type);
        counts[beads.type_names[t]]
              [static_cast<int>(std::lround(1000 * beads.excess_electrons[t]))]++;
    }
    const double hydrogen = net_electrons({"H", 0}), oxygen = net_electrons({"O", 0});
    const auto thousandths = [](double x) { return static_cast<int>(std::lround(1000 * x)); };
    // All eight cysteines are bridged; the last leucine has the oxygen OXT and the first lysine two
    // more hydrogens; isoleucine, threonine, valine and proline have a hydrogen less in their
    // backbones.
    EXPECT_EQ(counts["CYS"], (std::map<int, int>{{thousandths(-hydrogen), 8}}));
    EXPECT_EQ(counts["BB"], (std::map<int, int>{{thousandths(2 * hydrogen), 1},
                                                {0, 82},
                                                {thousandths(-hydrogen), 21},
                                                {thousandths(oxygen), 1}}));
    for (const char* complete : {"ALA", "ARG", "ILE", "PRO", "TRP"})
        EXPECT_EQ(counts[complete].begin()->first, 0) << complete;
    const Ensemble capsid = committed("1a8o.pdb.gz");
    const Scatterers whole =
        make_scatterers(*capsid.topology, capsid.xyz[0], {.resolution = Resolution::one_bead});
    const double selenium = net_electrons({"Se", 0}) - net_electrons({"S", 0});
    bool has_selenium = false;
    for (std::size_t t = 0; t < whole.type_names.size(); ++t)
        has_selenium |=
            whole.type_names[t] == "MET" && std::abs(whole.excess_electrons[t] - selenium) < 1e-9;
    EXPECT_TRUE(has_selenium);
}

TEST(Beads, OfAlphaCarbonsAreWholeResidues) {
    const Ensemble traced = read_ensemble({(pleat::test::data_folder() / "1hel.pdb.gz").string()},
                                          {.topology = {}, .select = "ca", .range = {}});
    const Scatterers beads =
        make_scatterers(*traced.topology, traced.xyz[0], {.resolution = Resolution::one_bead});
    for (const double excess : beads.excess_electrons) EXPECT_EQ(excess, 0);
    EXPECT_EQ(beads.notes.size(), 1u);
    EXPECT_NE(pleat::test::error_text<InputError>([&] {
                  make_scatterers(*traced.topology, traced.xyz[0],
                                  {.resolution = Resolution::two_bead});
              }).find("expected backbones and side chains for the two-bead model, found CA atoms"),
              std::string::npos);
}

TEST(Beads, WithoutAtomsAreReported) {
    Ensemble lysozyme = committed("1hel.pdb.gz");
    std::vector<Index> kept;
    for (Index i = 0; i < lysozyme.topology->atom_count(); ++i) {
        const bool is_first = lysozyme.topology->residue_of(i).number == 1;
        if (!is_first || lysozyme.topology->atoms[static_cast<std::size_t>(i)].name != "NZ")
            kept.push_back(i);
    }
    const Topology fewer = subset(*lysozyme.topology, kept);
    const Array<float, 2> xyz(3, fewer.atom_count());
    const Scatterers beads = make_scatterers(fewer, xyz, {.resolution = Resolution::two_bead});
    EXPECT_TRUE(
        std::find(beads.notes.begin(), beads.notes.end(),
                  Note{NoteKind::residues,
                       "1 residues lack heavy atoms: their beads scatter with the atoms that "
                       "are listed"}) != beads.notes.end());
}

TEST(Scatterers, OfBackbonesAloneAreWarnedOf) {
    const Ensemble lysozyme = committed("1hel.pdb.gz");
    const auto notes = [&](const std::string& selection) {
        const Topology atoms =
            subset(*lysozyme.topology, select_atoms(*lysozyme.topology, selection));
        const Array<float, 2> xyz(3, atoms.atom_count());
        return make_scatterers(atoms, xyz, {}).notes;
    };
    EXPECT_EQ(count(notes("protein"), NoteKind::residues), 0);
    const Notes backbone = notes("name N CA C O");
    ASSERT_EQ(count(backbone, NoteKind::residues), 1);
    EXPECT_NE(backbone.front().text.find("117 of 129"), std::string::npos);  // all but glycines
}

/// The first values of pleat's own tables are the electrons of complete beads: with the excess of
/// the others, I(0) is that of all atoms.
TEST(FormFactors, BeginAtTheElectronsOfCompleteBeads) {
    for (const Resolution resolution : kBeadModels) {
        const FormFactorTable& table = derived_form_factors(resolution);
        const std::vector<double> electrons = complete_bead_electrons(resolution);
        for (std::size_t t = 0; t < electrons.size(); ++t)
            EXPECT_NEAR(table.factors(0, static_cast<Index>(t)), electrons[t], 2e-3)
                << table.types[t];
    }
    EXPECT_EQ(excess_factor(0), 1);
    EXPECT_LT(excess_factor(0.5), excess_factor(0.25));
}

}  // namespace
}  // namespace pleat::saxs
