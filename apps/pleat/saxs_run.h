// SAXS run: profiles and fits from their options to the files of their run.
#pragma once

#include <string>
#include <vector>

#include "common_options.h"
#include "ensemble_options.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/saxs/model/model_joining.h"
#include "pleat/saxs/saxs.h"

namespace pleat::program {

/// All options of `pleat saxs`.
struct SaxsOptions {
    RunOptions run;
    EnsembleSource ensemble;  ///< without weights
    saxs::ModelsAre models_are = saxs::ModelsAre::automatic;
    std::string data, form_factors;
    ProfileChoices curve;
    bool mixture = false;
    saxs::Parameters parameters;
};
std::vector<Field> input_fields(SaxsOptions& options);
std::vector<Field> curve_fields(SaxsOptions& options);
/// The options that decide what is computed, in the manifest's order.
std::vector<Field> result_fields(SaxsOptions& options);

/// Reads, computes and, on the leading rank, writes the folder options.run.output. Returns the
/// summary for standard output, empty on other ranks. `shown` may be null. Throws every Error.
std::string make_profiles(SaxsOptions& options, const std::vector<std::string>& arguments,
                          Ranks& ranks, Progress* shown);

}  // namespace pleat::program
