// Parameters: the options of saxs, described once.
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

namespace {

std::vector<Field> profile_fields(Parameters& p) {
    return {
        {.name = "model",
         .target = &p.model,
         .help = "What scatters: each atom; a body a residue; backbone and side chain; auto: "
                 "atoms, or a body a residue where there is CA alone",
         .letter = 'm',
         .choices = {"auto", "all-atom", "one-body", "two-body"}},
        {.name = "q-max",
         .target = &p.q_max,
         .help = "Largest momentum transfer of the profile; a curve is cut there",
         .unit = "1/angstrom",
         .min = 0.01,
         .max = 5},
        {.name = "points",
         .target = &p.points,
         .help = "Points of the profile, evenly from q = 0 on; with a curve more where the "
                 "structure is so large that it needs them",
         .letter = 'n',
         .min = 2,
         .max = 100000},
        {.name = "water",
         .target = &p.water,
         .help = "Take water molecules of the file as part of the structure"},
        {.name = "hydrogens",
         .target = &p.hydrogens,
         .help = "implicit: each heavy atom scatters with those that it carries; explicit: those "
                 "of the file scatter for themselves (all-atom)",
         .choices = {"implicit", "explicit"}},
        {.name = "bin",
         .target = &p.bin,
         .help = "Width of the bins of P(r); 0: none",
         .unit = "angstrom",
         .min = 0,
         .max = 1000},
        {.name = "precision",
         .target = &p.precision,
         .help = "float32: relative error of profiles up to 2e-6, on a GPU up to 1e-5; float64: up "
                 "to 1e-6, not on a GPU; auto: float32, with --device reference float64",
         .choices = {"auto", "float32", "float64"}},
        {.name = "method",
         .target = &p.method,
         .help = "debye: all pairs; multipole: spherical harmonics in float64, on the CPU; auto: "
                 "the cheaper one there, else all pairs",
         .choices = {"auto", "debye", "multipole"}}};
}

std::vector<Field> fit_fields(Parameters& p) {
    return {
        {.name = "c1",
         .target = &p.c1,
         .help = "Scale of the atoms' radii in the volume that they take from water (all-atom)",
         .min = 0.5,
         .max = 2,
         .automatic = "fitted with --data, else 1"},
        {.name = "c1-least",
         .target = &p.c1_min,
         .help = "Least c1 of a fit",
         .min = 0.5,
         .max = 2},
        {.name = "c1-most",
         .target = &p.c1_max,
         .help = "Largest c1 of a fit",
         .min = 0.5,
         .max = 2},
        {.name = "c2",
         .target = &p.c2,
         .help = "Density of the hydration layer, in water molecules above the bulk an exposed "
                 "atom",
         .min = -100,
         .max = 100,
         .automatic = "fitted with --data, else 0"},
        {.name = "c2-least",
         .target = &p.c2_min,
         .help = "Least c2 of a fit",
         .min = -100,
         .max = 100},
        {.name = "c2-most",
         .target = &p.c2_max,
         .help = "Largest c2 of a fit",
         .min = -100,
         .max = 100},
        {.name = "background", .target = &p.background, .help = "Fit a constant background too"},
        {.name = "members",
         .target = &p.members,
         .help = "Members of the largest minimal ensemble that is tried; 0: none",
         .letter = 'k',
         .min = 0,
         .max = 50},
        {.name = "reweight",
         .target = &p.reweight,
         .help = "Reweight all frames by maximum entropy",
         .negated_flag = true}};
}

}  // namespace

std::vector<Field> fields(Parameters& parameters) {
    std::vector<Field> all = profile_fields(parameters);
    for (Field& field : fit_fields(parameters)) all.push_back(std::move(field));
    return all;
}

}  // namespace pleat::saxs
