// Ensemble files: the files that files, folders and lists of files stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/model_folder.h"
#include "pleat/core/notes.h"
#include "pleat/core/view.h"

namespace pleat {

struct EnsembleFiles {
    std::vector<std::string> paths;
    std::vector<std::string> names;   ///< [file]: of the model, else of the file without endings
    std::vector<Index> folders;       ///< [file]: index into `models`; -1: not of such a folder
    std::vector<ModelFolder> models;  ///< folders of predicted models
    Notes notes;
};

/// Replaces each folder by its coordinate files (.pdb, .ent, .cif, .mmcif, .gro, .sdf, .mol, .dcd,
/// .xtc, .trr, .nc, .ncdf, .npy, each also with .gz, .zst or .zstd; no hidden ones, no folders
/// within), in the order of their names with numbers as numbers (2 before 10), a folder of
/// predicted models by these in the order of their ranking (model_folder.h), and each @LIST by the
/// paths that the file LIST holds, one per line, with # before comments. Throws InputError for a
/// folder without such files.
EnsembleFiles list_ensemble_files(const std::vector<std::string>& sources,
                                  Relaxation wanted = Relaxation::unrelaxed);
/// Their paths.
std::vector<std::string> ensemble_files(const std::vector<std::string>& sources,
                                        Relaxation wanted = Relaxation::unrelaxed);

/// Throws InputError for the first file of these sources that does not exist or may not be read. A
/// list that is a pipe is not opened, as it could not be read again.
void check_ensemble_files(const std::vector<std::string>& sources);

/// Throws InputError if a source, a list file or a file in a list is a pipe or a device. `reason`:
/// as for refuse_pipes().
void refuse_ensemble_pipes(const std::vector<std::string>& sources, std::string_view reason);

}  // namespace pleat
