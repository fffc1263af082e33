// Model joining: makes one structure of several models, as files of assemblies hold them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/core/fields.h"

namespace pleat::saxs {

/// What the models and frames of files are.
enum class ModelsAre {
    automatic,  ///< parts if the models of a single file are copies of one another, else states
    states,     ///< of an ensemble
    parts       ///< of one structure per file
};
std::span<const std::string_view> names_of(ModelsAre);
/// The option of this choice.
Field models_are_field(ModelsAre& models_are);

/// Whether the frames are the same rigid molecule at different positions, as in files of
/// assemblies: internal distances agree within 0.05 angstrom, and centres are at least a radius of
/// gyration apart.
bool are_copies(View<const float, 3> xyz);

/// Joins all frames of each file to one structure. Throws InputError if files hold different
/// numbers of frames.
Ensemble join_models(const Ensemble& ensemble);

/// Joins the models of an ensemble if they are parts of a structure. Returns a remark if that was
/// detected and not asked for; else an empty text. Throws InputError as join_models() does.
std::string interpret_models(ModelsAre models_are, Ensemble& ensemble);

}  // namespace pleat::saxs
