// Refine: whole runs; the same bits for any threads and after a stop, and overlaps by their
// definition.
#include "pleat/workflows/refine/refine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/output.h"
#include "pleat/workflows/refine/run_setup.h"
#include "pleat/workflows/refine/sampling/sampler.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;
using test::add_peptide;
using test::MadeChain;

Ensemble made_structure(const std::string& letters = "AAAAAAAAAAGAPVAAAAAAAAAAAAA") {
    MadeChain made;
    add_peptide(made, letters, "A");
    Ensemble structure;
    structure.topology = structure.all_atoms = made.topology;
    const Array<float, 2> xyz = made.xyz();
    structure.xyz = Array<float, 3>(Index{1}, Index{3}, xyz.extent(1));
    std::copy(xyz.begin(), xyz.end(), structure.xyz.begin());
    return structure;
}

Parameters few_frames() {
    Parameters parameters;
    parameters.linkers = "A:10-15";
    parameters.frames = 70;
    parameters.chains = 4;
    parameters.moves = 20;
    return parameters;
}

bool same_bits(const Array<float, 3>& one, const Array<float, 3>& other) {
    return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin());
}

TEST(Refine, HasTheSameBitsForAnyNumberOfThreads) {
    Context context;
    context.threads = 1;
    const Result one = run(made_structure(), {}, few_frames(), context);
    context.threads = 3;
    const Result three = run(made_structure(), {}, few_frames(), context);
    EXPECT_TRUE(same_bits(one.frames.xyz, three.frames.xyz));
    EXPECT_EQ(one.log_prior, three.log_prior);
    context.seed = 2;
    EXPECT_FALSE(
        same_bits(one.frames.xyz, run(made_structure(), {}, few_frames(), context).frames.xyz));
}

/// Asks to stop at the n-th report.
struct StopAfter final : Progress {
    explicit StopAfter(int count) : left(count) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override { --left; }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}
    int left;
};

TEST(Refine, ResumesWithTheSameBits) {
    const TemporaryFolder folder;
    Context context;
    context.threads = 2;
    const Result whole = run(made_structure(), {}, few_frames(), context);
    context.checkpoint = folder / "checkpoint.npz";
    for (const int reports : {5, 12}) {  // in burn-in, and later
        StopAfter stop(reports);
        context.progress = &stop;
        EXPECT_THROW(run(made_structure(), {}, few_frames(), context), Cancelled);
    }
    context.progress = nullptr;
    const Result resumed = run(made_structure(), {}, few_frames(), context);
    EXPECT_TRUE(same_bits(whole.frames.xyz, resumed.frames.xyz));
    EXPECT_EQ(whole.moves[0].accepted, resumed.moves[0].accepted);
    Parameters other = few_frames();
    other.linkers = "A:10-14";
    EXPECT_THROW(run(made_structure(), {}, other, context), InputError);
}

TEST(Refine, FramesHaveNoOverlapsAndKeepBondsAndTheLargestDomain) {
    Context context;
    const Ensemble structure = made_structure();
    const Result result = run(structure, {}, few_frames(), context);
    ASSERT_EQ(result.frames.frame_count(), 70);
    ASSERT_EQ(result.domains.size(), 2u);
    ASSERT_EQ(result.quantities.size(), 2u);
    EXPECT_EQ(result.quantities[1].name, "distance_1_2");
    const Topology& topology = *result.frames.topology;
    for (Index frame = 0; frame < 70; ++frame) {
        const auto xyz = result.frames.xyz.view()[frame];
        const auto apart = [&](View<const float, 2> of, Index a, Index b) {
            double sum = 0;
            for (Index axis = 0; axis < 3; ++axis) {
                const double step = static_cast<double>(of(axis, a)) - of(axis, b);
                sum += step * step;
            }
            return std::sqrt(sum);
        };
        for (Index a = 0; a < xyz.extent(1); ++a)
            for (Index b = a + 1; b < xyz.extent(1); ++b) {
                const double before = apart(structure.xyz.view()[0], a, b);
                if (before < 1.7) {
                    EXPECT_NEAR(apart(xyz, a, b), before, 1e-4);
                }
                const auto &one = topology.atoms[static_cast<std::size_t>(a)],
                           &other = topology.atoms[static_cast<std::size_t>(b)];
                if (one.name == "CA" && other.name == "CA" && other.residue - one.residue >= 3) {
                    EXPECT_GE(apart(xyz, a, b), 3.6 - 1e-4);
                }
            }
        // Residues 16 to 27 are the larger domain.
        for (Index atom = xyz.extent(1) - 20; atom < xyz.extent(1); ++atom)
            EXPECT_NEAR(xyz(0, atom), structure.xyz(0, 0, atom), 1e-4);
    }
}

TEST(Refine, SaysThatFewFramesHaveNotConverged) {
    Parameters parameters = few_frames();
    const Result few = run(made_structure(), {}, parameters, {});
    EXPECT_FALSE(few.is_converged());
    EXPECT_NE(convergence_remark(few).find(" has R-hat "), std::string::npos);
    parameters.frames = 15;
    EXPECT_EQ(
        convergence_remark(run(made_structure(), {}, parameters, {})),
        "not converged: 15 frames of 4 chains are too few to compare the chains (expected: at "
        "least 4 frames of each)");
}

TEST(Refine, RefusesBadOptions) {
    Parameters parameters = few_frames();
    parameters.rigid = "A:1-5";
    EXPECT_THROW(run(made_structure(), {}, parameters, {}), UsageError);
    parameters.linkers.clear();
    parameters.rigid.clear();
    EXPECT_THROW(run(made_structure(), {}, parameters, {}), UsageError);
    parameters = few_frames();
    parameters.chains = 0;
    EXPECT_THROW(run(made_structure(), {}, parameters, {}), UsageError);
}

TEST(Refine, RefusesAStructureThatItsLinkersCannotFree) {
    // Nucleotides fill the space around the chain, so the second domain finds no room.
    MadeChain made;
    add_peptide(made, "AAAAAAAAAAAAAAAAAAAA", "A");
    const auto at = [](int row) { return 4.0 * row - 28; };
    for (int cell = 0; cell < 15 * 15 * 15; ++cell) {
        made.topology->residues.push_back({"DA", cell, ' ', "B"});
        for (const char* name : {"P", "C1'"})
            made.add(name,
                     made.atoms[51] + Vector{at(cell / 225), at(cell / 15 % 15), at(cell % 15)});
    }
    Ensemble structure;
    structure.topology = structure.all_atoms = made.topology;
    const Array<float, 2> xyz = made.xyz();
    structure.xyz = Array<float, 3>(Index{1}, Index{3}, xyz.extent(1));
    std::copy(xyz.begin(), xyz.end(), structure.xyz.begin());
    Parameters parameters = few_frames();
    parameters.linkers = "A:9-10";
    parameters.chains = 1;
    EXPECT_NE(error_text<InputError>([&] {
                  run(structure, {}, parameters, {});
              }).find("expected linkers that can move the domains apart, found at best "),
              std::string::npos);
}

/// Whether a CA is on the axes of hinges that end at a piece.
bool keeps_distance(const ChainModel& model, Index ca, Index piece) {
    for (const LinkerResidue& residue : model.residues)
        for (const Index hinge : {residue.phi_hinge, residue.bend_hinge, residue.psi_hinge})
            if (residue.ca == ca && hinge >= 0 &&
                (piece == hinge + 1 ||
                 piece == model.hinges[static_cast<std::size_t>(hinge)].parent))
                return true;
    return false;
}

/// Overlap energy as its definition says it; CB is the only atom of side chains here.
OverlapEnergy overlap_by_definition(const Conformation& conformation) {
    const ChainModel& model = conformation.model();
    const Topology& topology = *model.topology;
    OverlapEnergy sum;
    for (Index a = 0; a < model.atom_count(); ++a)
        for (Index b = a + 1; b < model.atom_count(); ++b) {
            const auto &one = topology.atoms[static_cast<std::size_t>(a)],
                       &other = topology.atoms[static_cast<std::size_t>(b)];
            const Index piece = model.piece_of[static_cast<std::size_t>(a)],
                        other_piece = model.piece_of[static_cast<std::size_t>(b)];
            const int sides = (one.name == "CB" ? 1 : 0) + (other.name == "CB" ? 1 : 0),
                      mains = (one.name == "CA" ? 1 : 0) + (other.name == "CA" ? 1 : 0);
            if (sides + mains < 2 || piece == other_piece || other.residue - one.residue < 3)
                continue;
            if (keeps_distance(model, a, other_piece) || keeps_distance(model, b, piece)) continue;
            const double apart = distance(conformation.atom(a), conformation.atom(b)),
                         reach = sides == 0   ? 4.0
                                 : sides == 1 ? 3.6
                                              : 3.4;
            if (apart < reach) sum.energy += 10 * (reach - apart) * (reach - apart);
            sum.hard_pairs += sides == 0 && apart < 3.6;
        }
    return sum;
}

TEST(Sterics, IsItsDefinition) {
    const ChainModel model =
        test::made_model("AAAAAAAAAAAAAAAAAAAAGAAAAAAAAAAAAAAAAAAAAAAAAA", "A:8-13,A:25-29");
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    Sterics sterics(model);
    Conformation conformation(model);
    int with_overlaps = 0;
    for (Index n = 0; n < 300; ++n) {
        Random random(8, 0, n);
        conformation.set_angles(moves.draw_all(random));
        const OverlapEnergy found = sterics.overlap(conformation),
                            expected = overlap_by_definition(conformation);
        EXPECT_NEAR(found.energy, expected.energy, 1e-9 * (1 + expected.energy));
        EXPECT_EQ(found.hard_pairs, expected.hard_pairs);
        with_overlaps += expected.hard_pairs > 0;
    }
    EXPECT_GT(with_overlaps, 10);
    EXPECT_LT(with_overlaps, 290);
}

TEST(Sterics, CountsCloseAtomsOfDistantResidues) {
    const ChainModel model = test::made_model("AAAAAAAAAAAAAAAAAAAAAAAAA", "A:10-14");
    const Prior prior(model, coil_tables());
    const Moves moves(model, prior);
    AtomOverlaps overlaps(model);
    Conformation conformation(model);
    EXPECT_EQ(overlaps.count(conformation), 0);
    Index total = 0;
    for (Index n = 0; n < 100; ++n) {
        Random random(8, 0, n);
        conformation.set_angles(moves.draw_all(random));
        Index expected = 0;
        for (Index a = 0; a < model.atom_count(); ++a)
            for (Index b = a + 1; b < model.atom_count(); ++b)
                expected += model.piece_of[static_cast<std::size_t>(a)] !=
                                model.piece_of[static_cast<std::size_t>(b)] &&
                            model.topology->atoms[static_cast<std::size_t>(b)].residue -
                                    model.topology->atoms[static_cast<std::size_t>(a)].residue >
                                1 &&
                            distance(conformation.atom(a), conformation.atom(b)) < 2.5;
        EXPECT_EQ(overlaps.count(conformation), expected);
        total += expected;
    }
    EXPECT_GT(total, 0);
}

}  // namespace

}  // namespace pleat::refine
