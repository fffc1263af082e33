// Select: the whole workflow in memory on two made folds, with each kind of evidence.
#include "pleat/workflows/select/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/casp_contacts.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/select/stages.h"

namespace pleat::select {
namespace {

using test::spill;
using test::TemporaryFolder;

constexpr const char* kSequence = "ACDEFGHIKLMNPQRSTVWYYWVTSRQPNMLKIHGFEDCA";
constexpr int kResidues = 40;

const char* name_of(char letter) {
    constexpr const char* kNames[] = {"ALA", "CYS", "ASP", "GLU", "PHE", "GLY", "HIS",
                                      "ILE", "LYS", "LEU", "MET", "ASN", "PRO", "GLN",
                                      "ARG", "SER", "THR", "VAL", "TRP", "TYR"};
    return kNames[std::string("ACDEFGHIKLMNPQRSTVWY").find(letter)];
}

/// CA atoms of a hairpin, or of one long strand; both bend a little from frame to frame.
std::string model(int number, bool is_hairpin) {
    std::string text = "MODEL     " + std::to_string(number) + "\n";
    for (int n = 0; n < kResidues; ++n) {
        const int along = is_hairpin ? std::min(n, kResidues - 1 - n) : n;
        char line[100];
        std::snprintf(line, sizeof line,
                      "ATOM  %5d  CA  %3s A%4d    %8.3f%8.3f%8.3f  1.00  0.00           C\n", n + 1,
                      name_of(kSequence[n]), n + 101, 3.4 * along,
                      is_hairpin && n >= kResidues / 2 ? 5.0 : 0.0,
                      0.02 * number * std::sin(0.3 * n));
        text += line;
    }
    return text + "TER\nENDMDL\n";
}

/// Six hairpins, then three strands.
class TwoFolds : public testing::Test {
protected:
    TwoFolds() {
        std::string text;
        for (int n = 0; n < 9; ++n) text += model(n + 1, n < 6);
        spill(folder / "models.pdb", text + "END\n");
        ensemble = read_ensemble({(folder / "models.pdb").string()});
        input.ensemble = &ensemble;
    }
    /// Pairs across the strands of the hairpin.
    static PredictedContacts hairpin_contacts() {
        PredictedContacts contacts{"made", kSequence, {}};
        for (Index n = 0; n < 15; ++n)
            contacts.pairs.push_back({n, kResidues - 1 - n, 0.9 - 0.01 * static_cast<double>(n)});
        return contacts;
    }
    TemporaryFolder folder;
    Ensemble ensemble;
    Input input;
    const Context context{.device = {Device::Kind::cpu, 0}, .threads = 2, .checkpoint = {}};
};

TEST_F(TwoFolds, ContactsSelectTheFoldThatFormsThem) {
    const PredictedContacts contacts = hairpin_contacts();
    input.contacts = &contacts;
    const Result result = run(input, {}, context);
    EXPECT_EQ(result.expected.contacts.size(), 15U);
    EXPECT_EQ(result.expected.contacts.front().name_i, "ALA 101");
    EXPECT_EQ(result.cutoff, usual_cutoff(kResidues));
    EXPECT_EQ(result.assignment, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(result.scores.contacts.front(), 1);
    EXPECT_EQ(result.scores.contacts.back(), 0);
    ASSERT_EQ(result.clusters.size(), 2U);
    EXPECT_EQ(result.clusters[0].cluster, 0);
    EXPECT_EQ(result.explained_by, std::vector<Index>(15, 1));
    EXPECT_NEAR(result.density[0], 5.0 / 8, 1e-12);
    EXPECT_EQ(result.rmsd[static_cast<std::size_t>(result.medoids[0])], 0);
    EXPECT_TRUE(result.chi2.empty());
}

TEST_F(TwoFolds, ACurveOfTheSecondFoldPutsItFirst) {
    saxs::Parameters parameters;
    parameters.c2 = 0;
    const std::vector<Ensemble> second = [&] {
        std::vector<Ensemble> all(1);
        all[0] = read_ensemble({(folder / "models.pdb").string()},
                               {.topology = {}, .range = parse_frame_range("7")});
        return all;
    }();
    const saxs::Result profile = saxs::run(second, nullptr, nullptr, parameters, context);
    Profile curve;
    for (std::size_t k = 2; k < profile.q.size(); ++k) {
        curve.q.push_back(profile.q[k]);
        curve.intensity.push_back(profile.mean[k]);
        curve.sigma.push_back(0.02 * profile.mean[k]);
    }
    input.curve = &curve;
    Parameters options;
    options.cluster_weight = 0;
    const Result result = run(input, options, context);
    ASSERT_EQ(result.chi2.size(), 9U);
    EXPECT_GE(std::min_element(result.chi2.begin(), result.chi2.end()) - result.chi2.begin(), 6);
    EXPECT_EQ(result.clusters.front().cluster, 1);
    EXPECT_TRUE(result.expected.contacts.empty());
}

TEST_F(TwoFolds, SuperposesTheAtomsThatAreNamed) {
    const PredictedContacts contacts = hairpin_contacts();
    input.contacts = &contacts;
    // The first strand alone is the same in both folds.
    for (Index atom = 0; atom < kResidues / 2; ++atom) input.superposed.push_back(atom);
    const Result result = run(input, {}, context);
    EXPECT_EQ(result.cutoff, usual_cutoff(kResidues / 2));
    EXPECT_EQ(result.assignment, std::vector<std::int32_t>(9, 0));
}

/// Stages whose results are known already.
class KnownStages : public Stages {
public:
    using Stages::Stages;
    std::vector<double> fit_frames(const Ensemble& ensemble, const Profile&,
                                   const Context&) override {
        return std::vector<double>(static_cast<std::size_t>(ensemble.frame_count()), 1.5);
    }
    Clusters cluster_frames(View<const float, 3> xyz, const cluster::Parameters& parameters,
                            const Context&) override {
        cutoff = parameters.cutoff.first;
        return {.assignment = std::vector<std::int32_t>(static_cast<std::size_t>(xyz.extent(0)), 0),
                .medoids = {4},
                .cutoff = 7.5};
    }
    PredictedContacts fit_couplings(const Alignment& alignment, const std::string& row,
                                    const Context&) override {
        fitted_row = row;
        return {alignment.source, kSequence, {{0, 39, 0.5}}};
    }
    std::optional<double> cutoff;
    std::string fitted_row;
};

TEST_F(TwoFolds, StagesMayBeReplaced) {
    const std::string other(kResidues, 'W');
    const Alignment alignment =
        read_alignment_from_memory("family", ">other\n" + other + "\n>target\n" + kSequence + "\n");
    Profile curve;
    input.alignment = &alignment;
    input.curve = &curve;
    KnownStages stages(true);
    const Result result = run(input, {}, context, stages);
    EXPECT_EQ(result.medoids, std::vector<Index>{4});
    EXPECT_EQ(result.cutoff, 7.5);
    EXPECT_EQ(result.chi2, std::vector<double>(9, 1.5));
    EXPECT_EQ(result.expected.contacts.size(), 1U);
    EXPECT_EQ(stages.fitted_row, "target");
    EXPECT_EQ(stages.cutoff, 1.83);  // 1.24 * 25^(1/3) - 1.8
}

TEST_F(TwoFolds, PredictedContactsHaveTheDigitsOfFiles) {
    const Alignment alignment = read_alignment_from_memory("family", ">a\nACD-F\n>b\nACDEF\n");
    const ReferenceRow row = make_reference_row(alignment, 0);
    const PredictedContacts predicted = predicted_contacts(
        alignment, row,
        std::vector<couplings::RankedPair>{{.i = 0, .j = 3, .probability = 0.9},
                                           {.i = 0, .j = 1, .probability = 0.12345649},
                                           {.i = 1, .j = 4, .probability = 0.5},
                                           {.i = 2, .j = 4, .probability = std::nan("")}});
    EXPECT_EQ(predicted.sequence, "ACDF");
    ASSERT_EQ(predicted.pairs.size(), 2U);  // a gap and a missing probability are left out
    EXPECT_EQ(predicted.pairs[0].j, 3);
    EXPECT_EQ(predicted.pairs[1].probability, 0.123456);
    EXPECT_THROW(predicted_contacts(alignment, row, {}), InputError);
}

TEST_F(TwoFolds, RefusesContradictionsAndUnnamedAtoms) {
    const PredictedContacts contacts = hairpin_contacts();
    const Alignment alignment = read_alignment_from_memory("family", ">a\nACD\n>b\nACD\n");
    EXPECT_THROW(run({}, {}, context), UsageError);
    input.contacts = &contacts;
    input.alignment = &alignment;
    EXPECT_THROW(run(input, {}, context), UsageError);
    input.alignment = nullptr;
    Parameters none;
    none.contact_weight = none.cluster_weight = 0;
    EXPECT_THROW(run(input, none, context), UsageError);
    Ensemble unnamed;
    unnamed.topology = std::make_shared<Topology>(unnamed_topology(2, "array"));
    unnamed.xyz = Array<float, 3>(Index{1}, Index{3}, Index{2});
    input.ensemble = &unnamed;
    EXPECT_THROW(run(input, {}, context), InputError);
}

}  // namespace
}  // namespace pleat::select
