// The door to gemmi for biological assemblies, compiled as C++17 because gemmi 0.5.7 is not valid
// C++20.
#include "pleat/bio/structure/assembly_gemmi.h"

#include <cmath>
#include <gemmi/numb.hpp>
#include <map>

namespace pleat {

namespace {

using Operations = std::map<std::string, RigidMotion>;

/// Of all assemblies of a file. Few bytes can describe many motions.
constexpr std::size_t kMaxMotions = 100000;

Operations read_operations(gemmi::cif::Block& block) {
    gemmi::cif::Table table =
        block.find("_pdbx_struct_oper_list.",
                   {"id", "matrix[1][1]", "matrix[1][2]", "matrix[1][3]", "vector[1]",
                    "matrix[2][1]", "matrix[2][2]", "matrix[2][3]", "vector[2]", "matrix[3][1]",
                    "matrix[3][2]", "matrix[3][3]", "vector[3]"});
    Operations operations;
    for (gemmi::cif::Table::Row row : table) {
        RigidMotion motion;
        bool fine = true;
        for (std::size_t k = 0; k < 12; ++k) {
            const double value = gemmi::cif::as_number(row[k + 1]);
            motion.rows[k / 4][k % 4] = value;
            fine = fine && std::isfinite(value);
        }
        if (fine) operations[row.str(0)] = motion;
    }
    return operations;
}

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    std::string name;
    for (const char c : text + ",") {
        if (c == ',') {
            if (!name.empty()) names.push_back(name);
            name.clear();
        } else if (c > ' ') {
            name += c;
        }
    }
    return names;
}

/// The motions of an expression; empty, with `problem` set, if one cannot be found.
std::vector<RigidMotion> find_motions(const std::string& expression, const Operations& operations,
                                      std::string& problem) {
    const auto products = parse_operations(expression);
    if (products.empty()) problem = "cannot read its operations '" + expression + "'";
    std::vector<RigidMotion> motions;
    for (const std::vector<std::string>& names : products) {
        RigidMotion motion;
        for (std::size_t k = 0; k < names.size(); ++k) {
            const auto found = operations.find(names[k]);
            if (found == operations.end()) {
                problem =
                    "expected operation '" + names[k] + "' in _pdbx_struct_oper_list, found none";
                return {};
            }
            motion = k == 0 ? found->second : product(motion, found->second);
        }
        motions.push_back(motion);
    }
    return motions;
}

}  // namespace

std::vector<Assembly> mmcif_assemblies(gemmi::cif::Block& block) {
    const Operations operations = read_operations(block);
    std::vector<Assembly> assemblies;
    std::map<std::string, std::size_t> numbers;  // of assemblies, by name
    std::size_t count = 0;
    for (gemmi::cif::Table::Row row : block.find(
             "_pdbx_struct_assembly_gen.", {"assembly_id", "oper_expression", "asym_id_list"})) {
        const auto [at, is_new] = numbers.emplace(row.str(0), assemblies.size());
        if (is_new) assemblies.emplace_back().name = at->first;
        Assembly& assembly = assemblies[at->second];
        if (count > kMaxMotions) {
            assembly.problem = "the file describes more than 100,000 copies of chains";
            continue;
        }
        assembly.generators.emplace_back();
        Assembly::Generator& generator = assembly.generators.back();
        generator.chains = split_names(row.str(2));
        generator.motions = find_motions(row.str(1), operations, assembly.problem);
        count += generator.motions.size();
    }
    for (gemmi::cif::Table::Row row :
         block.find("_pdbx_struct_assembly.", {"id", "oligomeric_details"}))
        if (const auto at = numbers.find(row.str(0)); at != numbers.end() && row.has2(1))
            assemblies[at->second].details = row.str(1);
    return assemblies;
}

}  // namespace pleat
