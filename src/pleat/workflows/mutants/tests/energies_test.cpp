// Energies: against sums in float64 over the model as it was given, in any gauge.
#include "pleat/workflows/mutants/energies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "pleat/workflows/mutants/independent.h"
#include "small_model.h"

namespace pleat::mutants {
namespace {

using couplings::Model;
using couplings::pair_index;
using testing::small_model;

std::vector<std::uint8_t> codes(const std::string& letters) {
    std::vector<std::uint8_t> found;
    for (const char letter : letters) found.push_back(Alphabet::protein().code(letter));
    return found;
}

/// E of the model as it is, all columns with a letter of it.
double brute_energy(const Model& model, const std::vector<std::uint8_t>& x) {
    const Index columns = model.column_count();
    double sum = 0;
    for (Index i = 0; i < columns; ++i) {
        sum += model.fields(i, x[static_cast<std::size_t>(i)]);
        for (Index j = i + 1; j < columns; ++j)
            sum += model.pairs(pair_index(i, j, columns), x[static_cast<std::size_t>(i)],
                               x[static_cast<std::size_t>(j)]);
    }
    return sum;
}

const std::string kRow = "ACD-KWYV";

TEST(Energies, SinglesAreDifferencesOfBruteForceEnergies) {
    const Model model = small_model(kRow, true, 1).model;
    const std::vector<std::uint8_t> target = codes(kRow);
    const EnergyModel energies(model, target, 2);
    const EnergyModel::Singles& singles = energies.singles();
    const double own = brute_energy(model, target);
    for (std::size_t i = 0; i < target.size(); ++i) {
        for (std::uint8_t a = 0; a < 21; ++a) {
            std::vector<std::uint8_t> mutant = target;
            mutant[i] = a;
            EXPECT_NEAR(singles.full(static_cast<Index>(i), a), brute_energy(model, mutant) - own,
                        2e-6);
            const Energy before = energies.energy(target), after = energies.energy(mutant);
            EXPECT_NEAR(singles.fields(static_cast<Index>(i), a), after.fields - before.fields,
                        1e-9);
            EXPECT_NEAR(singles.full(static_cast<Index>(i), a), after.full - before.full, 1e-9);
        }
    }
}

TEST(Energies, SinglesAndEpistasisGiveDoubleMutants) {
    const Model model = small_model(kRow, true, 2).model;
    const std::vector<std::uint8_t> target = codes(kRow);
    const EnergyModel energies(model, target, 1);
    const EnergyModel::Singles& singles = energies.singles();
    const double own = brute_energy(model, target);
    for (const auto& [i, j] : {std::pair{0, 1}, {2, 7}, {6, 4}, {7, 0}}) {
        for (const auto& [a, b] : {std::pair{3, 4}, {19, 0}, {7, 7}}) {
            std::vector<std::uint8_t> mutant = target;
            mutant[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(a);
            mutant[static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(b);
            const double epistasis = energies.epistasis(
                i, target[static_cast<std::size_t>(i)], static_cast<std::uint8_t>(a), j,
                target[static_cast<std::size_t>(j)], static_cast<std::uint8_t>(b));
            EXPECT_NEAR(singles.full(i, a) + singles.full(j, b) + epistasis,
                        brute_energy(model, mutant) - own, 4e-6);
        }
    }
}

TEST(Energies, DoNotDependOnTheGauge) {
    const Model model = small_model(kRow, true, 3).model;
    Model other = model;
    // Moves a function of one letter from the couplings of columns 1 and 4 to a field.
    const Index pair = pair_index(1, 4, model.column_count());
    for (Index a = 0; a < 21; ++a) {
        const float moved = 0.25f * static_cast<float>(a % 5);
        other.fields(1, a) += moved;
        for (Index b = 0; b < 21; ++b) other.pairs(pair, a, b) -= moved;
    }
    const std::vector<std::uint8_t> target = codes(kRow);
    const EnergyModel one(model, target, 1), two(other, target, 3);
    const auto &first = one.singles(), &second = two.singles();
    for (Index n = 0; n < first.full.size(); ++n) {
        EXPECT_NEAR(first.full.data()[n], second.full.data()[n], 3e-6);
        EXPECT_NEAR(first.fields.data()[n], second.fields.data()[n], 3e-6);
    }
    const Energy a = one.energy(target), b = two.energy(target);
    EXPECT_NEAR(a.full, b.full, 3e-6);
    EXPECT_NEAR(a.couplings, b.couplings, 3e-6);
}

TEST(Energies, TheMeanOverAllLettersIsZeroInEveryColumn) {
    std::vector<std::uint8_t> sequence = codes("ACDE");
    const EnergyModel energies(small_model("ACDE", true, 4).model, sequence, 1);
    double sum = 0, of_fields = 0;
    for (std::uint8_t a = 0; a < 21; ++a) {
        sequence[2] = a;
        sum += energies.energy(sequence).full;
        of_fields += energies.energy(sequence).fields;
    }
    sequence[2] = 255;  // left out
    EXPECT_NEAR(sum / 21, energies.energy(sequence).full, 1e-6);
    EXPECT_NEAR(of_fields / 21, energies.energy(sequence).fields, 1e-6);
}

TEST(Energies, LeaveOutColumnsWithoutALetterOfTheModel) {
    const std::vector<std::uint8_t> target = codes(kRow);
    const EnergyModel energies(small_model(kRow, false, 5).model, target, 1);
    EXPECT_EQ(energies.letter_count(), 20);
    const EnergyModel::Singles& singles = energies.singles();
    for (Index a = 0; a < 20; ++a) EXPECT_EQ(singles.full(3, a), 0);
    std::vector<std::uint8_t> mutant = target;
    mutant[0] = 9;
    EXPECT_NEAR(energies.energy(mutant).full - energies.energy(target).full, singles.full(0, 9),
                1e-9);
}

TEST(Energies, AreTheSameBitsForAnyNumberOfThreads) {
    const Model model = small_model("ACDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWY", true, 6).model;
    const std::vector<std::uint8_t> target = codes("ACDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWY");
    const EnergyModel one(model, target, 1), three(model, target, 3);
    const auto &a = one.singles(), &b = three.singles();
    EXPECT_TRUE(std::equal(a.full.begin(), a.full.end(), b.full.begin()));
    EXPECT_EQ(one.energy(target).full, three.energy(target).full);
}

TEST(IndependentFields, HaveAGradientOfZero) {
    Array<double, 2> shares(3, 20);
    for (Index a = 0; a < 20; ++a) shares(0, a) = 1.0 / 20;
    shares(1, 3) = 1;  // one letter alone
    shares(2, 0) = 0.7;
    shares(2, 5) = 0.3;
    const double count = 3600, lambda = 0.01;
    const Array<double, 2> fields = independent_fields(shares, count, lambda);
    for (Index i = 0; i < 3; ++i) {
        double sum = 0;
        for (Index a = 0; a < 20; ++a) sum += std::exp(fields(i, a));
        for (Index a = 0; a < 20; ++a) {
            const double gradient =
                count * (std::exp(fields(i, a)) / sum - shares(i, a)) + 2 * lambda * fields(i, a);
            EXPECT_NEAR(gradient, 0, 1e-9 * count) << i << " " << a;
        }
    }
    EXPECT_NEAR(fields(0, 4), 0, 1e-9);
    // The regularisation keeps letters that never occur from minus infinity.
    EXPECT_GT(fields(1, 3) - fields(1, 0), 5);
    EXPECT_LT(fields(1, 3) - fields(1, 0), 20);
}

TEST(IndependentFields, AreZeroWithoutResidues) {
    Array<double, 2> frequencies(1, 21);
    frequencies(0, 20) = 1;
    const Array<double, 2> shares = residue_frequencies(frequencies, 20);
    const Array<double, 2> fields = independent_fields(shares, 10);
    for (const double field : fields) EXPECT_EQ(field, 0);
}

}  // namespace
}  // namespace pleat::mutants
