// Side chains: their geometry is that of known structures, and proteins of a sequence alone.
#include "pleat/workflows/refine/chain/side_chains.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/workflows/refine/chain/domain_structures.h"
#include "pleat/workflows/refine/refine.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::spill;
using pleat::test::TemporaryFolder;
using test::kDegree;

constexpr double kBond = 1.95;  // angstrom

using Atoms = std::map<std::string, Vector>;

/// A residue's N, CA, C and side chain.
Atoms built_residue(std::string_view name, Random& random) {
    const Vector n, ca{1.458, 0, 0},
        c = ca + 1.525 * Vector{-std::cos(111 * kDegree), std::sin(111 * kDegree), 0};
    Atoms atoms = {{"N", n}, {"CA", ca}, {"C", c}};
    for (const auto& [atom, at] : build_side_chain(name, {n, ca, c}, random))
        atoms[std::string(atom)] = at;
    return atoms;
}

/// By residue name: the residues of known structures, without O.
std::map<std::string, std::vector<Atoms>> known_residues() {
    std::map<std::string, std::vector<Atoms>> known;
    for (const char* file : {"1hel.pdb.gz", "1ql9_A.pdb.gz", "1a8o.pdb.gz"}) {
        const Ensemble one = read_ensemble({std::string(PLEAT_DATA) + "/" + file});
        std::map<Index, Atoms> residues;
        for (Index n = 0; n < one.atom_count(); ++n) {
            const Topology::Atom& atom = one.topology->atoms[n];
            if (atom.element != "H" && atom.name != "O" && atom.name != "OXT")
                residues[atom.residue][atom.name] = {one.xyz(0, 0, n), one.xyz(0, 1, n),
                                                     one.xyz(0, 2, n)};
        }
        for (const auto& [residue, atoms] : residues)
            known[one.topology->residues[residue].name].push_back(atoms);
    }
    return known;
}

/// The smallest number of bonds between two atoms, 0 for one atom.
int bonds_between(const Atoms& atoms, const std::string& from, const std::string& to) {
    std::set<std::string> reached = {from};
    for (int bonds = 0; bonds < 20; ++bonds) {
        if (reached.count(to) > 0) return bonds;
        const std::set<std::string> before = reached;
        for (const std::string& one : before)
            for (const auto& [name, at] : atoms)
                if (distance(at, atoms.at(one)) < kBond) reached.insert(name);
    }
    return 20;
}

TEST(SideChains, HaveBondsAndAnglesOfKnownStructures) {
    const auto known = known_residues();
    Random random(1, 0, 0);
    std::size_t compared = 0;
    for (const std::string& name : saxs::bead_types(saxs::Resolution::one_bead)) {
        if (known.count(name) == 0) continue;  // no amino acid
        std::set<std::string> rotamers;
        for (int draw = 0; draw < 60; ++draw) {
            const Atoms atoms = built_residue(name, random);
            ASSERT_EQ(std::ssize(atoms), saxs::complete_residue_atoms(name) - 1) << name;  // no O
            for (const auto& [a, at_a] : atoms)
                for (const auto& [b, at_b] : atoms) {
                    if (a >= b) continue;
                    const int bonds = bonds_between(atoms, a, b);
                    if (bonds > 2) {
                        EXPECT_GT(distance(at_a, at_b), 2.2) << name << " " << a << " " << b;
                        continue;
                    }
                    double sum = 0, count = 0;
                    for (const Atoms& one : known.at(name)) {
                        if (one.count(a) == 0 || one.count(b) == 0) continue;
                        sum += distance(one.at(a), one.at(b));
                        ++count;
                    }
                    ASSERT_GT(count, 0) << name << " " << a << " " << b;
                    EXPECT_NEAR(distance(at_a, at_b), sum / count, 0.07)
                        << name << " " << a << " " << b;
                    ++compared;
                }
            std::string rotamer;
            for (const auto& [atom, at] : atoms)
                rotamer += std::to_string(std::lround(100 * (at.x + at.y + at.z))) + " ";
            rotamers.insert(rotamer);
        }
        const bool has_one = name == "GLY" || name == "ALA",
                   has_two = name == "LEU" || name == "PRO";
        EXPECT_EQ(rotamers.size(), has_one ? 1u : has_two ? 2u : 3u) << name;
    }
    EXPECT_GT(compared, 19u * 60u * 3u);
}

TEST(SideChains, HaveTheHandOfKnownStructures) {
    // The dihedral angle about the middle bond from one substituent to the other.
    const std::vector<std::tuple<std::string, std::vector<std::string>>> centres = {
        {"ALA", {"N", "C", "CA", "CB"}},     {"PRO", {"N", "C", "CA", "CB"}},
        {"THR", {"OG1", "CA", "CB", "CG2"}}, {"ILE", {"CG1", "CA", "CB", "CG2"}},
        {"VAL", {"CG1", "CA", "CB", "CG2"}}, {"LEU", {"CD1", "CB", "CG", "CD2"}}};
    const auto known = known_residues();
    Random random(1, 0, 0);
    for (const auto& [name, of] : centres) {
        const auto hand = [&, &four = of](const Atoms& atoms) {
            return dihedral_angle(atoms.at(four[0]), atoms.at(four[1]), atoms.at(four[2]),
                                  atoms.at(four[3])) /
                   kDegree;
        };
        double sum = 0, count = 0;
        for (const Atoms& one : known.at(name)) {
            if (one.count(of[0]) == 0 || one.count(of[3]) == 0) continue;
            sum += hand(one);
            ++count;
        }
        EXPECT_NEAR(hand(built_residue(name, random)), sum / count, 6) << name;
    }
}

/// The result of a sequence alone.
Result of_sequence(const std::string& fasta, const Parameters& given = {}) {
    const TemporaryFolder folder;
    Parameters parameters = given;
    parameters.sequence = (folder / "protein.fasta").string();
    spill(parameters.sequence, fasta);
    parameters.frames = parameters.frames.value_or(400);
    parameters.moves = parameters.moves.value_or(60);
    parameters.chains = 8;
    return run(read_structures({parameters.sequence}, "", parameters), {}, parameters, Context{});
}

// Rg of random coils: 1.927 N^0.598 angstrom (Kohn et al., PNAS 101:12491, 2004).
TEST(SequenceAlone, HasTheSizeOfRandomCoils) {
    const std::vector<std::pair<const char*, const char*>> proteins = {
        {"histatin 5", "DSHAKRHHGYKRKFHEKHHSHRGY"},
        {"amyloid beta", "DAEFRHDSGYEVHHQKLVFFAEDVGSNKGAIIGLMVGGVV"},
        {"ACTR", "GTQNRPLLRNSLDDLVGPPSNLEGQSDERALLDQLHTLLSNTDATGLEEIDRALGIPELVNQGQALEPKQD"},
        {"Sic1, 1-90",
         "MTPSTPPRSRGTRYLAQPSGNTSSSALMQGQKTPQKPSQNLVPVTPSTTKSFKNAPLLAPPNSNMGMTSPFNGLTSPQRSPFPKSSVKR"
         "T"},
        {"alpha-synuclein",
         "MDVFMKGLSKAKEGVVAAAEKTKQGVAEAAGKTKEGVLYVGSKTKEGVVHGVATVAEKTKEQVTNVGGAVVTGVTAVAQKTVEGAGSIA"
         "A"
         "ATGFVKKDQLGKNEEGAPQEGILEDMPVDPDNEAYEMPSEEGYQDYEPEA"}};
    for (const auto& [name, letters] : proteins) {
        const Result result = of_sequence(std::string(">p\n") + letters + "\n");
        const std::vector<double>& rg = result.quantities.at(0).values;
        const double mean = std::accumulate(rg.begin(), rg.end(), 0.0) / 400,
                     law = 1.927 * std::pow(std::string(letters).size(), 0.598);
        EXPECT_NEAR(mean / law, 1, 0.1) << name;
        EXPECT_EQ(result.quantities.at(1).name, "end_to_end");
        EXPECT_TRUE(result.domains.empty());
    }
}

TEST(SequenceAlone, MayHaveAnyAminoAcids) {
    Parameters few;
    few.frames = 16;
    few.moves = 5;
    for (const std::string letters : {"acdefghiklmnpqrstvwy*", "PPPPPPPPPP", "GGGGG"}) {
        const Result result = of_sequence(">p\n" + letters + "\n", few);
        for (const Quantity& quantity : result.quantities)
            for (const double value : quantity.values) EXPECT_TRUE(std::isfinite(value)) << letters;
    }
    const auto refusal = [&](const std::string& fasta) {
        return error_text<InputError>([&] { of_sequence(fasta, few); });
    };
    EXPECT_NE(refusal(">p\nGGGG\n").find("at least 5 residues without a structure, found 4"),
              std::string::npos);
    EXPECT_NE(refusal(">p\nGGGXGG\n").find("residue 4 of chain 'A', found letter 'X'"),
              std::string::npos);
    EXPECT_NE(refusal(">p\nGGG*GG\n").find("found '*'"), std::string::npos);
    EXPECT_NE(refusal(">p\nGGGGG\n>q\nGGGGG\n").find("expected one sequence without a structure"),
              std::string::npos);
    EXPECT_NE(refusal(">p\n" + std::string(5001, 'A') + "\n").find("expected at most 5000"),
              std::string::npos);
    few.linkers = "A:1-3";
    EXPECT_THROW(of_sequence(">p\nGGGGGG\n", few), UsageError);
}

}  // namespace

}  // namespace pleat::refine
