// Observable files: cells of tables, and distances and radii of gyration of frames.
#include "pleat/saxs/observable_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"

namespace pleat::saxs {

namespace {

/// A table with a line of names.
struct Table {
    std::string path;
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::int64_t> lines;  ///< [row]

    explicit Table(const std::string& file) : path(file) {
        constexpr std::size_t kMaxLines = 100'000'000;
        const std::vector<std::uint8_t> bytes = read_file(file);
        std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // of spreadsheets
        const std::vector<ListedLine> all = listed_lines(file, text, kMaxLines);
        if (all.size() < 2)
            throw InputError(file, 0, "expected a line of names and rows below it, found none");
        const char separator = all[0].text.find('\t') != std::string_view::npos ? '\t' : ',';
        for (const ListedLine& line : all) {
            std::vector<std::string> cells;
            for (const std::string_view cell : split(line.text, separator))
                cells.emplace_back(stripped(cell));
            if (names.empty()) {
                names = std::move(cells);
                continue;
            }
            if (cells.size() != names.size())
                throw InputError(
                    file, line.number,
                    fmt::format("expected {} cells, found {}", names.size(), cells.size()));
            rows.push_back(std::move(cells));
            lines.push_back(line.number);
        }
        const std::set<std::string> distinct(names.begin(), names.end());
        if (distinct.size() < names.size())
            throw InputError(file, all[0].number,
                             "expected each column once, found two of one name");
    }
    std::optional<std::size_t> column(std::string_view name) const {
        const auto at = std::ranges::find(names, name);
        if (at == names.end()) return {};
        return at - names.begin();
    }
    double number(std::size_t row, std::size_t at) const {
        double value = 0;
        if (!parse_number(rows[row][at], value))
            throw InputError(path, lines[row],
                             fmt::format("expected a number as {}, found {}", names[at],
                                         in_quotes(rows[row][at])));
        return value;
    }
    /// The choice that a cell names; the first without the column, or of an empty cell.
    template <class Choice>
    Choice choice(std::size_t row, std::string_view name) const {
        const auto at = column(name);
        if (!at || rows[row][*at].empty()) return {};
        const auto names_of_choice = names_of(Choice());
        const auto found = std::ranges::find(names_of_choice, rows[row][*at]);
        if (found == names_of_choice.end())
            throw InputError(
                path, lines[row],
                fmt::format("expected {} {}, found {}", name, fmt::join(names_of_choice, ", "),
                            in_quotes(rows[row][*at])));
        return static_cast<Choice>(found - names_of_choice.begin());
    }
};

/// The atom CHAIN:RESIDUE:ATOM, the residue with its insertion code, if any; not set: there is
/// none, or more than one.
std::optional<Index> find_atom(const Topology& topology, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ':');
    std::optional<Index> found;
    for (Index atom = 0; parts.size() == 3 && atom < topology.atom_count(); ++atom) {
        const Topology::Residue& residue = topology.residue_of(atom);
        std::string number = std::to_string(residue.number);
        if (residue.insertion != ' ') number += residue.insertion;
        if (topology.atoms[atom].name == parts[2] && number == parts[1] &&
            residue.is_of_chain(parts[0])) {
            if (found) return {};
            found = atom;
        }
    }
    return found;
}

/// The two names of a distance, empty if it has others: A:-5:CA-B:3:CB has them around the dash
/// that leaves two colons on both sides.
std::array<std::string, 2> names_of_pair(const std::string& text) {
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1))
        if (std::ranges::count(text.substr(0, at), ':') == 2 &&
            std::ranges::count(text.substr(at + 1), ':') == 2)
            return {text.substr(0, at), text.substr(at + 1)};
    return {};
}

using Pair = std::array<Index, 2>;

/// The two atoms of a distance.
Pair find_pair(const ObservableTable& table, std::size_t row, const Topology& topology) {
    const std::array<std::string, 2> names = names_of_pair(table.computed[row]);
    Pair pair{};
    for (std::size_t n = 0; n < 2; ++n) {
        const std::optional<Index> atom = find_atom(topology, names[n]);
        if (!atom)
            throw InputError(table.path, table.lines[row],
                             fmt::format("expected atoms of the structure, each once, found {}",
                                         in_quotes(names[n])));
        pair[n] = *atom;
    }
    return pair;
}

double distance(View<const float, 2> frame, const Pair& pair) {
    double square = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const double step = static_cast<double>(frame[axis].data[pair[0]]) -
                            static_cast<double>(frame[axis].data[pair[1]]);
        square += step * step;
    }
    return std::sqrt(square);
}

double gyration(View<const float, 2> frame, const Topology& topology) {
    double mass = 0, square = 0;
    for (const Topology::Atom& atom : topology.atoms) mass += atom.mass;
    for (Index axis = 0; axis < 3; ++axis) {
        double centre = 0;
        for (Index i = 0; i < topology.atom_count(); ++i)
            centre += topology.atoms[i].mass * static_cast<double>(frame[axis].data[i]) / mass;
        for (Index i = 0; i < topology.atom_count(); ++i)
            square += topology.atoms[i].mass *
                      std::pow(static_cast<double>(frame[axis].data[i]) - centre, 2) / mass;
    }
    return std::sqrt(square);
}

void compute(const ObservableTable& table, std::size_t row, const Ensemble& ensemble,
             Array<double, 2>& values) {
    const Topology& topology = *ensemble.topology;
    const bool is_gyration = table.computed[row] == "rg";
    if (is_gyration &&
        !std::ranges::all_of(topology.atoms, [](const auto& atom) { return atom.mass > 0; }))
        throw InputError(table.path, table.lines[row],
                         "expected atoms of known elements for rg, found others");
    const Pair pair = is_gyration ? Pair{} : find_pair(table, row, topology);
    for (Index i = 0; i < values.extent(0); ++i)
        values(i, static_cast<Index>(row)) =
            is_gyration ? gyration(ensemble.xyz[i], topology) : distance(ensemble.xyz[i], pair);
}

/// Copies the columns of a file of values to the observables that are not computed.
void copy_values(const ObservableTable& table, const std::string& path, Array<double, 2>& values) {
    const Table file(path);
    if (std::ssize(file.rows) != values.extent(0))
        throw InputError(path, 0,
                         fmt::format("expected a row of values of each of {} frames, found {}",
                                     values.extent(0), file.rows.size()));
    for (std::size_t n = 0; n < table.list.size(); ++n) {
        if (!table.computed[n].empty()) continue;
        const std::optional<std::size_t> column = file.column(table.list[n].name);
        if (!column)
            throw InputError(path, 0,
                             fmt::format("expected a column of each observable, found none of {}",
                                         in_quotes(table.list[n].name)));
        for (std::size_t i = 0; i < file.rows.size(); ++i)
            values(static_cast<Index>(i), static_cast<Index>(n)) = file.number(i, *column);
    }
}

}  // namespace

bool ObservableTable::is_computed() const {
    return std::ranges::none_of(computed, &std::string::empty);
}

ObservableTable read_observables(const std::string& path) {
    const Table rows(path);
    constexpr std::array<std::string_view, 6> kColumns = {"name", "value",   "error",
                                                          "kind", "average", "computed"};
    for (std::size_t n = 0; n < 3; ++n)
        if (!rows.column(kColumns[n]))
            throw InputError(
                path, 0,
                fmt::format("expected columns name, value, error, found no {}", kColumns[n]));
    for (const std::string& name : rows.names)
        if (std::ranges::find(kColumns, name) == kColumns.end())
            throw InputError(path, 0,
                             fmt::format("expected columns {}, found {}", fmt::join(kColumns, ", "),
                                         in_quotes(name)));
    ObservableTable table{path, {}, {}, rows.lines};
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
        table.list.push_back(
            {rows.rows[row][*rows.column("name")], rows.number(row, *rows.column("value")),
             rows.number(row, *rows.column("error")), rows.choice<ObservableKind>(row, "kind"),
             rows.choice<Averaging>(row, "average")});
        const auto computed = rows.column("computed");
        table.computed.push_back(computed ? rows.rows[row][*computed] : "");
        const std::string& text = table.computed.back();
        if (!text.empty() && text != "rg" && names_of_pair(text)[0].empty())
            throw InputError(path, rows.lines[row],
                             fmt::format("expected rg or CHAIN:RESIDUE:ATOM-CHAIN:RESIDUE:ATOM as "
                                         "computed, found {}",
                                         in_quotes(text)));
    }
    return table;
}

Observables observables_of(const ObservableTable& table, const std::string& values_path,
                           const Ensemble& ensemble) {
    Observables all{table.list, Array<double, 2>(ensemble.frame_count(), std::ssize(table.list))};
    if (values_path.empty() && !table.is_computed())
        throw UsageError(fmt::format(
            "{}: expected how each observable is computed, or --observable-values", table.path));
    if (!values_path.empty() && table.is_computed())
        throw UsageError(
            "--observable-values: expected observables that are not computed, found "
            "none");
    if (!values_path.empty()) copy_values(table, values_path, all.values);
    for (std::size_t n = 0; n < table.list.size(); ++n)
        if (!table.computed[n].empty()) compute(table, n, ensemble, all.values);
    return all;
}

}  // namespace pleat::saxs
