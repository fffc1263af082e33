// Ensembles: reading coordinate files, and the names of atoms.
#include "pleat/bio/ensemble/ensemble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "arrays.h"
#include "parts.h"
#include "pleat/bio/ensemble/write_frames.h"
#include "pleat/bio/periodic/whole_molecules.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/selection/selection.h"
#include "pleat/bio/structure/accessibility.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/bio/structure/equivalent_atoms.h"
#include "pleat/bio/structure/molecular_graph.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/fields.h"
#include "pleat/core/loops/parallel.h"

namespace pleat::python {

namespace {

using SharedTopology = std::shared_ptr<Topology>;

Pbc parse_pbc(const std::string& text) {
    Pbc pbc{};
    Choice choice(&pbc);
    if (!choice.set(text))
        throw UsageError(fmt::format("pbc: expected one of {}, found '{}'",
                                     fmt::join(choice.names(), ", "), text));
    return pbc;
}

/// (frames whose molecules are whole, notes). `cells`: [frame or 1, 6], lengths and angles, or
/// [frame or 1, 9], vectors.
py::tuple make_whole(const Argument<float>& given, const std::shared_ptr<Topology>& topology,
                     const Argument<double>& cells, const std::string& pbc) {
    const View<const float, 3> xyz = coordinates(given);
    const Index frames = xyz.extent(0), atoms = xyz.extent(1), numbers = cells.shape(1);
    if (cells.shape(0) != 1 && cells.shape(0) != frames)
        throw InputError(
            fmt::format("expected a box for all frames or one for each of {}, found {}", frames,
                        cells.shape(0)));
    auto whole = Array<float, 3>::unset(frames, atoms, Index{3});
    Notes notes;
    {
        const py::gil_scoped_release released;
        std::vector<Index> all(static_cast<std::size_t>(atoms));
        std::iota(all.begin(), all.end(), 0);
        WholeMolecules molecules(topology, all, all, parse_pbc(pbc));
        Array<float, 2> frame(Index{3}, atoms);
        for (Index f = 0; f < frames; ++f) {
            for (Index i = 0; i < atoms; ++i)
                for (Index axis = 0; axis < 3; ++axis) frame(axis, i) = xyz(f, i, axis);
            const double* at = cells.data() + (cells.shape(0) == 1 ? 0 : f * numbers);
            PeriodicCell cell;
            if (numbers == 6)
                cell = make_cell({at[0], at[1], at[2]}, {at[3], at[4], at[5]});
            else
                cell.vectors = {
                    {{at[0], at[1], at[2]}, {at[3], at[4], at[5]}, {at[6], at[7], at[8]}}};
            molecules.apply(cell, frame, "array", f, f);
            for (Index i = 0; i < atoms; ++i)
                for (Index axis = 0; axis < 3; ++axis) whole(f, i, axis) = frame(axis, i);
        }
        notes = molecules.notes();
    }
    return py::make_tuple(owned_array(std::move(whole)), notes);
}

/// (files, column, number of best frames, whether the lowest is best, percentage to leave out).
using ScoreWords = std::tuple<std::string, std::string, std::int64_t, bool, std::string>;

ScoreOptions score_options(const ScoreWords& words) {
    ScoreOptions options;
    std::string sources, share;
    std::tie(sources, options.column, options.best, options.lowest_is_best, share) = words;
    parse_score_sources(sources, options);
    if (options.best < 0)
        throw UsageError(fmt::format("best: expected a number of frames, found {}", options.best));
    if (!share.empty()) options.worst_share = parse_percentage(share);
    return options;
}

/// (xyz, topology, files, [(file, frame)], notes, names of files, numbers of frames, scores,
/// whether the files are trajectories)
py::tuple read(const std::vector<std::string>& sources, const std::string& topology,
               const std::string& assembly, const std::string& select, const std::string& frames,
               bool truncated, const std::string& pbc, const ScoreWords& scores, bool relaxed,
               const std::string& match) {
    Ensemble ensemble;
    Array<float, 3> xyz;
    Matching matching = Matching::names;
    Choice(&matching).set(match);
    {
        const py::gil_scoped_release released;
        const auto common = matching == Matching::sequence
                                ? find_common_atoms(sources, topology, assembly)
                                : std::shared_ptr<const CommonAtoms>();
        ensemble = read_ensemble(sources, {.topology = topology,
                                           .assembly = assembly,
                                           .common = common,
                                           .select = select,
                                           .range = parse_frame_range(frames),
                                           .truncated = truncated,
                                           .pbc = parse_pbc(pbc),
                                           .scores = score_options(scores),
                                           .relaxed = relaxed,
                                           .threads = available_threads()});
        if (common != nullptr)
            ensemble.notes.insert(ensemble.notes.begin(), common->notes.begin(),
                                  common->notes.end());
        xyz = atom_by_atom(ensemble, {}, available_threads());
        ensemble.xyz = {};
    }
    py::list origins;
    for (const FrameOrigin& origin : ensemble.origins)
        origins.append(py::make_tuple(origin.file, origin.frame));
    py::dict columns;
    for (std::size_t c = 0; c < ensemble.scores.columns.size(); ++c)
        columns[py::str(ensemble.scores.columns[c])] =
            owned_array(std::move(ensemble.scores.values[c]));
    return py::make_tuple(
        owned_array(std::move(xyz)), std::const_pointer_cast<Topology>(ensemble.topology),
        ensemble.files, origins, ensemble.notes, ensemble.names,
        owned_array(std::move(ensemble.numbers)), columns, ensemble.is_trajectory);
}

/// What Python knows of each atom.
struct AtomLists {
    std::vector<std::string> names, elements, residues, chains;
    std::vector<int> numbers;
    std::string insertions;  ///< a letter per atom
};

SharedTopology make(const AtomLists& lists, const std::vector<double>& masses) {
    const std::size_t count = lists.names.size();
    for (const std::size_t found :
         {lists.elements.size(), lists.residues.size(), lists.chains.size(), lists.numbers.size(),
          lists.insertions.size(), masses.size()})
        if (found != count)
            throw InputError(
                fmt::format("expected {} of each property, one an atom, found {}", count, found));
    auto topology = std::make_shared<Topology>();
    topology->source = "objects of Python";
    for (std::size_t n = 0; n < count; ++n) {
        const bool goes_on = n > 0 && lists.residues[n] == lists.residues[n - 1] &&
                             lists.chains[n] == lists.chains[n - 1] &&
                             lists.numbers[n] == lists.numbers[n - 1] &&
                             lists.insertions[n] == lists.insertions[n - 1];
        if (!goes_on)
            topology->residues.push_back(
                {lists.residues[n], lists.numbers[n], lists.insertions[n], lists.chains[n]});
        // Other packages write element symbols in their own way, and some give no mass.
        const std::string element = element_symbol(lists.elements[n]);
        topology->atoms.push_back({lists.names[n], element,
                                   masses[n] > 0 ? masses[n] : element_mass(element),
                                   static_cast<Index>(topology->residues.size()) - 1});
    }
    return topology;
}

/// Converts a topology to its pickle state.
py::tuple state_of(const Topology& topology) {
    py::list atoms, residues;
    for (const Topology::Atom& atom : topology.atoms)
        atoms.append(
            py::make_tuple(atom.name, atom.element, atom.mass, atom.residue, atom.b_factor));
    for (const Topology::Residue& residue : topology.residues)
        residues.append(py::make_tuple(residue.name, residue.number,
                                       std::string(1, residue.insertion), residue.chain));
    return py::make_tuple(topology.source.string(), topology.named, atoms, residues,
                          topology.positions, topology.has_chain_names, topology.cell,
                          topology.bonds, topology.has_all_bonds, topology.bond_orders);
}

SharedTopology from_state(const py::tuple& state) {
    using AtomState = std::tuple<std::string, std::string, double, Index, double>;
    using ResidueState = std::tuple<std::string, int, std::string, std::string>;
    auto topology = std::make_shared<Topology>();
    topology->source = state[0].cast<std::string>();
    topology->named = state[1].cast<bool>();
    for (const auto& [name, element, mass, residue, b_factor] :
         state[2].cast<std::vector<AtomState>>())
        topology->atoms.push_back({name, element, mass, residue, b_factor});
    for (const auto& [name, number, insertion, chain] : state[3].cast<std::vector<ResidueState>>())
        topology->residues.push_back({name, number, insertion.at(0), chain});
    topology->positions = state[4].cast<std::vector<std::array<double, 3>>>();
    topology->has_chain_names = state[5].cast<bool>();
    topology->cell = state[6].cast<std::array<std::array<double, 3>, 3>>();
    topology->bonds = state[7].cast<std::vector<std::array<Index, 2>>>();
    topology->has_all_bonds = state[8].cast<bool>();
    topology->bond_orders = state[9].cast<std::vector<std::uint8_t>>();
    return topology;
}

/// Writes frames.dcd, and topology.pdb or .cif with the first frame; returns the names of both.
std::vector<std::string> write_frames(const std::filesystem::path& folder, const Topology& topology,
                                      const Argument<float>& xyz) {
    const View<const float, 3> frames = coordinates(xyz);
    const std::string named = fits_pdb(topology) ? "topology.pdb" : "topology.cif";
    const py::gil_scoped_release released;
    StructureWriter structure(folder / named, topology);
    DcdWriter dcd(folder / "frames.dcd", frames.extent(1));
    Array<float, 2> by_axis(3, frames.extent(1));
    for (Index frame = 0; frame < frames.extent(0); ++frame) {
        for (Index atom = 0; atom < frames.extent(1); ++atom)
            for (Index axis = 0; axis < 3; ++axis) by_axis(axis, atom) = frames(frame, atom, axis);
        if (frame == 0) structure.add(by_axis.view());
        dcd.add(by_axis.view());
    }
    structure.close();
    dcd.close();
    return {named, "frames.dcd"};
}

/// (names of the only equal chains, indices of their atoms [chain, atom])
py::tuple chains_of(const Topology& topology) {
    const EqualChains chains = only_equal_chains(topology);
    const auto count = static_cast<Index>(chains.atoms.size());
    auto atoms = Array<Index, 2>::unset(count, static_cast<Index>(chains.atoms.front().size()));
    for (Index chain = 0; chain < count; ++chain)
        std::ranges::copy(chains.atoms[chain], atoms[chain].data);
    return py::make_tuple(chains.names, owned_array(std::move(atoms)));
}

/// Returns a function that lists `value` for each atom.
template <class Value>
auto of_atoms(Value value) {
    return [value](const Topology& topology) {
        py::list all;
        for (Index atom = 0; atom < topology.atom_count(); ++atom)
            all.append(value(topology, atom));
        return all;
    };
}

/// Returns (indices of common atoms in each topology, the paired chains, identity).
py::tuple in_common(const Topology& wanted, const Topology& other) {
    const SequenceMatch match = match_by_sequence(wanted, other);
    std::vector<Index> places(wanted.atoms.size(), -1), ours, theirs;
    for (std::size_t atom = 0; atom < match.atoms.size(); ++atom)
        if (match.atoms[atom] >= 0) places[match.atoms[atom]] = static_cast<Index>(atom);
    for (std::size_t atom = 0; atom < places.size(); ++atom)
        if (places[atom] >= 0) {
            ours.push_back(static_cast<Index>(atom));
            theirs.push_back(places[atom]);
        }
    return py::make_tuple(owned_array(std::move(ours)), owned_array(std::move(theirs)), match.pairs,
                          match.identity());
}

/// Surfaces of residues in each frame of `xyz` [frame, atom, 3]: (area [frame, residue], relative
/// [frame, residue], chains, numbers, insertion codes, names).
py::tuple surfaces(const Argument<float>& xyz, const SharedTopology& topology) {
    const View<const float, 3> frames = coordinates(xyz);
    const Index residues = std::ssize(topology->residues), atoms = topology->atom_count();
    if (frames.extent(1) != atoms)
        throw InputError(fmt::format("expected coordinates of {} atoms, found shape {}", atoms,
                                     shape_text(xyz)));
    Array<double, 2> area(frames.extent(0), residues), relative(frames.extent(0), residues);
    {
        const py::gil_scoped_release released;
        const std::vector<char> all(static_cast<std::size_t>(atoms), 1);
        Array<float, 2> centres(3, atoms);
        for (Index frame = 0; frame < frames.extent(0); ++frame) {
            for (Index atom = 0; atom < atoms; ++atom)
                for (Index axis = 0; axis < 3; ++axis)
                    centres(axis, atom) = frames(frame, atom, axis);
            try {
                const Accessibility found = accessibility(*topology, centres, all, {});
                std::ranges::copy(found.area, area[frame].begin());
                std::ranges::copy(found.relative, relative[frame].begin());
            } catch (const InputError& error) {
                throw InputError(fmt::format("frame {}", frame), 0, error.what());
            }
        }
    }
    std::vector<std::string> chains, insertions, names;
    std::vector<Index> numbers;
    for (const Topology::Residue& one : topology->residues) {
        chains.push_back(one.chain);
        insertions.push_back(one.insertion == ' ' ? "" : std::string(1, one.insertion));
        names.push_back(one.name);
        numbers.push_back(one.number);
    }
    return py::make_tuple(owned_array(std::move(area)), owned_array(std::move(relative)), chains,
                          owned_array(std::move(numbers)), insertions, names);
}

}  // namespace

void add_ensemble(py::module_& module) {
    py::class_<Topology, SharedTopology>(module, "Topology")
        .def("__len__", &Topology::atom_count)
        .def_property_readonly("names",
                               of_atoms([](const Topology& t, Index n) { return t.atoms[n].name; }))
        .def_property_readonly(
            "elements", of_atoms([](const Topology& t, Index n) { return t.atoms[n].element; }))
        .def_property_readonly("residue_names", of_atoms([](const Topology& t, Index n) {
                                   return t.residue_of(n).name;
                               }))
        .def_property_readonly("residue_numbers", of_atoms([](const Topology& t, Index n) {
                                   return t.residue_of(n).number;
                               }))
        .def_property_readonly(
            "chains", of_atoms([](const Topology& t, Index n) { return t.residue_of(n).chain; }))
        .def_readonly("named", &Topology::named)
        .def_property_readonly("masses",
                               [](const Topology& topology) {
                                   std::vector<double> masses;
                                   for (const Topology::Atom& atom : topology.atoms)
                                       masses.push_back(atom.mass);
                                   return owned_array(std::move(masses));
                               })
        .def_property_readonly(
            "gmx_masses",
            [](const Topology& topology) { return owned_array(gmx_masses(topology)); })
        .def("select",
             [](const Topology& topology, const std::string& text) {
                 return owned_array(select_atoms(topology, text));
             })
        .def("subset",
             [](const Topology& topology, const py::object& given) {
                 const py::array atoms = py::array::ensure(given);
                 if (!atoms) throw py::error_already_set();
                 // NumPy makes a list without atoms an array of floats.
                 if (atoms.size() > 0 && atoms.dtype().kind() != 'i' && atoms.dtype().kind() != 'u')
                     throw InputError(fmt::format("expected atoms as whole numbers, found {}",
                                                  py::str(atoms.dtype()).cast<std::string>()));
                 return std::make_shared<Topology>(
                     subset(topology, copy_array(Argument<Index>(atoms))));
             })
        .def(py::pickle(&state_of, &from_state));
    module.def(
        "topology_from_lists",
        [](std::vector<std::string> names, std::vector<std::string> elements,
           std::vector<std::string> residues, std::vector<int> numbers, std::string insertions,
           std::vector<std::string> chains, const std::vector<double>& masses) {
            return make({std::move(names), std::move(elements), std::move(residues),
                         std::move(chains), std::move(numbers), std::move(insertions)},
                        masses);
        });
    // (indices [wanted atom], -1 if absent; matched residues; of these with the same name)
    module.def("match_atoms", [](const Topology& wanted, const Topology& other) {
        // A small molecule's atoms are matched by bonds, as their names depend on the file's order.
        if (!wanted.bond_orders.empty() && !other.bond_orders.empty()) {
            MoleculeMatch match = match_molecules(wanted, other);
            if (match.atoms.empty())
                throw InputError(
                    other.source.string(), 0,
                    fmt::format("expected the molecule of {}, {}, found {}", wanted.source.string(),
                                heavy_formula(wanted), heavy_formula(other)));
            return py::make_tuple(owned_array(std::move(match.atoms)), 1, 1);
        }
        AtomMatch match = match_atoms(wanted, other);
        return py::make_tuple(owned_array(std::move(match.atoms)), match.residues,
                              match.residues_of_name);
    });
    module.def("match_by_sequence", &in_common);
    module.def("are_molecules", [](const Topology& one, const Topology& other) {
        return !one.bond_orders.empty() && !other.bond_orders.empty();
    });
    module.def("unnamed_topology", [](Index atoms) {
        return std::make_shared<Topology>(unnamed_topology(atoms, "array"));
    });
    module.def("equal_chains", &chains_of);
    module.def("read_ensemble", &read);
    module.def("accessibility", &surfaces);
    module.def("write_frames", &write_frames);
    module.def("make_whole", &make_whole);
}

}  // namespace pleat::python
