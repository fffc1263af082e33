// Biological assemblies: REMARK 350, expressions of operations, and copies of chains.
#include "pleat/bio/structure/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr std::size_t kMaxProducts = 10000;
constexpr std::size_t kMaxAtoms = 100'000'000;

/// Sets `value` to the text after "KEY ...:" if the line begins with the key.
bool value_of(std::string_view line, std::string_view key, std::string_view& value) {
    if (line.substr(0, key.size()) != key) return false;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    value = trimmed(line.substr(colon + 1));
    return true;
}

void add_chains(std::string_view names, Assembly::Generator& generator) {
    for (const std::string_view name : words(names, ", "))
        generator.chains.emplace_back(name == "NULL" ? "" : name);
}

/// One of the three lines "BIOMT1   2  r11 r12 r13 t": a row of a motion.
void add_row(std::string_view line, Assembly& assembly) {
    const std::vector<std::string_view> cells = words(line, " ");
    const std::size_t row = line.size() > 5 ? static_cast<std::size_t>(line[5] - '1') : 3;
    std::array<double, 4> values{};
    bool fine = cells.size() == 6 && row < 3 && !assembly.generators.empty();
    for (std::size_t k = 0; fine && k < 4; ++k)
        fine = parse_number(cells[k + 2], values[k]) && std::isfinite(values[k]);
    if (fine && row > 0) fine = !assembly.generators.back().motions.empty();
    if (!fine) {
        assembly.problem =
            fmt::format("expected rows of BIOMT with four numbers, found '{}'", line);
        return;
    }
    std::vector<AssemblyOperation>& motions = assembly.generators.back().motions;
    if (row == 0) motions.emplace_back();
    motions.back().rows[row] = values;
}

/// The operations of one factor: "1", "1,3-5", "P".
std::vector<std::string> parse_factor(std::string_view text) {
    std::vector<std::string> names;
    for (const std::string_view name : words(text, ",")) {
        const std::size_t minus = name.find('-');
        int first = 0, last = 0;
        if (minus == std::string_view::npos) {
            names.emplace_back(name);
        } else if (parse_number(name.substr(0, minus), first) &&
                   parse_number(name.substr(minus + 1), last) && first >= 0 && first <= last &&
                   static_cast<std::size_t>(last - first) < kMaxProducts) {
            for (int n = first; n <= last; ++n) names.push_back(std::to_string(n));
        } else {
            return {};
        }
    }
    return names;
}

/// The indices of the atoms that a generator copies.
std::vector<std::size_t> members(const Assembly::Generator& generator,
                                 const std::vector<AtomRecord>& atoms) {
    const std::set<std::string> chains(generator.chains.begin(), generator.chains.end());
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < atoms.size(); ++i)
        if (chains.count(atoms[i].assembly_chain()) > 0) found.push_back(i);
    return found;
}

bool is_rotation(const AssemblyOperation& motion) {
    constexpr double kRounded = 0.01;  // files give six digits, often fewer
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            double sum = i == j ? -1.0 : 0.0;
            for (std::size_t k = 0; k < 3; ++k) sum += motion.rows[i][k] * motion.rows[j][k];
            if (!(std::abs(sum) < kRounded)) return false;
        }
    }
    return true;
}

/// Names the copies of chains; the first copy keeps the name of the file.
class CopyNames {
public:
    explicit CopyNames(const std::vector<AtomRecord>& atoms) {
        for (const AtomRecord& atom : atoms) used_.insert(atom.chain);
    }

    /// Of copy number `copy` (from 1) of a chain of the file.
    const std::string& name(const std::string& chain, int copy) {
        std::vector<std::string>& names = names_[chain];
        if (names.empty()) names.push_back(chain);
        for (int number = static_cast<int>(names.size()) + 1;
             names.size() < static_cast<std::size_t>(copy); ++number) {
            std::string fresh = fmt::format("{}-{}", chain, number);
            if (used_.insert(fresh).second) names.push_back(std::move(fresh));
        }
        return names[copy - 1];
    }

private:
    std::set<std::string> used_;
    std::map<std::string, std::vector<std::string>> names_;  // of each chain, copy by copy
};

void move(const AssemblyOperation& motion, AtomRecord& atom) {
    const std::array<double, 3> x = {atom.xyz[0], atom.xyz[1], atom.xyz[2]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::array<double, 4>& row = motion.rows[axis];
        atom.xyz[axis] = static_cast<float>(row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3]);
    }
}

std::size_t count_atoms(const std::vector<AtomRecord>& atoms, const Assembly& assembly) {
    std::size_t count = 0;
    for (const Assembly::Generator& generator : assembly.generators)
        count += members(generator, atoms).size() * generator.motions.size();
    return count;
}

/// The number of atoms of an assembly; throws InputError if it cannot be built from these atoms.
std::size_t check(const std::string& file, const std::vector<AtomRecord>& atoms,
                  const Assembly& assembly) {
    const auto refuse = [&](const std::string& problem) {
        throw InputError(file, 0,
                         fmt::format("cannot build assembly {}: {}", assembly.name, problem));
    };
    if (!assembly.problem.empty()) refuse(assembly.problem);
    for (const Assembly::Generator& generator : assembly.generators)
        for (const AssemblyOperation& motion : generator.motions)
            if (!is_rotation(motion))
                refuse("expected rotations and translations, found another matrix");
    const std::size_t count = count_atoms(atoms, assembly);
    if (count == 0) refuse("expected atoms of its chains, found none");
    if (count > kMaxAtoms)
        refuse(fmt::format("expected at most {} atoms, found {}", kMaxAtoms, count));
    return count;
}

}  // namespace

bool AssemblyOperation::is_identity() const {
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j)
            if (rows[i][j] != (i == j ? 1.0 : 0.0)) return false;
    return true;
}

std::vector<Assembly> pdb_assemblies(const std::vector<std::string>& records) {
    std::vector<Assembly> assemblies;
    for (const std::string& record : records) {
        if (record.size() <= 11) continue;
        const std::string_view line = trimmed(std::string_view(record).substr(10));
        std::string_view value;
        if (value_of(line, "BIOMOLECULE", value)) {
            assemblies.push_back(
                {.name = std::string(value), .details = {}, .generators = {}, .problem = {}});
        } else if (assemblies.empty()) {
            continue;
        } else if (value_of(line, "AUTHOR DETERMINED", value) ||
                   value_of(line, "SOFTWARE DETERMINED", value)) {
            if (assemblies.back().details.empty()) assemblies.back().details = std::string(value);
        } else if (value_of(line, "APPLY THE FOLLOWING TO CHAINS", value)) {
            assemblies.back().generators.emplace_back();
            add_chains(value, assemblies.back().generators.back());
        } else if (value_of(line, "AND CHAINS", value) && !assemblies.back().generators.empty()) {
            add_chains(value, assemblies.back().generators.back());
        } else if (line.substr(0, 5) == "BIOMT") {
            add_row(line, assemblies.back());
        }
    }
    return assemblies;
}

std::vector<std::vector<std::string>> parse_operations(std::string_view expression) {
    std::string compact;
    std::copy_if(expression.begin(), expression.end(), std::back_inserter(compact),
                 [](char c) { return static_cast<unsigned char>(c) > ' '; });
    std::vector<std::vector<std::string>> products = {{}};
    for (const std::string_view text : words(compact, "()")) {
        const std::vector<std::string> factor = parse_factor(text);
        if (factor.empty() || products.size() * factor.size() > kMaxProducts) return {};
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& earlier : products) {
            for (const std::string& name : factor) {
                longer.push_back(earlier);
                longer.back().push_back(name);
            }
        }
        products = std::move(longer);
    }
    return products.front().empty() ? std::vector<std::vector<std::string>>{} : products;
}

AssemblyOperation product(const AssemblyOperation& first, const AssemblyOperation& second) {
    AssemblyOperation both;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            double sum = j == 3 ? first.rows[i][3] : 0;
            for (std::size_t k = 0; k < 3; ++k) sum += first.rows[i][k] * second.rows[k][j];
            both.rows[i][j] = sum;
        }
    }
    return both;
}

std::vector<AtomRecord> assembled_atoms(const std::string& file,
                                        const std::vector<AtomRecord>& atoms,
                                        const Assembly& assembly) {
    std::vector<AtomRecord> copies;
    copies.reserve(check(file, atoms, assembly));
    CopyNames names(atoms);
    std::map<std::string, int> made;  // copies of each chain so far
    for (const Assembly::Generator& generator : assembly.generators) {
        const std::set<std::string> chains(generator.chains.begin(), generator.chains.end());
        const std::vector<std::size_t> copied = members(generator, atoms);
        for (const AssemblyOperation& motion : generator.motions) {
            for (const std::string& chain : chains) ++made[chain];
            for (const std::size_t i : copied) {
                copies.push_back(atoms[i]);
                AtomRecord& copy = copies.back();
                copy.chain = names.name(atoms[i].chain, made.at(atoms[i].assembly_chain()));
                if (!motion.is_identity()) move(motion, copy);
            }
        }
    }
    return copies;
}

bool equals_listed_atoms(const Assembly& assembly, const std::vector<AtomRecord>& atoms) {
    if (!assembly.problem.empty()) return false;
    for (const Assembly::Generator& generator : assembly.generators)
        for (const AssemblyOperation& motion : generator.motions)
            if (!motion.is_identity()) return false;
    return count_atoms(atoms, assembly) == atoms.size();
}

}  // namespace pleat
