// Missing residues: ideal geometry between domains that keep their shape, and what is refused.
#include "pleat/workflows/refine/chain/missing_residues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/prior/prior.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::spill;
using pleat::test::TemporaryFolder;
using test::add_peptide;
using test::kDegree;
using test::MadeChain;

const std::string kLetters = "AGVAAVGAAVAAGVGAPGSGAPGVAAVGAAVAAGVAAVGA";  // 40

/// A peptide of these letters in which the residues of a set of numbers are missing.
HeavyAtoms without(const std::string& letters, const std::set<int>& missing) {
    MadeChain made;
    add_peptide(made, letters, "A");
    std::vector<Index> kept;
    for (Index atom = 0; atom < made.topology->atom_count(); ++atom)
        if (missing.count(made.topology->residue_of(atom).number) == 0) kept.push_back(atom);
    HeavyAtoms heavy{std::make_shared<const Topology>(subset(*made.topology, kept)),
                     Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
    const Array<float, 2> xyz = made.xyz();
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            heavy.xyz(axis, static_cast<Index>(n)) = xyz(axis, kept[n]);
    return heavy;
}

std::set<int> numbers(int first, int last) {
    std::set<int> all;
    for (int n = first; n <= last; ++n) all.insert(n);
    return all;
}

struct Case {
    TemporaryFolder folder;
    std::string fasta = ">protein\n" + kLetters + "\n";
    std::vector<std::vector<ResidueRange>> groups = {};

    CompletedStructure build(const HeavyAtoms& heavy, std::uint64_t seed = 1) {
        const auto path = folder / "protein.fasta";
        spill(path, fasta);
        return build_missing_residues(heavy, path, groups, seed);
    }
    std::string refusal(const HeavyAtoms& heavy) {
        return error_text<InputError>([&] { build(heavy); });
    }
};

/// Positions by residue number and atom name.
using Atoms = std::map<std::pair<int, std::string>, Vector>;

Atoms atoms_of(const HeavyAtoms& heavy) {
    Atoms atoms;
    for (Index n = 0; n < heavy.topology->atom_count(); ++n)
        atoms[{heavy.topology->residue_of(n).number,
               heavy.topology->atoms[static_cast<std::size_t>(n)].name}] = {
            heavy.xyz(0, n), heavy.xyz(1, n), heavy.xyz(2, n)};
    return atoms;
}

void expect_ideal_bonds(const Atoms& atoms, int first, int last) {
    for (int n = first; n <= last; ++n) {
        const auto at = [&](int number, const char* name) { return atoms.at({number, name}); };
        EXPECT_NEAR(distance(at(n, "N"), at(n, "CA")), 1.458, 1e-4) << n;
        EXPECT_NEAR(distance(at(n, "CA"), at(n, "C")), 1.525, 1e-4) << n;
        EXPECT_NEAR(distance(at(n, "C"), at(n, "O")), 1.231, 1e-4) << n;
        if (atoms.count({n, "CB"}) > 0) {
            EXPECT_NEAR(distance(at(n, "CA"), at(n, "CB")), 1.53, 1e-3) << n;
        }
        if (atoms.count({n + 1, "N"}) == 0) continue;
        EXPECT_NEAR(distance(at(n, "C"), at(n + 1, "N")), 1.329, 1e-4) << n;
        EXPECT_NEAR(bond_angle(at(n, "CA"), at(n, "C"), at(n + 1, "N")) / kDegree, 116.6, 1e-2);
        EXPECT_NEAR(bond_angle(at(n, "C"), at(n + 1, "N"), at(n + 1, "CA")) / kDegree, 121.7, 1e-2);
        const double omega =
            dihedral_angle(at(n, "CA"), at(n, "C"), at(n + 1, "N"), at(n + 1, "CA")) / kDegree;
        EXPECT_NEAR(std::abs(omega), std::abs(omega) < 90 ? 0 : 180, 0.05) << n;
        // O lies in the plane of the peptide, opposite to the next CA of a trans bond.
        EXPECT_NEAR(
            std::abs(dihedral_angle(at(n, "O"), at(n, "C"), at(n + 1, "N"), at(n + 1, "CA"))) /
                kDegree,
            std::abs(omega) < 90 ? 180 : 0, 0.05)
            << n;
    }
}

void expect_same_shape(const Atoms& one, const Atoms& other, int first, int last) {
    const auto is_in = [&](int number) { return number >= first && number <= last; };
    for (const auto& [a, at_a] : other)
        for (const auto& [b, at_b] : other) {
            if (!is_in(a.first) || !is_in(b.first)) continue;
            ASSERT_NEAR(distance(one.at(a), one.at(b)), distance(at_a, at_b), 1e-3);
        }
}

TEST(MissingResidues, LinkDomainsInIdealGeometry) {
    Case one;
    const HeavyAtoms given = without(kLetters, numbers(15, 23));
    const CompletedStructure built = one.build(given);
    EXPECT_EQ(built.built, std::vector<std::string>{"A:15-23"});
    EXPECT_EQ(built.built_residues, 9);
    ASSERT_EQ(built.linkers.size(), 1u);
    EXPECT_EQ(built.linkers[0].text(), "A:15-24");
    const Topology& topology = *built.heavy.topology;
    ASSERT_EQ(topology.residues.size(), kLetters.size());
    for (std::size_t n = 0; n < kLetters.size(); ++n) {
        EXPECT_EQ(topology.residues[n].number, static_cast<int>(n) + 1);
        EXPECT_EQ(topology.residues[n].name, test::residue_name(kLetters[n]));
    }
    const Atoms atoms = atoms_of(built.heavy), before = atoms_of(given);
    expect_ideal_bonds(atoms, 14, 23);
    expect_same_shape(atoms, before, 1, 14);
    expect_same_shape(atoms, before, 24, 40);
    // The larger domain rests.
    EXPECT_LT(distance(atoms.at({30, "CA"}), before.at({30, "CA"})), 1e-5);
    EXPECT_GT(distance(atoms.at({5, "CA"}), before.at({5, "CA"})), 1e-3);
    EXPECT_GT(distance(atoms_of(one.build(given, 2).heavy).at({19, "CA"}), atoms.at({19, "CA"})),
              0.1);
}

TEST(MissingResidues, AreTailsToo) {
    Case one;
    std::set<int> missing = numbers(1, 4);
    missing.merge(numbers(35, 40));
    const HeavyAtoms given = without(kLetters, missing);
    const CompletedStructure built = one.build(given);
    EXPECT_EQ(built.built, (std::vector<std::string>{"A:1-4", "A:35-40"}));
    EXPECT_EQ(built.linkers[0].text(), "A:1-5");
    EXPECT_EQ(built.linkers[1].text(), "A:35-40");
    const Atoms atoms = atoms_of(built.heavy), before = atoms_of(given);
    expect_ideal_bonds(atoms, 1, 4);
    expect_ideal_bonds(atoms, 34, 40);
    for (const auto& [name, at] : before) EXPECT_LT(distance(at, atoms.at(name)), 1e-5);
}

TEST(MissingResidues, KeepGroupsTogether) {
    // The second domains of two chains are one: chain B's is chain A's moved by 9 angstrom.
    MadeChain made;
    add_peptide(made, kLetters, "A");
    add_peptide(made, kLetters, "B", -120, 130, {0, 9, 3});
    std::vector<Index> kept;
    for (Index atom = 0; atom < made.topology->atom_count(); ++atom)
        if (const int n = made.topology->residue_of(atom).number; n < 18 || n > 22)
            kept.push_back(atom);
    HeavyAtoms given{std::make_shared<const Topology>(subset(*made.topology, kept)),
                     Array<float, 2>(Index{3}, static_cast<Index>(kept.size()))};
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            given.xyz(axis, static_cast<Index>(n)) = made.xyz()(axis, kept[n]);
    Case one;
    one.groups = {parse_ranges("A:24-40,B:24-40", "group")};
    const CompletedStructure built = one.build(given);
    EXPECT_EQ(built.built, (std::vector<std::string>{"A:18-22", "B:18-22"}));
    const auto ca = [](const HeavyAtoms& heavy, const std::string& chain, int number) {
        for (Index n = 0; n < heavy.topology->atom_count(); ++n)
            if (heavy.topology->residue_of(n).chain == chain &&
                heavy.topology->residue_of(n).number == number &&
                heavy.topology->atoms[static_cast<std::size_t>(n)].name == "CA")
                return Vector{heavy.xyz(0, n), heavy.xyz(1, n), heavy.xyz(2, n)};
        return Vector{};
    };
    EXPECT_NEAR(distance(ca(built.heavy, "A", 30), ca(built.heavy, "B", 35)),
                distance(ca(given, "A", 30), ca(given, "B", 35)), 1e-4);
    EXPECT_GT(std::abs(distance(ca(built.heavy, "A", 5), ca(built.heavy, "B", 8)) -
                       distance(ca(given, "A", 5), ca(given, "B", 8))),
              0.1);
    one.groups = {parse_ranges("A:1-16,A:24-40", "group")};
    EXPECT_NE(one.refusal(given).find("found A:18-22 in a closed loop"), std::string::npos);
}

TEST(MissingResidues, LeaveLigandsWithTheDomainThatTheyTouched) {
    // The C terminus of the first domain, and atoms that lie where the second one, now far away,
    // may come.
    HeavyAtoms given = without(kLetters, numbers(15, 17));
    const Atoms at = atoms_of(given);
    const Vector end = at.at({14, "C"}), out = unit(end - at.at({13, "C"}));
    auto topology = std::make_shared<Topology>(*given.topology);
    topology->residues.push_back({"LIG", 101, ' ', "A"});
    Array<float, 2> xyz(Index{3}, given.xyz.extent(1) + 8);
    for (Index axis = 0; axis < 3; ++axis)
        std::copy_n(&given.xyz(axis, 0), given.xyz.extent(1), &xyz(axis, 0));
    for (Index atom = 0; atom < given.xyz.extent(1); ++atom)
        if (topology->residue_of(atom).number > 17) xyz(1, atom) += 200;
    for (int n = 0; n < 8; ++n) {
        const Vector atom = end + (4.0 + 2.5 * n) * out;
        const Index to = topology->atom_count();
        topology->atoms.push_back({"C" + std::to_string(n + 2), "C", 12.0,
                                   static_cast<Index>(topology->residues.size()) - 1});
        xyz(0, to) = static_cast<float>(atom.x);
        xyz(1, to) = static_cast<float>(atom.y);
        xyz(2, to) = static_cast<float>(atom.z);
    }
    given = {topology, std::move(xyz)};
    Case one;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const CompletedStructure built = one.build(given, seed);
        const ChainModel model = make_chain_model(built.heavy.topology, built.heavy.xyz.view(),
                                                  {.linkers = built.linkers, .units = built.units});
        EXPECT_EQ(model.notes.back().text,
                  "LIG A:101 moves with the rigid domain that it touches most: that of A:1")
            << seed;
    }
}

TEST(MissingResidues, HaveCompleteSideChains) {
    Case one;
    const Atoms atoms = atoms_of(one.build(without(kLetters, numbers(15, 24))).heavy);
    for (const auto& [number, name] : {std::pair(17, "CD"), {19, "OG"}, {24, "CG1"}, {24, "CG2"}})
        EXPECT_EQ(atoms.count({number, name}), 1u) << number << name;
    EXPECT_EQ(atoms.count({16, "CB"}), 1u);
    EXPECT_EQ(atoms.count({20, "CB"}), 0u);  // glycine
    EXPECT_NEAR(distance(atoms.at({17, "CD"}), atoms.at({17, "N"})), 1.473, 0.01);
}

TEST(MissingResidues, HaveTorsionsOfCoilsAndFewCisProlines) {
    Random random(1, 0, 0);
    Index cis = 0, prolines = 0, left = 0, others = 0;
    double cos_phi = 0, expected_phi = 0;
    const auto& table = coil_tables()[static_cast<std::size_t>(ResidueClass::other)];
    for (std::size_t cell = 0; cell < table.size(); ++cell) {
        const std::size_t row = cell / kCells;
        expected_phi += table[cell] * std::cos(kDegree * (5.0 * static_cast<double>(row) - 177.5));
    }
    for (int n = 0; n < 200; ++n) {
        const BuiltSegment built =
            build_segment(std::vector<std::string>(60, n % 2 ? "PRO" : "SER"), std::nullopt,
                          std::nullopt, random);
        for (std::size_t k = 1; k + 1 < built.residues.size(); ++k) {
            const BuiltResidue& one = built.residues[k];
            const double phi = dihedral_angle(built.residues[k - 1].backbone.c, one.backbone.n,
                                              one.backbone.ca, one.backbone.c);
            if (one.name == "PRO") {
                ++prolines;
                cis += one.is_cis;
                EXPECT_NEAR(phi / kDegree, -65, 1e-6);
                continue;
            }
            EXPECT_FALSE(one.is_cis);
            ++others;
            cos_phi += std::cos(phi);
            left += phi > 0;
        }
    }
    // Four standard errors.
    const auto count = static_cast<double>(prolines);
    EXPECT_NEAR(static_cast<double>(cis) / count, 0.05, 4 * std::sqrt(0.05 * 0.95 / count));
    EXPECT_NEAR(cos_phi / static_cast<double>(others), expected_phi,
                4 / std::sqrt(static_cast<double>(others)));
    EXPECT_LT(left, others / 4);
}

TEST(MissingResidues, RefusesWhatDoesNotFit) {
    Case one;
    const HeavyAtoms given = without(kLetters, numbers(15, 23));
    one.fasta = ">p\n" + kLetters.substr(0, 30) + "W" + kLetters.substr(31) + "\n";
    EXPECT_NE(one.refusal(given).find("found VAL A:31, where letter 31 of sequence 'p' is W"),
              std::string::npos);
    one.fasta = ">p\n" + kLetters.substr(0, 14) + kLetters.substr(16) + "\n";  // no room
    EXPECT_NE(one.refusal(given).find("expected residues of chain 'A' whose numbers count along"),
              std::string::npos);
    one.fasta = ">p\n" + kLetters.substr(0, 17) + "X" + kLetters.substr(18) + "\n";
    EXPECT_NE(one.refusal(given).find("missing residue 18 of chain 'A', found letter 'X'"),
              std::string::npos);
    one.fasta = ">p\nWWWWHHHHWWWWHHHH\n";
    EXPECT_NE(one.refusal(given).find("expected residues of chain 'A'"), std::string::npos);
    one.fasta = kLetters + "\n";
    EXPECT_NE(one.refusal(given).find("expected '>' and a name"), std::string::npos);
    one.fasta = ">p\n" + std::string(60, 'A') + "\n";
    HeavyAtoms elsewhere = without(std::string(20, 'A'), numbers(8, 9));
    EXPECT_EQ(one.build(elsewhere).built.front(), "A:8-9");  // numbers from 1 come first
    auto topology = std::make_shared<Topology>(*elsewhere.topology);
    for (Topology::Residue& residue : topology->residues) residue.number += 100;
    elsewhere.topology = topology;
    EXPECT_NE(one.refusal(elsewhere).find("at one place of sequence 'p', found several"),
              std::string::npos);
}

TEST(MissingResidues, NeedTheWholeSequenceOfAChain) {
    Case one;
    const HeavyAtoms given = without(kLetters, numbers(15, 23));
    one.fasta = ">one\n" + kLetters.substr(0, 14) + "\n>two\n" + kLetters.substr(23) + "\n";
    EXPECT_NE(one.refusal(given).find("expected the whole sequence of chain 'A' as one record, "
                                      "found parts of it in 'two' and 'one'; join them"),
              std::string::npos);
    one.fasta = ">linker\n" + kLetters.substr(5, 22) + "\n";
    EXPECT_NE(one.refusal(given).find("give the whole sequence of the chain"), std::string::npos);
    one.fasta = ">1ABC_1|Chain A|p|Homo sapiens (9606)\nMGSSHHHHHH" + kLetters + "*\n";
    EXPECT_EQ(one.build(given).built, (std::vector<std::string>{"A:-9-0", "A:15-23"}));
    one.fasta = ">p\n" + kLetters + ":" + kLetters + "\n";
    EXPECT_NE(one.refusal(given).find("write each chain as a sequence of its own"),
              std::string::npos);
}

TEST(MissingResidues, OfNeighboursWithoutABondAreRefused) {
    Case one;
    HeavyAtoms given = without(kLetters, {});
    for (Index n = 0; n < given.xyz.extent(1); ++n)
        if (given.topology->residue_of(n).number > 20) given.xyz(0, n) += 30;
    EXPECT_NE(one.refusal(given).find("expected a bond or missing residues between A:20 and A:21"),
              std::string::npos);
}

TEST(MissingResidues, AreLinkersOfARun) {
    const TemporaryFolder folder;
    const HeavyAtoms given = without(kLetters, numbers(15, 23));
    Ensemble structure;
    structure.topology = structure.all_atoms = given.topology;
    structure.xyz = Array<float, 3>(Index{1}, Index{3}, given.xyz.extent(1));
    std::copy(given.xyz.begin(), given.xyz.end(), structure.xyz.begin());
    spill(folder / "protein.fasta", ">protein\n" + kLetters + "\n");
    Parameters parameters;
    parameters.sequence = (folder / "protein.fasta").string();
    parameters.frames = 20;
    parameters.chains = 2;
    parameters.moves = 10;
    const Result result = run(structure, {}, parameters, Context{});
    EXPECT_EQ(result.built_residues, 9);
    EXPECT_EQ(result.linkers, std::vector<std::string>{"A:15-24"});
    EXPECT_EQ(result.domains, (std::vector<std::string>{"A:25-40", "A:1-14"}));
    EXPECT_EQ(result.quantities[1].name, "distance_1_2");
    const auto& distances = result.quantities[1].values;
    EXPECT_GT(*std::max_element(distances.begin(), distances.end()),
              *std::min_element(distances.begin(), distances.end()) + 1);
    // Ranges of --linkers that meet them are kept, and the rest is added.
    parameters.linkers = "A:12-16";
    EXPECT_EQ(run(structure, {}, parameters, Context{}).linkers,
              (std::vector<std::string>{"A:12-16", "A:17-24"}));
    parameters.linkers.clear();
    parameters.rigid = "A:1-10,A:28-40";
    EXPECT_EQ(run(structure, {}, parameters, Context{}).linkers,
              std::vector<std::string>{"A:11-27"});
    parameters.sequence.clear();
    EXPECT_THROW(run(structure, {}, parameters, Context{}), InputError);  // a gap
    // A structure that lacks nothing has no linkers of its own.
    parameters.rigid.clear();
    parameters.sequence = (folder / "protein.fasta").string();
    const HeavyAtoms whole = without(kLetters, {});
    structure.topology = structure.all_atoms = whole.topology;
    structure.xyz = Array<float, 3>(Index{1}, Index{3}, whole.xyz.extent(1));
    std::copy(whole.xyz.begin(), whole.xyz.end(), structure.xyz.begin());
    EXPECT_NE(error_text<InputError>([&] {
                  run(structure, {}, parameters, Context{});
              }).find("found all of them; name linkers with --linkers"),
              std::string::npos);
}

}  // namespace

}  // namespace pleat::refine
