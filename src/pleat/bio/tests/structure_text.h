// PDB and mmCIF text for tests: one atom a call.
#pragma once

#include <cstdio>
#include <string>

namespace pleat::test {

struct AtomText {
    std::string record = "ATOM";
    int serial = 1;
    std::string name = "CA";
    char altloc = ' ';
    std::string residue = "ALA";
    std::string chain = "A";
    int number = 1;
    char insertion = ' ';
    double x = 0, y = 0, z = 0;
    double occupancy = 1;
    std::string element = "C";
};

inline std::string pdb_line(const AtomText& atom) {
    char line[512];
    const std::string name = atom.name.size() < 4 ? " " + atom.name : atom.name;
    std::snprintf(line, sizeof line,
                  "%-6s%5d %-4s%c%3s%2s%4d%c   %8.3f%8.3f%8.3f%6.2f%6.2f          %2s\n",
                  atom.record.c_str(), atom.serial, name.c_str(), atom.altloc, atom.residue.c_str(),
                  atom.chain.c_str(), atom.number, atom.insertion, atom.x, atom.y, atom.z,
                  atom.occupancy, 20.0, atom.element.c_str());
    return line;
}

/// N, CA, C and CB of one residue, standing at x = 3.8 number, so that neighbours are bonded.
inline std::string pdb_residue(const std::string& residue, int number, char insertion = ' ',
                               const std::string& chain = "A", double at = -1,
                               const std::string& record = "ATOM") {
    const double x = at < 0 ? 3.8 * number : at;
    std::string text;
    text +=
        pdb_line({record, 1, "N", ' ', residue, chain, number, insertion, x - 1.2, 0, 0, 1, "N"});
    text += pdb_line({record, 2, "CA", ' ', residue, chain, number, insertion, x, 0, 0, 1, "C"});
    text +=
        pdb_line({record, 3, "C", ' ', residue, chain, number, insertion, x + 1.2, 0, 0, 1, "C"});
    if (residue != "GLY") {
        text +=
            pdb_line({record, 4, "CB", ' ', residue, chain, number, insertion, x, 1.5, 0, 1, "C"});
    }
    return text;
}

inline const char* kCifHeader =
    "data_TEST\n#\nloop_\n_atom_site.group_PDB\n_atom_site.id\n_atom_site.type_symbol\n"
    "_atom_site.label_atom_id\n_atom_site.label_alt_id\n_atom_site.label_comp_id\n"
    "_atom_site.label_asym_id\n_atom_site.label_entity_id\n_atom_site.label_seq_id\n"
    "_atom_site.pdbx_PDB_ins_code\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n"
    "_atom_site.occupancy\n_atom_site.B_iso_or_equiv\n_atom_site.auth_seq_id\n"
    "_atom_site.auth_asym_id\n_atom_site.pdbx_PDB_model_num\n";

inline std::string cif_line(const AtomText& atom, int model = 1) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s %d %s \"%s\" %c %s %s 1 %d %c %.3f %.3f %.3f %.2f 20.0 %d %s %d\n",
                  atom.record.c_str(), atom.serial, atom.element.c_str(), atom.name.c_str(),
                  atom.altloc == ' ' ? '.' : atom.altloc, atom.residue.c_str(), atom.chain.c_str(),
                  atom.number, atom.insertion == ' ' ? '?' : atom.insertion, atom.x, atom.y, atom.z,
                  atom.occupancy, atom.number, atom.chain.c_str(), model);
    return line;
}

}  // namespace pleat::test
