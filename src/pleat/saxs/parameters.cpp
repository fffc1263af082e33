// Parameters: the options of saxs, described once.
#include "pleat/saxs/analysis/analysis.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {

namespace {

std::vector<Field> profile_fields(Parameters& p) {
    return {
        {.name = "model",
         .target = &p.model,
         .help = "Scatterers: all-atom, each heavy atom with its hydrogens; one-bead, one per "
                 "residue; two-bead, side chain and backbone of each residue; auto: all-atom, or "
                 "one-bead for a structure of CA atoms alone"},
        {.name = "q-max",
         .target = &p.q_max,
         .help = "Largest momentum transfer of the profile; a curve is cut there",
         .unit = "1/angstrom",
         .min = 0.01,
         .max = 5},
        {.name = "q-points",
         .target = &p.q_points,
         .help = "Points of the profile, evenly spaced from q = 0; with --data more if the "
                 "structure is so large that the fit needs them",
         .min = 2,
         .max = 100000},
        {.name = "water",
         .target = &p.includes_water,
         .help = "Treat water molecules in the file as part of the structure"},
        {.name = "ions",
         .target = &p.ions,
         .help = "Which ions in the file are kept: near (within 4 angstrom of an atom that is "
                 "neither water nor an ion, in the first frame), or keep (all). With --water all "
                 "are kept"},
        {.name = "hydrogens",
         .target = &p.hydrogens,
         .help = "implicit: each heavy atom scatters with the hydrogens that it carries; explicit: "
                 "each hydrogen in the file is a scatterer (all-atom)"},
        {.name = "neutrons",
         .target = &p.neutrons,
         .help = "Profiles of neutrons (SANS) instead of X-rays (all-atom)"},
        {.name = "d2o",
         .target = &p.d2o,
         .help = "Fraction of D2O in the solvent, with --neutrons",
         .min = 0,
         .max = 1,
         .automatic = "0"},
        {.name = "deuterate",
         .target = &p.deuterate,
         .help = "With --neutrons: chains that were made with D instead of H on carbon, and the "
                 "fraction of D (default 1)",
         .value_name = "CHAIN[:FRACTION],..."},
        {.name = "backbone-exchange",
         .target = &p.backbone_exchange,
         .help = "With --neutrons: fraction of the backbone's NH hydrogens that exchange with "
                 "the solvent; all other hydrogens on N, O and S do",
         .min = 0,
         .max = 1},
        {.name = "bin-width",
         .target = &p.bin_width,
         .help = "Width of the bins of P(r); 0: no P(r)",
         .unit = "angstrom",
         .min = 0,
         .max = 1000},
        {.name = "precision",
         .target = &p.precision,
         .help = "float32: relative error of profiles up to 2e-6, on a GPU up to 1e-5; float64: up "
                 "to 1e-6, on a GPU up to 1e-10; auto: float32, with --device reference float64"},
        {.name = "method",
         .target = &p.method,
         .help =
             "debye: all pairs; multipole: spherical harmonics, in float64 on the CPU and float32 "
             "on a GPU; auto: the cheaper of the two, with --device reference all pairs"}};
}

std::vector<Field> fit_fields(Parameters& p) {
    return {
        {.name = "c1",
         .target = &p.c1,
         .help = "Scale factor for atomic radii in the excluded volume (all-atom)",
         .min = 0.5,
         .max = 2,
         .automatic = "fitted with --data, else 1"},
        {.name = "c1-min",
         .target = &p.c1_min,
         .help = "Smallest c1 of a fit",
         .min = 0.5,
         .max = 2},
        {.name = "c1-max",
         .target = &p.c1_max,
         .help = "Largest c1 of a fit",
         .min = 0.5,
         .max = 2},
        {.name = "c2",
         .target = &p.c2,
         .help = "Hydration-layer contrast: excess water molecules per exposed atom",
         .min = -100,
         .max = 100,
         .automatic = "fitted with --data, else 0"},
        {.name = "c2-min",
         .target = &p.c2_min,
         .help = "Smallest c2 of a fit",
         .min = -100,
         .max = 100},
        {.name = "c2-max",
         .target = &p.c2_max,
         .help = "Largest c2 of a fit",
         .min = -100,
         .max = 100},
        {.name = "background",
         .target = &p.background,
         .help = "Also fit a constant background; curves of neutrons always get one"},
        {.name = "max-members",
         .target = &p.max_members,
         .help = "Frames in the largest minimal ensemble that is tried; 0: no minimal ensembles",
         .min = 0,
         .max = 50},
        {.name = "reweight",
         .target = &p.reweight,
         .help = "Reweight all frames by maximum entropy",
         .negated_flag = true}};
}

}  // namespace

std::span<const std::string_view> names_of(Resolution) {
    static constexpr std::string_view kNames[] = {"auto", "all-atom", "one-bead", "two-bead"};
    return kNames;
}

std::span<const std::string_view> names_of(Hydrogens) {
    static constexpr std::string_view kNames[] = {"implicit", "explicit"};
    return kNames;
}

std::span<const std::string_view> names_of(Ions) {
    static constexpr std::string_view kNames[] = {"near", "keep"};
    return kNames;
}

std::vector<Field> fields(AnalysisParameters& parameters) {
    return {
        {.name = "concentration",
         .target = &parameters.concentration,
         .help = "Without a structure, concentration of each curve in mg/ml; different ones are "
                 "extrapolated to none",
         .value_name = "MG/ML,..."},
        {.name = "absolute-scale",
         .target = &parameters.absolute_scale,
         .help = "Without a structure, intensities are in 1/cm, and I(0) gives a mass"},
        {.name = "elution",
         .target = &parameters.elution,
         .help = "Without a structure, the curves are the frames of an elution (SEC-SAXS), in "
                 "order: finds buffer and sample, and subtracts"},
        {.name = "buffer-frames",
         .target = &parameters.buffer_frames,
         .help = "With --elution, frames of the buffer instead of those that are found; count "
                 "from 0, END excluded",
         .value_name = "FIRST:END"},
        {.name = "sample-frames",
         .target = &parameters.sample_frames,
         .help = "With --elution, frames of the sample instead of those around the highest peak",
         .value_name = "FIRST:END"}};
}

std::vector<Field> fields(Parameters& parameters) {
    std::vector<Field> all = profile_fields(parameters);
    for (Field& field : fit_fields(parameters)) all.push_back(std::move(field));
    return all;
}

}  // namespace pleat::saxs
