// Domain structures: models and files with domains of one protein, conformers, and what is refused.
#include "pleat/workflows/refine/chain/domain_structures.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::spill;
using pleat::test::TemporaryFolder;

const std::string kLetters = "AGVAAVGAAVAAGVGAPGSGAPGVAAVGAAVAAGVAAVGA";  // 40

/// A part of a made peptide.
struct Part {
    int first = 1, last = 40;  ///< letters
    int number = 1;            ///< of the first residue
    std::string chain = "A";
};

/// The lines of a PDB file of this part.
std::string pdb_lines(const Part& part) {
    test::MadeChain made;
    test::add_peptide(made, kLetters, "A");
    std::vector<Index> kept;
    for (Index atom = 0; atom < made.topology->atom_count(); ++atom) {
        const int number = made.topology->residue_of(atom).number;
        if (number >= part.first && number <= part.last) kept.push_back(atom);
    }
    Topology topology = subset(*made.topology, kept);
    for (Topology::Residue& residue : topology.residues) {
        residue.number += part.number - part.first;
        residue.chain = part.chain;
    }
    Array<float, 2> xyz(Index{3}, static_cast<Index>(kept.size()));
    const Array<float, 2> all = made.xyz();
    for (Index axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < kept.size(); ++n)
            xyz(axis, static_cast<Index>(n)) = all(axis, kept[n]);
    const TemporaryFolder folder;
    StructureWriter writer(folder / "part.pdb", topology);
    writer.add(xyz.view());
    writer.close();
    std::string lines;
    std::ifstream file(folder / "part.pdb");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("ATOM")) lines += line + "\n";
    return lines;
}

struct Case {
    TemporaryFolder folder;
    Parameters parameters;

    Case() {
        spill(folder / "protein.fasta", ">protein\n" + kLetters + "\n");
        parameters.sequence = (folder / "protein.fasta").string();
    }
    std::string models(const std::vector<Part>& parts) const {
        std::string text;
        for (std::size_t n = 0; n < parts.size(); ++n)
            text += "MODEL     " + std::to_string(n + 1) + "\n" + pdb_lines(parts[n]) + "ENDMDL\n";
        spill(folder / "models.pdb", text + "END\n");
        return (folder / "models.pdb").string();
    }
    std::vector<std::string> files(const std::vector<Part>& parts) const {
        std::vector<std::string> paths;
        for (std::size_t n = 0; n < parts.size(); ++n) {
            paths.push_back((folder / ("part" + std::to_string(n) + ".pdb")).string());
            spill(paths.back(), pdb_lines(parts[n]) + "END\n");
        }
        return paths;
    }
    Ensemble read(const std::vector<std::string>& sources) const {
        return read_structures(sources, "", parameters);
    }
    std::string refusal(const std::vector<std::string>& sources) const {
        return error_text<InputError>([&] { read(sources); });
    }
};

/// "A:1-14,A:24-40" of runs of residues.
std::string residues_of(const Ensemble& joined) {
    std::string text;
    const auto& all = joined.topology->residues;
    for (std::size_t n = 0; n < all.size();) {
        std::size_t last = n;
        while (last + 1 < all.size() && all[last + 1].chain == all[n].chain &&
               all[last + 1].number == all[last].number + 1)
            ++last;
        text += (text.empty() ? "" : ",") +
                ResidueRange{all[n].chain, all[n].number, all[last].number}.text();
        n = last + 1;
    }
    return text;
}

TEST(JoinedDomains, ModelsOfDifferentResiduesAreOneProtein) {
    const Case one;
    const Ensemble joined = one.read({one.models({{1, 14}, {24, 40, 24}})});
    EXPECT_EQ(residues_of(joined), "A:1-14,A:24-40");
    EXPECT_EQ(joined.frame_count(), 1);
    // Each keeps its shape; they do not touch.
    Case whole;
    const Ensemble expected = whole.read(whole.files({{1, 40}}));
    EXPECT_EQ(residues_of(expected), "A:1-40");
    const auto at = [](const Ensemble& from, int number) {
        const Topology& topology = *from.topology;
        for (Index atom = 0; atom < topology.atom_count(); ++atom)
            if (topology.residue_of(atom).number == number)
                return Vector{from.xyz(0, 0, atom), from.xyz(0, 1, atom), from.xyz(0, 2, atom)};
        return Vector{};
    };
    for (const auto& [a, b] : {std::pair{1, 14}, std::pair{24, 40}})
        EXPECT_NEAR(distance(at(joined, a), at(joined, b)),
                    distance(at(expected, a), at(expected, b)), 1e-3);
    EXPECT_GT(distance(at(joined, 14), at(joined, 24)), 50);
}

TEST(JoinedDomains, FilesWithNumbersAndChainsOfTheirOwnAreRenumbered) {
    const Case one;
    const Ensemble joined = one.read(one.files({{24, 40, 1, "B"}, {1, 14, 101}}));
    // By the first file: letter 24 has the number 1.
    EXPECT_EQ(residues_of(joined), "B:-22--9,B:1-17");
    ASSERT_FALSE(joined.notes.empty());
    EXPECT_NE(joined.notes.back().text.find(
                  "part1.pdb: chain 'A' became chain 'B', -123 in residue numbers"),
              std::string::npos)
        << joined.notes.back().text;
}

TEST(JoinedDomains, AreRefinedWithTheLinkerBetweenThem) {
    const Case one;
    Parameters parameters = one.parameters;
    parameters.frames = 4;
    parameters.chains = 2;
    parameters.moves = 5;
    const Ensemble joined = one.read({one.models({{1, 14}, {24, 40, 24}})});
    const Result found = run(joined, {}, parameters, {});
    EXPECT_EQ(found.built, std::vector<std::string>{"A:15-23"});
    EXPECT_EQ(found.domains.size(), 2u);
}

TEST(JoinedDomains, ConformersAreNoDomains) {
    Case one;
    const std::string file = one.models({{1, 40}, {1, 40}, {24, 40, 24}});
    EXPECT_EQ(residues_of(one.read({file})), "A:1-40");
    one.parameters.sequence.clear();
    EXPECT_EQ(residues_of(one.read({file})), "A:1-40");
}

TEST(JoinedDomains, DoNotVanishAmongConformers) {
    const Part one{1, 14}, other{24, 40, 24};
    Case of;
    const std::string both = "expected conformers of one structure or one model of each domain";
    EXPECT_NE(of.refusal({of.models({one, one, other})})
                  .find(both + ", found 0 of the 14 residues of model 1 in model 3 (of 17)"),
              std::string::npos);
    EXPECT_NE(of.refusal({of.models({one, other, one})})
                  .find(both + ", found 14 of the 14 residues of model 1 in model 3 (of 14)"),
              std::string::npos);
    EXPECT_NE(of.refusal({of.models({one, other, other})}).find("without common residues"),
              std::string::npos);
    of.parameters.sequence.clear();  // nothing is built: the first model is all there is
    EXPECT_EQ(residues_of(of.read({of.models({one, one, other})})), "A:1-14");
}

TEST(JoinedDomains, ModelsOfAnAssemblyAreCompared) {
    const std::string twice =
        "REMARK 350 BIOMOLECULE: 1\n"
        "REMARK 350 AUTHOR DETERMINED BIOLOGICAL UNIT: DIMERIC\n"
        "REMARK 350 APPLY THE FOLLOWING TO CHAINS: A\n"
        "REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000\n"
        "REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000\n"
        "REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000\n"
        "REMARK 350   BIOMT1   2 -1.000000  0.000000  0.000000      100.00000\n"
        "REMARK 350   BIOMT2   2  0.000000 -1.000000  0.000000        0.00000\n"
        "REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        0.00000\n";
    const Case one;
    const auto read = [&](const std::vector<Part>& parts) {
        const std::string file = one.models(parts);
        std::ifstream models(file);
        const std::string text{std::istreambuf_iterator<char>(models), {}};
        spill(file, twice + text);
        return residues_of(read_structures({file}, "1", one.parameters));
    };
    EXPECT_EQ(read({{1, 14}, {1, 14}}), "A:1-14,A-2:1-14");
    EXPECT_EQ(read({{1, 14}, {24, 40, 24}}), "A:1-14,A:24-40,A-2:1-14,A-2:24-40");
}

TEST(JoinedDomains, RefuseWhatCannotBeMeant) {
    Case one;
    EXPECT_NE(one.refusal({one.models({{1, 14}, {10, 40, 10}})})
                  .find("expected models of the same residues, or of domains without common "
                        "residues, found 5 of the 14 residues of model 1 in model 2 (of 31)"),
              std::string::npos);
    EXPECT_NE(one.refusal(one.files({{1, 14}, {10, 40, 10}}))
                  .find("expected domains without common residues, found residue 10 of sequence "
                        "'protein' in "),
              std::string::npos);
    // What a pipe has behind its first model would not be seen.
    const std::string pipe = (one.folder / "pipe.pdb").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NE(one.refusal({pipe}).find("found a pipe or a device: with --sequence all its models"),
              std::string::npos);
    one.parameters.group = "A:1-14,A:24-40";
    const std::vector<std::string> files = one.files({{1, 14}, {24, 40, 24}});
    EXPECT_NE(one.refusal(files).find("expected no --group"), std::string::npos);
    EXPECT_NE(one.refusal(files).find("give one model that has all residues of the group"),
              std::string::npos);
    one.parameters.group.clear();
    EXPECT_EQ(one.refusal({files[0], files[1], files[0]}),
              files[0] + ": expected each structure to join once, found it twice");
    const std::string other =
        (one.folder / "." / files[1].substr(files[1].rfind('/') + 1)).string();
    EXPECT_EQ(one.refusal({files[0], files[1], other}),
              other + ": expected each structure to join once, found the same file as " + files[1]);
    one.parameters.sequence.clear();
    EXPECT_NE(one.refusal(files).find("expected --sequence, whose missing residues link the "
                                      "domains, found several structures without it"),
              std::string::npos);
    EXPECT_NE(one.refusal({one.models({{1, 14}, {24, 40, 24}})})
                  .find("found models of different residues without it"),
              std::string::npos);
}

}  // namespace

}  // namespace pleat::refine
