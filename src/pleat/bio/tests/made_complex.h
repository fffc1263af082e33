// A made complex for tests: two chains, a ligand and water, whose frames are wrapped into cells.
#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/core/array.h"

namespace pleat::testing {

/// Cells that the frames of the tests are wrapped into.
inline std::vector<PeriodicCell> test_cells() {
    constexpr double kOctahedron = 109.4712206;
    return {make_cell({62, 62, 62}, {90, 90, 90}),
            make_cell({64, 64, 70}, {90, 90, 120}),  // hexagonal
            make_cell({66, 66, 66}, {60, 60, 90}),   // dodecahedron
            make_cell({68, 68, 68}, {kOctahedron, kOctahedron, kOctahedron}),
            make_cell({60, 71, 83}, {75, 84, 110}),
            make_cell({150, 150, 150}, {35, 60, 40}),
            make_cell({90, 90, 30}, {90, 90, 90})};  // thinner than the complex is long
}

class MadeComplex {
public:
    MadeComplex() {
        add_chain("A", 40, {10, 10, 10});
        add_chain("B", 25, {22, 20, 12});
        for (int n = 0; n < 6; ++n)
            add("C" + std::to_string(n + 1), "C", "LIG", "L", 1,
                {25 + 1.4 * n, 8 + (n % 2 == 0 ? 0.0 : 0.5), 20});
        for (int n = 0; n < 3; ++n) {
            const Point at = {5.0 + 9 * n, 30, 15};
            add("O", "O", "HOH", "W", n + 1, at);
            add("H1", "H", "HOH", "W", n + 1, at + Point{0.9, 0.3, 0});
            add("H2", "H", "HOH", "W", n + 1, at + Point{-0.3, 0.9, 0});
        }
    }

    Index atoms() const { return static_cast<Index>(positions_.size()); }
    const std::vector<Point>& positions() const { return positions_; }
    std::string pdb(const std::string& cell = "") const { return cell + text_ + "END\n"; }

    /// The complex turned and moved, with small motions of each atom.
    std::vector<Point> frame(std::mt19937& random) const {
        std::normal_distribution<double> motion(0, 0.15), place(0, 30);
        std::uniform_real_distribution<double> angle(0, 2 * std::numbers::pi);
        const double a = angle(random), b = angle(random);
        const Point about = {place(random), place(random), place(random)};
        std::vector<Point> moved;
        for (const Point& p : positions_) {
            const Point z = {std::cos(a) * p[0] - std::sin(a) * p[1],
                             std::sin(a) * p[0] + std::cos(a) * p[1], p[2]};
            const Point x = {z[0], std::cos(b) * z[1] - std::sin(b) * z[2],
                             std::sin(b) * z[1] + std::cos(b) * z[2]};
            moved.push_back(about + x + Point{motion(random), motion(random), motion(random)});
        }
        return moved;
    }

private:
    void add(const std::string& name, const std::string& element, const std::string& residue,
             const std::string& chain, int number, const Point& at) {
        positions_.push_back(at);
        text_ += test::pdb_line({.serial = static_cast<int>(positions_.size()),
                                 .name = name,
                                 .residue = residue,
                                 .chain = chain,
                                 .number = number,
                                 .x = at[0],
                                 .y = at[1],
                                 .z = at[2],
                                 .element = element});
    }

    /// A chain that turns at random; its hydrogens have names of no force field.
    void add_chain(const std::string& chain, int residues, Point ca) {
        std::uniform_real_distribution<double> step(-1, 1);
        Point along = {1, 0, 0};
        for (int number = 1; number <= residues; ++number) {
            const Point next =
                unit(along + Point{0.6 * step(random_), 0.6 * step(random_), 0.6 * step(random_)});
            const Point side = unit({-along[1], along[0], 0.2});
            add("N", "N", "ALA", chain, number, ca - 1.46 * along);
            add("HX7", "H", "ALA", chain, number, ca - 1.46 * along - 1.0 * side);
            add("CA", "C", "ALA", chain, number, ca);
            add("CB", "C", "ALA", chain, number, ca + 1.53 * side);
            add("C", "C", "ALA", chain, number, ca + 1.52 * next);
            add("O", "O", "ALA", chain, number, ca + 1.52 * next - 1.23 * side);
            ca = ca + 3.8 * next;
            along = next;
        }
    }

    static Point unit(const Point& p) { return (1 / std::sqrt(dot(p, p))) * p; }

    std::mt19937 random_{11};
    std::vector<Point> positions_;
    std::string text_;
};

/// Writes frames to a DCD file with each atom moved by vectors of the cell at random.
inline void write_wrapped(const std::filesystem::path& path,
                          const std::vector<std::vector<Point>>& frames, const PeriodicCell& cell,
                          unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> count(-2, 2);
    const auto atoms = static_cast<Index>(frames.front().size());
    DcdWriter writer(path, atoms, true);
    Array<float, 2> stored(Index{3}, atoms);
    for (const std::vector<Point>& frame : frames) {
        for (Index i = 0; i < atoms; ++i) {
            const Point at =
                frame[static_cast<std::size_t>(i)] + double(count(random)) * cell.vectors[0] +
                double(count(random)) * cell.vectors[1] + double(count(random)) * cell.vectors[2];
            for (std::size_t axis = 0; axis < 3; ++axis)
                stored(static_cast<Index>(axis), i) = static_cast<float>(at[axis]);
        }
        writer.add(stored, cell);
    }
    writer.close();
}

}  // namespace pleat::testing
