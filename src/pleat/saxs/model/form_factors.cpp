// Form factors: of united atoms by their elements, of beads from tables and files, on the grid of
// q.
#include "pleat/saxs/model/form_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/embedded_file.h"
#include "pleat/core/notes.h"
#include "pleat/saxs/fit/resampling.h"

PLEAT_EMBED(pleat_one_bead, PLEAT_ONE_BEAD)
PLEAT_EMBED(pleat_two_bead, PLEAT_TWO_BEAD)

namespace pleat::saxs {

namespace {

/// The atoms of a residue within a chain at pH 7.
struct AminoAcid {
    std::string_view name;
    int carbons, hydrogens, nitrogens, oxygens, sulfurs;
    /// Hydrogens on N, CA and CB; fewer without one on N (PRO), or with one on CB.
    int backbone_hydrogens = 4;

    double electrons() const {
        return carbons * net_electrons({"C", 0}) + hydrogens * net_electrons({"H", 0}) +
               nitrogens * net_electrons({"N", 0}) + oxygens * net_electrons({"O", 0}) +
               sulfurs * net_electrons({"S", 0});
    }
};

constexpr std::array<AminoAcid, 20> kAminoAcids = {{
    {"ALA", 3, 5, 1, 1, 0},     {"ARG", 6, 13, 4, 1, 0},   {"ASN", 4, 6, 2, 2, 0},
    {"ASP", 4, 4, 1, 3, 0},     {"CYS", 3, 5, 1, 1, 1},    {"GLN", 5, 8, 2, 2, 0},
    {"GLU", 5, 6, 1, 3, 0},     {"GLY", 2, 3, 1, 1, 0},    {"HIS", 6, 7, 3, 1, 0},
    {"ILE", 6, 11, 1, 1, 0, 3}, {"LEU", 6, 11, 1, 1, 0},   {"LYS", 6, 13, 2, 1, 0},
    {"MET", 5, 9, 1, 1, 1},     {"PHE", 9, 9, 1, 1, 0},    {"PRO", 5, 7, 1, 1, 0, 3},
    {"SER", 3, 5, 1, 2, 0},     {"THR", 4, 7, 1, 2, 0, 3}, {"TRP", 11, 10, 2, 1, 0},
    {"TYR", 9, 9, 1, 2, 0},     {"VAL", 5, 9, 1, 1, 0, 3},
}};

/// N, CA, C, O and CB.
double backbone_electrons(int hydrogens) {
    return AminoAcid{"BB", 3, hydrogens, 1, 1, 0}.electrons();
}

}  // namespace

std::vector<std::string> bead_types(Resolution resolution) {
    std::vector<std::string> types;
    if (resolution == Resolution::two_bead) types.emplace_back("BB");
    for (const AminoAcid& residue : kAminoAcids) types.emplace_back(residue.name);
    return types;
}

std::vector<double> complete_bead_electrons(Resolution resolution) {
    std::vector<double> electrons;
    const bool is_divided = resolution == Resolution::two_bead;
    if (is_divided) electrons.push_back(backbone_electrons(4));
    for (const AminoAcid& residue : kAminoAcids) {
        const bool has_side_chain = is_divided && residue.name != "ALA" && residue.name != "GLY";
        electrons.push_back(residue.electrons() -
                            (has_side_chain ? backbone_electrons(residue.backbone_hydrogens) : 0));
    }
    return electrons;
}

Index complete_residue_atoms(std::string_view residue_name) {
    const auto residue = std::ranges::find_if(
        kAminoAcids, [&](const AminoAcid& a) { return a.name == residue_name; });
    if (residue == kAminoAcids.end())
        throw std::logic_error("not an amino acid: " + std::string(residue_name));
    return residue->carbons + residue->nitrogens + residue->oxygens + residue->sulfurs;
}

namespace {

constexpr double kWaterDensity = 0.334;  // electrons per cubic angstrom

// The part of a site's water that is spread, and its standard deviation in angstrom (README.md).
constexpr double kSpreadPart = 0.3, kSpread = 6;

double element_factor(const std::string& symbol, double q) {
    ScatteringFactor factor;
    if (!find_scattering_factor(symbol, factor))
        throw std::logic_error("scatterers of an element without factors: " + symbol);
    return factor.at(q);
}

void set_atom_factors(const Scatterers& scatterers, Model& model) {
    for (std::size_t t = 0; t < scatterers.atom_types.size(); ++t) {
        for (std::size_t k = 0; k < model.q.size(); ++k) {
            const auto type = static_cast<Index>(t), at = static_cast<Index>(k);
            model.factors(0, type, at) = vacuum_factor(scatterers.atom_types[t], model.q[k]);
            model.factors(1, type, at) = excluded_factor(scatterers.atom_types[t], model.q[k]);
        }
    }
}

void set_bead_factors(const Scatterers& scatterers, const FormFactorTable& table, Model& model) {
    if (model.q.back() > table.q.back() * (1 + 1e-9))
        throw InputError(
            table.source, 0,
            fmt::format("expected q up to {:g} 1/angstrom, where the form factors of the {} model "
                        "end, found {:g}",
                        table.q.back(), name_of(scatterers.resolution), model.q.back()));
    std::vector<double> column(table.q.size());
    for (std::size_t t = 0; t < scatterers.type_names.size(); ++t) {
        const auto column_of_type = std::ranges::find(table.types, scatterers.type_names[t]);
        if (column_of_type == table.types.end())
            throw InputError(
                table.source, 0,
                fmt::format("expected form factors of {}, found none", scatterers.type_names[t]));
        for (std::size_t k = 0; k < column.size(); ++k)
            column[k] = table.factors(static_cast<Index>(k), column_of_type - table.types.begin());
        const std::vector<double> factors = interpolate_spline(table.q, column, model.q);
        for (std::size_t k = 0; k < factors.size(); ++k)
            model.factors(0, static_cast<Index>(t), static_cast<Index>(k)) =
                factors[k] + scatterers.excess_electrons[t] * excess_factor(model.q[k]);
    }
}

}  // namespace

double vacuum_factor(const UnitedAtom& atom, double q) {
    return element_factor(atom.element, q) + atom.hydrogens * element_factor("H", q);
}

double excluded_factor(const UnitedAtom& atom, double q) {
    const double volume = atom.volume(), root = std::cbrt(volume);
    return kWaterDensity * volume * std::exp(-root * root * q * q / (4 * std::numbers::pi));
}

double layer_spread(double q) {
    return 1 - kSpreadPart + kSpreadPart * std::exp(-kSpread * kSpread * q * q / 2);
}

double hydration_factor(double q) {
    static const UnitedAtom kWater{"O", 2};
    return (vacuum_factor(kWater, q) - excluded_factor(kWater, q)) * layer_spread(q);
}

double net_electrons(const UnitedAtom& atom) {
    return vacuum_factor(atom, 0) - excluded_factor(atom, 0);
}

double excess_factor(double q) {
    static const UnitedAtom kGroup{"C", 1};
    return vacuum_factor(kGroup, q) / vacuum_factor(kGroup, 0);
}

Model model_without_factors(const std::vector<std::int32_t>& types, Index type_count,
                            Index channels, std::span<const double> q, Index sites) {
    Model model;
    model.q.assign(q.begin(), q.end());
    model.types = types;
    model.types.resize(types.size() + static_cast<std::size_t>(sites),
                       static_cast<std::int32_t>(type_count));
    model.factors = Array<double, 3>(channels, type_count + 1, std::ssize(q));
    model.scaled.assign(channels, 0);
    model.scaled.back() = 1;
    return model;
}

Model make_model(const Scatterers& scatterers, const FormFactorTable* table,
                 std::span<const double> q, Index sites) {
    const bool is_atomic = scatterers.resolution == Resolution::all_atom;
    const Index channels = is_atomic ? kAtomChannels : kBeadChannels;
    const auto water = std::ssize(scatterers.type_names);
    Model model = model_without_factors(scatterers.types, water, channels, q, sites);
    if (is_atomic) {
        set_atom_factors(scatterers, model);
    } else {
        set_bead_factors(scatterers,
                         table != nullptr ? *table : derived_form_factors(scatterers.resolution),
                         model);
    }
    for (std::size_t k = 0; k < q.size(); ++k)
        model.factors(channels - 1, water, static_cast<Index>(k)) = hydration_factor(q[k]);
    return model;
}

namespace {

constexpr Index kMaxBytes = 16 << 20;
constexpr std::size_t kPublishedPoints = 51;
constexpr double kPublishedStep = 0.015;

struct Rows {
    std::vector<std::string> names;  // column names of the line above, if there is one
    std::vector<std::vector<double>> rows;
    std::vector<Index> lines;  // [row]
};

/// Reads rows of numbers, which end at brackets or, without any, with their lines.
Rows read_rows(ByteSource& source) {
    Rows read;
    std::vector<double> row;
    bool in_brackets = false;
    const auto end_row = [&] {
        if (!row.empty()) read.rows.push_back(std::move(row));
        row.clear();
    };
    std::string_view line;
    while (source.next(line)) {
        if (line.starts_with('#')) line.remove_prefix(1);
        in_brackets = in_brackets || line.find_first_of("[]") != std::string_view::npos;
        std::vector<std::string> names;
        for (const std::string_view part : split(line, ']')) {
            if (in_brackets && part.data() != line.data()) end_row();
            for (const std::string_view word : words(part, " \t,;[")) {
                double value = 0;
                if (!parse_number(word, value)) {
                    if (!read.rows.empty() || !row.empty() || in_brackets)
                        throw InputError(source.name(), source.line(),
                                         "expected numbers, found " + in_quotes(word));
                    names.emplace_back(word);
                    continue;
                }
                if (!std::isfinite(value))
                    throw InputError(source.name(), source.line(),
                                     fmt::format("expected finite form factors, found {}", value));
                if (row.empty()) read.lines.push_back(source.line());
                row.push_back(value);
            }
        }
        if (!in_brackets) end_row();
        if (!names.empty()) read.names = std::move(names);
    }
    end_row();
    return read;
}

/// Whether rows begin with q. Throws InputError if the number of columns fits neither case.
bool has_q(const std::string& file, const Rows& read, std::size_t types) {
    const std::size_t width = read.rows.front().size();
    for (std::size_t n = 0; n < read.rows.size(); ++n)
        if (read.rows[n].size() != width)
            throw InputError(file, read.lines[n],
                             fmt::format("expected {} numbers as in the rows before, found {}",
                                         width, read.rows[n].size()));
    if (width == types + 1) return true;
    if (width == types && read.rows.size() == kPublishedPoints && read.names.empty()) return false;
    throw InputError(
        file, read.lines.front(),
        fmt::format("expected q and {} form factors in a row, found {} numbers", types, width));
}

/// Names of the columns after q.
std::vector<std::string> column_names(const std::string& file, const Rows& read,
                                      const std::vector<std::string>& expected) {
    if (read.names.empty()) return expected;
    if (read.names.size() != expected.size() + 1)
        throw InputError(file, 0,
                         fmt::format("expected a line of {} names above the numbers, found "
                                     "{}",
                                     expected.size() + 1, read.names.size()));
    std::vector<std::string> names(read.names.begin() + 1, read.names.end());
    for (const std::string& type : expected) {
        if (std::ranges::find(names, type) == names.end())
            throw InputError(file, 0, fmt::format("expected a column {}, found none", type));
    }
    return names;
}

FormFactorTable read_table(ByteSource& source, Resolution resolution, Notes& notes) {
    const Rows read = read_rows(source);
    const std::string file = source.name();
    if (read.rows.size() < 2)
        throw InputError(file, 0, "expected a table of form factors, found no rows of numbers");
    FormFactorTable table;
    table.source = file;
    const std::vector<std::string> expected = bead_types(resolution);
    const bool with_q = has_q(file, read, expected.size());
    table.types = column_names(file, read, expected);
    const auto rows = std::ssize(read.rows);
    table.factors = Array<double, 2>(rows, std::ssize(expected));
    for (Index k = 0; k < rows; ++k) {
        const std::vector<double>& row = read.rows[k];
        const double q = with_q ? row[0] : kPublishedStep * static_cast<double>(k);
        if (q < 0 || (!table.q.empty() && q <= table.q.back()))
            throw InputError(file, read.lines[k],
                             fmt::format("expected q of 0 or more that rises, found {:g}", q));
        table.q.push_back(q);
        std::copy(row.begin() + (with_q ? 1 : 0), row.end(), table.factors[k].begin());
    }
    if (!with_q)
        notes.push_back({NoteKind::columns,
                         fmt::format("form factors without q taken at 0, {}, ..., {} 1/angstrom",
                                     kPublishedStep,
                                     kPublishedStep * static_cast<double>(kPublishedPoints - 1))});
    if (table.q.front() > 0)
        throw InputError(file, read.lines.front(),
                         fmt::format("expected q from 0 on, found {:g}", table.q.front()));
    return table;
}

/// A table in the published layout.
FormFactorTable own_table(std::string_view text, Resolution resolution) {
    Notes ignored;
    ByteSource source("", text);
    return read_table(source, resolution, ignored);
}

}  // namespace

void check_bead_model(Resolution resolution) {
    if (resolution != Resolution::one_bead && resolution != Resolution::two_bead)
        throw UsageError(
            fmt::format("expected --model one-bead or two-bead with --form-factors, found '{}'",
                        name_of(resolution)));
}

FormFactorTable read_form_factors(const std::filesystem::path& path, Resolution resolution,
                                  Notes& notes) {
    check_bead_model(resolution);
    ByteSource source(path, kMaxBytes);
    return read_table(source, resolution, notes);
}

const FormFactorTable& derived_form_factors(Resolution resolution) {
    static const FormFactorTable kOne = own_table(pleat_one_bead(), Resolution::one_bead),
                                 kTwo = own_table(pleat_two_bead(), Resolution::two_bead);
    if (resolution == Resolution::one_bead) return kOne;
    if (resolution == Resolution::two_bead) return kTwo;
    throw std::logic_error("only the bead models have a table");
}

}  // namespace pleat::saxs
