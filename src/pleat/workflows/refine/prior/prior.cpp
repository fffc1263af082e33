// Prior: the smoothed table, its conditional and marginal distributions, and draws from them.
#include "pleat/workflows/refine/prior/prior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "pleat/core/files/text.h"
#include "pleat/core/hardware/embedded_file.h"

PLEAT_EMBED(pleat_torsion_counts, PLEAT_TORSION_COUNTS)

namespace pleat::refine {

namespace {

constexpr double kKappa = 30, kUniformShare = 0.02;
constexpr double kCellWidth = 2 * std::numbers::pi / static_cast<double>(kCells);

/// Calls `use(phi cell, psi cell, count)` for each count of a class that is not 0.
template <class Use>
void for_each_count(ResidueClass residue_class, const Use& use) {
    constexpr std::string_view kNames[kResidueClasses] = {"glycine", "proline", "before_proline",
                                                          "beta_branched", "other"};
    const auto number = [](std::string_view text) {
        std::size_t value = 0;
        parse_number(text, value);
        return value;
    };
    for (const ListedLine& line : listed_lines("torsion_counts.tsv", pleat_torsion_counts())) {
        const std::vector<std::string_view> cells = words(line.text, "\t :");
        if (cells[0] != kNames[static_cast<std::size_t>(residue_class)]) continue;
        for (std::size_t n = 2; n < cells.size(); n += 2)
            use(number(cells[1]), number(cells[n]), static_cast<double>(number(cells[n + 1])));
    }
}

std::vector<double> smoothed_table(ResidueClass residue_class) {
    std::array<double, kCells> kernel{};
    double sum = 0;
    for (std::size_t n = 0; n < kCells; ++n)
        sum += kernel[n] = std::exp(kKappa * (std::cos(kCellWidth * static_cast<double>(n)) - 1));
    for (double& value : kernel) value /= sum;
    // The kernel is a product: first along phi, then along psi.
    std::vector<double> along_phi(kCells * kCells), table(kCells * kCells);
    double total = 0;
    for_each_count(residue_class, [&](std::size_t phi_cell, std::size_t psi_cell, double count) {
        total += count;
        for (std::size_t phi = 0; phi < kCells; ++phi)
            along_phi[phi * kCells + psi_cell] +=
                count * kernel[(phi + kCells - phi_cell) % kCells];
    });
    constexpr double kUniform = kUniformShare / static_cast<double>(kCells * kCells);
    for (std::size_t phi = 0; phi < kCells; ++phi)
        for (std::size_t psi = 0; psi < kCells; ++psi) {
            double value = 0;
            for (std::size_t from = 0; from < kCells; ++from)
                value += along_phi[phi * kCells + from] * kernel[(psi + kCells - from) % kCells];
            table[phi * kCells + psi] = (1 - kUniformShare) * value / total + kUniform;
        }
    return table;
}

/// An angle drawn uniformly from a cell.
double angle_in(std::size_t cell, Random& random) {
    return -std::numbers::pi + kCellWidth * (static_cast<double>(cell) + random.uniform());
}

}  // namespace

const TorsionTables& coil_tables() {
    static const TorsionTables kTables = [] {
        TorsionTables tables;
        for (std::size_t n = 0; n < tables.size(); ++n)
            tables[n] = smoothed_table(static_cast<ResidueClass>(n));
        return tables;
    }();
    return kTables;
}

ResidueClass residue_class(std::string_view name, std::string_view next) {
    if (name == "GLY") return ResidueClass::glycine;
    if (name == "PRO" || name == "HYP") return ResidueClass::proline;
    if (next == "PRO" || next == "HYP") return ResidueClass::before_proline;
    if (name == "ILE" || name == "VAL") return ResidueClass::beta_branched;
    return ResidueClass::other;
}

std::pair<double, double> draw_torsions(ResidueClass residue_class, Random& random) {
    const std::vector<double>& table = coil_tables()[static_cast<std::size_t>(residue_class)];
    double left = random.uniform();
    std::size_t cell = 0;
    while (cell + 1 < table.size() && left >= table[cell]) left -= table[cell++];
    const double phi = angle_in(cell / kCells, random);
    return {phi, angle_in(cell % kCells, random)};
}

std::size_t cell_of(double angle) {
    const double cell = (angle + std::numbers::pi) / kCellWidth;
    return cell <= 0 ? 0 : std::min(static_cast<std::size_t>(cell), kCells - 1);
}

Prior::Prior(const ChainModel& model, const TorsionTables& tables) {
    std::array<std::shared_ptr<const TorsionDistribution>, kResidueClasses> both;
    for (const LinkerResidue& residue : model.residues) {
        const auto number = static_cast<std::size_t>(residue.residue_class);
        if (residue.phi_hinge >= 0 && residue.psi_hinge >= 0) {
            if (!both[number]) both[number] = make_torsion_distribution(residue, tables[number]);
            torsion_distributions_.push_back(both[number]);
        } else {
            torsion_distributions_.push_back(make_torsion_distribution(residue, tables[number]));
        }
    }
}

std::shared_ptr<const Prior::TorsionDistribution> Prior::make_torsion_distribution(
    const LinkerResidue& residue, const std::vector<double>& table) {
    auto law = std::make_shared<TorsionDistribution>();
    law->turns_phi = residue.phi_hinge >= 0;
    law->turns_psi = residue.psi_hinge >= 0;
    std::vector<double> probability;
    if (law->turns_phi && law->turns_psi) {
        probability = table;
    } else if (law->turns_phi || law->turns_psi) {
        probability.assign(kCells, 0);
        // The other angle is fixed by the structure, or does not exist at a chain end.
        const bool is_given = law->turns_psi ? residue.has_phi : residue.has_psi;
        const std::size_t given = cell_of(law->turns_psi ? residue.phi : residue.psi);
        for (std::size_t phi = 0; phi < kCells; ++phi)
            for (std::size_t psi = 0; psi < kCells; ++psi)
                if (!is_given || given == (law->turns_psi ? phi : psi))
                    probability[law->turns_psi ? psi : phi] += table[phi * kCells + psi];
    }
    double sum = 0;
    for (const double value : probability) law->cumulative.push_back(sum += value);
    for (const double value : probability)
        law->log_probability.push_back(value > 0 ? std::log(value / sum)
                                                 : -std::numeric_limits<double>::infinity());
    return law;
}

double Prior::log_density(Index residue, double phi, double psi) const {
    const TorsionDistribution& one = law(residue);
    if (one.turns_phi && one.turns_psi)
        return one.log_probability[cell_of(phi) * kCells + cell_of(psi)];
    if (one.turns_phi) return one.log_probability[cell_of(phi)];
    return one.turns_psi ? one.log_probability[cell_of(psi)] : 0.0;
}

double Prior::log_density(const Conformation& conformation) const {
    double sum = 0;
    const ChainModel& model = conformation.model();
    for (Index n = 0; n < model.own_residues; ++n)
        sum += log_density(n, conformation.phi(model.residues[n]),
                           conformation.psi(model.residues[n]));
    return sum;
}

std::pair<double, double> Prior::draw(Index residue, Random& random) const {
    const TorsionDistribution& one = law(residue);
    if (one.cumulative.empty()) return {0.0, 0.0};
    const double at = random.uniform() * one.cumulative.back();
    const auto cell = static_cast<std::size_t>(std::min<std::ptrdiff_t>(
        std::upper_bound(one.cumulative.begin(), one.cumulative.end(), at) - one.cumulative.begin(),
        static_cast<std::ptrdiff_t>(one.cumulative.size()) - 1));
    if (one.turns_phi && one.turns_psi) {
        const double phi = angle_in(cell / kCells, random);
        return {phi, angle_in(cell % kCells, random)};
    }
    const double angle = angle_in(cell, random);
    return one.turns_phi ? std::pair(angle, 0.0) : std::pair(0.0, angle);
}

}  // namespace pleat::refine
