// Burial: weights by a structure, residues that it lacks, and structures that are refused.
#include "pleat/workflows/mutants/burial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/report/run_structure.h"
#include "pleat/workflows/mutants/mutants.h"
#include "pleat/workflows/mutants/predictor.h"
#include "small_model.h"

namespace pleat::mutants {
namespace {

using testing::refusal;
using testing::small_model;

std::filesystem::path trypsin_file() { return test::data_folder() / "1ql9_A.pdb.gz"; }
const Chain& trypsin() {
    static const Structure structure = read_structure(trypsin_file());
    return structure.chains.front();
}
constexpr Index kFirst = 30, kCount = 24;
std::string piece() { return trypsin().sequence().substr(kFirst, kCount); }

/// A file with this text.
class WrittenStructure {
public:
    explicit WrittenStructure(const std::string& text) {
        std::ofstream(folder_.path() / "x.pdb") << text;
    }
    TargetStructure read(const std::string& chain = "") const {
        return read_target_structure((folder_.path() / "x.pdb").string() + chain);
    }

private:
    test::TemporaryFolder folder_;
};

Result run_with(const TargetStructure* structure, const std::string& sequence = piece(),
                const Parameters& parameters = {}) {
    return run({.model = small_model(sequence, true, 4), .structure = structure}, parameters, {});
}

TEST(Burial, WeighsEffectsByBurialAndConservation) {
    const TargetStructure known = read_target_structure(trypsin_file().string());
    const Result plain = run_with(nullptr), result = run_with(&known);
    ASSERT_TRUE(result.burial);
    EXPECT_EQ(result.burial->identity, 1);
    ASSERT_EQ(result.positions.size(), static_cast<std::size_t>(kCount));
    std::size_t n = 0;
    for (const Position& position : result.positions) {
        const double weight =
            0.25 + (1 - std::min(position.accessibility, 1.0)) + position.conservation;
        EXPECT_NEAR(position.burial_weight, weight, 1e-12);
        for (; n < result.singles.size() && result.singles[n].number == position.number; ++n) {
            const Single &one = result.singles[n], &other = plain.singles[n];
            EXPECT_EQ(one.epistatic, other.epistatic);
            EXPECT_EQ(one.percentile, other.percentile);
            EXPECT_EQ(one.conserved, other.conserved);
            EXPECT_NEAR(one.conserved, one.epistatic * (1 + one.conservation), 1e-12);
            EXPECT_NEAR(one.weighted, one.epistatic * weight, 1e-12);
            EXPECT_TRUE(std::isnan(other.weighted));
        }
    }
    EXPECT_EQ(n, result.singles.size());
}

TEST(Burial, WeightsOfOneGiveTheEffectsExactly) {
    const couplings::SavedModel saved = small_model("ACDEFGHIKL", true, 2);
    const Target target = make_target(saved.about, {}, 5);
    const EnergyModel model(saved.model, target.codes, 1);
    const Array<double, 2> independent(10, 20);
    const EffectRanks ranks({-1, 0, 1});
    const std::vector<double> ones(10, 1.0), mixed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    std::vector<Substitution> mutant;
    ASSERT_TRUE(parse_mutant("A5C:D7E:L14K:G10W", mutant));
    const Listed same =
        MutantPredictor{model, *saved.about.alphabet, target, independent, ranks, ones, ones}
            .predict(mutant);
    EXPECT_EQ(same.conserved, same.epistatic);
    EXPECT_EQ(same.weighted, same.epistatic);
    ASSERT_TRUE(parse_mutant("A5C:D7E", mutant));
    const Listed both =
        MutantPredictor{model, *saved.about.alphabet, target, independent, ranks, ones, mixed}
            .predict(mutant);
    const auto code = [&](char letter) { return saved.about.alphabet->code(letter); };
    const double a = model.singles().full(0, code('C')), b = model.singles().full(2, code('E'));
    const double pair = model.epistasis(0, code('A'), code('C'), 2, code('D'), code('E'));
    EXPECT_NEAR(both.weighted, 1 * a + 3 * b + 2 * pair, 1e-12);
}

TEST(Burial, DoesNotDependOnNamesNumbersAndOrientation) {
    Chain turned = trypsin();
    for (Residue& residue : turned.residues)
        for (Atom& atom : residue.atoms) {
            const double x = atom.x;
            atom.x = 0.6 * x - 0.8 * atom.y;
            atom.y = 0.8 * x + 0.6 * atom.y;
        }
    const WrittenStructure written(report::pdb_text(turned));  // chain A, numbered from 1
    const TargetStructure known = read_target_structure(trypsin_file().string()),
                          other = written.read();
    const Result one = run_with(&known), two = run_with(&other);
    for (std::size_t n = 0; n < one.positions.size(); ++n)
        EXPECT_NEAR(one.positions[n].accessibility, two.positions[n].accessibility, 0.03);
}

TEST(Burial, ResiduesWithoutAtomsTakeTheMean) {
    Chain chain = trypsin();
    chain.residues[kFirst + 3].atoms.resize(4);  // a side chain
    chain.residues.erase(chain.residues.begin() + kFirst + 7);
    const WrittenStructure written(report::pdb_text(chain));
    const TargetStructure known = written.read(":A");
    const Result result = run_with(&known);
    double sum = 0, count = 0;
    for (const Position& position : result.positions)
        if (!std::isnan(position.accessibility)) {
            sum += 1 - std::min(position.accessibility, 1.0);
            ++count;
        }
    EXPECT_EQ(count, kCount - 2);
    for (const Index n : {3, 7})
        EXPECT_NEAR(result.positions[n].burial_weight,
                    0.25 + sum / count + result.positions[n].conservation, 1e-12);
    EXPECT_TRUE(std::any_of(result.notes.begin(), result.notes.end(), [](const Note& note) {
        return note.text.find(
                   "2 of 24 residues in the model's columns have no accessibility and "
                   "take the mean burial: 8, 12") != std::string::npos &&
               !note.is_warning;
    })) << result.notes.back().text;
    chain.residues.erase(chain.residues.begin() + kFirst + 8, chain.residues.begin() + kFirst + 20);
    const WrittenStructure half(report::pdb_text(chain));
    const TargetStructure few = half.read();
    const Notes notes = run_with(&few).notes;
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const Note& note) {
        return note.is_warning && note.text.find("14 of 24 residues") != std::string::npos;
    }));
}

TEST(Burial, ReadsResiduesAsFilesHaveThem) {
    const TargetStructure plain = read_target_structure(trypsin_file().string());
    // Selenomethionine, hydrogens, a second place of an atom, insertion codes and a second model.
    std::string text, line;
    std::istringstream lines(report::pdb_text(trypsin()));
    while (std::getline(lines, line) && line != "END") {
        if (line.substr(17, 3) == "MET") line.replace(17, 3, "MSE");
        if (line.substr(12, 4) == " SD ") line.replace(12, 4, "SE  ").replace(76, 2, "SE");
        const int number = std::stoi(line.substr(22, 4));
        line.replace(22, 5, fmt::format("{:4}{}", (number + 1) / 2, number % 2 == 1 ? ' ' : 'A'));
        if (line.substr(12, 4) == " CB ") {
            line[16] = 'A';
            line.replace(54, 6, "  0.60");
            text += line + '\n';
            line[16] = 'B';
            line.replace(54, 6, "  0.40").replace(30, 8, " 900.000");
        }
        text += line + '\n';
        if (line.substr(12, 4) == " CA ")
            text += line.replace(12, 4, " HA ").replace(76, 2, " H") + '\n';
    }
    const WrittenStructure written("MODEL        1\n" + text + "ENDMDL\nMODEL        2\n" + text +
                                   "ENDMDL\nEND\n");
    const TargetStructure other = written.read(":A");
    const std::string all = trypsin().sequence();
    const Result one = run_with(&plain, all), two = run_with(&other, all);
    for (std::size_t n = 0; n < one.positions.size(); ++n) {
        const double a = one.positions[n].accessibility, b = two.positions[n].accessibility;
        EXPECT_TRUE((std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 0.03)
            << n << ": " << a << ' ' << b;
    }
}

TEST(Burial, ChainsCoverEachOtherInACrowdOnly) {
    Chain near = trypsin();
    for (Residue& residue : near.residues)
        for (Atom& atom : residue.atoms) atom.x += 35;
    std::string text = report::pdb_text(trypsin()), copy = report::pdb_text(near);
    text.resize(text.rfind("END"));
    for (std::size_t at = 0; at < copy.size(); at = copy.find('\n', at) + 1)
        if (copy.compare(at, 4, "ATOM") == 0) copy[at + 21] = 'B';
    const WrittenStructure written(text + "TER\n" + copy);
    const TargetStructure alone = read_target_structure(trypsin_file().string()),
                          known = written.read(":A");
    const std::string all = trypsin().sequence();
    Target target;
    target.alphabet = &Alphabet::protein();
    target.name = "trypsin";
    target.sequence = all;
    Notes notes;
    const auto sum = [&](const TargetStructure& structure, Surroundings what) {
        double total = 0;
        for (const double one :
             measure_burial(target, {0}, structure, what, {}, notes).accessibility)
            total += std::isnan(one) ? 0 : one;
        return total;
    };
    const double by_itself = sum(alone, Surroundings::chain);
    EXPECT_NEAR(sum(known, Surroundings::chain), by_itself, 0.1);
    EXPECT_LT(sum(known, Surroundings::all), by_itself - 0.3);
    // Both halves of the target as two parts: each lies in its own chain, beside the other.
    const TargetStructure pair = written.read(":A,B");
    const Burial both = measure_burial(target, {0, 100}, pair, Surroundings::chain, {}, notes);
    EXPECT_EQ(both.chain, "A,B");
    EXPECT_EQ(both.mapped, std::ssize(all));
    EXPECT_EQ(refusal([&] {
                  measure_burial(target, {0, 100}, known, Surroundings::chain, {}, notes);
              }),
              "--structure: expected a chain for each of 2 parts (FILE:A,B), found 1");
}

TEST(Burial, PartsOfAComplexLieInChainsOfTheirOwn) {
    Chain other = trypsin();
    other.residues.erase(other.residues.begin() + 100, other.residues.end());
    for (Residue& residue : other.residues)
        for (Atom& atom : residue.atoms) atom.x += 300;
    std::string text = report::pdb_text(trypsin()), copy = report::pdb_text(other);
    text.resize(text.rfind("END"));
    for (std::size_t at = 0; at < copy.size(); at = copy.find('\n', at) + 1)
        if (copy.compare(at, 4, "ATOM") == 0) copy[at + 21] = 'B';
    const WrittenStructure written(text + "TER\n" + copy);
    const TargetStructure pair = written.read(":A,B"), one = written.read(":A");
    const std::string row = trypsin().sequence().substr(120, 20) + "-" + piece();
    Parameters parameters;
    parameters.parts = "20,25";
    const Result result = run_with(&pair, row, parameters);
    EXPECT_EQ(result.burial->chain, "A,B");
    EXPECT_EQ(result.burial->mapped, 20 + kCount);
    parameters.parts = "20,20";
    EXPECT_EQ(refusal([&] { run_with(&pair, row, parameters); }),
              "give --parts the 45 columns of the family, not 40");
    parameters.parts = "20,25";
    EXPECT_EQ(refusal([&] { run_with(&one, row, parameters); }),
              "--structure: expected a chain for each of 2 parts (FILE:A,B), found 1");
    const TargetStructure any = written.read();
    EXPECT_EQ(refusal([&] { run_with(&any, row, parameters); }),
              "--structure: expected a chain for each of 2 parts (FILE:A,B), found 0");
    EXPECT_EQ(refusal([&] { run_with(&pair, row); }),
              "--structure: expected a chain for each of 1 part (FILE:A,B), found 2");
    for (const char* chains : {":A,", ":,B", ":A,,B"})
        EXPECT_NE(refusal([&] {
                      written.read(chains);
                  }).find("expected the name of a chain on each side of a comma, found none"),
                  std::string::npos)
            << chains;
    // A model of plmc does not say how many columns its alignment had.
    couplings::SavedModel saved = small_model(row, true, 4);
    saved.about.source_columns = 0;
    parameters.parts = "20,26";
    EXPECT_EQ(refusal([&] { run({.model = saved, .structure = &pair}, parameters, {}); }),
              "give --parts the 45 columns of the family, not 46");
    parameters.parts = "20,25";
    EXPECT_EQ(refusal([&] { run_with(nullptr, row, parameters); }),
              "give --structure with --parts: they are those of its chains");
}

TEST(Burial, RefusesOtherStructures) {
    const TargetStructure known = read_target_structure(trypsin_file().string());
    EXPECT_NE(
        refusal([&] { run_with(&known, "MWWHHKKRRCCQQNNDDEEGGPPF"); }).find("found identity 0."),
        std::string::npos);
    EXPECT_EQ(refusal([] {
                  const auto other = read_target_structure(trypsin_file().string() + ":Q");
                  run_with(&other);
              }),
              trypsin_file().string() + ": expected chain 'Q', found only 'A'");
    Chain backbone = trypsin();
    for (Residue& residue : backbone.residues)
        std::erase_if(residue.atoms, [](const Atom& atom) { return atom.name != "CA"; });
    const WrittenStructure written(report::pdb_text(backbone));
    const TargetStructure alone = written.read();
    EXPECT_NE(refusal([&] { run_with(&alone); })
                  .find("expected all heavy atoms of the residues, whose surfaces are measured, "
                        "found them in 0 of 24 residues"),
              std::string::npos);
    EXPECT_EQ(
        refusal([&] {
            run({.model = small_model("ACGUACGU", true, 1, Alphabet::rna()), .structure = &known},
                {}, {});
        }),
        "give --structure for proteins alone: it weighs amino acids");
    EXPECT_EQ(refusal([] { read_target_structure("-"); }),
              "--structure -: give a file, since it is read twice");
}

}  // namespace
}  // namespace pleat::mutants
